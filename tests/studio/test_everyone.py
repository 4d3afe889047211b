"""The page without a pointer, without sight, on a phone; and what a visitor keeps and shares."""

from __future__ import annotations

import base64
import csv
import io
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from tests.helpers.browser import Page

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]

RIGHT, LEFT, HOME, END, ENTER, ESCAPE, TAB = "\ue014", "\ue012", "\ue011", "\ue010", "\ue007", "\ue00c", "\ue004"


def test_tabs_are_tabs(page: Page) -> None:
    tabs = page.js("[...document.querySelectorAll('[role=tablist] [role=tab]')].filter(e => e.offsetParent)"
                   ".map(e => [e.dataset.name, e.getAttribute('aria-controls')])")  # fmt: skip
    assert tabs == [[name, f"panel-{name}"] for name in ("options", "agents", "take")]
    page.run("document.querySelector('#tab-options').focus()")
    for key, tab in ((RIGHT, "agents"), (END, "take"), (RIGHT, "options"), (LEFT, "take"), (HOME, "options")):
        page.press(key)
        assert page.js("document.activeElement.id") == f"tab-{tab}"
        assert page.js("[...document.querySelectorAll('[role=tab][aria-selected=true]')].map(e => e.id)") == [
            f"tab-{tab}"
        ]
        panels = page.js("[...document.querySelectorAll('[role=tabpanel]')].filter(e => !e.hidden).map(e => e.id)")
        assert panels == [f"panel-{tab}"]
    # One of them is in the order of the Tab key.
    assert page.js("[...document.querySelectorAll('[role=tab]')].filter(e => e.tabIndex === 0).length") == 1


def test_every_control_is_reached_by_the_tab_key(page: Page) -> None:
    page.run("document.activeElement.blur()")
    page.run(
        "document.querySelectorAll('.fp :is(button, select, input, canvas)').forEach((e, at) => e.dataset.at = at)"
    )
    wanted = page.js(
        "[...document.querySelectorAll('[data-at]')].filter(e => e.offsetParent && !e.disabled && e.tabIndex >= 0)"
        ".map(e => e.dataset.at)"
    )
    assert len(wanted) > 25
    reached = set()
    for _ in range(len(wanted) + 2):
        page.press(TAB)
        reached.add(page.js("document.activeElement.dataset.at"))
    assert set(wanted) <= reached


def test_single_keys_can_be_turned_off(page: Page) -> None:
    page.press("?")
    page.browser.find_element("id", "single-keys").click()
    page.press(ESCAPE)
    for again in (False, True):
        if again:
            page.open()
        page.press("b", "d", ".", "1")
        assert page.js("[farpointStudio.painter.tool, farpointStudio.dark, farpointStudio.t]") == ["look", False, 4]
    # On a panel the cursor's keys go on working.
    page.run("document.querySelector('.panel canvas').focus()")
    page.press(RIGHT, ENTER)
    assert page.js("farpointStudio.from") == page.js("farpointStudio.world.start") + 1
    page.button("Keys of the keyboard (?)").click()
    page.browser.find_element("id", "single-keys").click()
    page.press(ESCAPE, "b")
    assert page.js("farpointStudio.painter.tool") == "brush"


def test_a_slider_that_is_moved_is_announced_once(page: Page) -> None:
    page.wait("farpointStudio.ui.spoken.textContent === 't = 4: 20 goals'")
    page.run("window.said = []; new MutationObserver(() => said.push(farpointStudio.ui.spoken.textContent))"
             ".observe(farpointStudio.ui.spoken, {childList: true})")  # fmt: skip
    live = page.js("[...document.querySelectorAll('.fp [aria-live], .fp [role=status]')].map(e => e.id)")
    assert live == ["spoken"]
    slider = page.browser.find_element("id", "t-slider")
    for _ in range(9):
        slider.send_keys(RIGHT)
    page.wait("said.length")
    page.settled()
    page.wait("said.at(-1) === 't = 13: 15 goals'")
    assert page.js("said") == ["t = 13: 15 goals"]


