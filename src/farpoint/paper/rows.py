"""The table of each experiment: our numbers beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from farpoint.measures.statistics import estimate
from farpoint.paper.framework import Part
from farpoint.paper.numbers import final_means, mean_steps, run_means, typical_steps
from farpoint.paper.plan import (
    COMPONENT_NUMBERS,
    CORNER_METHODS,
    EIGEN_NUMBERS,
    GRID_TIMES,
    METHODS,
    PRINTED_DIFFICULTY,
    PRINTED_OPTIONS,
    STEP_METHODS,
    TIMES,
    WORLDS,
    Results,
    algorithm_part,
    components_part,
    corner_part,
    counts_part,
    difficulty_part,
    grid_part,
    learn_part,
    moves_part,
    propositions_part,
    score_part,
    steps_part,
    windy_part,
)
from farpoint.report.names import METHOD_TITLES, WORLD_TITLES
from farpoint.report.tables import Goals, Row, Share

_COUNT_TIMES_SHOWN = (1, 2, 3, 4, 5, 10, 13, 20, 30, 50, 100)
_COMPONENTS_SHOWN = (5, 10, 15, 20, 30, 40, 60, 100)
_ALGORITHM_TITLES = {"paper": "the paper's", "smdp": "SMDP", "intra-option": "intra-option"}


def steps_rows(
    results: Results, *, center: str, spread: str, printed: Mapping[tuple[str, int], Mapping[str, tuple[int, int]]]
) -> list[Row]:
    """Return two statistics of the steps between states, for each world, t and method."""
    rows: list[Row] = []
    for world in WORLDS:
        for t in TIMES:
            for method in STEP_METHODS:
                there = printed[world, t].get(method)
                rows.append(
                    {
                        "world": WORLD_TITLES[world],
                        "t": t,
                        "options": int(results[steps_part(world, t, method, results.scale)]["n_options"]),
                        "method": METHOD_TITLES[method],
                        center: typical_steps(results, world, t, method, center),
                        f"{center}, paper": there[0] if there else None,
                        spread: typical_steps(results, world, t, method, spread.lower()),
                        f"{spread}, paper": there[1] if there else None,
                    }
                )
    return rows


def learning_rows(results: Results, *, t: int = 4, methods: tuple[str, ...] = METHODS) -> list[Row]:
    """Return how fast each method learns in each world."""
    return [
        {"world": WORLD_TITLES[world], "method": METHOD_TITLES[method], **_learning(results, part)}
        for world in WORLDS
        for method in methods
        for part in [learn_part(world, method, results.scale, t=t)]
    ]


def windy_rows(results: Results) -> list[Row]:
    """Return how fast each method learns in 4Rooms with wind."""
    return [
        {"method": METHOD_TITLES[method], **_learning(results, windy_part(method, results.scale))} for method in METHODS
    ]


def algorithms_rows(results: Results) -> list[Row]:
    """Return how fast each algorithm learns with the same options."""
    scale = results.scale
    rows: list[Row] = []
    for world in WORLDS:
        entries = [
            ("diffusion", f"{title} Q-learning", algorithm_part(world, "diffusion", algorithm, scale))
            for algorithm, title in _ALGORITHM_TITLES.items()
        ]
        entries += [(m, "the paper's, counting moves only", moves_part(world, m, scale)) for m in METHODS]
        for method, algorithm, part in entries:
            row: Row = {"world": WORLD_TITLES[world], "options": METHOD_TITLES[method], "algorithm": algorithm}
            rows.append(row | _learning(results, part))
    return rows


def _learning(results: Results, part: Part) -> Row:
    return {
        "mean steps to goal": mean_steps(results, part),
        "interquartile mean": estimate(run_means(results, part)),
        "at the end": float(final_means(results, part).mean()),
    }


def score_rows(results: Results) -> list[Row]:
    """Return the number of options of each world and t."""
    return [
        {
            "world": WORLD_TITLES[world],
            "t": t,
            "options": int(results[score_part(world, t)]["goals"].size),
            "options, paper": PRINTED_OPTIONS[world, t],
        }
        for world in WORLDS
        for t in TIMES
    ]


def difficulty_rows(results: Results) -> list[Row]:
    """Return three measures of how hard each world is."""
    return [
        {
            "world": WORLD_TITLES[world],
            "difficulty": float(results[difficulty_part(world)]["difficulty"]),
            "difficulty, paper": PRINTED_DIFFICULTY[world],
            "learning, mean steps": float(run_means(results, learn_part(world, "none", results.scale)).mean()),
            "steps between states, mean": typical_steps(results, world, 4, "none", "mean"),
        }
        for world in WORLDS
    ]


def propositions_rows(results: Results) -> list[Row]:
    """Return how far the two propositions hold in each world."""
    rows: list[Row] = []
    for world in WORLDS:
        arrays = results[propositions_part(world)]
        rows.append(
            {
                "world": WORLD_TITLES[world],
                "Prop. 1 as printed, constant varies by, share of the range": float(arrays["printed"]),
                "weighted by π₀": float(arrays["weighted"]),
                "Prop. 2: largest difference": float(arrays["second"]),
                "largest share of the bound": float(arrays["bound"]),
            }
        )
    return rows


def eigen_number_rows(results: Results) -> list[Row]:
    """Return the mean steps of learning with diffusion options and with 10 to 50 eigenoptions."""
    rows: list[Row] = []
    for world in WORLDS:
        parts = {"diffusion": learn_part(world, "diffusion", results.scale)} | {
            f"{number} eigenoptions": learn_part(world, "eigen", results.scale, n_options=number)
            for number in EIGEN_NUMBERS
        }
        row: Row = {"world": WORLD_TITLES[world]}
        rows.append(row | {name: float(run_means(results, part).mean()) for name, part in parts.items()})
    return rows


def counts_rows(results: Results) -> list[Row]:
    """Return the number of options over t."""
    rows: list[Row] = []
    for world in WORLDS:
        arrays = results[counts_part(world)]
        row: Row = {"world": WORLD_TITLES[world]}
        row |= {
            f"t = {t}": int(count)
            for t, count in zip(arrays["times"], arrays["counts"], strict=True)
            if t in _COUNT_TIMES_SHOWN
        }
        rows.append(row)
    return rows


def corner_rows(results: Results, *, wind: float) -> list[Row]:
    """Return how fast and how reliably diffusion options, eigenoptions and random options learn one task."""
    rows: list[Row] = []
    for method in CORNER_METHODS:
        part = corner_part(method, results.scale, wind)
        means = run_means(results, part)
        ends = results[part]["curves"][:, 0, -50:].mean(axis=1, dtype=np.float64)
        rows.append(
            {
                "method": METHOD_TITLES[method],
                "interquartile mean": estimate(means),
                "std over runs": float(means.std(ddof=1)),
                "at the end": float(ends.mean()),
                "runs that never learn": Share(float((ends > 100).mean())),
            }
        )
    return rows


def grid_rows(results: Results) -> list[Row]:
    """Return the goals of an open grid."""
    return [{"t": t, "goals": ", ".join(str(s) for s in sorted(results[grid_part(t)]["goals"]))} for t in GRID_TIMES]


def components_rows(results: Results) -> list[Row]:
    """Return how many maxima a score of k eigenvectors has, and in brackets how many of those are true goals."""
    rows: list[Row] = []
    for world in WORLDS:
        for t in TIMES:
            arrays = results[components_part(world, t)]
            row: Row = {"world": WORLD_TITLES[world], "t": t, "all": int(arrays["whole"])}
            row |= {
                f"k = {number}": Goals(int(count), int(shared))
                for number, count, shared in zip(COMPONENT_NUMBERS, arrays["counts"], arrays["shared"], strict=True)
                if number in _COMPONENTS_SHOWN
            }
            rows.append(row)
    return rows
