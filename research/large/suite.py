"""The suite on worlds that are too large or too continuous to enumerate."""

from __future__ import annotations

from functools import partial

from farpoint.paper.page import Section, Study
from research.large import figures, rows
from research.large.coverage import SETTINGS
from research.large.plan import FULL, QUICK

_MAZE, _POINT_MAZE = SETTINGS["maze"], SETTINGS["pointmaze"]

_NEEDS = {"torch": "farpoint[deep]", "sklearn": "farpoint[samples]"}

SECTIONS: tuple[Section, ...] = (
    Section(
        "extension",
        "Scores from some of the states",
        "section 3.2 and supplement E, which the paper states and does not run",
        needs=_NEEDS,
        rows=rows.extension_rows,
        figures=figures.draw_extension,
        note=(
            "Each cell: correlation of the extended score with the true one over all states · share of the true "
            "score's goals that have one of the extended score's within two moves. Means over draws of random states. "
            "The neural scores use 11 functions only, which cannot be enough at small t."
        ),
    ),
    Section(
        "eigenfunctions",
        "Learned eigenfunctions",
        "mean |cosine| with the true ones, 11 functions from coordinates",
        needs=_NEEDS,
        rows=rows.cosine_rows,
        note="All moves of the world as data. Inside repeated eigenvalues whole eigenspaces are compared.",
    ),
    Section(
        "coverage",
        "Coverage of a continuous maze",
        "the same sampled graphs for every method; goals and options from logs of random steps alone",
        needs=_NEEDS,
        rows=partial(rows.coverage_rows, env="maze"),
        figures=partial(figures.draw_coverage, env="maze"),
        note=(
            f"Several logs of random steps from the corner; each gives a graph of {_MAZE.n_samples} samples, on which "
            f"each method chooses {_MAZE.n_options} goals. Options are those of one `GoalPolicy` per log. The agent "
            "takes random actions, and random options with the probability in the table. Steps with the log are all "
            "that were taken in the maze, but for the trials that measure success. Intervals are over logs and agents; "
            "one log begins in the corner and may miss a room."
        ),
    ),
    Section(
        "pointmaze",
        "Coverage of PointMaze",
        "PointMaze_Large of gymnasium-robotics, a ball with momentum",
        rows=partial(rows.coverage_rows, env="pointmaze"),
        figures=partial(figures.draw_coverage, env="pointmaze"),
        note=(
            f"The same with a ball that keeps its momentum: {_POINT_MAZE.n_samples} samples, {_POINT_MAZE.n_options} "
            "goals of each method."
        ),
        needs=_NEEDS | {"gymnasium_robotics": "farpoint[robotics]"},
        optional=True,
    ),
)

SUITE = Study(
    name="large",
    title="Worlds too large to enumerate",
    lead="From a representative set of states to the whole world: scores, goals and options from samples alone.",
    sections=SECTIONS,
    full=FULL,
    quick=QUICK,
)
