"""Where work runs: threads for what is quick, processes that can be killed for what is not, and what these load."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

from farpoint.diffusion import Scores
from farpoint.diffusion.maps import LARGEST_UNROLLED
from farpoint.errors import FarpointError, InvalidInput
from farpoint.exploration.goals import GOALS
from farpoint.options import METHODS, OptionSet
from farpoint.studio import agents, comparing, scoring, worlds
from farpoint.studio.worlds import Canvas, Stage
from farpoint.worlds import World

# More at once than this wait for their turn.
_MOST_PROCESSES = 24
# So that a page that asks for little never waits for a table.
NICENESS = 5
_MOST_IN_BACKGROUND = 2
# Of what is told while an environment is enumerated.
_SECONDS_BETWEEN = 0.1
# Set while the process starts that all others are forked from: what it has loaded they need not load again.
_PRELOAD = "FARPOINT_STUDIO_PRELOAD"


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns, run in a thread of its own.

    >>> asyncio.run(in_thread(max, 2, 3))
    3
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not future.done():
            set_it(value)

    def work() -> None:
        try:
            result = function(*args)
        except BaseException as error:
            outcome: tuple[Any, Any] = (future.set_exception, error)
        else:
            outcome = (future.set_result, result)
        with contextlib.suppress(RuntimeError):  # the server has stopped meanwhile
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, daemon=True).start()
    return await future


class Processes:
    """Runs functions of a module in new processes."""

    def __init__(self) -> None:
        # Forked from a clean server: a fork of this process would copy its threads' locks.
        kind = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self._context: Any = multiprocessing.get_context(kind)
        if kind == "forkserver":
            self._context.set_forkserver_preload(["farpoint.studio.workers"])
            os.environ[_PRELOAD] = "1"
            try:
                forkserver.ensure_running()
            finally:
                del os.environ[_PRELOAD]
        self._room = asyncio.Semaphore(_MOST_PROCESSES)
        self._running: set[Any] = set()

    async def run(
        self,
        function: Callable[..., Any],
        *args: Any,
        progress: Callable[[Any], Coroutine[Any, Any, None]] | None = None,
        niceness: int = NICENESS,
        seconds: float | None = None,
    ) -> Any:
        """Return what a function returns; cancelled, or after ``seconds``, its process is killed.

        With ``progress`` it is called with a keyword of that name, and tells it from there. All that was told has been
        dealt with before the result is returned.
        """
        async with self._room:
            try:
                async with asyncio.timeout(seconds):
                    return await self._run(function, args, progress, niceness)
            except TimeoutError:
                raise InvalidInput(
                    f"work must be done within {seconds:g} s; it was not. Take something smaller."
                ) from None

    async def _run(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        progress: Callable[[Any], Coroutine[Any, Any, None]] | None,
        niceness: int,
    ) -> Any:
        loop, told = asyncio.get_running_loop(), list[Future[None]]()
        here, there = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_run, args=(there, function, args, progress is not None, niceness), daemon=True
        )
        stopped = threading.Event()

        def wait() -> tuple[str, Any]:
            if stopped.is_set():
                return "ended", None
            process.start()
            there.close()
            self._running.add(process)
            if stopped.is_set():
                process.kill()
            while True:
                try:
                    kind, value = here.recv()
                except (EOFError, OSError):
                    return "ended", None
                if kind != "progress":
                    return kind, value
                if progress is not None:
                    told.append(asyncio.run_coroutine_threadsafe(progress(value), loop))

        def end() -> None:
            if process.pid is not None:
                process.kill()
                process.join()
            self._running.discard(process)
            here.close()

        waiting = asyncio.ensure_future(in_thread(wait))
        try:
            kind, value = await asyncio.shield(waiting)
        except asyncio.CancelledError:
            stopped.set()
            if process.pid is not None:
                process.kill()
            waiting.add_done_callback(lambda _: end())
            raise
        end()
        # A page that is gone cannot be told anything.
        await asyncio.gather(*map(asyncio.wrap_future, told), return_exceptions=True)
        if kind == "error":
            raise value
        if kind != "result":
            raise FarpointError("computation must end with a result; its process ended without one.")
        return value

    @property
    def n_running(self) -> int:
        """How many processes are at work."""
        return len(self._running)

    def close(self) -> None:
        """End every process."""
        for process in list(self._running):
            process.kill()


def _run(pipe: Connection, function: Callable[..., Any], args: tuple[Any, ...], tells: bool, niceness: int) -> None:
    """Run a function in the new process, and send what comes of it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(niceness)
    try:
        keywords = {"progress": lambda value: pipe.send(("progress", value))} if tells else {}
        answer: tuple[str, Any] = ("result", function(*args, **keywords))
    except FarpointError as error:
        answer = ("error", error)
    except Exception as error:  # the page gets one line, whatever it was
        answer = ("error", FarpointError(f"computation must succeed; it failed ({type(error).__name__}: {error})."))
    pipe.send(answer)


