"""The answers to what the page asks, one function per kind of message."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import numpy as np

from farpoint.errors import InvalidInput, check_fraction, check_integer, check_word
from farpoint.exploration.goals import GOALS
from farpoint.options import METHODS, OptionSet
from farpoint.studio import comparing, jobs
from farpoint.studio.playing import RandomAgent, first_state
from farpoint.studio.recipe import python_lines
from farpoint.studio.score_answers import Header, checked_t, curve, progress_of, score
from farpoint.studio.session import Session

MOST_PANELS = 4
# Options of larger worlds are computed in a process, and so are those of methods that try many goals.
_QUICK_STATES = 1_500
_LONG_METHODS = ("farpoint",)


async def _set(session: Session, header: Header, panel: Header) -> OptionSet:
    """Return the options of a panel, discovered now or before."""
    stage = await session.ready()
    scorer = session.scorer
    assert scorer is not None
    method, t = check_word("method", panel.get("method"), METHODS), checked_t(header)
    n_options = comparing.n_options_of(stage.world, method, header.get("n_options"))
    least = float(header.get("min_prominence") or 0.0)
    key = (method, t, n_options, least)
    if key in session.sets:
        return session.sets[key]
    keywords = (await session.light(scorer.plan, t)).keywords
    arguments = (stage.world, method, t, n_options, least, {**keywords, "n_jobs": 1})
    if stage.world.n_states <= _QUICK_STATES and method not in _LONG_METHODS:
        found = await session.light(comparing.discover_options, *arguments)
    else:
        found = await session.heavy(jobs.options, *arguments)
    return session.keep_set(key, found)


def _panels(header: Header) -> list[Header]:
    panels = header.get("panels")
    if not isinstance(panels, list) or not 1 <= len(panels) <= MOST_PANELS:
        raise InvalidInput(f"panels must be 1 to {MOST_PANELS}; got {panels!r}.")
    return [panel if isinstance(panel, dict) else {} for panel in panels]


def _chance(header: Header) -> float | None:
    value = header.get("probability")
    return None if value is None else min(check_fraction("option probability", value), 0.999)


async def options(session: Session, header: Header) -> None:
    """Send the goals of a panel's options."""
    found = await _set(session, header, header)
    content = {
        "method": found.method,
        "choice": str(found.record.get("choice", "")),
        "probability": await session.light(lambda: found.option_probability) if len(found) else None,
        "climbs": found.climbs is not None,
    }
    starts = np.empty(0) if found.initiation is None else found.initiation
    await session.reply(
        header, content, goals=found.goals.astype(np.int32), initiation=np.asarray(starts, dtype=np.int32)
    )


async def policy(session: Session, header: Header) -> None:
    """Send the arrows of an option."""
    found = await _set(session, header, header)
    stage = await session.ready()
    number = check_integer("option", header.get("option"), 0, len(found) - 1)
    begins, leads = await session.light(comparing.policy_arrows, stage, found, number)
    await session.reply(header, {"option": number}, begins=begins, leads=leads)


async def route(session: Session, header: Header) -> None:
    """Send the way of an option from a state to its end."""
    found = await _set(session, header, header)
    number = check_integer("option", header.get("option"), 0, len(found) - 1)
    option, state = found[number], check_integer("state", header.get("state"), 0, found.world.n_states - 1)
    states = await session.light(partial(option.route, max_steps=100_000), state)
    await session.reply(header, {"option": number}, states=states.astype(np.int32))


async def table(session: Session, header: Header) -> None:
    """Send the exact table of all panels, row by row and then whole."""
    stage = await session.ready()
    comparing.check_table(stage.world)
    sets = [await _set(session, header, panel) for panel in _panels(header)]
    tell = progress_of(session, header)
    found = await session.heavy(jobs.table, stage.world, sets, _chance(header), progress=tell)
    await session.reply(header, found)


async def walk(session: Session, header: Header) -> None:
    """Send the next steps of the random agent of a panel."""
    number = check_integer("panel", header.get("panel"), 0, MOST_PANELS - 1)
    if header.get("begin"):
        found = await _set(session, header, header)
        stage = await session.ready()
        seed = check_integer("seed", header.get("seed", 0), 0)
        session.agents[number] = await session.light(RandomAgent, stage.world, found, _chance(header), seed)
    agent = session.agents.get(number)
    if agent is None:
        raise InvalidInput("agent must begin before it goes on; got a world that has changed.")
    states, followed = await session.light(agent.walk, header.get("steps"))
    await session.reply(header, {"panel": number, "first": agent.first}, states=states, followed=followed)


