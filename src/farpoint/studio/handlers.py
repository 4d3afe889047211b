"""What the page asks: one function per question, which sends the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from farpoint.errors import InvalidInput, check_fraction, check_integer, check_word
from farpoint.exploration.goals import GOALS
from farpoint.options import METHODS, OptionSet
from farpoint.studio import comparing, workers
from farpoint.studio.agents import RandomAgent, exploring_band, goal_route, learning_band, random_band
from farpoint.studio.export import python_lines, saved_options
from farpoint.studio.protocol import LONGEST_T, MANY_STATES, MOST_PANELS
from farpoint.studio.scoring import LAYERS, Plan, Scored, layer_values
from farpoint.studio.workers import NICENESS, in_thread
from farpoint.studio.worlds import env_picture

if TYPE_CHECKING:
    from farpoint.studio.session import Question, State

Header = dict[str, Any]
# Options of larger worlds are computed in a process, and so are those of methods that try many goals.
_QUICK_STATES = 1_500
_LONG_METHODS = ("farpoint", "average")
# A distance in larger worlds is computed in a process.
_QUICK_DISTANCE = 1_000
# Less urgent than a table, which takes minutes; not so much that nothing of it is known before the table is.
_NICENESS_OF_CURVE = NICENESS + 2
# On one core; a t that takes longer is not on the curve.
_LONGEST_SCORE = 100.0
# Scores with a smaller bound are called exact on the page.
_EXACT_RTOL = 1e-6
_LONGEST_PICTURE = 30.0
# Seconds after which t is taken to rest.
_REST = 0.4


def _t(header: Header) -> int:
    return check_integer("t", header.get("t"), 1, LONGEST_T)


def _panels(header: Header, most: int = MOST_PANELS) -> list[Header]:
    panels = header.get("panels")
    if not isinstance(panels, list) or not 1 <= len(panels) <= most:
        raise InvalidInput(f"panels must be 1 to {most}; got {panels!r}.")
    return [panel if isinstance(panel, dict) else {} for panel in panels]


def _probability(header: Header) -> float | None:
    value = header.get("probability")
    return None if value is None else min(check_fraction("option probability", value), 0.999)


# ---- While t is moved: the score, what is drawn until it is computed, and the number of goals over t. ----------------


async def score(question: Question) -> None:
    """Send the score at t with its goals; or another layer."""
    state, header = await question.state(), question.header
    t, layer = _t(header), check_word("layer", header.get("layer", "score"), LAYERS)
    # The page asks for them once its threshold is moved.
    wanted = bool(header.get("prominences"))
    if layer == "score" and not wanted:
        await _preview(question, state, t)
    scored = await _scored(question, state, t)
    goals, world = scored.goals, state.stage.world
    prominences = await question.light(lambda: goals.prominences) if wanted else np.empty(0)
    values = np.asarray(scored.scores)
    if layer != "score":
        begins = check_integer("state", header.get("state", 0), 0, world.n_states - 1)
        if layer == "stationary" or world.n_states <= _QUICK_DISTANCE:
            values = await question.light(layer_values, world, layer, t, begins)
        else:
            values = await question.heavy(layer_values, world, layer, t, begins)
    bound = scored.scores.error_bound
    tolerance = None if bound is None else float((bound / np.maximum(np.asarray(scored.scores), 1e-300)).max())
    content = {
        "t": t,
        "layer": layer,
        "solver": scored.scores.solver,
        "reason": scored.scores.reason,
        "seconds": scored.seconds,
        "tolerance": tolerance,
        "exact": tolerance is None or tolerance < _EXACT_RTOL,
        "low": float(values.min()),
        "high": float(values.max()),
    }
    await question.reply(
        content,
        values=values.astype(np.float32),
        goals=goals.states.astype(np.int32),
        prominences=np.asarray(prominences, dtype=np.float64),
    )


async def _preview(question: Question, state: State, t: int) -> None:
    """Send a preview where the score takes long and those at neighboring t are known."""
    scorer = state.scorer
    if scorer.kept(t) is not None:
        return
    # Not on this question's channel: there it would wait for the score that it takes the place of.
    found = await question.light(scorer.preview, t, compiled=scorer.compiles(t), channel="preview")
    if found is None:
        return
    low, high = float(found.values.min()), float(found.values.max())
    await question.reply(
        {"part": True, "preview": True, "exact": False, "t": t, "layer": "score", "low": low, "high": high},
        values=found.values.astype(np.float32),
        goals=found.goals.astype(np.int32),
        prominences=np.empty(0),
    )
    # While t is moved on, nothing else is computed.
    await asyncio.sleep(_REST)


async def _scored(question: Question, state: State, t: int) -> Scored:
    """Return the score at t, from a thread or a process; the page is told how far a long one is."""
    scorer = state.scorer
    kept = scorer.kept(t)
    if kept is not None:
        return kept
    found: Scored | Plan = await question.light(scorer.compute, t, compiled=scorer.compiles(t))
    if isinstance(found, Scored):
        return found
    # Somebody looks at the map meanwhile: no less urgent than the score of another tab.
    sent = workers.sendable_world(state.stage)
    timed = await question.heavy(workers.score, sent, t, found.keywords, progress=question.tell, niceness=0)
    scored: Scored = await question.light(scorer.finish, t, *timed)
    return scored


async def curve(question: Question) -> None:
    """Send the number of goals at every t asked for, as they become known; those that take very long are left out."""
    state = await question.state()
    scorer, world = state.scorer, state.stage.world
    in_process = world.n_states > MANY_STATES and world.symmetric
    long = []

    async def tell(t: int) -> None:
        await question.reply({"part": True, "t": t, "n_goals": scorer.counts[t]})

    for t in [check_integer("t", t, 1, LONGEST_T) for t in list(question.header.get("ts") or [])[:100]]:
        if t not in scorer.counts:
            if in_process:
                long.append(t)
                continue
            # On one core: the others are for who moves t meanwhile.
            found = await question.light(partial(scorer.compute, n_jobs=1), t)
            if isinstance(found, Plan):
                if found.seconds <= _LONGEST_SCORE:
                    long.append(t)
                continue
            await question.light(scorer.add_to_curve, t, found.scores, found.seconds, len(found.goals))
        await tell(t)
    if long:

        async def known(one: tuple[int, Any, float, int]) -> None:
            t, scores, seconds, n_goals = one
            await in_thread(scorer.add_to_curve, t, scores, seconds, n_goals)
            await tell(t)

        async with question.session.work.in_background:
            sent = workers.sendable_world(state.stage)
            await question.heavy(workers.curve, sent, long, _LONGEST_SCORE, progress=known, niceness=_NICENESS_OF_CURVE)
    await question.reply({})


# ---- Options of the panels. ------------------------------------------------------------------------------------------


async def _set(question: Question, state: State, panel: Header) -> OptionSet:
    """Return the options of a panel, discovered now or before."""
    header, world = question.header, state.stage.world
    method, t = check_word("method", panel.get("method"), METHODS), _t(header)
    n_options = comparing.n_options_of(world, method, header.get("n_options"))
    least = float(header.get("min_prominence") or 0.0)
    key = (method, t, n_options, least)
    if key in state.sets:
        return state.sets[key]
    keywords = (await question.light(state.scorer.plan, t)).keywords
    arguments = (world, method, t, n_options, least, {**keywords, "n_jobs": 1})
    if world.n_states <= _QUICK_STATES and method not in _LONG_METHODS:
        found = await question.light(comparing.discover_options, *arguments)
    else:
        found = await question.heavy(comparing.discover_options, *arguments)
    return state.keep_set(key, found)


async def options(question: Question) -> None:
    """Send the goals of a panel's options."""
    found = await _set(question, await question.state(), question.header)
    await question.reply({"method": found.method}, goals=found.goals.astype(np.int32))


