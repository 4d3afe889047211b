"""How fast the Studio answers, measured in a headless Chromium on this machine.

``python -m research.studio`` prints median and worst of

- paint to pixel: from the pointer event to the frame in which the cell has its new color;
- t to goals: from the slider's event to the frame in which the goals of the new t are drawn, at 10⁴ and at 10⁶ states:
  as soon as the world is opened, and once the curve of goals over t is known, from which scores between its t are drawn
  first; how many of those goals are those of the computed score is printed too;
- the same at 10⁴ states for any t ≤ 100 from 15 seconds after opening on, and for any t ≤ 1,000 from 30 seconds on;
- frames per second while two agents play on 100 × 100 cells, and while a map of 10⁶ states is dragged;
- the time to a new score in one tab while 19 others ask for scores five times a second, and while they compute tables.

The machine's load is printed too: a browser, a server and the tabs share its cores.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from farpoint.studio.protocol import pack_frame, unpack_frame
from tests.helpers.browser import Page, Server, open_browser, running_server

_N = 20
# None of them on the curve.
_BETWEEN = [9, 18, 28, 45, 70, 110, 180, 300, 450, 700, 950]
_MAZE = "#world=random_maze&rows={0}&cols={0}&seed=1&t=4"
# Tells after how long a condition was first true at the beginning of a frame.
_TIMED = """
const done = arguments[arguments.length - 1], app = window.farpointStudio, begun = performance.now();
%s
const look = () => requestAnimationFrame(() => (%s) ? done(performance.now() - begun) : look());
look();
"""
_PAINT = """
const board = app.panels[0].board, [x, y] = board.cellPoint(%d), box = board.canvas.getBoundingClientRect();
const corner = [x, y].map((at) => Math.round((at - board.view.scale * .3) * devicePixelRatio));
const color = () => board.context.getImageData(...corner, 1, 1).data.join();
const before = color();
const pointer = {clientX: box.left + x, clientY: box.top + y, button: 0, buttons: 1, pointerId: 1, bubbles: true};
board.canvas.setPointerCapture = () => {};
for (const type of ["pointerdown", "pointerup"]) board.canvas.dispatchEvent(new PointerEvent(type, pointer));
"""
# Every fifth state that is on the canvas.
_VISIBLE = """Array.from(farpointStudio.world.stateCell).filter((cell) => {
    const {first, last} = farpointStudio.panels[0].board.shown, cols = farpointStudio.world.cols;
    const row = Math.floor(cell / cols), col = cell % cols;
    return row > first.row && row < last.row && col > first.col && col < last.col;
}).filter((_, index) => index % 5 === 2)"""
# Times at random, as a person who drags the slider meets them: uniform on its logarithmic scale.
_SOON, _LATER = (15.0, 1, 100), (30.0, 1, 1_000)
# Each frame drags the map a little farther, around a circle.
_DRAG = """
const done = arguments[arguments.length - 1], times = [], end = performance.now() + %d;
const {canvas} = farpointStudio.panels[0].board, box = canvas.getBoundingClientRect();
canvas.setPointerCapture = () => {};
const send = (type, turn) => canvas.dispatchEvent(new PointerEvent(type, {
    clientX: box.left + box.width / 2 + 90 * Math.cos(turn), clientY: box.top + box.height / 2 + 90 * Math.sin(turn),
    button: type === "pointermove" ? -1 : 0, buttons: type === "pointerup" ? 0 : 1, shiftKey: true, pointerId: 1,
    bubbles: true}));