def _end_with_parent() -> None:
    """End this process when the server has ended, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class Work:
    """Where a tab's work runs: threads for what is quick, processes for what is not."""

    def __init__(self) -> None:
        self.processes = Processes()
        # What goes on for minutes, of all tabs: the rest of the processes are for what somebody waits for.
        self.in_background = asyncio.Semaphore(_MOST_IN_BACKGROUND)
        self._warming: asyncio.Task[Any] | None = None
        self._warm = asyncio.Event()

    def begin(self) -> None:
        """Load what is compiled before the first tab asks for it."""
        self._warming = asyncio.create_task(self._load())
        # It may fail: then threads compile.
        self._warming.add_done_callback(lambda _: self._warm.set())

    async def _load(self) -> None:
        # First in another process: compiling, which the first start after an installation does, would hold up this one.
        await self.processes.run(os.getpid)
        await in_thread(warm_threads)
        self._warm.set()
        await self.processes.run(warm_large)
        await in_thread(warm_large)

    @property
    def is_warm(self) -> bool:
        """Whether everything is compiled."""
        return self._warm.is_set()

    async def warm(self) -> None:
        """Return when everything is compiled."""
        if self._warming is not None:
            await self._warm.wait()

    def close(self) -> None:
        """End everything that runs."""
        if self._warming is not None:
            self._warming.cancel()
        self.processes.close()


# ---- What runs in processes, beside functions of other modules; ``progress`` is to be called while it works. ---------


def open_source(source: dict[str, Any], progress: Callable[[int], None]) -> tuple[Stage, str]:
    """Return the stage of an environment or a graph, and its code; ``progress`` is told how many states were found."""
    told = 0.0

    def tell(n_states: int) -> None:
        nonlocal told
        if time.monotonic() - told > _SECONDS_BETWEEN:
            told = time.monotonic()
            progress(n_states)

    return _sendable(worlds.make_stage(source, progress=tell))


def open_file(name: str, content: bytes, wind: float) -> tuple[Stage, str]:
    """Return the stage of a file, and its code."""
    return _sendable(worlds.read_upload(name, content, wind))


def _sendable(stage: Stage) -> tuple[Stage, str]:
    """Return a stage without its function, which no process can send, and what that function returns."""
    return replace(stage, code=str), stage.code() if stage.canvas is None else ""


def score(
    sent: World | Canvas, t: int, keywords: dict[str, Any], progress: Callable[[float], None]
) -> tuple[Scores, float]:
    """Return a score that takes long, and its seconds; its goals would take longer to send than to find."""

    def tell(done: int, total: int) -> None:
        progress(done / max(total, 1))

    return scoring.timed_score(_received(sent), t, {**keywords, "progress": tell})


