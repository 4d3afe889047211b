"""What the page does when questions overtake each other, and when the server dies and comes back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import farpoint as fp
from tests.helpers.browser import Page, Server

pytestmark = [pytest.mark.xdist_group("studio"), pytest.mark.slow]

AWAY = "The server does not answer. This page keeps its world, and goes on when the server is back."


def drag_slider(page: Page, times: list[int]) -> None:
    """Move t as a quick hand does: a new value every few milliseconds."""
    page.browser.execute_async_script(
        "const [times, done] = arguments, slider = farpointStudio.ui.score.time;"
        "const next = () => { if (!times.length) return done();"
        "slider.value = Math.log10(times.shift()); slider.dispatchEvent(new Event('input')); setTimeout(next, 15); };"
        "next();",
        times,
    )


def test_quick_drags_leave_a_clear_status(page: Page) -> None:
    page.open("#world=random_maze&rows=116&cols=116&seed=1&t=4")
    for number in range(20):
        last = 3 + number
        drag_slider(page, [*range(30, 60, 3), last])
        page.wait(f"farpointStudio.scored.t === {last} && !farpointStudio.scored.preview", 60)
        page.wait("farpointStudio.ui.status.textContent === ''", 2)


def test_every_question_settles(page: Page) -> None:
    """With its answer, or as superseded where another one took its place."""
    names = page.browser.execute_async_script(
        "const done = arguments[0], ask = (t) => farpointStudio.link.ask({do: 'score', channel: 'mine', t});"
        "const asked = [ask(5), ask(6), ask(7)];"
        "Promise.allSettled(asked).then((all) => done(all.map((one) => one.reason?.name ?? one.value.t)));"
    )
    assert names == ["AbortError", "AbortError", 7]
    cancelled = page.browser.execute_async_script(
        "const done = arguments[0]; farpointStudio.link.ask({do: 'table', channel: 'mine', t: 4, panels: "
        "[{method: 'diffusion'}]}).catch((error) => done(error.name)); farpointStudio.link.cancel('mine');"
    )
    assert cancelled == "AbortError"
    assert page.js("[...farpointStudio.link.waiting.values()].every(({channel}) => channel !== 'mine')")


def test_moving_t_does_not_ask_for_the_curve_again(page: Page) -> None:
    page.wait("farpointStudio.counts.length >= 28")
    page.run(
        "window.asked = []; const link = farpointStudio.link, send = link.socket.send.bind(link.socket);"
        'link.socket.send = (frame) => { asked.push(new TextDecoder().decode(frame).match(/"do":"(\\w+)/)[1]);'
        " send(frame); };"
    )
    for t in (5, 6, 8, 13):
        page.run(f"farpointStudio.setTime({t})")
        page.settled()
    page.wait("asked.filter((one) => one === 'score').length === 4")
    # Longer than the page waits before it asks for a curve.
    page.browser.execute_async_script("setTimeout(arguments[0], 600)")
    assert "curve" not in page.js("asked")
    # Another world has another curve.
    page.run("farpointStudio.choosePreset('named ring')")
    page.wait("asked.includes('curve')")


def test_mistyped_environment_keeps_what_was_typed(page: Page) -> None:
    page.run(
        "const {preset, envName} = farpointStudio.ui.world; preset.value = 'env '; farpointStudio.choosePreset('env ');"
        "envName.value = 'FrozenLaek-v1'; farpointStudio.makePreset();"
    )
    page.wait("!farpointStudio.ui.alert.hidden")
    assert "FrozenLaek" in page.js("farpointStudio.ui.alert.textContent")
    assert page.js("farpointStudio.ui.world.envName.value") == "FrozenLaek-v1"
    field = page.browser.find_element("css selector", "[aria-label='Name of the environment']")
    assert field.is_displayed()
    assert page.js("farpointStudio.world.name") == "four_rooms"


@pytest.fixture
def mortal() -> Iterator[dict[str, Any]]:
    """A server that can be killed and started again at the same address."""
    first = Server("--token", "t" * 20)
    held = {"server": first.wait_until_warm()}
    yield held
    held["server"].stop()


def again(held: dict[str, Any]) -> None:
    port = held["server"].host.partition(":")[2]
    held["server"] = Server("--token", "t" * 20, "--port", port).wait_until_warm()


def kill(held: dict[str, Any]) -> None:
    server = held["server"]
    server.process.send_signal(signal.SIGKILL)
    server.stop()


def test_killed_server_loses_neither_world_nor_undo(browser: Any, mortal: dict[str, Any]) -> None:
    page = Page(browser, mortal["server"].address)
    page.forget()
    page.open("#world=four_rooms")
    page.press("b", "1")
    page.click_cell(9, 9, to=(9, 10))
    page.settled()
    painted = page.js("Array.from(farpointStudio.world.cells)")
    page.run("window.stays = true")
    kill(mortal)
    page.wait("!farpointStudio.ui.alert.hidden")
    assert page.js("farpointStudio.ui.alert.textContent") == AWAY
    # One message, in one place, and it stays.
    assert page.js("farpointStudio.ui.status.textContent") == ""
    # What needs the server says so instead of doing nothing.
    page.run("farpointStudio.setTab('agents')")
    page.button("Play or pause (Space)").click()
    page.wait("farpointStudio.ui.agents.play.textContent.includes('Play')")
    for what in ("npz", "python"):
        page.run("farpointStudio.ui.alert.hidden = true; farpointStudio.setTab('take')")
        page.browser.find_element("id", f"take-{what}").click()
        page.wait("!farpointStudio.ui.alert.hidden")
        assert page.js("farpointStudio.ui.alert.textContent") == AWAY
    again(mortal)
    page.wait("farpointStudio.ui.alert.hidden && farpointStudio.link.open", 30)
    page.settled()
    # It is the same page, with the same world, and what was done can be undone.
    assert page.js("window.stays")
    assert page.js("Array.from(farpointStudio.world.cells)") == painted
    page.press_with_control("z")
    page.settled()
    world = fp.four_rooms()
    assert page.goals == fp.find_goals(world, fp.score(world, 4)).states.tolist()
    # What the browser says about a server that is away is wanted here.
    page.errors()


def test_killed_server_loses_no_uploaded_graph(browser: Any, mortal: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "path.edges").write_text("\n".join(f"{node} {node + 1}" for node in range(8)))
    page = Page(browser, mortal["server"].address)
    page.forget()
    page.open("#world=four_rooms")
    upload = page.browser.find_element("css selector", "input[type=file]")
    upload.send_keys(str(tmp_path / "path.edges"))
    page.wait("farpointStudio.world.n === 9")
    page.settled()
    goals = page.goals
    kill(mortal)
    page.wait("!farpointStudio.ui.alert.hidden")
    again(mortal)
    page.wait("farpointStudio.link.open && farpointStudio.ui.alert.hidden", 30)
    page.settled()
    assert page.js("[farpointStudio.world.name, farpointStudio.world.n]") == ["path", 9]
    assert page.goals == goals
    page.errors()


def test_playing_agents_stop_when_the_server_dies(browser: Any, mortal: dict[str, Any]) -> None:
    page = Page(browser, mortal["server"].address)
    page.forget()
    page.open("#world=four_rooms&tab=agents")
    page.run("farpointStudio.player.speed = 3000")
    page.button("Play or pause (Space)").click()
    page.wait("farpointStudio.player.steps > 100", 60)
    kill(mortal)
    page.wait("farpointStudio.ui.agents.play.textContent.includes('Play')")
    assert page.js("farpointStudio.ui.alert.textContent") == AWAY
    page.errors()


def test_server_with_another_token_says_what_to_do(browser: Any, mortal: dict[str, Any]) -> None:
    page = Page(browser, mortal["server"].address)
    page.forget()
    page.open("#world=four_rooms")
    kill(mortal)
    port = mortal["server"].host.partition(":")[2]
    mortal["server"] = Server("--port", port).wait_until_warm()
    page.wait("farpointStudio.ui.alert.textContent.includes('Open the address that it printed')", 30)
    # Its address, opened in another tab, lets this one go on too.
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    Page(browser, mortal["server"].address).open()
    browser.close()
    browser.switch_to.window(first)
    page.wait("farpointStudio.link.open && farpointStudio.ui.alert.hidden", 30)
    page.settled()
    page.errors()