def test_on_a_phone_the_map_stays_in_sight(page: Page) -> None:
    page.open(width=390, height=844, phone=True)
    page.button("Close the tour").click()
    box = "document.querySelector('.panel canvas').getBoundingClientRect()"
    seen = f"(({{top, bottom, height}}) => [top, innerHeight - bottom, height])({box})"
    for tab in ("world", "options", "agents", "take"):
        page.browser.find_element("id", f"tab-{tab}").click()
        assert page.browser.find_element("id", f"panel-{tab}").is_displayed()
        top, below, height = page.js(seen)
        assert top > 0
        assert below > 0
        assert height > 150
        assert page.js("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [390, 844]
        small = page.js(
            "[...document.querySelectorAll('.fp :is(button, select, input)')].filter(e => e.offsetParent && "
            "e.type !== 'checkbox').map(e => [e.getBoundingClientRect().height, e.outerHTML.slice(0, 90)])"
            ".filter(([height]) => height < 44)"
        )
        assert small == []
    # A second tap closes the sheet, and the map has its room.
    page.browser.find_element("id", "tab-take").click()
    assert not page.browser.find_element("id", "panel-take").is_displayed()
    assert page.js(seen)[2] > 380


def test_undo_after_make_brings_the_world_back(page: Page) -> None:
    page.press("b", "1")
    page.click_cell(9, 9)
    page.settled()
    painted = page.js("Array.from(farpointStudio.world.cells)")
    choose = "const s = farpointStudio.ui.world.preset; s.value = arguments[0]; s.dispatchEvent(new Event('change'))"
    page.run(choose, "open_room")
    page.wait("farpointStudio.world.name === 'open_room'")
    page.run("farpointStudio.ui.world.rows.value = 5")
    page.button("Make this world; Undo brings the one before back").click()
    page.wait("farpointStudio.world.n === 60")
    page.run(choose, "graph karate club")
    page.wait("farpointStudio.world.n === 34", 60)
    names = []
    for wanted in (60, 144, 103, 104):
        page.button("Undo (Ctrl+Z)").click()
        page.wait(f"farpointStudio.world.n === {wanted}", 60)
        page.settled()
        names.append(page.js("farpointStudio.world.name"))
        if wanted == 103:
            assert page.js("Array.from(farpointStudio.world.cells)") == painted
    assert names == ["open_room", "open_room", "four_rooms", "four_rooms"]
    for _ in range(4):
        page.button("Redo (Ctrl+Shift+Z)").click()
        page.wait("!farpointStudio.painter.reopening", 60)
    page.wait("farpointStudio.world.n === 34", 60)


def test_worlds_are_kept_by_name(page: Page, tmp_path: Path) -> None:
    page.press("b", "1")
    page.click_cell(9, 9)
    page.settled()
    painted = page.js("Array.from(farpointStudio.world.cells)")
    page.button("Keep this world in this browser, under a name").click()
    page.run("document.querySelector('#saved-name').value = 'my rooms'")
    page.button("Save").click()
    page.wait("!document.querySelector('dialog')")
    (tmp_path / "path.edges").write_text("a b\nb c\nc d\n")
    page.browser.find_element("css selector", "input[type=file]").send_keys(str(tmp_path / "path.edges"))
    page.wait("farpointStudio.world.n === 4")
    page.run("farpointStudio.saveAs('a path')")
    page.wait("farpointStudio.savedName === 'a path'")
    page.open("#world=ring")
    assert page.js("[...farpointStudio.ui.world.saved.children].map(e => e.textContent)") == ["a path", "my rooms"]
    page.run("farpointStudio.choosePreset('saved my rooms')")
    page.wait("farpointStudio.world.n === 103")
    assert page.js("Array.from(farpointStudio.world.cells)") == painted
    assert page.js("farpointStudio.ui.world.preset.value") == "saved my rooms"
    page.run("farpointStudio.choosePreset('saved a path')")
    page.wait("farpointStudio.world.n === 4")
    page.button("Delete this world from your worlds").click()
    assert page.js("[...farpointStudio.ui.world.saved.children].map(e => e.textContent)") == ["my rooms"]


def test_link_that_cannot_carry_its_world_says_so(page: Page, tmp_path: Path) -> None:
    (tmp_path / "path.edges").write_text("a b\nb c\nc d\n")
    page.browser.find_element("css selector", "input[type=file]").send_keys(str(tmp_path / "path.edges"))
    page.wait("farpointStudio.world.n === 4")
    page.run("farpointStudio.setTab('take')")
    page.browser.find_element("id", "take-link").click()
    page.wait("document.querySelector('#taken-text')")
    said = page.js("document.querySelector('#taken-text').value")
    assert "cannot carry" in said
    # Somebody else opens it.
    page.forget()
    page.open("#" + said.split("#")[1])
    assert "does not carry its world" in page.js("farpointStudio.ui.alert.textContent")
    assert page.js("farpointStudio.world.name") == "four_rooms"


def test_states_and_table_as_csv(page: Page) -> None:
    page.run("farpointStudio.addPanel('cover')")
    page.wait("document.querySelectorAll('.table tr[data-method]').length === 3", 60)
    page.run(
        "window.saved = []; const make = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return make(blob); }"
    )
    page.run("farpointStudio.setTab('take')")
    for name in ("states", "table"):
        page.browser.find_element("id", f"take-{name}").click()
    page.wait("saved.length === 2")
    states, table = (list(csv.DictReader(io.StringIO(text))) for text in page.js("saved"))
    world = fp.four_rooms()
    assert world.positions is not None
    assert [[int(row["row"]), int(row["column"])] for row in states] == (world.positions).tolist()
    assert [float(row["score (t = 4)"]) for row in states] == pytest.approx(list(fp.score(world, 4)), rel=1e-6)
    for method in ("diffusion", "cover"):
        goals = [int(row["state"]) for row in states if row[f"goal ({method} options)"] == "1"]
        assert goals == sorted({*fp.discover(world, method, t=4).goals.tolist()})
    assert [row["method"] for row in table] == ["diffusion options", "cover options", "primitive actions"]
    assert float(table[2]["mean"]) == pytest.approx(fp.steps_between_states(world).mean)


def test_picture_is_sharp_and_has_its_color_bar(page: Page) -> None:
    from PIL import Image

    code = (
        "const done = arguments[arguments.length - 1]; const app = farpointStudio; const canvas = app.picture();"
        "done([canvas.toDataURL('image/png'), canvas.width, app.panels[0].board.width])"
    )
    url, width, shown = page.browser.execute_async_script(code)
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))).convert("RGB")).astype(int)
    assert width == picture.shape[1] == round(2 * shown)
    # Cells are as sharp as pixels: from one to the next color there is no blend of 2 × 2.
    bar = picture[-90:, 40:520]
    first, last = bar[:, 0], bar[:, -2]
    assert (np.abs(first - [68, 1, 84]).sum(axis=1) < 12).sum() >= 20
    assert (np.abs(last - [253, 231, 37]).sum(axis=1) < 12).sum() >= 20
