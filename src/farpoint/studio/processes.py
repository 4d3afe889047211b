"""Long work in processes of their own: the server goes on, and what is no longer wanted is ended at once."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from farpoint.errors import FarpointError
from farpoint.studio.preload import VARIABLE
from farpoint.studio.threads import in_thread

# More at once than this wait for their turn.
_MOST_PROCESSES = 24
# So that a page that asks for little never waits for a table.
NICENESS = 5


class Processes:
    """Runs functions of a module in new processes."""

    def __init__(self) -> None:
        # Forked from a clean server: a fork of this process would copy its threads' locks.
        kind = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self._context: Any = multiprocessing.get_context(kind)
        if kind == "forkserver":
            os.environ[VARIABLE] = "1"
            self._context.set_forkserver_preload(["farpoint.studio.preload"])
        self._room = asyncio.Semaphore(_MOST_PROCESSES)
        self._running: set[Any] = set()

    async def run(
        self,
        function: Callable[..., Any],
        *args: Any,
        progress: Callable[[Any], None] | None = None,
        niceness: int = NICENESS,
    ) -> Any:
        """Return what a function returns; cancelled, its process is killed.

        ``function(report, *args)`` calls ``report`` with what ``progress`` is to be told.
        """
        async with self._room:
            return await self._run(function, args, progress, niceness)

    async def _run(
        self, function: Callable[..., Any], args: tuple[Any, ...], progress: Callable[[Any], None] | None, niceness: int
    ) -> Any:
        loop = asyncio.get_running_loop()
        here, there = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_run, args=(there, function, args, niceness), daemon=True)
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
                    loop.call_soon_threadsafe(progress, value)

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


def _run(pipe: Connection, function: Callable[..., Any], args: tuple[Any, ...], niceness: int) -> None:
    """Run a function in the new process, and send what comes of it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(niceness)
    try:
        answer: tuple[str, Any] = ("result", function(lambda value: pipe.send(("progress", value)), *args))
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
