"""The table of each section: our numbers beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping

from farpoint.measures import estimate
from farpoint.paper.computation import (
    Results,
    corner_learning,
    field,
    final_means,
    grid_score,
    learning,
    least_steps,
    mean_steps,
    option_counts,
    proposition_errors,
    run_means,
    score_and_goals,
    steps,
    truncated_scores,
    typical_steps,
    windy_learning,
    world_difficulty,
)
from farpoint.paper.plan import (
    CORNER_METHODS,
    EIGEN_NUMBERS,
    FIELD_METHODS,
    FIELD_WORLDS,
    GRID_TIMES,
    METHODS,
    PRINTED_DIFFICULTY,
    PRINTED_OPTIONS,
    STEP_METHODS,
    TIMES,
    WORLDS,
)
from farpoint.paper.store import Arrays
from farpoint.report.figures import METHOD_TITLES, WORLD_TITLES
from farpoint.report.tables import Goals, Row, Share

_COUNT_TIMES_SHOWN = (1, 2, 3, 4, 5, 10, 13, 20, 30, 50, 100)
_COMPONENTS_SHOWN = (5, 10, 15, 20, 30, 40, 60, 100)
_ALGORITHM_TITLES = {"paper": "the paper's", "smdp": "SMDP", "intra-option": "intra-option"}


def score_rows(results: Results) -> list[Row]:
    """Return the number of options of each world and t."""
    return [
        {
            "world": WORLD_TITLES[world],
            "t": t,
            "options": int(results.get(score_and_goals, world=world, t=t)["goals"].size),
            "options, paper": PRINTED_OPTIONS[world, t],
        }
        for world in WORLDS
        for t in TIMES
    ]


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
                        "options": int(steps(results, world, t, method)["n_options"]),
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
        {
            "world": WORLD_TITLES[world],
            "method": METHOD_TITLES[method],
            **_learning_cells(learning(results, world, method, t)),
        }
        for world in WORLDS
        for method in methods
    ]


def windy_rows(results: Results) -> list[Row]:
    """Return how fast each method learns in 4Rooms with wind."""
    return [{"method": METHOD_TITLES[method], **_learning_cells(windy_learning(results, method))} for method in METHODS]


def algorithms_rows(results: Results) -> list[Row]:
    """Return how fast each algorithm learns with the same options."""
    rows: list[Row] = []
    for world in WORLDS:
        entries = [
            ("diffusion", f"{title} Q-learning", learning(results, world, "diffusion", algorithm=algorithm))
            for algorithm, title in _ALGORITHM_TITLES.items()
        ]
        entries += [
            (method, "the paper's, counting moves only", learning(results, world, method, counting="moves"))
            for method in METHODS
        ]
        for method, algorithm, learned in entries:
            row: Row = {"world": WORLD_TITLES[world], "options": METHOD_TITLES[method], "algorithm": algorithm}
            rows.append(row | _learning_cells(learned))
    return rows


def _learning_cells(learned: Arrays) -> Row:
    return {
        "mean steps to goal": mean_steps(learned),
        "interquartile mean": estimate(run_means(learned)),
        "at the end": float(final_means(learned).mean()),
    }


def difficulty_rows(results: Results) -> list[Row]:
    """Return three measures of how hard each world is."""
    return [
        {
            "world": WORLD_TITLES[world],
            "difficulty": float(results.get(world_difficulty, world=world)["difficulty"]),
            "difficulty, paper": PRINTED_DIFFICULTY[world],
            "learning, mean steps": float(run_means(learning(results, world, "none")).mean()),
            "steps between states, mean": typical_steps(results, world, 4, "none", "mean"),
        }
        for world in WORLDS
    ]


def propositions_rows(results: Results) -> list[Row]:
    """Return how far the two propositions hold in each world."""
    rows: list[Row] = []
    for world in WORLDS:
        errors = results.get(proposition_errors, world=world)
        rows.append(
            {
                "world": WORLD_TITLES[world],
                "Prop. 1 as printed, constant varies by, share of the range": float(errors["printed"]),
                "weighted by π₀": float(errors["weighted"]),
                "Prop. 2: largest difference": float(errors["second"]),
                "largest share of the bound": float(errors["bound"]),
            }
        )
    return rows


def eigen_number_rows(results: Results) -> list[Row]:
    """Return the mean steps of learning with diffusion options and with 10 to 50 eigenoptions."""
    rows: list[Row] = []
    for world in WORLDS:
        learned = {"diffusion": learning(results, world, "diffusion")} | {
            f"{number} eigenoptions": learning(results, world, "eigen", n_options=number) for number in EIGEN_NUMBERS
        }
        row: Row = {"world": WORLD_TITLES[world]}
        rows.append(row | {name: float(run_means(arrays).mean()) for name, arrays in learned.items()})
    return rows


def counts_rows(results: Results) -> list[Row]:
    """Return the number of options over t."""
    rows: list[Row] = []
    for world in WORLDS:
        found = results.get(option_counts, world=world)
        row: Row = {"world": WORLD_TITLES[world]}
        row |= {
            f"t = {t}": int(count)
            for t, count in zip(found["times"], found["counts"], strict=True)
            if t in _COUNT_TIMES_SHOWN
        }
        rows.append(row)
    return rows


def corner_rows(results: Results, *, wind: float) -> list[Row]:
    """Return how fast and how reliably diffusion options, eigenoptions and random options learn one task."""
    rows: list[Row] = []
    for method in CORNER_METHODS:
        learned = corner_learning(results, method, wind)
        means, ends = run_means(learned), final_means(learned)
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
    return [
        {"t": t, "goals": ", ".join(str(s) for s in sorted(results.get(grid_score, t=t)["goals"]))} for t in GRID_TIMES
    ]


def components_rows(results: Results) -> list[Row]:
    """Return how many maxima a score of k eigenvectors has, and in brackets how many of those are true goals."""
    rows: list[Row] = []
    for world in WORLDS:
        for t in TIMES:
            found = results.get(truncated_scores, world=world, t=t)
            row: Row = {"world": WORLD_TITLES[world], "t": t, "all": int(found["whole"])}
            row |= {
                f"k = {number}": Goals(int(count), int(shared))
                for number, count, shared in zip(found["numbers"], found["counts"], found["shared"], strict=True)
                if number in _COMPONENTS_SHOWN
            }
            rows.append(row)
    return rows


def field_rows(results: Results) -> list[Row]:
    """Return mean steps of every method, at the paper's ½ and with the best of the probabilities."""
    rows: list[Row] = []
    for world in FIELD_WORLDS:
        for method in FIELD_METHODS:
            found = field(results, world, method)
            rows.append(
                {
                    "world": WORLD_TITLES[world],
                    "method": METHOD_TITLES[method],
                    "options": int(found["n_options"]),
                    "mean, p = ½": float(found["means"][0]),
                    "mean, best p": least_steps(results, world, method),
                    "goals near another": Share(float(found["near"].mean())) if found["near"].size else None,
                }
            )
    return rows
