"""What somebody understands who sees the page for the first time: words, marks, the table, colors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from tests.helpers.browser import Page

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]

# Vision with one kind of cone missing, in linear RGB: Machado, Oliveira and Fernandes, 2009, severity 1.
VISION: dict[str, Any] = {
    "three cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def lab(colors: Any, vision: str) -> NDArray[np.float64]:
    """Return colors (RGB, 0 to 255) in CIE L*a*b*, where distances are how different they look."""
    share = np.asarray(colors, dtype=float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.transpose(VISION[vision]), 0, 1)
    xyz = linear @ np.transpose([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz /= [0.9505, 1, 1.089]
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def luminance(color: list[int], vision: str) -> float:
    """Return the relative luminance of a color, Y of CIE XYZ."""
    lightness = float(lab(color, vision)[0])
    return ((lightness + 16) / 116) ** 3 if lightness > 8 else lightness / 903.3


def rgb(color: str) -> list[int]:
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]


@pytest.mark.parametrize("vision", VISION)
def test_colors_hold_for_everybody_in_both_themes(page: Page, vision: str) -> None:
    """Shades rise in lightness; walls, unknown and cut-off cells are no shade, and not each other."""
    shades = page.js("Array.from({length: 256}, (_, at) => farpointStudio.panels[0].board.field.cssOf(at))")
    scale = lab([[int(part) for part in shade[4:-1].split(",")] for shade in shades], vision)
    assert (np.diff(scale[:, 0]) > -0.2).all()
    assert np.ptp(scale[:, 0]) > 70
    for dark in ("false", "true"):
        page.run(f"farpointStudio.setTheme({dark})")
        colors = page.js("farpointStudio.colors")
        cells = {name: lab(rgb(colors[name]), vision) for name in ("wall", "unknown", "cut")}
        for name, color in cells.items():
            assert np.linalg.norm(scale - color, axis=1).min() > 12, (name, dark)
        assert np.linalg.norm(cells["wall"] - cells["unknown"]) > 7
        back = luminance(rgb(colors["back"]), vision)
        for method in page.js("farpointStudio.settings.methods.map(({name}) => farpointStudio.colorOf(name))"):
            low, high = sorted([luminance(rgb(method), vision), back])
            assert (high + 0.05) / (low + 0.05) > 1.9, (method, dark)
        # Circles of goals are seen on every shade: white inside a dark edge.
        ring, edge = (lab(rgb(colors[name]), vision) for name in ("ring", "edge"))
        for color in scale:
            assert max(abs(color[0] - ring[0]), abs(color[0] - edge[0])) > 40


def test_words_and_marks_say_what_they_mean(page: Page) -> None:
    page.wait("document.querySelector('.table th')", 60)
    terms = page.js("[...document.querySelectorAll('.fp [data-tip]')].map(e => e.lastChild.textContent.trim())")
    for word in ("goals", "t =", "Score", "π₀", "Distance", "Visits", "Least prominence"):
        assert word in terms, word
    for word in ("median", "mean", "worst", "cover", "Wind"):
        assert word in terms, word
    for word in ("Options per method", "Option probability", "goal", "start", "target", "clicked", "agent"):
        assert word in terms, word
    # By the pointer, and by the keyboard too.
    from selenium.webdriver.common.action_chains import ActionChains

    word = page.browser.find_element("xpath", "//button[@data-tip][normalize-space()='Least prominence']")
    ActionChains(page.browser).move_to_element(word).perform()
    tip = page.browser.find_element("id", "tip")
    assert "share of the highest score" in tip.text
    assert word.get_attribute("aria-describedby") == "tip"
    page.press("\ue00c")
    assert not tip.is_displayed()
    page.run("document.querySelector('.marks button').focus()")
    assert "goal of an option" in tip.text


def test_table_always_has_primitive_actions_and_marks_the_best(page: Page) -> None:
    page.wait("document.querySelectorAll('.table tr[data-method]').length === 2", 60)
    rows = page.js("[...document.querySelectorAll('.table tr[data-method]')].map(r => r.dataset.method)")
    assert rows == ["diffusion", "none"]
    assert "Lower is better" in page.js("document.querySelector('.table').innerText")
    world = fp.four_rooms()
    options = fp.discover(world, t=4)
    mean = {"diffusion": fp.steps_between_states(world, options, option_probability=options.option_probability).mean,
            "none": fp.steps_between_states(world).mean}  # fmt: skip
    shown = "document.querySelector('.table tr[data-method={}] td:nth-of-type(2)')"
    best = min(mean, key=lambda name: mean[name])
    for name, value in mean.items():
        cell = shown.format(name)
        assert page.js(f"parseInt({cell}.textContent)") == round(value)
        assert page.js(f"{cell}.classList.contains('best')") == (name == best)
    # Four methods and primitive actions are five rows.
    page.open("#methods=diffusion,eigen,cover,random")
    page.wait("document.querySelectorAll('.table tr[data-method]').length === 5", 60)


def test_table_begins_with_a_sentence_that_sums_it_up(page: Page) -> None:
    page.wait("document.querySelector('.headline')", 60)
    world = fp.four_rooms()
    options = fp.discover(world, t=4)
    mean = fp.steps_between_states(world, options, option_probability=options.option_probability).mean
    alone = fp.steps_between_states(world).mean
    said = page.js("document.querySelector('.headline').innerText")
    assert said.startswith(f"{alone / mean:.2f} times quicker with diffusion options.")
    assert f"in {mean:.0f} steps on average, without options in {alone:.0f}." in said
    # Where options slow an agent down, that is said.
    said = page.browser.execute_async_script(
        "const done = arguments[0]; import('/web/table.js').then(({showTable}) => { showTable(farpointStudio, {rows: ["
        "{method: 'diffusion', median: 9, mean: 9, worst: 9, cover: 9}, {method: 'none', median: 7, mean: 7, worst: 7, "
        "cover: 7}]}); done(document.querySelector('.headline').innerText); });"
    )
    assert said.startswith("Options do not help here.")


SIZES = [(1440, 900, False), (1280, 720, False), (1000, 800, False), (390, 844, True)]


@pytest.mark.parametrize(("width", "height", "phone"), SIZES)
def test_nothing_lies_on_anything_else(page: Page, width: int, height: int, phone: bool) -> None:
    """However many panels there are, with the tour open."""
    boxes = (
        "[...document.querySelectorAll('.tour, .scorebar, .panel, .marks, .scale')].filter((one) => one.offsetParent)"
        ".map((one) => [one.className, one.getBoundingClientRect().toJSON()])"
    )
    for methods in ("diffusion,eigen", "diffusion,eigen,cover", "diffusion,eigen,cover,none"):
        page.open(f"#methods={methods}", width=width, height=height, phone=phone)
        page.run("farpointStudio.showTour(true)")
        found = page.js(boxes)
        assert len(found) == 5 + methods.count(",")
        for (one, a), (other, b) in itertools.combinations(found, 2):
            beside = a["right"] <= b["left"] or b["right"] <= a["left"]
            assert beside or a["bottom"] <= b["top"] or b["bottom"] <= a["top"], (methods, one, a, other, b)
        heights = page.js("farpointStudio.panels.map(({board}) => board.height)")
        assert min(heights) > (60 if phone else 150)
        rights = page.js(
            "[...document.querySelectorAll('.marks .term')].map((one) => one.getBoundingClientRect().right)"
        )
        assert max(rights) <= width


def test_numbers_of_large_worlds_fit_beside_the_chart(page: Page) -> None:
    widths = page.browser.execute_async_script(
        "const done = arguments[0]; import('/web/charts.js').then(({tickText}) => {"
        "const context = document.createElement('canvas').getContext('2d');"
        "context.font = '11px system-ui, sans-serif';"
        "done([0, 500, 9000, 20000, 500000, 1e6, 2.5e6, 4e6].map((value) => [tickText(value), "
        "context.measureText(tickText(value)).width])); });"
    )
    assert [text for text, _ in widths] == ["0", "500", "9,000", "20k", "500k", "1M", "2.5M", "4M"]
    # The margin is 44 pixels, 6 of them between number and axis, and 15 of the label that lies beside it.
    assert max(width for _, width in widths) < 38


def test_a_method_has_one_name_everywhere(page: Page) -> None:
    page.open("#methods=eigen,none")
    page.wait("document.querySelectorAll('.table tr[data-method]').length === 2", 60)
    page.run("farpointStudio.player.step()")
    page.wait("farpointStudio.player.steps === 1")
    names = page.js(
        "[[...document.querySelectorAll('.panel-head select')].map(s => s.selectedOptions[0].textContent),"
        "[...document.querySelectorAll('.table tbody th')].map(e => e.textContent),"
        "[...document.querySelectorAll('.legend span')].map(e => e.textContent.split(/ [0-9]/)[0])]"
    )
    assert names == [["eigenoptions", "primitive actions"]] * 3


def test_play_stands_beside_t(page: Page) -> None:
    box = "document.querySelector('{}').getBoundingClientRect().toJSON()"
    play, slider = (page.js(box.format(name)) for name in (".play", "#t-slider"))
    assert 0 < play["left"] - slider["right"] < 100
    assert abs(play["top"] - slider["top"]) < 60
    page.browser.find_element("css selector", ".play").click()
    page.wait("farpointStudio.player.steps > 20")
    assert page.browser.find_element("css selector", ".chart").is_displayed()
    assert "Pause" in page.browser.find_element("css selector", ".play").text
