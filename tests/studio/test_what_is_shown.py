"""What the page shows is what it says: agents, colors, numbers and marks, against the library."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.studio.agents import RandomAgent
from tests.helpers.browser import Page

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]


def explore(page: Page) -> None:
    """Explore from scratch with every panel, to the end."""
    page.run(
        "farpointStudio.setTab('agents'); farpointStudio.player.speed = 1e5; farpointStudio.player.setMode('scratch')"
    )
    page.run("farpointStudio.player.toggle()")
    page.wait("farpointStudio.player.ready && !farpointStudio.player.playing", 60)


def test_methods_that_need_the_whole_world_do_not_explore_from_scratch(page: Page) -> None:
    page.open("#methods=farpoint,louvain,cover,none")
    explore(page)
    assert page.js("farpointStudio.player.runs.map(run => run.panel.method)") == ["cover", "none"]
    for panel in (0, 1):
        said = page.js(f"farpointStudio.panels[{panel}].element.querySelector('.covered').innerText")
        assert said.startswith("Not from scratch")
        assert page.js(f"farpointStudio.panels[{panel}].agent") == -1
        assert page.js(f"farpointStudio.panels[{panel}].shownGoals.length") == 0
    explored = fp.explore(fp.four_rooms(), page.js("farpointStudio.player.steps"), "cover", max_episode_steps=100)
    assert page.js("farpointStudio.player.runs[0].seen") == explored.n_states
    assert "farpoint" not in page.js("farpointStudio.ui.agents.legend.innerText")
    page.run("farpointStudio.player.setMode('random')")
    assert page.js("farpointStudio.panels.every(panel => panel.covered.hidden)")


def test_exploring_uses_t_and_the_option_probability_of_the_page(page: Page) -> None:
    page.open("#world=maze&t=400&p=0.3&methods=diffusion,none")
    explore(page)
    steps = page.js("farpointStudio.player.steps")
    explored = fp.explore(fp.maze(), steps, max_episode_steps=100, t=400, option_probability=0.3)
    assert page.js("farpointStudio.player.runs[0].seen") == explored.n_states
    seen = page.js("(({x, y}) => x[y.findIndex((count) => count >= 120)])(farpointStudio.player.runs[0])")
    assert (
        seen == explored.steps_until(120) != fp.explore(fp.maze(), steps, max_episode_steps=100, t=100).steps_until(120)
    )


def test_visits_under_the_pointer_are_counts_on_a_logarithmic_bar(page: Page) -> None:
    page.run("farpointStudio.player.speed = 1e5; farpointStudio.player.toggle()")
    page.wait("farpointStudio.player.steps > 20000", 60)
    page.run("farpointStudio.player.stop()")
    visits = page.js("farpointStudio.player.runs.map(run => Array.from(run.visits))")
    most = max(map(max, visits))
    for panel in (0, 1):
        hit = "farpointStudio.world.stateCell[40]"
        said = page.js(f"farpointStudio.describe(farpointStudio.panels[{panel}].board, {hit})")
        assert f"visits = {visits[panel][40]:,.0f}" in said
    # One scale for both panels, with its ticks where their colors are.
    assert page.js("farpointStudio.panels.map(panel => panel.field.high)") == [most, most]
    ticks = page.js(
        "[...document.querySelectorAll('#bar-ticks span')].map(e => [e.textContent, parseFloat(e.style.left)])"
    )
    assert [text for text, _ in ticks][:3] == ["0", "1", "10"]
    assert ticks[-1] == [f"{most:,.0f}", 100]
    shades = page.js("farpointStudio.panels.map(panel => panel.field.shadeOf(40))")
    assert shades == [round(255 * math.log1p(one[40]) / math.log1p(most)) for one in visits]
    # Of a score the bar is linear.
    page.button("Score").click()
    low, high = page.js("[farpointStudio.base.low, farpointStudio.base.high]")
    middle = page.js("[...document.querySelectorAll('#bar-ticks span')].map(e => Number(e.textContent))")
    assert middle == pytest.approx([low, (low + high) / 2, high], rel=5e-3)


def test_an_agent_that_does_not_arrive_is_not_said_to(page: Page) -> None:
    """The curve of Q-learning counts one step more than an episode may have where the target was not reached."""
    page.open("#methods=none")
    page.run("farpointStudio.setTab('agents'); farpointStudio.player.setMode('learn')")
    page.button("One step (S)").click()
    page.wait("farpointStudio.player.steps === 1 && farpointStudio.player.runs[0].curve[0] === 105", 60)
    page.wait("farpointStudio.player.runs[0].band", 60)
    assert page.js("farpointStudio.ui.agents.legend.innerText") == "primitive actions > 104 steps [> 104, > 104]"


def test_visits_of_learning_are_counts_too(page: Page) -> None:
    page.run("farpointStudio.setTab('agents'); farpointStudio.player.setMode('learn'); farpointStudio.player.toggle()")
    page.wait("farpointStudio.player.ready", 60)
    page.run("farpointStudio.player.stop(); farpointStudio.setLayer('visits')")
    visits = page.js("farpointStudio.player.runs.map(run => Array.from(run.visits))")
    assert page.js("farpointStudio.panels[0].field.high") == max(map(max, visits)) > 1


def test_what_was_clicked_stays_at_its_cell_after_painting(page: Page) -> None:
    page.click_cell(9, 9)
    page.click_cell(11, 11)
    page.wait("farpointStudio.panels[0].route && farpointStudio.panels[0].arrows")
    before = page.js("farpointStudio.from")
    # A wall above: all states below have other numbers.
    page.press("b", "1")
    page.click_cell(1, 2)
    page.settled()
    page.wait("farpointStudio.panels[0].route")
    cell = "(state) => ((cell) => [Math.floor(cell / 13), cell % 13])(farpointStudio.world.stateCell[state])"
    assert page.js("farpointStudio.from") == before - 1
    assert page.js(f"[farpointStudio.from, farpointStudio.panels[0].board.from].map({cell})") == [[9, 9], [9, 9]]
    assert page.js(f"[farpointStudio.panels[0].options[farpointStudio.panels[0].option]].map({cell})") == [[11, 11]]
    route = page.js(f"Array.from(farpointStudio.panels[0].route).map({cell})")
    assert (route[0], route[-1]) == ([9, 9], [11, 11])
    # Painted over, both go away.
    page.click_cell(9, 9)
    page.click_cell(11, 11)
    page.settled()
    assert (
        page.js("[farpointStudio.from, farpointStudio.panels[0].board.from, farpointStudio.panels[0].option]")
        == [-1] * 3
    )
    assert page.js("farpointStudio.ui.options.picked.textContent") == ""


def test_distance_is_measured_from_the_same_cell_after_painting(page: Page) -> None:
    page.click_cell(9, 9)
    page.button("Distance").click()
    page.wait("farpointStudio.scored.layer === 'distance'")
    page.press("b", "1")
    page.click_cell(1, 2)
    page.settled()
    state = page.js("farpointStudio.from")
    assert page.js("farpointStudio.world.stateCell[farpointStudio.from]") == 9 * 13 + 9
    page.wait("farpointStudio.scored.values[farpointStudio.from] < 1e-9")
    rows = fp.worlds.catalogue.FOUR_ROOMS.splitlines()
    world = fp.World.from_map("\n".join([rows[0], rows[1][:2] + "#" + rows[1][3:], *rows[2:]]))
    shown = page.js("Array.from(farpointStudio.scored.values)")
    assert shown == pytest.approx(fp.diffusion_distance(world, state, 4), rel=1e-5, abs=1e-7)


def test_a_goal_on_the_start_is_seen(page: Page) -> None:
    """20 goals are 20 circles: the one on the start is drawn around its S."""
    start = page.js("farpointStudio.world.start")
    assert start in page.goals
    picture = (
        "(({board}) => {const [x, y] = board.point(board.world.start); board.paint(); const ratio = devicePixelRatio;"
        "const box = [x - 20, y - 20, 40, 40].map((value) => value * ratio);"
        "return Array.from(board.context.getImageData(...box).data)})(farpointStudio.panels[0])"
    )
    with_goal = page.js(picture)
    page.run(
        "const panel = farpointStudio.panels[0];"
        "panel.shownGoals = panel.options = panel.shownGoals.filter((goal) => goal !== farpointStudio.world.start)"
    )
    assert page.js(picture) != with_goal


@pytest.mark.parametrize("agent", ["random", "learn", "scratch"])
def test_curves_of_agents_are_bands_over_twenty_seeds(page: Page, agent: str) -> None:
    """The quartiles of 20 runs of the library."""
    page.run("farpointStudio.setTab('agents'); farpointStudio.player.setMode(arguments[0])", agent)
    page.run("farpointStudio.player.step()")
    page.wait("farpointStudio.player.runs.length === 2 && farpointStudio.player.runs.every((run) => run.band)", 120)
    x, low, middle, high = page.js(
        "(({x, low, middle, high}) => [x, low, middle, high].map((one) => Array.from(one)))"
        "(farpointStudio.player.runs[0].band)"
    )
    world = fp.four_rooms()
    options = fp.discover(world, t=4)
    runs: Any = []
    if agent == "learn":
        target = page.js("farpointStudio.panels[0].target")
        runs = fp.learn(
            world, options, targets=[target], n_runs=20, n_episodes=200, max_steps=104, algorithm="intra-option",
            option_probability=options.option_probability,
        ).curves[:, 0]  # fmt: skip
        at = slice(None)
    elif agent == "scratch":
        found = [fp.explore(world, int(x[-1]), max_episode_steps=100, seed=seed) for seed in range(20)]
        runs = [[one.steps_until(count) for count in range(1, one.n_states + 1)] for one in found]
        runs = [np.searchsorted(one, x, side="right") for one in runs]
        at = slice(1, None)
    else:
        for seed in range(20):
            agent_of_seed = RandomAgent(world, options, None, seed)
            visited = np.append(agent_of_seed.first, agent_of_seed.walk(int(x[-1]))[0])
            runs.append([len(set(visited[: step + 1].tolist())) for step in x])
        at = slice(None)
    expected = np.percentile(runs, (25, 50, 75), axis=0)
    np.testing.assert_allclose(np.array([low, middle, high])[:, at], expected[:, at], rtol=1e-6)
    legend = page.js("farpointStudio.ui.agents.legend.innerText")
    assert "[" in legend
    assert "Of 20 runs" in page.js("document.querySelector('#panel-agents').innerText")
