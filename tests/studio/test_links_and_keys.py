"""What a link restores, and what the keyboard does without a pointer."""

from __future__ import annotations

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


def test_copied_link_has_no_token(page: Page) -> None:
    page.run("history.replaceState(null, '', '?token=secret' + location.hash)")
    page.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    page.run("farpointStudio.setTab('take')")
    page.browser.find_element("id", "take-link").click()
    page.wait("window.copied")
    assert "t=4" in page.js("window.copied")
    assert "secret" not in page.js("window.copied")


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