def curve(sent: World | Canvas, times: list[int], longest: float, progress: Callable[[Any], None]) -> None:
    """Tell the score, its seconds and the number of goals at several t, the quickest first.

    On one core: the others are for who moves t meanwhile. Scores that would take more than ``longest`` seconds are left
    out.
    """
    scorer = scoring.Scorer(_received(sent))
    plans = {t: scorer.plan(t) for t in times}
    for t in sorted((t for t in times if plans[t].seconds <= longest), key=lambda t: plans[t].seconds):
        scored = scoring.compute(scorer.world, t, {**plans[t].keywords, "n_jobs": 1, "progress": _silent})
        progress((t, scored.scores, scored.seconds, len(scored.goals)))


def sendable_world(stage: Stage) -> World | Canvas:
    """Return what a process makes the world from: the map, if there is one, about a hundredth of the bytes."""
    return stage.canvas if stage.canvas is not None and stage.world.deterministic else stage.world


def _received(sent: World | Canvas) -> World:
    return sent if isinstance(sent, World) else sent.world(0.0, "sent")


def _silent(done: int, total: int) -> None:
    """Show no bar."""


def learn(
    world: World,
    sets: list[OptionSet],
    option_probability: float | None,
    keywords: dict[str, Any],
    progress: Callable[[float], None],
) -> list[agents.Learned]:
    """Return how an agent learns with each set of options."""
    learned = []
    for number, one in enumerate(sets):
        learned.append(agents.learn_paths(world, one, option_probability, **keywords))
        progress((number + 1) / len(sets))
    return learned


def explore(
    world: World, methods: list[str], keywords: dict[str, Any], progress: Callable[[float], None]
) -> list[agents.Explored]:
    """Return how an agent that knows nothing explores with each method."""
    explored: list[agents.Explored] = []

    def tell(done: float) -> None:
        progress((len(explored) + done) / len(methods))

    for method in methods:
        explored.append(agents.explore_steps(world, method, **keywords, progress=tell))
    return explored


# ---- A little of everything: compiled functions are then loaded, and in the cache for every other process. ----------


def warm_threads() -> None:
    """Load what the server's threads call."""
    stage = worlds.make_stage({"kind": "named", "name": "four_rooms"})
    world = stage.world
    assert scoring.compute(world, 4, {"n_jobs": 1}).goals.prominences.size
    scoring.Scorer(world).compute(13)
    larger = worlds.make_stage({"kind": "random_maze", "rows": 50, "cols": 50}).world
    # So much that it is not done without compiled loops; once these are loaded they follow every walk.
    scoring.compute(larger, 13, {"solver": "local", "n_jobs": 1})
    scoring.compute(larger, 20, {"solver": "local", "tolerance": 1e-3, "n_jobs": 1})
    for method in METHODS:
        comparing.discover_options(world, method, 4, None if method == "none" else 4, 0.0, {})
    found = _some_options(world)
    comparing.policy_arrows(stage, found, 0)
    found[0].route(0)
    agents.RandomAgent(world, found, None, 0).walk(10)


def warm_processes() -> None:
    """Load what the functions above call."""
    warm_threads()
    world = worlds.make_stage({"kind": "named", "name": "four_rooms"}).world
    found = _some_options(world)
    comparing.table_rows(world, [found], None)
    agents.learn_paths(world, found, None, n_episodes=2)
    for method in GOALS:
        agents.explore_steps(world, method, n_steps=300)


def warm_large() -> None:
    """Load what only large worlds call: what follows walks on a graph, and a function for each small t on a map."""
    graph = World.from_graph(worlds.make_stage({"kind": "random_maze", "rows": 50, "cols": 50}).world.adjacency)
    scoring.compute(graph, 13, {"solver": "local", "n_jobs": 1})
    world = worlds.make_stage({"kind": "open_room", "rows": 520, "cols": 520}).world
    for t in range(1, LARGEST_UNROLLED + 1):
        scoring.compute(world, t, {"solver": "local"})


def _some_options(world: World) -> OptionSet:
    return comparing.discover_options(world, "diffusion", 4, 4, 0.0, {})


if os.environ.get(_PRELOAD):
    try:
        warm_processes()
    except Exception:
        # Then every process loads for itself; an error here would end them all.
        logging.getLogger(__name__).exception("what is compiled could not be loaded beforehand")
