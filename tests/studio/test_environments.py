"""Environments whose states share cells: which of them are shown, and the environment's own picture."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from tests.helpers.browser import Page

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]


def test_states_of_a_cell_are_shown_by_what_differs_in_them(page: Page) -> None:
    pytest.importorskip("minigrid")
    page.open("#world=env&id=MiniGrid-DoorKey-5x5-v0")
    names = page.js("farpointStudio.world.slices.map((one) => one.name)")
    assert "facing" in names
    assert "carrying" in names
    selects = page.browser.find_elements("css selector", ".slices select")
    assert [one.get_attribute("aria-label") for one in selects] == names
    shown = "Array.from(farpointStudio.world.cellState).filter((state) => state >= 0)"
    # At first the map is that of the picture: what the agent carries and how the door is, in any direction.
    first = page.js("farpointStudio.world.start")
    chosen = page.js("farpointStudio.world.shownSlices")
    of_first = [page.js(f"farpointStudio.world.sliceOf[{index}][{first}]") for index in range(len(names))]
    assert chosen == [-1 if name == "facing" else value for name, value in zip(names, of_first, strict=True)]
    assert [one.get_attribute("value") for one in selects] == [str(value) for value in chosen]
    said = page.browser.find_element("id", "afar").text
    assert re.fullmatch(r"Shown: \d+ of [\d,]+ states, \d+ of \d+ goals\.", said)
    # Vector graphics show the same.
    picture = ElementTree.fromstring(
        page.browser.execute_async_script(
            "const done = arguments[0]; import('/web/export.js').then(({svgText}) => done(svgText(farpointStudio)));"
        )
    )
    fills = {one.get("fill") for one in picture.iter("{http://www.w3.org/2000/svg}rect")}
    colors = page.js("farpointStudio.colors")
    assert colors["floor"] in fills
    assert colors["cut"] not in fills
    circles = sum(1 for _ in picture.iter("{http://www.w3.org/2000/svg}circle"))
    assert f", {circles} of " in said
    # Which cells there are, and for each value which of them.
    set_value = "const [select, value] = arguments; select.value = value; select.dispatchEvent(new Event('change'))"
    for select in selects:
        page.run(set_value, select, "-1")
    everywhere = len(page.js(shown))
    for index, name in enumerate(names):
        texts = page.js(f"farpointStudio.world.slices[{index}].values")
        assert len(texts) > 1
        page.run(set_value, selects[index], "0")
        states = page.js(shown)
        of_state = page.js(f"Array.from(farpointStudio.world.sliceOf[{index}])")
        assert 0 < len(states) <= everywhere
        assert {of_state[state] for state in states} == {0}, name
    hit = page.js(
        "farpointStudio.world.stateCell[Array.from(farpointStudio.world.cellState).find((state) => state >= 0)]"
    )
    said = page.js(f"farpointStudio.describe(farpointStudio.panels[0].board, {hit})")
    assert all(f"{name}: " in said for name in names)


def test_visits_are_those_of_all_states_of_a_cell(page: Page) -> None:
    page.open("#world=env&id=Taxi-v4")
    page.run("farpointStudio.player.speed = 3000; farpointStudio.player.toggle()")
    page.wait("farpointStudio.player.steps > 500", 60)
    page.run("farpointStudio.player.stop()")
    visits, cells, values, high = page.js(
        "(({player: {runs: [run]}, world, panels: [panel], shownBar}) => [Array.from(run.visits), "
        "Array.from(world.stateCell), Array.from(panel.field.values), shownBar.high])(farpointStudio)"
    )
    totals = np.bincount(cells, visits)
    assert values == totals[cells].tolist()
    # One scale for both panels.
    assert high >= totals.max()
    assert page.js("document.querySelector('.slices select').disabled")
    assert page.browser.find_element("id", "afar").text == "Visits of all states of a cell."
    page.button("Score").click()
    page.wait("!document.querySelector('.slices select').disabled")


def test_table_of_episodes_has_the_steps_to_a_target(page: Page) -> None:
    page.open("#world=env&id=FrozenLake-v1")
    page.wait("document.querySelector('.headline')", 120)
    heads = page.js("[...document.querySelectorAll('.table thead th')].map((one) => one.innerText)")
    assert heads == ["Method", "steps until a target"]
    rows = page.js("farpointStudio.table.rows")
    world = fp.World.from_env(gym.make("FrozenLake-v1"))
    found = fp.measures.compare(world, [fp.discover(world, t=4), fp.discover(world, "none")], n_runs=40).rows
    best = min(range(2), key=lambda index: rows[index]["first"])
    for index, row in enumerate(found):
        assert row.first_target is not None
        assert rows[index]["first"] == pytest.approx(row.first_target.value)
        cell = f"document.querySelectorAll('.table tbody tr')[{index}].querySelector('td')"
        assert page.js(f"{cell}.innerText").startswith(str(row.first_target))
        assert page.js(f"{cell}.classList.contains('best')") == (index == best)
    text = page.browser.execute_async_script(
        "const done = arguments[0]; import('/web/export.js').then(({tableCsv}) => done(tableCsv(farpointStudio)));"
    )
    assert text.splitlines()[0] == "method,options,option probability,first"
    assert float(text.splitlines()[1].split(",")[3]) == pytest.approx(rows[0]["first"])


def test_continuous_maze_to_play_with(page: Page) -> None:
    page.run("farpointStudio.choosePreset('continuous')")
    page.wait("farpointStudio.world.log", 60)
    page.settled()
    env = fp.ContinuousMaze(start="random", max_steps=200)
    policy = fp.GoalPolicy.from_log(fp.envs.record_samples(env, 20_000, seed=0))
    assert page.goals == fp.discover(policy.world, t=4).goals.tolist()
    assert "Click any cell" in page.browser.find_element("id", "picked").text
    page.run("farpointStudio.click(farpointStudio.panels[0].board, farpointStudio.panels[0].options[3])")
    page.wait("farpointStudio.panels[0].route")
    seen = policy.world.observations
    assert seen is not None
    expected = policy.route(seen[0], seen[page.goals[3]])
    np.testing.assert_allclose(seen[page.js("Array.from(farpointStudio.panels[0].route)")], expected)
    # The address names it.
    page.wait("location.hash.includes('world=continuous')")


def test_environment_s_own_picture_stands_beside_the_map(page: Page) -> None:
    page.open("#world=env&id=FrozenLake-v1")
    page.wait("!farpointStudio.ui.options.picture.hidden", 60)
    picture = "farpointStudio.ui.options.shot.toDataURL()"
    first = page.js(picture)
    assert page.js("farpointStudio.ui.options.shot.width") > 100
    page.click_cell(1, 3)
    page.wait("farpointStudio.ui.options.picture.innerText.includes('state 2,')")
    assert page.js(picture) != first
    # A world that is no environment has none.
    page.run("farpointStudio.choosePreset('named ring')")
    page.wait("farpointStudio.world.n === 192")
    assert page.js("farpointStudio.ui.options.picture.hidden")


def test_opening_says_how_many_states_were_found_and_can_be_cancelled(page: Page) -> None:
    pytest.importorskip("minigrid")
    page.run("farpointStudio.openOr({kind: 'env', id: 'MiniGrid-DoorKey-16x16-v0'})")
    page.wait("/[0-9] states found/.test(farpointStudio.ui.status.textContent)", 60)
    page.button("Stop opening, and keep the world that is shown").click()
    page.wait("farpointStudio.ui.status.textContent === '' && farpointStudio.ui.cancel.hidden")
    assert page.js("farpointStudio.world.name") == "four_rooms"
    # The world that is shown goes on, painted and all.
    page.press("b", "1")
    page.click_cell(9, 9)
    page.settled()
    assert page.js("farpointStudio.world.n") == 103
    page.run("farpointStudio.setTime(5)")
    page.settled()
    assert len(page.goals) > 0