async def policy(question: Question) -> None:
    """Send the arrows of an option."""
    state = await question.state()
    found = await _set(question, state, question.header)
    number = check_integer("option", question.header.get("option"), 0, len(found) - 1)
    begins, leads = await question.light(comparing.policy_arrows, state.stage, found, number)
    await question.reply({"option": number}, begins=begins, leads=leads)


async def route(question: Question) -> None:
    """Send the way of an option from a state to its end; in a log, that of the goal policy."""
    state = await question.state()
    found = await _set(question, state, question.header)
    number = check_integer("option", question.header.get("option"), 0, len(found) - 1)
    begins = check_integer("state", question.header.get("state"), 0, found.world.n_states - 1)
    if state.stage.policy is not None:
        states = await question.light(goal_route, state.stage, begins, int(found.goals[number]))
    else:
        states = await question.light(partial(found[number].route, max_steps=100_000), begins)
    await question.reply({"option": number}, states=states.astype(np.int32))


async def goal(question: Question) -> None:
    """Send the way from a state to any other."""
    state, header = await question.state(), question.header
    most = state.stage.world.n_states - 1
    begins, ends = (check_integer(name, header.get(name), 0, most) for name in ("state", "goal"))
    states = await question.light(goal_route, state.stage, begins, ends)
    await question.reply({"state": begins, "goal": ends}, states=states.astype(np.int32))