async def learn(session: Session, header: Header) -> None:
    """Send how Q-learning goes with the options of every panel: curves and greedy paths."""
    stage = await session.ready()
    sets = [await _set(session, header, panel) for panel in _panels(header)]
    target = header.get("target")
    keywords = {
        "target": None if target is None else check_integer("target", target, 0, stage.world.n_states - 1),
        "n_episodes": header.get("episodes", 200),
        "seed": check_integer("seed", header.get("seed", 0), 0),
    }
    progress = progress_of(session, header)
    learned = await session.heavy(jobs.learn, stage.world, sets, _chance(header), keywords, progress=progress)
    arrays: dict[str, Any] = {}
    for number, one in enumerate(learned):
        arrays[f"curve{number}"] = one.curve.astype(np.float32)
        arrays[f"visits{number}"] = one.visits.astype(np.float32)
        arrays[f"episodes{number}"] = np.array(one.episodes, dtype=np.int32)
        arrays[f"lengths{number}"] = np.array([path.size for path in one.paths], dtype=np.int32)
        arrays[f"paths{number}"] = np.concatenate(one.paths)
    content = {"target": learned[0].target, "start": first_state(stage.world), "n_panels": len(learned)}
    await session.reply(header, content, **arrays)


async def explore(session: Session, header: Header) -> None:
    """Send every step of an exploration from scratch with the method of every panel."""
    stage = await session.ready()
    methods = [str(panel.get("method")) for panel in _panels(header)]
    for method in methods:
        check_word("method of exploring", method, GOALS)
    keywords = {
        "n_steps": header.get("steps", 5_000),
        "n_options": check_integer("options", header.get("slots", 5), 1, 50),
        "max_episode_steps": check_integer("steps per episode", header.get("episode", 100), 1, 100_000),
        "t": min(checked_t(header), 100),
        "seed": check_integer("seed", header.get("seed", 0), 0),
    }
    progress = progress_of(session, header)
    explored = await session.heavy(jobs.explore, stage.world, methods, keywords, progress=progress)
    arrays: dict[str, Any] = {}
    for number, one in enumerate(explored):
        arrays[f"before{number}"], arrays[f"after{number}"] = one.before, one.after
        arrays[f"remade{number}"] = np.array(one.remade, dtype=np.int32)
        arrays[f"n_goals{number}"] = np.array([len(goals) for goals in one.goals], dtype=np.int32)
        arrays[f"goals{number}"] = np.array([state for goals in one.goals for state in goals], dtype=np.int32)
    await session.reply(header, {"n_panels": len(explored), "methods": methods}, **arrays)


async def take(session: Session, header: Header) -> None:
    """Send something to take away: the options as a file, the map as text, the page as Python."""
    stage = await session.ready()
    what = check_word("file", header.get("what"), ("npz", "text", "python"))
    if what == "npz":
        found = await _set(session, header, header)
        await session.reply(header, {"what": what}, file=await session.light(_saved, found))
        return
    if what == "text":
        if not stage.on_map:
            raise InvalidInput("world must be a map to be a text; this one is a graph. Take options.npz instead.")
        text = stage.canvas.text() if stage.canvas is not None else stage.world.to_text()
        await session.reply(header, {"what": what, "text": text + "\n"})
        return
    scorer = session.scorer
    assert scorer is not None
    t = checked_t(header)
    panels = [str(check_word("method", panel.get("method"), METHODS)) for panel in _panels(header)]
    counts = [comparing.n_options_of(stage.world, method, header.get("n_options")) for method in panels]
    keywords = (await session.light(scorer.plan, t)).keywords
    least = float(header.get("min_prominence") or 0.0)
    lines = python_lines(stage, t, keywords, least, list(zip(panels, counts, strict=True)))
    await session.reply(header, {"what": what, "text": lines})


def _saved(found: OptionSet) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "options.npz")
        found.save(path)
        with open(path, "rb") as file:
            return file.read()


ANSWERS: dict[str, Callable[[Session, Header], Awaitable[None]]] = {
    answer.__name__: answer for answer in (score, curve, options, policy, route, table, walk, learn, explore, take)
}
