"""What runs in processes of its own; every function takes ``report`` first, to be called while it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from farpoint.exploration.goals import GOALS
from farpoint.options import METHODS, OptionSet
from farpoint.studio import comparing, playing, scoring, sources, uploads
from farpoint.studio.stage import Stage
from farpoint.worlds import World

Report = Callable[[Any], None]


def open_source(report: Report, source: dict[str, Any]) -> tuple[Stage, str]:
    """Return the stage of an environment or a graph, and its code."""
    return _sendable(sources.make_stage(source))


def open_file(report: Report, name: str, content: bytes, wind: float) -> tuple[Stage, str]:
    """Return the stage of a file, and its code."""
    return _sendable(uploads.read_upload(name, content, wind))


def _sendable(stage: Stage) -> tuple[Stage, str]:
    """Return a stage without its function, which no process can send, and what that function returns."""
    return Stage(stage.world, stage.canvas, str, stage.note, stage.links), stage.code() if stage.canvas is None else ""


def score(report: Report, world: World, t: int, keywords: dict[str, Any]) -> scoring.Scored:
    """Return a score that takes long, with its goals."""

    def progress(done: int, total: int) -> None:
        report(done / max(total, 1))

    return scoring.compute(world, t, {**keywords, "progress": progress})


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


def warm() -> None:
    """Do a little of everything: compiled functions are then loaded, and in the cache for every other process."""
    stage = sources.make_stage({"kind": "named", "name": "four_rooms"})
    world = stage.world
    scored = scoring.compute(world, 4, {"n_jobs": 1})
    assert scored.goals.prominences.size
    scoring.Scorer(world).compute(13)
    found = comparing.discover_options(world, "diffusion", 4, 4, 0.0, {})
    for method in METHODS:
        comparing.discover_options(world, method, 4, None if method == "none" else 4, 0.0, {})
    comparing.policy_arrows(stage, found, 0)
    found[0].route(0)
    comparing.table_rows(world, [found], None)
    playing.RandomAgent(world, found, None, 0).walk(10)
    playing.learn_paths(world, found, None, n_episodes=2)
    for method in GOALS:
        playing.explore_steps(world, method, n_steps=300)
    larger = sources.make_stage({"kind": "random_maze", "rows": 50, "cols": 50}).world
    scoring.Scorer(larger).compute(4)
    scoring.compute(larger, 20, {"solver": "local", "tolerance": 1e-3, "n_jobs": 1})
