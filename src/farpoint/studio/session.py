"""One tab of the page: what it shows, and the work that it asked for last."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import FarpointError, InvalidInput, check_fraction, check_integer, check_word
from farpoint.options import OptionSet
from farpoint.studio import workers
from farpoint.studio.agents import RandomAgent
from farpoint.studio.protocol import MOST_FILE_BYTES, pack_frame, unpack_frame
from farpoint.studio.scoring import Scorer
from farpoint.studio.workers import Work, in_thread
from farpoint.studio.worlds import Stage, make_stage, map_stage

Arrays = dict[str, NDArray[Any]]
Send = Callable[[bytes], Awaitable[None]]
# Made in a process: an environment is enumerated, a graph is laid out.
_LONG_TO_OPEN = ("env", "graph", "continuous")
# A file or an environment that takes longer is given up: it holds one of the server's processes.
OPENING_SECONDS = 120.0
_MOST_SETS = 12
# A page asks for less than 30 things at a time.
_MOST_CHANNELS = 64
_MOST_EDITS = 10_000
_LOG = logging.getLogger(__name__)


@dataclass(eq=False)
class State:
    """What a tab shows: a world, and what was computed of it. Another world is another state.

    Attributes
    ----------
    stage : Stage
    version : int
        The page's number of this world; every answer carries that of the world it is about.
    scorer : Scorer
    sets : dict
        Options by method, t, number and least prominence; those used longest ago first.
    agents : dict
        The random agent of every panel.
    """

    stage: Stage
    version: int
    scorer: Scorer = field(init=False)
    sets: dict[tuple[Any, ...], OptionSet] = field(default_factory=dict)
    agents: dict[int, RandomAgent] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scorer = Scorer(self.stage.world)

    def keep_set(self, key: tuple[Any, ...], options: OptionSet) -> OptionSet:
        """Keep options for the questions that follow, those used longest ago dropped first."""
        self.sets.pop(key, None)
        self.sets[key] = options
        while len(self.sets) > _MOST_SETS:
            del self.sets[next(iter(self.sets))]
        return options


class Session:
    """One tab: takes its messages, and lets go of everything when it is closed.

    A question that follows another one on the same channel takes its place: the first is cancelled, with the process
    that works on it.
    """

    def __init__(self, work: Work, send: Send) -> None:
        self.work, self.send = work, send
        self.state: State | None = None
        # A task that makes a world, and the one among them that opened it.
        self._building: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._edits: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._busy: dict[str, asyncio.Future[Any]] = {}

    @property
    def n_channels(self) -> int:
        """How many channels something is being answered on."""
        return len(self._tasks) + len(self._busy)

    async def handle(self, frame: bytes) -> None:
        """Take one message of the page."""
        from farpoint.studio.handlers import HANDLERS

        header: dict[str, Any] = {}
        try:
            header, arrays = unpack_frame(frame)
            question = Question(self, header, arrays)
            what = header.get("do")
            if what == "cancel":
                self._cancel(question.channel)
            elif what in ("open", "edit"):
                self._build(question)
            else:
                check_word("message", what, HANDLERS)
                self._cancel(question.channel)
                if len(self._tasks) >= _MOST_CHANNELS:
                    raise InvalidInput(f"questions must be at most {_MOST_CHANNELS} at a time; got another one.")
                self._begin(self._tasks, question, HANDLERS[str(what)])
        except FarpointError as error:
            await Question(self, header, {}).reply({"error": str(error)})

    def close(self) -> None:
        """Cancel all work and let go of the world."""
        for task in [*self._tasks.values(), self._building, self._opening]:
            if task is not None:
                task.cancel()
        self._tasks.clear()
        self._busy.clear()
        self._edits.clear()
        self.state = None

    async def ready(self) -> State:
        """Return the world once every edit so far is in it."""
        while True:
            building = self._building
            if building is not None:
                try:
                    await asyncio.shield(building)
                except asyncio.CancelledError:
                    # Of the building, which was called off or which a later edit has replaced; or of the one who waits.
                    if not building.cancelled() or self._building is building:
                        raise
                    continue
            if self.state is None:
                raise InvalidInput("world must be opened first; got none.")
            return self.state

    async def light(self, channel: str, function: Callable[..., Any], *args: Any, compiled: bool = True) -> Any:
        """Return what a quick function returns, run in a thread; one that is compiled waits until that is done.

        A thread cannot be ended: work that was superseded runs to its end, and what takes its place on the channel
        waits for it, so that a slider that is moved quickly never has more than one thread at work and one waiting.
        """
        if compiled:
            await self.work.warm()
        while (busy := self._busy.get(channel)) is not None and not busy.done():
            await asyncio.wait([busy])
        working = asyncio.ensure_future(in_thread(function, *args))
        self._busy[channel] = working

        def done(_: asyncio.Future[Any]) -> None:
            # Of superseded work nobody looks at the error.
            if not working.cancelled():
                working.exception()
            if self._busy.get(channel) is working:
                del self._busy[channel]

        working.add_done_callback(done)
        return await asyncio.shield(working)

    def _begin(self, tasks: dict[str, asyncio.Task[None]], question: Question, answer: Answer) -> asyncio.Task[None]:
        """Answer a question in a task, which is forgotten when it is done."""
        task = asyncio.create_task(_answer(question, answer))
        tasks[question.channel] = task

        def done(_: asyncio.Task[None]) -> None:
            if tasks.get(question.channel) is task:
                del tasks[question.channel]

        task.add_done_callback(done)
        return task

    def _cancel(self, channel: str) -> None:
        task = self._tasks.pop(channel, None)
        if task is not None:
            task.cancel()
        if channel == "world" and self._opening is not None and not self._opening.done():
            # The world before stays.
            self._opening.cancel()
            self._opening = self._building = None

    def _build(self, question: Question) -> None:
        opens = question.header["do"] == "open"
        if opens:
            self._edits.clear()
        else:
            places, codes = question.arrays.get("places"), question.arrays.get("codes")
            if places is None or codes is None or places.dtype != np.int32 or codes.dtype != np.uint8:
                raise InvalidInput("edits must name cells and codes; got something else.")
            if len(self._edits) >= _MOST_EDITS:
                raise InvalidInput(f"edits must be at most {_MOST_EDITS:,} at a time; got more. Wait for the world.")
            self._edits.append((places, codes))
        # An edit does not replace the opening of the map that it belongs to.
        replaced = self._building
        if replaced is not None and (opens or replaced is not self._opening):
            replaced.cancel()
        if opens and self._opening is not None:
            self._opening.cancel()
        self._building = asyncio.create_task(_answer(question, self._rebuild))
        if opens:
            self._opening = self._building

    async def _rebuild(self, question: Question) -> None:
        """Make the world that a message asks for; if it cannot be made, the one before stays."""
        header = question.header
        if header["do"] == "edit":
            if self._opening is not None:
                await asyncio.shield(self._opening)
            if self.state is None or self.state.stage.canvas is None:
                raise InvalidInput("world must be a map to be painted; this one is not.")
            edits = list(self._edits)
            stage = await question.light(_edited, self.state.stage, edits, header)
        else:
            stage = await self._opened(question)
        content, shown = await question.light(stage.frame, compiled=not _is_preset(header))
        state = State(stage, check_integer("version", header.get("version", 0), 0))
        if header["do"] == "edit":
            # Those that came meanwhile are built into the world that follows.
            del self._edits[: len(edits)]
        self.state = state
        question.version = state.version
        await question.reply(content, **shown)

    async def _opened(self, question: Question) -> Stage:
        header, arrays = question.header, question.arrays
        source = header.get("source")
        if not isinstance(source, dict):
            raise InvalidInput("world must come with a source; got none.")
        if source.get("kind") == "file":
            content = arrays.get("content", np.empty(0, dtype=np.uint8)).tobytes()
            if len(content) > MOST_FILE_BYTES:
                raise InvalidInput(f"file must have at most {MOST_FILE_BYTES // 2**20} MiB; got more.")
            wind = check_fraction("wind", source.get("wind", 0.0))
            arguments = (str(source.get("name") or "upload")[:100], content, wind)
            stage, code = await question.heavy(workers.open_file, *arguments, seconds=OPENING_SECONDS)
            return _with_code(stage, code, wind)
        if source.get("kind") in _LONG_TO_OPEN:

            async def tell(n_states: int) -> None:
                await question.reply({"part": True, "states": n_states})

            stage, code = await question.heavy(workers.open_source, source, progress=tell, seconds=OPENING_SECONDS)
            return _with_code(stage, code, 0.0)
        opened: Stage = await question.light(make_stage, source, arrays.get("cells"), compiled=not _is_preset(header))
        return opened


class Question:
    """One message of the page: its header and arrays, and where its answers go.

    Attributes
    ----------
    channel : str
        A later question on the same channel takes the place of this one.
    version : int
        The version of the world that the answers are about.
    """

    def __init__(self, session: Session, header: dict[str, Any], arrays: Arrays) -> None:
        self.session, self.header, self.arrays = session, header, arrays
        what = header.get("do")
        self.channel = "world" if what in ("open", "edit") else str(header.get("channel") or what)
        self.version = 0 if session.state is None else session.state.version

    async def state(self) -> State:
        """Return the world that the question is about: the one with every edit that came before it."""
        state = await self.session.ready()
        self.version = state.version
        return state

    async def reply(self, content: dict[str, Any], **arrays: Any) -> None:
        """Send an answer; one that says ``part`` is followed by others."""
        about = {"id": self.header.get("id"), "do": self.header.get("do"), "version": self.version}
        await self.session.send(pack_frame({**about, **content}, **arrays))

    async def light(
        self, function: Callable[..., Any], *args: Any, compiled: bool = True, channel: str | None = None
    ) -> Any:
        """Return what a quick function returns, run in a thread; see `Session.light`."""
        return await self.session.light(channel or self.channel, function, *args, compiled=compiled)

    async def heavy(self, function: Callable[..., Any], *args: Any, **how: Any) -> Any:
        """Return what a function returns, run in a process; keywords are those of `Processes.run`."""
        return await self.session.work.processes.run(function, *args, **how)

    async def tell(self, value: Any) -> None:
        """Tell the page how far the work is: a share, or a row of the table."""
        await self.reply({"part": True, "progress" if isinstance(value, float) else "row": value})


Answer = Callable[[Question], Awaitable[None]]


async def _answer(question: Question, answer: Answer) -> None:
    try:
        await answer(question)
    except FarpointError as error:
        await question.reply({"error": str(error)})
    except MemoryError:
        await question.reply({"error": "world must fit into memory; it does not. Take a smaller one."})
    except Exception as error:  # the page gets one line, whatever it was
        _LOG.exception("the answer to %s failed", question.header.get("do"))
        await question.reply({"error": f"computation must succeed; it failed ({type(error).__name__})."})


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
    return replace(stage, code=lambda: code)
