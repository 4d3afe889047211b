"""The suite on worlds that are too large or too continuous to enumerate."""

from __future__ import annotations

from functools import partial

from farpoint.paper.framework import Experiment, Suite
from research.large import figures, rows
from research.large.computation import KINDS
from research.large.coverage import SETTINGS
from research.large.plan import (
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
        "the same sampled graphs for every method; goals and options from logs of random steps alone",
        parts=partial(coverage_parts, env="maze"),
        rows=partial(rows.coverage_rows, env="maze"),
        figures=partial(figures.draw_coverage, env="maze"),
        note=(
            f"Several logs of random steps from the corner; each gives a graph of {_MAZE.n_samples} samples, on which "
            f"each method chooses {_MAZE.n_options} goals. Options follow routes on that graph; from one sample to the "
            "next they take the action that did best near there in the log, or one network for near goals (DQN with "
            "hindsight), trained once per log for the goals of all methods. Failing edges are avoided after rehearsals "
            "in the log, and options that still fail more often than they succeed there are left out. The agent takes "
            "random actions, and random options with the probability in the table. Steps with the log are all that "
            "were taken in the maze. Intervals are over logs, trainings and agents; one log begins in the corner and "
            "may miss a room."
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
            f"The same with a ball that keeps its momentum: {_POINT_MAZE.n_samples} samples, {_POINT_MAZE.n_options} "
            "goals of each method, actions looked up in the log only."
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
    needs={"torch": "farpoint[deep]", "sklearn": "farpoint[samples]"},
)
