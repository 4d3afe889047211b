"""Five people's tasks from a cold start: nobody has read a page of docs, and none takes more than six clicks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from tests.helpers.browser import Page

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]

MOST_CLICKS = 6


class Hand:
    """A visitor's hand: it finds things by what is written on them, and counts its clicks."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, text: str) -> None:
        """Click on the button that says a text."""
        path = f"//button[contains(normalize-space(), '{text}')][not(@data-tip) or @role]"
        seen = [one for one in self.page.browser.find_elements("xpath", path) if one.is_displayed()]
        assert seen, text
        seen[0].click()
        self.clicks += 1

    def choose(self, select: Any, text: str) -> None:
        """Open a list and click on an entry."""
        from selenium.webdriver.support.select import Select

        Select(select).select_by_visible_text(text)
        self.clicks += 2

    def draw(self, cells: tuple[int, int], to: tuple[int, int]) -> None:
        """Draw from a cell to another."""
        self.page.click_cell(*cells, to=to)
        self.clicks += 1

    def on_state(self, state: int) -> None:
        """Click on a state of the first panel's world."""
        from selenium.webdriver.common.action_chains import ActionChains

        canvas = self.page.browser.find_element("css selector", ".panel canvas")
        x, y = self.page.js(
            "(({board}) => { const [x, y] = board.point(arguments[0]); "
            "return [x - board.width / 2, y - board.height / 2]; })(farpointStudio.panels[0])".replace(
                "arguments[0]", str(state)
            )
        )
        ActionChains(self.page.browser).move_to_element_with_offset(canvas, round(x), round(y)).click().perform()
        self.clicks += 1

    def __enter__(self) -> Hand:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.clicks <= MOST_CLICKS


def table(page: Page) -> dict[str, list[str]]:
    """Return the rows of the table as they are read."""
    rows = page.js("[...document.querySelectorAll('.table tbody tr')].map(r => [...r.children].map(c => c.innerText))")
    return {row[0]: row[1:] for row in rows}


def test_draw_a_maze_and_find_its_far_points(page: Page) -> None:
    with Hand(page) as hand:
        hand.choose(page.browser.find_element("css selector", "select[aria-label=World]"), "Open room")
        page.wait("farpointStudio.world.name === 'open_room'")
        hand.click("Brush")
        hand.draw((1, 4), (8, 4))
        hand.draw((5, 8), (12, 8))
    page.settled()
    cells = page.js("Array.from(farpointStudio.world.cells)")
    rows = ["".join("#.SG"[code] for code in cells[at : at + 14]) for at in range(0, 14 * 14, 14)]
    assert rows[1] == "#...#........#"
    world = fp.World.from_map("\n".join(rows))
    goals = fp.find_goals(world, fp.score(world, 4)).states.tolist()
    assert page.goals == goals
    assert page.browser.find_element("id", "n-goals").text == str(len(goals))


def test_compare_two_methods(page: Page) -> None:
    with Hand(page) as hand:
        hand.click("Compare another method")
        hand.choose(page.browser.find_elements("css selector", ".panel-head select")[1], "eigenoptions")
    page.wait("document.querySelectorAll('.table tr[data-method]').length === 3", 60)
    rows = table(page)
    world = fp.four_rooms()
    for name, method in (("diffusion options", "diffusion"), ("eigenoptions", "eigen")):
        options = fp.discover(world, method, t=4)
        steps = fp.steps_between_states(world, options, option_probability=options.option_probability)
        assert rows[name][1].split()[0].strip(",") == f"{steps.mean:.0f}"
    assert "primitive actions" in rows
    assert "Lower is better" in page.browser.find_element("css selector", ".table").text


def test_open_an_environment_by_name(page: Page) -> None:
    with Hand(page) as hand:
        hand.choose(page.browser.find_element("css selector", "select[aria-label=World]"), "Another, by name …")
        # The cursor is where the name is typed; a slip of the finger leaves it there.
        page.press("CliffWalkin-v1", "\ue007")
        page.wait("!farpointStudio.ui.alert.hidden", 60)
        assert page.js("document.activeElement.value") == "CliffWalkin-v1"
        page.press("CliffWalking-v1", "\ue007")
        page.wait("farpointStudio.world.name.includes('CliffWalking')", 120)
    page.settled()
    assert len(page.goals) > 0


def test_take_python_home_and_run_it(page: Page, tmp_path: Path) -> None:
    with Hand(page) as hand:
        hand.click("Take away")
        hand.click("Copy as Python")
        page.wait("document.querySelector('#taken-text')")
    program = tmp_path / "home.py"
    program.write_text(page.js("document.querySelector('#taken-text').value"))
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[0] == f"20 goals: {page.goals}"


def test_open_a_log_and_go_somewhere(page: Page, tmp_path: Path) -> None:
    env = fp.ContinuousMaze(
        "S.........\n..........\n########..\n########..\n########..\n..........\n..........",
        start="random",
        max_steps=200,
    )
    log = fp.envs.record_samples(env, 20_000, seed=0)
    np.savez(tmp_path / "maze.npz", observations=log.observations, actions=log.actions,
             next_observations=log.next_observations, truncated=log.truncated, terminated=log.terminated)  # fmt: skip
    policy = fp.GoalPolicy.from_log(log)
    assert policy.world.observations is not None
    seen = policy.world.observations
    with Hand(page) as hand:
        # What "Open …" asks the computer for; a driver cannot click in its window.
        hand.clicks += 2
        page.browser.find_element("css selector", "input[type=file]").send_keys(str(tmp_path / "maze.npz"))
        page.wait("farpointStudio.world.log", 60)
        page.settled()
        assert page.goals == fp.discover(policy.world, t=4).goals.tolist()
        goal = int(((seen - [0.5, 6.5]) ** 2).sum(axis=1).argmin())
        hand.on_state(goal)
        page.wait("farpointStudio.panels[0].route")
    start = 0
    route = page.js("Array.from(farpointStudio.panels[0].route)")
    np.testing.assert_allclose(seen[route], policy.route(seen[start], seen[goal]))
    said = page.browser.find_element("id", "picked").text
    assert f"{len(route)} cells" in said
    # From there on to another.
    page.button("Begin there").click()
    page.run("farpointStudio.askWay(0)")
    page.wait(f"farpointStudio.panels[0].route[0] === {goal}")
