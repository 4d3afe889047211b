"""The answers while t is moved: the score, what is drawn until it is computed, and the number of goals over t."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import numpy as np

from farpoint.diffusion.scores.returns import ReturnScores
from farpoint.errors import check_integer, check_word
from farpoint.studio import jobs
from farpoint.studio.processes import NICENESS
from farpoint.studio.scoring import LAYERS, Plan, Scored, layer_values
from farpoint.studio.session import Session
from farpoint.studio.threads import in_thread

Header = dict[str, Any]
LONGEST_T = 1_000
# A distance in larger worlds is computed in a process.
_QUICK_DISTANCE = 1_000
# The curve of larger worlds is computed in a process, which goes on while t is moved.
_MANY_STATES = 6_000
# Less urgent than a table, which takes minutes; not so much that nothing of it is known before the table is.
_NICENESS_OF_CURVE = NICENESS + 2
# On one core; a t that takes longer is not on the curve.
_LONGEST_SCORE = 100.0
# Seconds after which t is taken to rest.
_REST = 0.4


def checked_t(header: Header) -> int:
    """Return t of a message.

    >>> checked_t({"t": 13})
    13
    """
    return check_integer("t", header.get("t"), 1, LONGEST_T)


async def _scored(session: Session, t: int, header: Header) -> Scored:
    """Return the score at t, from a thread or a process; the page is told how far a long one is."""
    stage, scorer = session.stage, session.scorer
    assert stage is not None
    assert scorer is not None
    kept = scorer.kept(t)
    if kept is not None:
        return kept
    found: Scored | Plan = await session.light(scorer.compute, t, compiled=scorer.compiles(t))
    if isinstance(found, Scored):
        return found
    progress = progress_of(session, header)
    # Somebody looks at the map meanwhile: no less urgent than the score of another tab.
    sent = jobs.sendable_world(stage)
    timed = await session.heavy(jobs.score, sent, t, found.keywords, progress=progress, niceness=0)
    scored: Scored = await session.light(scorer.finish, t, *timed)
    return scored


def progress_of(session: Session, header: Header) -> Callable[[Any], None]:
    """Return a function that tells the page how far the work on a message is."""

    async def tell(value: Any) -> None:
        await session.reply(header, {"progress": value} if isinstance(value, float) else {"row": value})

    return _in_tasks(tell)


def _in_tasks(function: Callable[[Any], Awaitable[None]]) -> Callable[[Any], None]:
    """Return a function that can be called where nothing can be awaited: each call is a task."""
    loop = asyncio.get_running_loop()
    waiting: set[asyncio.Future[None]] = set()

    def call(value: Any) -> None:
        task = asyncio.ensure_future(function(value), loop=loop)
        waiting.add(task)
        task.add_done_callback(waiting.discard)

    return call


async def score(session: Session, header: Header) -> None:
    """Send the score at t with its goals; or another layer."""
    stage = await session.ready()
    t, layer = checked_t(header), check_word("layer", header.get("layer", "score"), LAYERS)
    # The page asks for them once its threshold is moved.
    wanted = bool(header.get("prominences"))
    if layer == "score" and not wanted:
        await _preview(session, t, header)
    scored = await _scored(session, t, header)
    goals = scored.goals
    prominences = await session.light(lambda: goals.prominences) if wanted else np.empty(0)
    values = np.asarray(scored.scores)
    if layer != "score":
        state = check_integer("state", header.get("state", 0), 0, stage.world.n_states - 1)
        if layer == "stationary" or stage.world.n_states <= _QUICK_DISTANCE:
            values = await session.light(layer_values, stage.world, layer, t, state)
        else:
            values = await session.heavy(jobs.layer, stage.world, layer, t, state)
    bound = scored.scores.error_bound
    content = {
        "t": t,
        "layer": layer,
        "solver": scored.scores.solver,
        "form": scored.scores.form,
        "reason": scored.scores.reason,
        "seconds": scored.seconds,
        "tolerance": None if bound is None else float((bound / np.maximum(values, 1e-300)).max()),
        "low": float(values.min()),
        "high": float(values.max()),
    }
    await session.reply(
        header,
        content,
        values=values.astype(np.float32),
        goals=goals.states.astype(np.int32),
        prominences=np.asarray(prominences, dtype=np.float64),
    )


async def _preview(session: Session, t: int, header: Header) -> None:
    """Where the score takes long, send one from those at neighboring t, or an estimate."""
    scorer = session.scorer
    assert scorer is not None
    if scorer.kept(t) is not None:
        return
    # Not on this message's channel: there it would wait for the score that it takes the place of.
    found = await session.light(scorer.preview, t, compiled=scorer.compiles(t), channel="preview")
    if isinstance(found, ReturnScores):
        values = await session.heavy(jobs.estimate, found, progress=progress_of(session, header), niceness=0)
        found = await session.light(scorer.estimated, values, channel="preview")
    if found is None:
        return
    low, high = float(found.values.min()), float(found.values.max())
    content = {"t": t, "layer": "score", "preview": found.source, "low": low, "high": high}
    await session.reply(
        header,
        content,
        values=found.values.astype(np.float32),
        goals=found.goals.astype(np.int32),
        prominences=np.empty(0),
    )
    # While t is moved on, nothing else is computed.
    await asyncio.sleep(_REST)


async def curve(session: Session, header: Header) -> None:
    """Send the number of goals at every t asked for, as they become known; those that take very long are left out."""
    stage = await session.ready()
    scorer = session.scorer
    assert scorer is not None
    in_process = stage.world.n_states > _MANY_STATES and stage.world.symmetric
    long = []

    async def tell(t: int) -> None:
        await session.reply(header, {"t": t, "n_goals": scorer.counts[t]})

    for t in [check_integer("t", t, 1, LONGEST_T) for t in list(header.get("ts") or [])[:100]]:
        if t not in scorer.counts:
            if in_process:
                long.append(t)
                continue
            # On one core: the others are for who moves t meanwhile.
            found = await session.light(partial(scorer.compute, n_jobs=1), t)
            if isinstance(found, Plan):
                if found.seconds <= _LONGEST_SCORE:
                    long.append(t)
                continue
            await session.light(scorer.add_to_curve, t, found.scores, found.seconds, len(found.goals))
        await tell(t)
    if not long:
        return

    async def known(one: tuple[int, Any, float, int | None]) -> None:
        t, scores, seconds, n_goals = one
        if n_goals is None:
            await in_thread(scorer.estimates.add, t, scores)
            return
        await in_thread(scorer.add_to_curve, t, scores, seconds, n_goals)
        await tell(t)

    async with session.work.in_background:
        sent = jobs.sendable_world(stage)
        await session.heavy(
            jobs.curve, sent, long, _LONGEST_SCORE, progress=_in_tasks(known), niceness=_NICENESS_OF_CURVE
        )