send("pointerdown", 0);
const frame = (now) => {
    times.push(now); send("pointermove", times.length / 20);
    if (now < end) requestAnimationFrame(frame); else { send("pointerup", times.length / 20); done(times); }
};
requestAnimationFrame(frame);
"""
_FRAMES = """
const done = arguments[arguments.length - 1], times = [], end = performance.now() + %d;
const frame = (now) => { times.push(now); if (now < end) requestAnimationFrame(frame); else done(times); };
requestAnimationFrame(frame);
"""


def timed(page: Page, act: str, condition: str) -> float:
    """Return the milliseconds from an action to the first frame in which a condition is true."""
    return float(page.browser.execute_async_script(_TIMED % (act, condition)))


def report(name: str, milliseconds: list[float], unit: str = "ms", worst: Callable[..., float] = max) -> None:
    middle = statistics.median(milliseconds)
    print(f"{name:58s} median {middle:8.1f} {unit}   worst {worst(milliseconds):8.1f} {unit}   n = {len(milliseconds)}")
    sys.stdout.flush()


def paint_to_pixel(page: Page) -> list[float]:
    """Press the brush on cell after cell; the pixel is read back from the canvas."""
    page.run("farpointStudio.painter.setTool('brush'); farpointStudio.painter.setMaterial(0)")
    # On a large map a person zooms in first: a cell has at least ten pixels.
    page.run("const {view} = farpointStudio; if (view.scale < 10) farpointStudio.zoom(10 / view.scale)")
    time.sleep(0.5)
    cells = page.js(_VISIBLE)[:_N]
    measured = []
    for cell in cells:
        measured.append(timed(page, _PAINT % cell, "color() !== before"))
        time.sleep(0.1)
    return measured


def time_to_goals(page: Page, times: list[int]) -> list[float]:
    """Move the slider to each t in turn, each of them new to the server, once the score before is computed."""
    measured = []
    for t in times:
        measured.append(move_to(page, t))
        page.wait("farpointStudio.ui.status.textContent === '' && !farpointStudio.scored.preview", 600)
        time.sleep(0.3)
    return measured


def move_to(page: Page, t: int) -> float:
    """Return the milliseconds from a move of the slider to the frame in which the goals at t are drawn."""
    act = "app.ui.score.time.value = Math.log10(%d); app.ui.score.time.dispatchEvent(new Event('input'));"
    shown = "app.scored?.t === %d && app.scored.version === app.applied && !app.panels[0].board.pending"
    return timed(page, act % t, shown % t)


def just_opened(page: Page, maze: str, t: int, n_times: int = 3) -> list[float]:
    """Open the world ``n_times`` times, and move the slider to t as soon as its first score is drawn."""
    measured = []
    for _ in range(n_times):
        page.open(maze)
        measured.append(move_to(page, t))
    return measured


def any_time_after(page: Page, maze: str, *spans: tuple[float, int, int], seed: int = 0) -> list[list[float]]:
    """Open a world, wait, and move the slider to random t; ``spans`` are seconds since opening, first and last t."""
    rng = random.Random(seed)
    page.open(maze)
    opened = time.perf_counter()
    found = []
    for seconds, first, last in spans:
        time.sleep(max(opened + seconds - time.perf_counter(), 0.0))
        measured, before = list[float](), page.js("farpointStudio.scored.t")
        while len(measured) < _N:
            t = round(math.exp(rng.uniform(math.log(first), math.log(last))))
            if t != before:
                measured.append(move_to(page, t))
                before = t
            time.sleep(0.2)
        found.append(measured)
    return found


def dragged(page: Page, seconds: float = 4.0) -> list[float]:
    """Return the milliseconds between the frames of the page while its map is dragged."""
    begin = page.js("[farpointStudio.view.x, farpointStudio.view.y]")
    times = page.browser.execute_async_script(_DRAG % (1000 * seconds))
    assert page.js("[farpointStudio.view.x, farpointStudio.view.y]") != begin, "the map did not move"
    return [after - before for before, after in itertools.pairwise(times)]


def preview_agreement(page: Page, times: list[int]) -> tuple[float, float]:
    """Return the share of goals that agree, and the largest relative error, of what is drawn before the score."""
    same, error = [], 0.0
    for t in times:
        page.run(f"farpointStudio.setTime({t})")
        page.wait(f"farpointStudio.scored.t === {t}", 600)
        if not page.js("Boolean(farpointStudio.scored.preview)"):
            continue
        before = page.js("[Array.from(farpointStudio.scored.goals), Array.from(farpointStudio.scored.values)]")
        page.wait("!farpointStudio.scored.preview", 600)
        after = page.js("[Array.from(farpointStudio.scored.goals), Array.from(farpointStudio.scored.values)]")
        goals = [set(one) for one, _ in (before, after)]
        same.append(len(goals[0] & goals[1]) / len(goals[0] | goals[1]))
        error = max(error, *(abs(x / y - 1.0) for x, y in zip(before[1], after[1], strict=True)))
    return (min(same) if same else 1.0), error


def frames(page: Page, seconds: float = 4.0) -> list[float]:
    """Return the milliseconds between the frames of the page while agents play."""
    page.run("farpointStudio.setTab('agents'); farpointStudio.player.speed = 600; farpointStudio.player.toggle()")
    page.wait("farpointStudio.player.ready && farpointStudio.player.steps > 20", 120)
    times = page.browser.execute_async_script(_FRAMES % (1000 * seconds))
    page.run("farpointStudio.player.toggle()")
    return [after - before for before, after in itertools.pairwise(times)]


async def many_tabs(server: Server, n_tabs: int, heavy: bool, n_asked: int = 20) -> list[float]:
    """Return how long one tab waits for a new score while the others ask five times a second, each in its own world."""
    from websockets.asyncio.client import connect

    async def ask(socket: Any, **header: Any) -> dict[str, Any]:
        await socket.send(pack_frame({"id": 1, **header}))
        while True:
            answer, _ = unpack_frame(await socket.recv())
            if "progress" not in answer and "row" not in answer:
                return answer

    async def tab(number: int, measured: list[float] | None, stop: asyncio.Event) -> None:
        async with connect(server.socket, max_size=None) as socket:
            source = {"kind": "random_maze", "rows": 30, "cols": 30, "seed": number}
            await ask(socket, do="open", source=source, version=1)
            t = number
            while not stop.is_set():
                t = t % 30 + 1
                begun = time.perf_counter()
                await ask(socket, do="score", t=t)
                if measured is not None:
                    measured.append(1000 * (time.perf_counter() - begun))
                    await asyncio.sleep(0.1)
                    if len(measured) == n_asked:
                        stop.set()
                elif heavy:
                    await ask(socket, do="table", t=4, panels=[{"method": "diffusion"}])
                else:
                    await asyncio.sleep(0.2)

    stop, measured = asyncio.Event(), list[float]()
    others = [asyncio.create_task(tab(number, None, stop)) for number in range(1, n_tabs)]
    await asyncio.sleep(2)
    await tab(0, measured, stop)
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    return measured


def main() -> None:
    print(f"{os.cpu_count()} cores, load of the machine before {os.getloadavg()[0]:.1f}")
    with open_browser(logs=False) as browser, running_server() as server:
        browser.set_script_timeout(120)
        page = Page(browser, server.address)
        page.forget()
        page.open()
        report("paint to pixel, 4Rooms", paint_to_pixel(page))
        for rows, name in ((116, "10⁴"), (1155, "10⁶")):
            many, maze = rows > 1000, _MAZE.format(rows)
            page.open(maze)
            print(f"{name}: {page.js('farpointStudio.world.n'):,} states")
            report(f"paint to pixel, {name} states", paint_to_pixel(page))
            for t in (8, 13, 20, 30) if many else (8, 13, 20, 30, 50, 70, 100, 200):
                report(f"t to goals, {name} states, just opened, t = {t}", just_opened(page, maze, t))
            opened = time.perf_counter()
            page.open(maze)
            page.run("farpointStudio.setTab('take')")
            few = [5, 3, 6, 2, 7] if many else [5, 3, 6, 2, 7, 8, 9, 10, 11, 12, 13]
            report(f"t to goals, {name} states, t = {min(few)} … {max(few)}", time_to_goals(page, few))
            last, between = (200, _BETWEEN[:7]) if many else (1000, _BETWEEN)
            page.wait(f"farpointStudio.counts.some(([t]) => t === {last})", 600)
            print(f"the curve to t = {last} is known {time.perf_counter() - opened:.0f} s after the world was opened")
            report(
                f"t to goals, {name} states, t = {between[0]} … {between[-1]}, curve known",
                time_to_goals(page, between),
            )
            if many:
                report("frames per second, 10⁶ states dragged", [1000 / gap for gap in dragged(page)], "/s", min)
                page.run("farpointStudio.zoom(8)")
                zoomed = [1000 / gap for gap in dragged(page)]
                report("frames per second, 10⁶ states dragged, 8 × as large", zoomed, "/s", min)
            else:
                same, error = preview_agreement(page, [one + 1 for one in between])
                print(f"drawn from neighboring t: {100 * same:.1f} % of the goals, scores to {error:.1e}")
                report(f"t to goals, {name} states, seen before", time_to_goals(page, [5, 3, 6, 2, 13, 20]))
                for (seconds, _, last), took in zip(
                    (_SOON, _LATER), any_time_after(page, maze, _SOON, _LATER), strict=True
                ):
                    report(f"t to goals, {name} states, any t ≤ {last} after {seconds:.0f} s", took)
        page.open("#world=random_maze&rows=100&cols=100&seed=1&t=4&methods=diffusion,none")
        gaps = frames(page)
        report("frames per second, two agents on 100 × 100", [1000 / gap for gap in gaps], "/s", min)
        browser.get("about:blank")
        report("20 tabs, each asks 5 times a second: one waits", asyncio.run(many_tabs(server, 20, heavy=False)))
        report("19 tabs compute tables: one waits for a score", asyncio.run(many_tabs(server, 20, heavy=True)))


if __name__ == "__main__":
    main()
