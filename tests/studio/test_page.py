"""The page in a real browser: what a person does, against what the library says."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import farpoint as fp
from tests.helpers.browser import Page, Server

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]


def library_goals(text: str, t: int) -> list[int]:
    world = fp.World.from_map(text, largest_component=True)
    return [int(state) for state in fp.find_goals(world, fp.score(world, t))]


def map_text(page: Page) -> str:
    """The map as the page has it."""
    cells, cols = page.js("[Array.from(farpointStudio.world.cells), farpointStudio.world.cols]")
    return "\n".join("".join("#.SG"[code] for code in cells[at : at + cols]) for at in range(0, len(cells), cols))


def test_first_visit(page: Page) -> None:
    """4Rooms at t = 4, computed, and a tour of three sentences that can be closed and found again."""
    assert page.goals == fp.find_goals(fp.four_rooms(), fp.score(fp.four_rooms(), 4)).states.tolist()
    assert page.js("document.querySelector('#n-goals').textContent") == "20"
    tour = page.browser.find_element("css selector", ".tour ol")
    assert tour.is_displayed()
    assert [sentence.count(".") for sentence in tour.text.splitlines()] == [1, 1, 1]
    page.button("Close the tour").click()
    page.open()
    assert not page.browser.find_element("css selector", ".tour").is_displayed()
    page.button("Tour").click()
    assert page.browser.find_element("css selector", ".tour").is_displayed()
    assert page.js("document.activeElement.textContent") == "Tour"


def test_painted_wall_changes_the_goals(page: Page) -> None:
    page.press("b")
    page.click_cell(3, 1, to=(3, 4))
    page.settled()
    text = map_text(page)
    assert text.splitlines()[3] == "#####..GGGGG#"
    assert page.goals == library_goals(text, 4)
    page.press_with_control("z")
    page.settled()
    assert map_text(page) == fp.worlds.catalogue.FOUR_ROOMS
    assert len(page.goals) == 20
    page.button("Redo (Ctrl+Shift+Z)").click()
    page.settled()
    assert map_text(page) == text


def test_box_and_fill(page: Page) -> None:
    page.press("r", "1")
    page.click_cell(8, 1, to=(9, 3))
    page.settled()
    assert map_text(page).splitlines()[8:10] == ["####..#.....#", "####..#.....#"]
    page.press("f", "4")
    page.click_cell(2, 2)
    page.settled()
    # One region of floor: all of it but for the start and the targets that were there.
    assert map_text(page).count("G") == 104 - 6 - 1
    assert page.js("farpointStudio.world.n") == 98


def test_cells_that_are_cut_off_are_named(page: Page) -> None:
    page.press("b", "1")
    page.click_cell(3, 6)
    page.click_cell(6, 2)
    page.settled()
    note = page.js("farpointStudio.ui.title.textContent")
    assert "25 cells are cut off from the rest" in note
    assert page.goals == library_goals(map_text(page), 4)


def test_slider_at_13_has_15_goals(page: Page) -> None:
    slider = page.browser.find_element("id", "t-slider")
    for _ in range(9):
        slider.send_keys("\ue014")  # the right arrow
    page.settled()
    assert page.js("farpointStudio.t") == 13
    assert len(page.goals) == 15
    assert page.js("document.querySelector('#n-goals').textContent") == "15"
    page.wait("farpointStudio.counts.some(([t]) => t === 1000)")
    counts = dict(page.js("farpointStudio.counts"))
    world = fp.four_rooms()
    for t in (1, 13, 100, 1000):
        assert counts[t] == len(fp.find_goals(world, fp.score(world, t)))


def test_click_on_the_curve_chooses_t(page: Page) -> None:
    page.wait("farpointStudio.counts.length >= 28")
    page.browser.find_element("css selector", ".curve").click()
    page.settled()
    assert 28 <= page.js("farpointStudio.t") <= 36  # the middle of a logarithmic axis from 1 to 1000


def test_layers_and_values_under_the_pointer(page: Page) -> None:
    world = fp.four_rooms()
    page.button("π₀").click()
    page.wait("farpointStudio.scored.layer === 'stationary'")
    assert page.js("Array.from(farpointStudio.scored.values)") == pytest.approx(fp.stationary(world), rel=1e-6)
    page.click_cell(1, 1)
    page.button("Distance").click()
    page.wait("farpointStudio.scored.layer === 'distance'")
    assert page.js("Array.from(farpointStudio.scored.values)") == pytest.approx(
        fp.diffusion_distance(world, 94, 4), rel=1e-5, abs=1e-7
    )
    page.click_cell(1, 2)
    page.wait("Math.abs(farpointStudio.scored.values[1]) < 1e-9")
    shown = page.js("farpointStudio.ui.hover.textContent")
    assert shown.startswith("row 1, column 2 · state 1 · distance = 0")


def test_methods_side_by_side(page: Page) -> None:
    page.button("Show another method beside the others").click()
    page.wait("farpointStudio.panels.length === 2 && !farpointStudio.panels[1].waiting")
    world = fp.four_rooms()
    for method in ("cover", "random"):
        page.run("farpointStudio.panels[1].select.value = arguments[0];"
                 "farpointStudio.panels[1].select.dispatchEvent(new Event('change'))", method)  # fmt: skip
        page.wait("!farpointStudio.panels[1].waiting")
        assert page.js("Array.from(farpointStudio.panels[1].options)") == fp.discover(world, method, t=4).goals.tolist()
    page.wait("document.querySelectorAll('.table tbody tr[data-method]').length === 3", 60)
    cells = page.js(
        "[...document.querySelectorAll('.table tr[data-method=diffusion] td')].map(c => parseInt(c.textContent))"
    )
    options = fp.discover(world, t=4)
    exact = fp.steps_between_states(world, options, option_probability=options.option_probability)
    assert cells[:3] == [round(value) for value in (exact.median, exact.mean, exact.worst)]


def test_option_shows_its_policy_and_route(page: Page) -> None:
    page.click_cell(1, 11)
    page.wait("farpointStudio.panels[0].arrows && farpointStudio.panels[0].route")
    world = fp.four_rooms()
    options = fp.discover(world, t=4)
    number = page.js("farpointStudio.panels[0].option")
    assert world.positions is not None
    assert world.positions[options.goals[number]].tolist() == [1, 11]
    route = page.js("Array.from(farpointStudio.panels[0].route)")
    assert route == options[number].route(world.start or 0).tolist()
    page.click_cell(9, 9)
    page.wait("farpointStudio.panels[0].route && farpointStudio.panels[0].route[0] === farpointStudio.from")
    begins, leads = page.js("[Array.from(farpointStudio.panels[0].arrows.begins),"
                            "Array.from(farpointStudio.panels[0].arrows.leads)]")  # fmt: skip
    potential = options[number].potential
    assert all(potential[after] == potential[before] - 1 for before, after in zip(begins, leads, strict=True))
    page.press("\ue00c")  # escape
    assert page.js("farpointStudio.panels[0].option") == -1
    assert page.goals == options.goals.tolist()


def test_number_of_options(page: Page) -> None:
    page.run("const s = farpointStudio.ui.options.number.input; s.value = 5; s.dispatchEvent(new Event('input'))")
    page.wait("farpointStudio.panels[0].options.length === 5")
    expected = fp.discover(fp.four_rooms(), t=4, n_options=5).goals.tolist()
    assert page.js("Array.from(farpointStudio.panels[0].options)") == expected


def test_least_prominence(page: Page) -> None:
    world = fp.four_rooms()
    scores = fp.score(world, 4)
    page.run("const s = farpointStudio.ui.score.prominence.input; s.value = 20; s.dispatchEvent(new Event('input'))")
    expected = fp.find_goals(world, scores, min_prominence=0.2 * float(scores.max())).states.tolist()
    assert 0 < len(expected) < 20
    page.wait(f"farpointStudio.panels[0].shownGoals.length === {len(expected)}")
    assert page.goals == expected


def test_agents_play(page: Page) -> None:
    page.run("farpointStudio.setTab('agents')")
    page.button("One step (S)").click()
    page.wait("farpointStudio.player.steps === 1")
    assert page.js("farpointStudio.panels.map(p => p.method)") == ["diffusion", "none"]
    page.run("const s = farpointStudio.ui.agents.speed.input; s.value = 4; s.dispatchEvent(new Event('input'))")
    page.button("Play or pause (Space)").click()
    page.wait("farpointStudio.player.runs[0].seen === 104", 60)
    page.button("Play or pause (Space)").click()
    assert page.js("farpointStudio.panels[0].count.textContent") == "20 options"
    steps = page.js("farpointStudio.player.steps")
    visits = page.js("Array.from(farpointStudio.player.runs[1].visits)")
    assert sum(visits) == steps + 1
    # Each step of an agent without options is a move of the world.
    trail = page.js("farpointStudio.panels[1].trail")
    moves = fp.four_rooms().adjacency
    assert all(moves[before, after] == 1 for before, after in itertools.pairwise(trail))
    page.button("Begin again").click()
    assert page.js("farpointStudio.player.runs.length") == 0


def test_learning_and_exploring(page: Page) -> None:
    page.run("farpointStudio.setTab('agents'); farpointStudio.player.speed = 2000")
    page.button("Q-learning").click()
    page.button("Play or pause (Space)").click()
    page.wait("farpointStudio.player.ready && !farpointStudio.player.playing", 60)
    target = page.js("farpointStudio.panels[0].target")
    world = fp.four_rooms()
    options = fp.discover(world, t=4)
    learned = fp.learn(world, options, targets=[target], n_runs=1, n_episodes=200, max_steps=104,
                       algorithm="intra-option", option_probability=options.option_probability)  # fmt: skip
    assert page.js("Array.from(farpointStudio.player.runs[0].curve)") == learned.curve.tolist()
    path = page.js("Array.from(farpointStudio.panels[0].path)")
    assert (path[0], path[-1]) == (world.start, target)
    page.button("From scratch").click()
    page.button("Play or pause (Space)").click()
    page.wait("farpointStudio.player.ready && !farpointStudio.player.playing", 60)
    n_steps = page.js("farpointStudio.player.steps")
    explored = fp.explore(world, n_steps, max_episode_steps=100)
    assert page.js("farpointStudio.player.runs[0].seen") == explored.n_states


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.txt", "###\n#.\n", "lines of equal length"),
        ("bad.txt", "#x#", "got 'x'"),
        ("bad.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff", "65535 × 65535"),
        ("bad.graphml", "<graphml><node", "GraphML|graph"),
    ],
)
def test_bad_file_leaves_the_world(page: Page, tmp_path: Path, name: str, content: Any, words: str) -> None:
    import re

    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    page.browser.find_element("css selector", "input[type=file]").send_keys(str(path))
    page.wait("!farpointStudio.ui.alert.hidden")
    alert = page.js("farpointStudio.ui.alert.textContent")
    assert re.search(words, alert)
    assert "Traceback" not in alert
    assert page.js("farpointStudio.world.name") == "four_rooms"
    assert len(page.goals) == 20


def test_good_files(page: Page, tmp_path: Path) -> None:
    import networkx as nx
    from PIL import Image

    upload = page.browser.find_element("css selector", "input[type=file]")
    Image.new("L", (7, 5), 255).save(tmp_path / "room.png")
    upload.send_keys(str(tmp_path / "room.png"))
    page.wait("farpointStudio.world.n === 35")
    page.settled()
    assert page.goals == fp.discover(fp.open_room(5, 7), t=4).goals.tolist()
    graph = nx.path_graph(9)
    nx.write_graphml(graph, tmp_path / "path.graphml")
    upload.send_keys(str(tmp_path / "path.graphml"))
    page.wait("farpointStudio.world.n === 9 && farpointStudio.world.drawn === 'graph'")
    page.settled()
    assert page.goals == fp.discover(fp.World.from_graph(graph), t=4).goals.tolist()


def test_python_gives_the_same_goals(page: Page, tmp_path: Path) -> None:
    page.press("b", "1")
    page.click_cell(9, 9, to=(9, 10))
    page.run("farpointStudio.setTime(6)")
    page.settled()
    page.run("farpointStudio.setTab('take')")
    page.browser.find_element("id", "take-python").click()
    page.wait("document.querySelector('#taken-text')")
    program = tmp_path / "page.py"
    program.write_text(page.js("document.querySelector('#taken-text').value"))
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    goals = page.goals
    assert run.stdout.splitlines()[0] == f"{len(goals)} goals: {goals}"


def test_python_of_four_panels_on_an_uploaded_graph_runs(page: Page, tmp_path: Path) -> None:
    (tmp_path / "rings.csv").write_text(
        "source,target,weight\n" + "\n".join(f"n{node},n{(node + 1) % 12},{1 + node % 3}" for node in range(12))
    )
    page.open("#methods=diffusion,eigen,cover,none")
    page.browser.find_element("css selector", "input[type=file]").send_keys(str(tmp_path / "rings.csv"))
    page.wait("farpointStudio.world.n === 12")
    page.settled()
    page.wait("farpointStudio.panels.every((panel) => !panel.waiting)")
    page.run("farpointStudio.setTab('take')")
    page.browser.find_element("id", "take-python").click()
    page.wait("document.querySelector('#taken-text')")
    program = tmp_path / "page.py"
    program.write_text(page.js("document.querySelector('#taken-text').value"))
    command = [sys.executable, program.name]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert printed[0] == f"{len(page.goals)} goals: {page.goals}"
    counts = page.js("farpointStudio.panels.map((panel) => panel.options.length)")
    for line, count, method in zip(printed[1:], counts, ("diffusion", "eigen", "cover", "none"), strict=True):
        assert line.startswith(f"OptionSet({count} {method} option")


def test_reload_and_link_restore(page: Page) -> None:
    page.press("b", "1")
    page.click_cell(9, 9, to=(9, 10))
    page.run("farpointStudio.setTime(6); farpointStudio.addPanel('cover')")
    page.settled()
    goals, text = page.goals, map_text(page)
    page.wait("location.hash.includes('t=6') && location.hash.includes('map=') && location.hash.includes('cover')")
    link = page.js("location.hash")
    for fragment in ("", link):  # the browser's own storage, then the address alone
        if fragment:
            page.forget()
        page.open(fragment)
        assert (page.goals, map_text(page)) == (goals, text)
        assert page.js("farpointStudio.panels.map(p => p.method)") == ["diffusion", "cover"]


def test_vector_graphics(page: Page) -> None:
    code = (
        "const done = arguments[arguments.length - 1];"
        "import('/web/export.js').then((module) => done(module.svgText(farpointStudio)))"
    )
    picture = ElementTree.fromstring(page.browser.execute_async_script(code))
    circles = picture.iter("{http://www.w3.org/2000/svg}circle")
    assert len(list(circles)) == 20


def test_keyboard_alone(page: Page) -> None:
    canvas = page.browser.find_element("css selector", ".panel canvas")
    page.run("arguments[0].focus()", canvas)
    page.press("b", "1", "\ue013", "\ue007")  # brush, wall, arrow up, enter
    page.settled()
    assert map_text(page).splitlines()[10][1] == "#"
    assert "row 10, column 1: wall" in page.js("farpointStudio.ui.spoken.textContent")
    page.press(".", ".", "d")
    page.settled()
    assert page.js("farpointStudio.t") == 6
    assert page.js("farpointStudio.dark")


def test_everything_has_a_name_for_screen_readers(page: Page) -> None:
    nameless = page.js(
        "[...document.querySelectorAll('.fp :is(button, select, input:not([type=file]), canvas)')].filter(e => "
        "!(e.getAttribute('aria-label') || e.innerText?.trim() || e.closest('label')?.innerText.trim()))"
        ".map(e => e.outerHTML)"
    )
    assert nameless == []


def test_phone_width_has_no_sideways_scrolling(page: Page) -> None:
    page.open(width=390, height=844, phone=True)
    for tab in ("options", "agents", "take"):
        page.run(f"farpointStudio.setTab('{tab}')")
        assert page.js("document.documentElement.scrollWidth") == 390


def test_presets(page: Page) -> None:
    for choice, n_states in (("named ring", 192), ("graph karate club", 34), ("env FrozenLake-v1", 16)):
        page.run("farpointStudio.choosePreset(arguments[0])", choice)
        page.wait(f"farpointStudio.world.n === {n_states}", 60)
        page.settled()
        assert len(page.goals) > 0


def test_wind(page: Page) -> None:
    page.run("const s = farpointStudio.ui.world.wind.input; s.value = 0.25; s.dispatchEvent(new Event('input'))")
    page.wait("farpointStudio.wind === 0.25 && farpointStudio.applied > 1")
    page.settled()
    assert page.goals == fp.discover(fp.four_rooms(wind=0.25), t=4).goals.tolist()


def test_each_tab_has_its_own_world_and_frees_it(page: Page, server: Server) -> None:
    first = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    other = Page(page.browser, server.address)
    other.open("#world=maze&t=13")
    assert len(other.goals) == 14
    assert server.health()["tabs"] == 2
    page.browser.close()
    page.browser.switch_to.window(first)
    page.run("farpointStudio.setTime(13)")
    page.settled()
    assert len(page.goals) == 15
    for _ in range(100):
        if server.health()["tabs"] == 1:
            break
        page.wait("true")
    assert server.health()["tabs"] == 1


def test_t_that_takes_long_shows_the_last_score_and_says_so(page: Page) -> None:
    """At t = 500 the score of 67,000 states takes seconds; until it is known that at t = 4 stays, named as such."""
    page.open("#world=random_maze&rows=300&cols=300&seed=1&t=4")
    before = page.goals
    page.run("farpointStudio.setTime(500)")
    page.wait("farpointStudio.ui.solver.textContent === 't = 4 is shown; t = 500 is being computed …'")
    assert page.js("farpointStudio.scored.t") == 4
    assert page.goals == before
    assert page.js("farpointStudio.captionOf(farpointStudio.panels[0])").endswith("t = 4")
    assert page.js("farpointStudio.layerName()") == "f(t = 4) ="
    assert page.js("document.querySelector('#goals-word').textContent") == "goals at t = 4"
    page.run("farpointStudio.setTime(5)")
    page.settled()
    assert "being computed" not in page.js("farpointStudio.ui.solver.textContent")
    assert page.js("farpointStudio.layerName()") == "f(t = 5) ="
    assert page.js("document.querySelector('#goals-word').textContent") == "goals"
