"""What a link restores, and what the keyboard does without a pointer."""

from __future__ import annotations

import base64
import zlib

import pytest

import farpoint as fp
from tests.helpers.browser import Page

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]

UP, DOWN, RIGHT, ENTER, ESCAPE = "\ue013", "\ue015", "\ue014", "\ue007", "\ue00c"


def focus_on_the_map(page: Page) -> None:
    """The cursor is then on the start: row 11, column 1 of 4Rooms."""
    page.run("arguments[0].focus()", page.browser.find_element("css selector", ".panel canvas"))


def symbol(page: Page, row: int, col: int) -> str:
    return "#.SG"[page.js(f"farpointStudio.world.cells[{row} * farpointStudio.world.cols + {col}]")]


def test_link_shows_what_was_clicked(page: Page) -> None:
    page.click_cell(9, 9)
    page.click_cell(1, 11)
    page.wait("farpointStudio.panels[0].route")
    page.button("Distance").click()
    page.wait("farpointStudio.scored.layer === 'distance'")
    page.button("Agents").click()
    page.button("Q-learning").click()
    page.wait("location.hash.includes('agent=learn') && location.hash.includes('options=')")
    state = (
        "(({from, layer, panels, tab, player}) => [from, layer, panels[0].option, tab, player.mode])(farpointStudio)"
    )
    link, shown, route = page.js(f"[location.hash, {state}, Array.from(farpointStudio.panels[0].route)]")
    page.forget()
    page.open(link)
    page.wait("farpointStudio.panels[0].route && farpointStudio.scored.layer === 'distance'")
    assert page.js(state) == shown
    assert page.js("Array.from(farpointStudio.panels[0].route)") == route
    # Another link, typed into the same tab.
    page.run("location.hash = '#world=ring&t=13'")
    page.wait("farpointStudio.world.name === 'ring'")
    page.settled()
    assert page.js(state) == [-1, "score", -1, "options", "random"]
    assert page.goals == fp.find_goals(fp.ring(), fp.score(fp.ring(), 13)).states.tolist()


def test_link_shows_the_same_part_of_the_map(page: Page) -> None:
    focus_on_the_map(page)
    page.press("+", "+", "+", UP, UP)
    page.button("Visits").click()
    page.wait("location.hash.includes('view=') && location.hash.includes('layer=visits')")
    link, shown = page.js("[location.hash, farpointStudio.panels[0].board.whereabouts()]")
    assert shown[0] > 1.5
    page.forget()
    page.open(link, width=1100, height=800)
    page.wait("!farpointStudio.view.fitted && farpointStudio.layer === 'visits'")
    assert page.js("farpointStudio.panels[0].board.whereabouts()") == pytest.approx(shown, abs=0.01)
    page.run("farpointStudio.zoom(0)")
    page.wait("!location.hash.includes('view=')")


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("#map=xx", "damaged"),
        ("#map=3.3.%25%25", "damaged"),
        ("#map=3.3.AAAA", "damaged"),
        ("#map=20000.20000.{bomb}", "too large"),
        ("#map=1000.1000.{bomb}", "damaged"),
        ("#world=nonsense", "must be one of four_rooms"),
        ("#world=random_maze&rows=-4", "rows must be at least 1"),
    ],
)
def test_link_that_is_damaged_says_so_and_shows_a_world(page: Page, link: str, words: str) -> None:
    """A map that would unpack to 50 MB comes in some kilobytes."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = base64.urlsafe_b64encode(squeezer.compress(bytes(50_000_000)) + squeezer.flush()).decode().rstrip("=")
    page.open(link.format(bomb=bomb))
    assert words in page.js("farpointStudio.ui.alert.textContent")
    assert page.js("farpointStudio.world.name") == "four_rooms"


def test_numbers_of_a_link_are_within_their_sliders(page: Page) -> None:
    numbers = "(({t, nOptions, chance, prominence}) => [t, nOptions, chance, prominence])(farpointStudio)"
    page.open("#t=abc&k=-5&p=7&prominence=9")
    assert page.js(numbers) == [4, 1, 0.9, 1]
    page.open("#t=1e9&k=1e9&p=-1&prominence=-3")
    assert page.js(numbers) == [1000, 40, 0.01, 0]


def test_token_leaves_the_address(page: Page) -> None:
    assert "?token=" in page.address
    page.wait("location.hash.includes('t=4')")
    assert page.js("location.search") == ""
    # The cookie is enough from here on.
    page.browser.refresh()
    page.wait("window.farpointStudio?.scored")
    page.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    page.run("farpointStudio.setTab('take')")
    page.browser.find_element("id", "take-link").click()
    page.wait("window.copied")
    assert "t=4" in page.js("window.copied")
    assert "token" not in page.js("window.copied")


def test_nothing_inside_the_page_runs(page: Page) -> None:
    """Neither a script nor a style that text from a file or an address could bring in."""
    page.run(
        "const script = document.createElement('script'); script.textContent = 'window.ran = true';"
        "const inside = document.createElement('div');"
        'inside.innerHTML = \'<p style="color: red" onclick="ran = 1">\';'
        "document.body.append(script, inside); inside.firstChild.click();"
    )
    assert page.js("window.ran === undefined")
    assert page.js("getComputedStyle(document.querySelector('div > p')).color") != "rgb(255, 0, 0)"
    refused = page.errors()
    assert len(refused) == 3
    assert all("Content Security Policy" in one for one in refused)


def test_box_by_keyboard(page: Page) -> None:
    focus_on_the_map(page)
    page.press("r", "1", RIGHT, ENTER, UP, RIGHT)
    assert page.js("farpointStudio.panels[0].board.preview") == [11 * 13 + 2, 10 * 13 + 3]
    assert symbol(page, 11, 2) == "."
    page.press(ESCAPE, ENTER, DOWN, ENTER)
    page.settled()
    assert [symbol(page, row, col) for row in (10, 11) for col in (2, 3)] == [".", "#", ".", "#"]


def test_cursor_stays_on_the_canvas(page: Page) -> None:
    focus_on_the_map(page)
    page.press("+", "+", "+", "+", *[UP] * 9)
    x, y, width, height = page.js(
        "(({board}) => [...board.cellPoint(board.cursor), board.width, board.height])(farpointStudio.panels[0])"
    )
    assert 0 < x < width
    assert 0 < y < height


def test_there_is_one_start(page: Page) -> None:
    page.press("f", "3")
    page.click_cell(2, 2)
    page.settled()
    assert symbol(page, 2, 2) == "S"
    assert page.js("farpointStudio.world.cells.filter((code) => code === 2).length") == 1
    page.press_with_control("z")
    page.settled()
    assert symbol(page, 11, 1) == "S"