async def table(question: Question) -> None:
    """Send the exact table of all panels, row by row and then whole."""
    state, header = await question.state(), question.header
    comparing.check_table(state.stage.world)
    # Beside four panels the table shows an agent without options.
    sets = [await _set(question, state, panel) for panel in _panels(header, MOST_PANELS + 1)]
    arguments = (state.stage.world, sets, _probability(header))
    await question.reply(await question.heavy(comparing.table_rows, *arguments, progress=question.tell))


async def picture(question: Question) -> None:
    """Send the environment's own picture of a state."""
    stage = (await question.state()).stage
    if stage.env is None or stage.world.labels is None:
        raise InvalidInput("world must be an environment to have a picture of its own; this one is not.")
    number = check_integer("state", question.header.get("state"), 0, stage.world.n_states - 1)
    found = await question.heavy(env_picture, *stage.env, stage.world.labels[number], seconds=_LONGEST_PICTURE)
    rows, cols, _ = found.shape
    await question.reply({"state": number, "rows": rows, "cols": cols}, pixels=found.ravel())


# ---- Agents. ---------------------------------------------------------------------------------------------------------


async def walk(question: Question) -> None:
    """Send the next steps of the random agent of a panel."""
    state, header = await question.state(), question.header
    number = check_integer("panel", header.get("panel"), 0, MOST_PANELS - 1)
    if header.get("begin"):
        found = await _set(question, state, header)
        seed = check_integer("seed", header.get("seed", 0), 0)
        arguments = (state.stage.world, found, _probability(header), seed)
        state.agents[number] = await question.light(RandomAgent, *arguments)
    agent = state.agents.get(number)
    if agent is None:
        raise InvalidInput("agent must begin before it goes on; got a world that has changed.")
    states, followed = await question.light(agent.walk, header.get("steps"))
    await question.reply({"panel": number, "first": agent.first}, states=states, followed=followed)


async def learn(question: Question) -> None:
    """Send how Q-learning goes with the options of every panel: curves and greedy paths."""
    state, header = await question.state(), question.header
    world = state.stage.world
    sets = [await _set(question, state, panel) for panel in _panels(header)]
    target = header.get("target")
    keywords = {
        "target": None if target is None else check_integer("target", target, 0, world.n_states - 1),
        "n_episodes": header.get("episodes", 200),
        "seed": check_integer("seed", header.get("seed", 0), 0),
    }
    arguments = (world, sets, _probability(header), keywords)
    learned = await question.heavy(workers.learn, *arguments, progress=question.tell)
    arrays: dict[str, Any] = {}
    for number, one in enumerate(learned):
        arrays[f"curve{number}"] = one.curve.astype(np.float32)
        arrays[f"visits{number}"] = one.visits.astype(np.float32)
        arrays[f"episodes{number}"] = np.array(one.episodes, dtype=np.int32)
        arrays[f"lengths{number}"] = np.array([path.size for path in one.paths], dtype=np.int32)
        arrays[f"paths{number}"] = np.concatenate(one.paths)
    content = {"target": learned[0].target, "longest": learned[0].max_steps}
    await question.reply(content, **arrays)


