"""One tab of the page: its world, its options, and the work that it asked for last."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import FarpointError, InvalidInput, check_fraction, check_integer, check_word
from farpoint.options import OptionSet
from farpoint.studio import jobs, uploads
from farpoint.studio.frames import pack_frame, unpack_frame
from farpoint.studio.processes import NICENESS, Processes
from farpoint.studio.scoring import Scorer
from farpoint.studio.sources import make_stage, map_stage
from farpoint.studio.stage import Stage
from farpoint.studio.threads import in_thread

Arrays = dict[str, NDArray[Any]]
Send = Callable[[bytes], Awaitable[None]]
# Made in a process: an environment is enumerated, a graph is laid out.
_LONG_TO_OPEN = ("env", "graph")
_MOST_SETS = 12
_MOST_IN_BACKGROUND = 2
_LOG = logging.getLogger(__name__)
# The channel of the message that is being answered.
_CHANNEL: ContextVar[str] = ContextVar("channel", default="")


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
        await self.processes.run(jobs.nothing)
        await in_thread(jobs.warm_threads)
        self._warm.set()
        await self.processes.run(jobs.warm_large)
        await in_thread(jobs.warm_large)

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


class Session:
    """The state of one tab; `handle` takes its messages one after another, and answers when work is done.

    A message names a ``channel``: work of an earlier message on the same channel is cancelled. Edits of the map are
    applied in the order in which they come; everything else waits for the world that they lead to.
    """

    def __init__(self, work: Work, send: Send) -> None:
        self.work = work
        self.send = send
        self.stage: Stage | None = None
        self.scorer: Scorer | None = None
        self.sets: dict[tuple[Any, ...], OptionSet] = {}
        self.agents: dict[int, Any] = {}
        self.version = -1
        self._opening: asyncio.Task[None] | None = None
        self._building: asyncio.Task[None] | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._edits: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._busy: dict[str, asyncio.Future[Any]] = {}

    async def handle(self, frame: bytes) -> None:
        """Take one message of the page."""
        from farpoint.studio.answers import ANSWERS

        header, arrays = unpack_frame(frame)
        what = header.get("do")
        if what in ("open", "edit"):
            self._build(header, arrays)
            return
        if what == "cancel":
            self._cancel(str(header.get("channel")))
            return
        check_word("message", what, ANSWERS)
        channel = str(header.get("channel") or what)
        self._cancel(channel)
        self._tasks[channel] = asyncio.create_task(self._answer(header, ANSWERS[str(what)]))

    async def light(
        self, function: Callable[..., Any], *args: Any, compiled: bool = True, channel: str | None = None
    ) -> Any:
        """Return what a quick function returns, run in a thread; one that is compiled waits until that is done.

        A thread cannot be ended: work that was superseded runs to its end, and what takes its place waits for it, so
        that a slider that is moved quickly never has more than one thread at work and one waiting. ``channel``: what
        else it waits for; default, work of the same kind of message.
        """
        if compiled:
            await self.work.warm()
        channel = channel or _CHANNEL.get()
        while (busy := self._busy.get(channel)) is not None and not busy.done():
            await asyncio.wait([busy])
        working = asyncio.ensure_future(in_thread(function, *args))
        # Of superseded work nobody looks at the error.
        working.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._busy[channel] = working
        return await asyncio.shield(working)

    async def heavy(
        self, function: Callable[..., Any], *args: Any, progress: Any = None, niceness: int = NICENESS
    ) -> Any:
        """Return what a function of `jobs` returns, run in a process."""
        return await self.work.processes.run(function, *args, progress=progress, niceness=niceness)

    async def reply(self, header: dict[str, Any], content: dict[str, Any], **arrays: Any) -> None:
        """Send an answer to a message."""
        about = {"id": header.get("id"), "do": header.get("do"), "version": self.version}
        await self.send(pack_frame({**about, **content}, **arrays))

    def close(self) -> None:
        """Cancel all work and let go of the world."""
        for task in [*self._tasks.values(), self._building, self._opening]:
            if task is not None:
                task.cancel()
        self._tasks.clear()
        self.stage = self.scorer = None
        self.sets.clear()
        self.agents.clear()
        self._busy.clear()

    def keep_set(self, key: tuple[Any, ...], options: OptionSet) -> OptionSet:
        """Keep options for the questions that follow, those used longest ago dropped first."""
        self.sets.pop(key, None)
        self.sets[key] = options
        while len(self.sets) > _MOST_SETS:
            del self.sets[next(iter(self.sets))]
        return options

    async def ready(self) -> Stage:
        """Return the world once every edit so far is in it."""
        while True:
            building = self._building
            if building is not None:
                try:
                    await asyncio.shield(building)
                except asyncio.CancelledError:
                    # Of the building, which a later edit has replaced; or of the one who waits.
                    if not building.cancelled() or self._building is building:
                        raise
                    continue
            if self.stage is None:
                raise InvalidInput("world must be opened first; got none.")
            return self.stage

    def _cancel(self, channel: str) -> None:
        task = self._tasks.pop(channel, None)
        if task is not None:
            task.cancel()

    def _build(self, header: dict[str, Any], arrays: Arrays) -> None:
        if header["do"] == "edit":
            places, codes = arrays.get("places"), arrays.get("codes")
            if places is None or codes is None or places.dtype != np.int32 or codes.dtype != np.uint8:
                raise InvalidInput("edits must name cells and codes; got something else.")
            self._edits.append((places, codes))
        else:
            self._edits.clear()
        # An edit does not replace the opening of the map that it belongs to.
        replaced = self._building
        if replaced is not None and (header["do"] == "open" or replaced is not self._opening):
            replaced.cancel()
        if header["do"] == "open" and self._opening is not None:
            self._opening.cancel()
        self._building = asyncio.create_task(self._answer(header, lambda one, head: one.rebuild(head, arrays)))
        if header["do"] == "open":
            self._opening = self._building

    async def rebuild(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Make the world that a message asks for; if it cannot be made, the one before stays."""
        if header["do"] == "edit":
            if self._opening is not None:
                await asyncio.shield(self._opening)
            before = self.stage
            if before is None or before.canvas is None:
                raise InvalidInput("world must be a map to be painted; this one is not.")
            edits = list(self._edits)
            stage = await self.light(_edited, before, edits, header)
        else:
            stage = await self._opened(header, arrays)
        content, shown = await self.light(stage.frame, compiled=not _is_preset(header))
        if header["do"] == "edit":
            # Those that came meanwhile are built into the world that follows.
            del self._edits[: len(edits)]
        self.stage = stage
        self.scorer = Scorer(stage.world)
        self.sets.clear()
        self.agents.clear()
        self.version = check_integer("version", header.get("version", 0), 0)
        await self.reply(header, content, **shown)

    async def _opened(self, header: dict[str, Any], arrays: Arrays) -> Stage:
        source = header.get("source")
        if not isinstance(source, dict):
            raise InvalidInput("world must come with a source; got none.")
        if source.get("kind") == "file":
            content = arrays.get("content", np.empty(0, dtype=np.uint8)).tobytes()
            if len(content) > uploads.MOST_BYTES:
                raise InvalidInput(f"file must have at most {uploads.MOST_BYTES // 2**20} MiB; got more.")
            wind = check_fraction("wind", source.get("wind", 0.0))
            stage, code = await self.heavy(jobs.open_file, str(source.get("name") or "upload")[:100], content, wind)
            return _with_code(stage, code, wind)
        if source.get("kind") in _LONG_TO_OPEN:
            stage, code = await self.heavy(jobs.open_source, source)
            return _with_code(stage, code, 0.0)
        opened: Stage = await self.light(make_stage, source, arrays.get("cells"), compiled=not _is_preset(header))
        return opened

    async def _answer(
        self, header: dict[str, Any], answer: Callable[[Session, dict[str, Any]], Awaitable[None]]
    ) -> None:
        _CHANNEL.set(
            "world" if header.get("do") in ("open", "edit") else str(header.get("channel") or header.get("do"))
        )
        try:
            await answer(self, header)
        except FarpointError as error:
            await self.reply(header, {"error": str(error)})
        except MemoryError:
            await self.reply(header, {"error": "world must fit into memory; it does not. Take a smaller one."})
        except Exception as error:  # the page gets one line, whatever it was
            _LOG.exception("the answer to %s failed", header.get("do"))
            await self.reply(header, {"error": f"computation must succeed; it failed ({type(error).__name__})."})


def _is_preset(header: dict[str, Any]) -> bool:
    """Return whether a message opens a world of the paper, which needs nothing compiled: a first visit waits for none.

    >>> _is_preset({"do": "open", "source": {"kind": "named", "name": "ring"}})
    True
    """
    return header["do"] == "open" and bool(header["source"].get("kind") == "named")


def _edited(before: Stage, edits: list[tuple[NDArray[Any], NDArray[Any]]], header: dict[str, Any]) -> Stage:
    assert before.canvas is not None
    canvas = before.canvas
    places = np.concatenate([one for one, _ in edits])
    codes = np.concatenate([one for _, one in edits]).astype(np.uint8)
    wind = check_fraction("wind", header.get("wind", 0.0))
    return map_stage(canvas.with_edits(places, codes), wind, before.world.name)


def _with_code(stage: Stage, code: str, wind: float) -> Stage:
    """Return a stage that came from another process, with its code."""
    if stage.canvas is not None:
        return map_stage(stage.canvas, wind, stage.world.name)
    return Stage(stage.world, None, lambda: code, stage.note, stage.links)
