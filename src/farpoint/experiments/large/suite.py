"""The suite on worlds that are too large or too continuous to enumerate."""

from __future__ import annotations

from functools import partial

from farpoint.experiments.framework import Experiment, Suite
from farpoint.experiments.large import figures, rows
from farpoint.experiments.large.computation import KINDS
from farpoint.experiments.large.coverage import SETTINGS
from farpoint.experiments.large.plan import (
    FULL,
    OBJECTIVES,
    QUICK,
    Scale,
    cosine_part,
    coverage_parts,
    extension_parts,
)

_MAZE, _POINT_MAZE = SETTINGS["maze"], SETTINGS["pointmaze"]

EXPERIMENTS: tuple[Experiment[Scale], ...] = (
    Experiment(
        "extension",
        "Scores from some of the states",
        "section 3.2 and supplement E, which the paper states and does not run",
        parts=extension_parts,
        rows=rows.extension_rows,
        figures=figures.draw_extension,
        note=(
            "Each cell: correlation of the extended score with the true one over all states · share of the true "
            "score's goals that have one of the extended score's within two moves. Means over draws of random states. "
            "The neural scores use 11 functions only, which cannot be enough at small t."
        ),
    ),
    Experiment(
        "eigenfunctions",
        "Learned eigenfunctions",
        "mean |cosine| with the true ones, 11 functions from coordinates",
        parts=lambda scale: [
            cosine_part(world, objective, scale) for world in scale.cosine_worlds for objective in OBJECTIVES
        ],
        rows=rows.cosine_rows,
        note="All moves of the world as data. Inside repeated eigenvalues whole eigenspaces are compared.",
    ),
    Experiment(
        "coverage",
        "Coverage of a continuous maze",
        "the same sampled graph for every method; goals and policies from a log of random steps alone",
        parts=partial(coverage_parts, env="maze"),
        rows=partial(rows.coverage_rows, env="maze"),
        figures=partial(figures.draw_coverage, env="maze"),
        note=(
            f"A log of {_MAZE.n_log_steps:,} random steps gives a graph of {_MAZE.n_samples} samples; each method "
            f"chooses {_MAZE.n_options} goals on it. Options follow routes on that graph with a controller that heads "
            "for the next sample, or one goal-conditioned network (DQN with hindsight replay), trained once on the "
            "goals of all methods in episodes that begin anywhere; options that fail more often than they succeed are "
            "left out. The agent takes random actions, and random options with the probability in the table; intervals "
            "are over agents, not over logs or trainings."
        ),
    ),
    Experiment(
        "pointmaze",
        "Coverage of PointMaze",
        "PointMaze_Large of gymnasium-robotics, a ball with momentum",
        parts=partial(coverage_parts, env="pointmaze"),
        rows=partial(rows.coverage_rows, env="pointmaze"),
        figures=partial(figures.draw_coverage, env="pointmaze"),
        note=(
            f"The same with a ball that keeps its momentum: {_POINT_MAZE.n_log_steps:,} random pushes, "
            f"{_POINT_MAZE.n_samples} samples, {_POINT_MAZE.n_options} goals of each method, routes on the samples "
            "only."
        ),
        needs={"gymnasium_robotics": "farpoint[robotics]"},
        optional=True,
    ),
)

SUITE = Suite(
    name="large",
    title="Worlds too large to enumerate",
    lead="From a representative set of states to the whole world: scores, goals and options from samples alone.",
    experiments=EXPERIMENTS,
    kinds=KINDS,
    full=FULL,
    quick=QUICK,
    needs={"torch": "farpoint[deep]", "stable_baselines3": "farpoint[deep]", "sklearn": "farpoint[samples]"},
)
