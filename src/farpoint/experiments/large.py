"""Worlds too large or continuous to enumerate: which accuracies and which coverages ``farpoint large`` measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

from farpoint.errors import check_word
from farpoint.experiments import (
    coverage,
    large_parts,  # noqa: F401 - makes its kinds of parts known
)
from farpoint.experiments.paper import METHOD_TITLES, TITLES, Experiment, Scale
from farpoint.experiments.parts import Part
from farpoint.experiments.runner import Results
from farpoint.experiments.tables import Row
from farpoint.measures.statistics import Estimate, mean_of_runs

WORLDS = ("four_rooms", "ring", "maze")
LARGE = "large_maze"
WORLD_TITLES = {**TITLES, LARGE: "maze of 10 000", "open_room": "open room"}
SHARES = (0.05, 0.1, 0.25, 0.5)
TIMES = (4, 13)
EXTENSIONS = ("nystrom", "harmonics")
NEURAL_SHARES = (0.1, 0.5)
COSINE_WORLDS = ("four_rooms", "ring", "maze", "open_room")
OBJECTIVES = ("allo", "ggdo")
POLICIES = {"graph": "routes on the samples", "learned": "learned policy"}


@dataclass(frozen=True)
class Work:
    """How much of it."""

    draws: int
    neural_steps: int
    cosine_steps: int
    coverage_steps: int
    seeds: int
    training: int


FULL_WORK = Work(draws=10, neural_steps=4_000, cosine_steps=10_000, coverage_steps=6_000, seeds=20, training=300_000)
QUICK_WORK = Work(draws=2, neural_steps=60, cosine_steps=60, coverage_steps=400, seeds=3, training=1_000)


def work_of(scale: Scale) -> Work:
    """Return how much is done at a scale."""
    return FULL_WORK if scale.runs >= 20 else QUICK_WORK


def extension_part(world: str, t: int, share: float, method: str, scale: Scale) -> Part:
    """Return the accuracy of one extension; of the large maze one draw, which is large itself."""
    draws = 1 if world == LARGE else work_of(scale).draws
    return Part.of("extension", world=world, t=t, share=share, method=method, draws=draws)


def neural_part(world: str, share: float, scale: Scale) -> Part:
    """Return the accuracy of scores from eigenfunctions that were learned from a part of the states."""
    return Part.of("neural", world=world, share=share, times=TIMES, steps=work_of(scale).neural_steps, seed=0)


def cosine_part(world: str, objective: str, scale: Scale) -> Part:
    """Return how near learned eigenfunctions come to the true ones."""
    return Part.of("cosines", world=world, objective=objective, steps=work_of(scale).cosine_steps, seed=0)


def coverage_part(method: str, policy: str, scale: Scale, env: str = "maze") -> Part:
    """Return how much of a continuous maze agents see with the options of a method."""
    work = work_of(scale)
    # The ball of PointMaze goes farther in a step, and its maze is small.
    steps = work.coverage_steps if env == "maze" else work.coverage_steps // 6
    return Part.of(
        "coverage", env=env, method=method, policy=policy, steps=steps, seeds=work.seeds, training=work.training
    )


def coverage_cells(env: str = "maze") -> list[tuple[str, str]]:
    """Return the pairs of method and policy; primitive actions need no policy. In PointMaze nothing is learned."""
    policies = POLICIES if env == "maze" else ["graph"]
    return [(method, policy) for policy in policies for method in coverage.METHODS if method != "none"] + [
        ("none", "graph")
    ]


EXPERIMENTS = (
    Experiment(
        "extension",
        "Scores from a part of the states",
        "section 3.2 and supplement E, which the paper states and does not run",
        lambda scale: (
            [
                extension_part(world, t, share, method, scale)
                for world in (*WORLDS, LARGE)
                for t in TIMES
                for share in SHARES
                for method in EXTENSIONS
            ]
            + [neural_part(world, share, scale) for world in WORLDS for share in NEURAL_SHARES]
        ),
    ),
    Experiment(
        "eigenfunctions",
        "Learned eigenfunctions",
        "mean |cosine| with the true ones, 11 functions from coordinates",
        lambda scale: [cosine_part(world, objective, scale) for world in COSINE_WORLDS for objective in OBJECTIVES],
    ),
    Experiment(
        "coverage",
        "Coverage of a continuous maze",
        "the same sampled graph for every method; goals and policies from a log of random steps alone",
        lambda scale: [coverage_part(method, policy, scale) for method, policy in coverage_cells()],
    ),
    Experiment(
        "pointmaze",
        "Coverage of PointMaze",
        "PointMaze_Large of gymnasium-robotics, a ball with momentum",
        lambda scale: [
            coverage_part(method, policy, scale, "pointmaze") for method, policy in coverage_cells("pointmaze")
        ],
    ),
)


def choose_large(names: Sequence[str] | None) -> list[Experiment]:
    """Return the experiments of these names; None is all, but PointMaze only where it is installed."""
    known = [experiment.name for experiment in EXPERIMENTS]
    if names is None and find_spec("gymnasium_robotics") is None:
        known.remove("pointmaze")
    wanted = known if names is None else [check_word("section", name, known) for name in names]
    return [experiment for experiment in EXPERIMENTS if experiment.name in wanted]


def extension_rows(results: Results) -> list[Row]:
    """Return correlation with f_t, and the share of its goals found within two moves, for each world and t."""
    rows: list[Row] = []
    for world in (*WORLDS, LARGE):
        for t in TIMES:
            for method in EXTENSIONS:
                row: Row = {"world": WORLD_TITLES[world], "t": t, "method": method}
                for share in SHARES:
                    arrays = results[extension_part(world, t, share, method, results.scale)]
                    row[f"from {share:.0%}"] = f"{arrays['correlation'].mean():.3f} · {arrays['found'].mean():.0%}"
                rows.append(row)
            if world in WORLDS:
                rows.append(_neural_row(results, world, t))
    return rows


def _neural_row(results: Results, world: str, t: int) -> Row:
    row: Row = {"world": WORLD_TITLES[world], "t": t, "method": "neural, 11 functions"}
    for share in SHARES:
        if share in NEURAL_SHARES:
            arrays = results[neural_part(world, share, results.scale)]
            number = TIMES.index(t)
            row[f"from {share:.0%}"] = f"{arrays['correlation'][number]:.3f} · {arrays['found'][number]:.0%}"
        else:
            row[f"from {share:.0%}"] = "–"
    return row


def cosine_rows(results: Results) -> list[Row]:
    """Return the mean and the least |cosine| for each world and objective."""
    rows: list[Row] = []
    for world in COSINE_WORLDS:
        row: Row = {"world": WORLD_TITLES[world]}
        for objective in OBJECTIVES:
            cosines = results[cosine_part(world, objective, results.scale)]["cosines"]
            row[f"{objective.upper()}, mean"] = f"{np.mean(cosines):.3f}"
            row[f"{objective.upper()}, least"] = f"{np.min(cosines):.3f}"
        rows.append(row)
    return rows


def final_coverage(results: Results, method: str, policy: str, env: str) -> Estimate:
    """Return the share of the maze seen at the end, with its 95 % interval over seeds."""
    return mean_of_runs(results[coverage_part(method, policy, results.scale, env)]["shares"][:, -1])


def coverage_rows(results: Results, env: str = "maze") -> list[Row]:
    """Return the share of a maze seen at the end for each method and policy."""
    rows: list[Row] = []
    for method, policy in coverage_cells(env):
        found = final_coverage(results, method, policy, env)
        part = results[coverage_part(method, policy, results.scale, env)]
        rows.append(
            {
                "options to goals by": METHOD_TITLES[method].replace("options", "").strip() or method,
                "policy": "–" if method == "none" else POLICIES[policy],
                "options": int(part["n_options"]),
                "cells seen [95 %]": f"{found.value:.0%} [{found.low:.0%}, {found.high:.0%}]",
            }
        )
    return rows


ROWS: dict[str, Callable[[Results], list[Row]]] = {
    "extension": extension_rows,
    "eigenfunctions": cosine_rows,
    "coverage": coverage_rows,
    "pointmaze": partial(coverage_rows, env="pointmaze"),
}
