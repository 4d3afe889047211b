"""What runs in processes of its own; every function takes ``report`` first, to be called while it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import Scores
from farpoint.diffusion.scores.lattice import LARGEST_UNROLLED
from farpoint.diffusion.scores.returns import ReturnScores
from farpoint.exploration.goals import GOALS
from farpoint.options import METHODS, OptionSet
from farpoint.studio import comparing, playing, scoring, sources, uploads
from farpoint.studio.stage import Canvas, Stage
from farpoint.worlds import World

Report = Callable[[Any], None]
# Estimates are waited for when t is moved, numbers of goals are not: of these only what takes so much less comes first.
_URGENCY = 0.25


def open_source(report: Report, source: dict[str, Any]) -> tuple[Stage, str]:
    """Return the stage of an environment or a graph, and its code."""
    return _sendable(sources.make_stage(source))


def open_file(report: Report, name: str, content: bytes, wind: float) -> tuple[Stage, str]:
    """Return the stage of a file, and its code."""
    return _sendable(uploads.read_upload(name, content, wind))


def _sendable(stage: Stage) -> tuple[Stage, str]:
    """Return a stage without its function, which no process can send, and what that function returns."""
    return Stage(stage.world, stage.canvas, str, stage.note, stage.links), stage.code() if stage.canvas is None else ""


def score(report: Report, sent: World | Canvas, t: int, keywords: dict[str, Any]) -> tuple[Scores, float]:
    """Return a score that takes long, and its seconds; its goals would take longer to send than to find."""

    def progress(done: int, total: int) -> None:
        report(done / max(total, 1))

    return scoring.timed_score(_received(sent), t, {**keywords, "progress": progress})


def estimate(report: Report, estimate: ReturnScores) -> NDArray[np.float64]:
    """Return an estimate of a score that takes long."""

    def progress(done: int, total: int) -> None:
        report(done / total)

    return estimate.compute(progress=progress)[0]


def curve(report: Report, sent: World | Canvas, times: list[int], longest: float) -> None:
    """Report the score, its seconds and the number of goals at several t, what takes least time first.

    On one core: the others are for who moves t meanwhile. What would take longer than so many seconds is left out. On a
    map, estimates of the scores are reported too, without a number of goals.
    """
    scorer = scoring.Scorer(_received(sent))
    plans = {t: scorer.plan(t) for t in times}
    work: list[tuple[float, int | ReturnScores]] = [(plans[t].seconds, t) for t in times if plans[t].seconds <= longest]
    slow = [t for t in times if plans[t].seconds > scoring.EXACT_SECONDS]
    work += [(_URGENCY * one.seconds / len(one.times), one) for one in scorer.estimates_of(slow)]
    for _, one in sorted(work, key=lambda pair: pair[0]):
        if isinstance(one, ReturnScores):
            for t, values in zip(one.times, one.compute(n_jobs=1), strict=True):
                report((t, Scores.of(values), 0.0, None))
        else:
            scored = scoring.compute(scorer.world, one, {**plans[one].keywords, "n_jobs": 1, "progress": _silent})
            report((one, scored.scores, scored.seconds, len(scored.goals)))


def sendable_world(stage: Stage) -> World | Canvas:
    """Return what a process makes the world from: the map, if there is one, about a hundredth of the bytes."""
    return stage.canvas if stage.canvas is not None and stage.world.deterministic else stage.world


def _received(sent: World | Canvas) -> World:
    return sent if isinstance(sent, World) else sent.world(0.0, "sent")


def _silent(done: int, total: int) -> None:
    """Show no bar."""


def layer(report: Report, world: World, name: str, t: int, state: int) -> np.ndarray[Any, Any]:
    """Return a layer that takes long."""
    return scoring.layer_values(world, name, t, state)


def options(report: Report, world: World, *args: Any) -> OptionSet:
    """Return options that take long to discover."""
    return comparing.discover_options(world, *args)


def table(report: Report, world: World, sets: list[OptionSet], option_probability: float | None) -> dict[str, Any]:
    """Return the exact table; each row is reported when it is known."""
    return comparing.table_rows(world, sets, option_probability, report)


def learn(
    report: Report, world: World, sets: list[OptionSet], option_probability: float | None, keywords: dict[str, Any]
) -> list[playing.Learned]:
    """Return how an agent learns with each set of options."""
    learned = []
    for number, one in enumerate(sets):
        learned.append(playing.learn_paths(world, one, option_probability, **keywords))
        report((number + 1) / len(sets))
    return learned


def explore(report: Report, world: World, methods: list[str], keywords: dict[str, Any]) -> list[playing.Explored]:
    """Return how an agent that knows nothing explores with each method."""
    explored: list[playing.Explored] = []

    def progress(done: float) -> None:
        report((len(explored) + done) / len(methods))

    for method in methods:
        explored.append(playing.explore_steps(world, method, **keywords, progress=progress))
    return explored


def nothing(report: Report) -> None:
    """Do nothing: returns when a process can be started."""


# ---- A little of everything: compiled functions are then loaded, and in the cache for every other process. ----------


def warm_threads() -> None:
    """Load what the server's threads call."""
    stage = sources.make_stage({"kind": "named", "name": "four_rooms"})
    world = stage.world
    assert scoring.compute(world, 4, {"n_jobs": 1}).goals.prominences.size
    scoring.Scorer(world).compute(13)
    larger = sources.make_stage({"kind": "random_maze", "rows": 50, "cols": 50}).world
    # So much that it is not done without compiled loops; once these are loaded they follow every walk.
    scoring.compute(larger, 13, {"solver": "local", "n_jobs": 1})
    scoring.compute(larger, 20, {"solver": "local", "tolerance": 1e-3, "n_jobs": 1})
    assert larger.floor is not None
    ReturnScores.of(larger.floor, [20]).compute(n_jobs=1)
    for method in METHODS:
        comparing.discover_options(world, method, 4, None if method == "none" else 4, 0.0, {})
    found = _some_options(world)
    comparing.policy_arrows(stage, found, 0)
    found[0].route(0)
    playing.RandomAgent(world, found, None, 0).walk(10)


def warm_processes() -> None:
    """Load what the functions above call."""
    warm_threads()
    world = sources.make_stage({"kind": "named", "name": "four_rooms"}).world
    found = _some_options(world)
    comparing.table_rows(world, [found], None)
    playing.learn_paths(world, found, None, n_episodes=2)
    for method in GOALS:
        playing.explore_steps(world, method, n_steps=300)


def warm_large(report: Report | None = None) -> None:
    """Load what only large maps call: a function for each small t, which takes seconds to compile."""
    world = sources.make_stage({"kind": "open_room", "rows": 520, "cols": 520}).world
    for t in range(1, LARGEST_UNROLLED + 1):
        scoring.compute(world, t, {"solver": "local"})


def _some_options(world: World) -> OptionSet:
    return comparing.discover_options(world, "diffusion", 4, 4, 0.0, {})