def _exploration(header: Header) -> Header:
    return {
        "n_steps": header.get("steps", 5_000),
        "n_options": check_integer("options", header.get("slots", 5), 1, 50),
        "max_episode_steps": check_integer("steps per episode", header.get("episode", 100), 1, 100_000),
        "t": _t(header),
        "option_probability": _probability(header),
        "seed": check_integer("seed", header.get("seed", 0), 0),
    }


async def band(question: Question) -> None:
    """Send the quartiles of the curves of 20 runs of a panel's agent."""
    state, header = await question.state(), question.header
    world = state.stage.world
    mode = check_word("agent", header.get("mode"), ("random", "learn", "scratch"))
    if mode == "scratch":
        method = check_word("method of exploring", header.get("method"), GOALS)
        found = await question.heavy(partial(exploring_band, world, method, **_exploration(header)))
    else:
        keywords: Header = {"seed": check_integer("seed", header.get("seed", 0), 0)}
        if mode == "random":
            keywords["n_steps"] = header.get("steps", 5_000)
        else:
            target = header.get("target")
            keywords["target"] = None if target is None else check_integer("target", target, 0, world.n_states - 1)
            keywords["n_episodes"] = header.get("episodes", 200)
        options = await _set(question, state, header)
        function = random_band if mode == "random" else learning_band
        found = await question.heavy(partial(function, world, options, _probability(header), **keywords))
    await question.reply({"mode": mode}, x=found.x, low=found.low, middle=found.middle, high=found.high)


async def explore(question: Question) -> None:
    """Send every step of an exploration from scratch with the method of every panel."""
    state, header = await question.state(), question.header
    methods = [str(panel.get("method")) for panel in _panels(header)]
    for method in methods:
        check_word("method of exploring", method, GOALS)
    arguments = (state.stage.world, methods, _exploration(header))
    explored = await question.heavy(workers.explore, *arguments, progress=question.tell)
    arrays: dict[str, Any] = {}
    for number, one in enumerate(explored):
        arrays[f"before{number}"], arrays[f"after{number}"] = one.before, one.after
        arrays[f"remade{number}"] = np.array(one.remade, dtype=np.int32)
        arrays[f"n_goals{number}"] = np.array([len(goals) for goals in one.goals], dtype=np.int32)
        arrays[f"goals{number}"] = np.array([goal for goals in one.goals for goal in goals], dtype=np.int32)
    await question.reply({"methods": methods}, **arrays)


# ---- What is taken away. ---------------------------------------------------------------------------------------------


async def take(question: Question) -> None:
    """Send something to take away: the options as a file, the map as text, the page as Python."""
    state, header = await question.state(), question.header
    stage = state.stage
    what = check_word("file", header.get("what"), ("npz", "text", "python"))
    if what == "npz":
        found = await _set(question, state, header)
        await question.reply({"what": what}, file=await question.light(saved_options, found))
        return
    if what == "text":
        if not stage.on_map:
            raise InvalidInput("world must be a map to be a text; this one is a graph. Take options.npz instead.")
        text = stage.canvas.text() if stage.canvas is not None else stage.world.to_text()
        await question.reply({"what": what, "text": text + "\n"})
        return
    t = _t(header)
    panels = [str(check_word("method", panel.get("method"), METHODS)) for panel in _panels(header)]
    counts = [comparing.n_options_of(stage.world, method, header.get("n_options")) for method in panels]
    keywords = (await question.light(state.scorer.plan, t)).keywords
    least = float(header.get("min_prominence") or 0.0)
    lines = python_lines(stage, t, keywords, least, list(zip(panels, counts, strict=True)))
    await question.reply({"what": what, "text": lines})


_ALL = (score, curve, options, policy, route, goal, picture, table, walk, learn, explore, band, take)
HANDLERS: dict[str, Callable[[Question], Awaitable[None]]] = {handler.__name__: handler for handler in _ALL}
