"""The numbers of each experiment as rows, ours beside what the paper prints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from farpoint.experiments.paper import (
    COMPONENT_NUMBERS,
    EIGEN_NUMBERS,
    GRID_TIMES,
    METHOD_TITLES,
    METHODS,
    PRINTED_DIFFICULTY,
    PRINTED_MEAN,
    PRINTED_MEDIAN,
    PRINTED_OPTIONS,
    STEP_METHODS,
    TIMES,
    TITLES,
    WIND,
    WORLDS,
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
from farpoint.experiments.parts import Part
from farpoint.experiments.runner import Results
from farpoint.measures.statistics import interquartile_mean, mean_of_runs
from farpoint.measures.steps import StepsBetweenStates

Row = dict[str, str | int | float]


def summary(results: Results, world: str, t: int, method: str) -> list[StepsBetweenStates]:
    """Return the steps between states with the options of a method, one entry a draw."""
    arrays = results[steps_part(world, t, method, results.scale)]
    targets = np.arange(arrays["per_goal"].shape[1])
    return [StepsBetweenStates(per_goal[None, :], targets) for per_goal in arrays["per_goal"]]


def typical(results: Results, world: str, t: int, method: str, name: str) -> float:
    """Return one statistic of the steps between states; of random options, its median over draws."""
    return float(np.median([getattr(steps, name) for steps in summary(results, world, t, method)]))


def run_means(results: Results, part: Part) -> NDArray[np.float64]:
    """Return the mean of each run of a learning part over goals and episodes."""
    return np.asarray(results[part]["curves"].mean(axis=(1, 2), dtype=np.float64))


def final_means(results: Results, part: Part, last: int = 50) -> NDArray[np.float64]:
    """Return the mean steps to the goal of each run over the last episodes."""
    return np.asarray(results[part]["curves"][:, :, -last:].mean(axis=(1, 2), dtype=np.float64))


def final_steps(results: Results, part: Part) -> float:
    """Return the mean steps to the goal over the last episodes."""
    return float(final_means(results, part).mean())


def _steps_rows(
    first: str, second: str, printed: dict[tuple[str, int], dict[str, tuple[int, int]]]
) -> Callable[..., list[Row]]:
    def rows(results: Results) -> list[Row]:
        table: list[Row] = []
        for world in WORLDS:
            for t in TIMES:
                for method in STEP_METHODS:
                    there = printed[world, t].get(method)
                    row: Row = {
                        "world": TITLES[world],
                        "t": t,
                        "options": int(results[steps_part(world, t, method, results.scale)]["n_options"]),
                        "method": METHOD_TITLES[method],
                        first: round(typical(results, world, t, method, first), 1),
                        f"{first}, paper": there[0] if there else "–",
                        second: round(typical(results, world, t, method, second.lower()), 1),
                        f"{second}, paper": there[1] if there else "–",
                    }
                    table.append(row)
        return table

    return rows


def _learning_rows(t: int, methods: tuple[str, ...] = METHODS) -> Callable[[Results], list[Row]]:
    def rows(results: Results) -> list[Row]:
        table: list[Row] = []
        for world in WORLDS:
            for method in methods:
                part = learn_part(world, method, results.scale, t=t)
                table.append(
                    {
                        "world": TITLES[world],
                        "method": METHOD_TITLES[method],
                        "mean steps to goal [95 %]": str(mean_of_runs(run_means(results, part))),
                        "interquartile mean [95 %]": str(interquartile_mean(run_means(results, part))),
                        "at the end": round(final_steps(results, part), 1),
                    }
                )
        return table

    return rows


def _figure_1_rows(results: Results) -> list[Row]:
    return [
        {
            "world": TITLES[world],
            "t": t,
            "options": int(results[score_part(world, t)]["goals"].size),
            "options, paper": PRINTED_OPTIONS[world, t],
        }
        for world in WORLDS
        for t in TIMES
    ]


def _windy_rows(results: Results) -> list[Row]:
    table: list[Row] = []
    for method in METHODS:
        part = windy_part(method, results.scale)
        table.append(
            {
                "method": METHOD_TITLES[method],
                "mean steps to goal [95 %]": str(mean_of_runs(run_means(results, part))),
                "interquartile mean [95 %]": str(interquartile_mean(run_means(results, part))),
                "at the end": round(final_steps(results, part), 1),
            }
        )
    return table


def _difficulty_rows(results: Results) -> list[Row]:
    return [
        {
            "world": TITLES[world],
            "difficulty": round(float(results[difficulty_part(world)]["difficulty"]), 2),
            "difficulty, paper": PRINTED_DIFFICULTY[world],
            "learning, mean steps": round(
                float(run_means(results, learn_part(world, "none", results.scale)).mean()), 1
            ),
            "steps between states, mean": round(typical(results, world, 4, "none", "mean"), 1),
        }
        for world in WORLDS
    ]


def _propositions_rows(results: Results) -> list[Row]:
    table: list[Row] = []
    for world in WORLDS:
        arrays = results[propositions_part(world)]
        table.append(
            {
                "world": TITLES[world],
                "Prop. 1 as printed, constant varies by": f"{100 * float(arrays['printed']):.1f} % of the range",
                "weighted by π₀": f"{100 * float(arrays['weighted']):.1e} %",
                "Prop. 2: largest difference": f"{float(arrays['second']):.0e}",
                "largest share of the bound": f"{float(arrays['bound']):.3f}",
            }
        )
    return table


def _eigen_number_rows(results: Results) -> list[Row]:
    table: list[Row] = []
    for world in WORLDS:
        row: Row = {"world": TITLES[world]}
        row["diffusion"] = round(float(run_means(results, learn_part(world, "diffusion", results.scale)).mean()), 1)
        for number in EIGEN_NUMBERS:
            part = learn_part(world, "eigen", results.scale, n_options=number)
            row[f"{number} eigenoptions"] = round(float(run_means(results, part).mean()), 1)
        table.append(row)
    return table


def _counts_rows(results: Results) -> list[Row]:
    table: list[Row] = []
    for world in WORLDS:
        arrays = results[counts_part(world)]
        row: Row = {"world": TITLES[world]}
        row |= {
            f"t = {t}": int(count)
            for t, count in zip(arrays["times"], arrays["counts"], strict=True)
            if t in (1, 2, 3, 4, 5, 10, 13, 20, 30, 50, 100)
        }
        table.append(row)
    return table


def _corner_rows(wind: float) -> Callable[[Results], list[Row]]:
    def rows(results: Results) -> list[Row]:
        table: list[Row] = []
        for method in ("diffusion", "eigen", "random"):
            part = corner_part(method, results.scale, wind)
            means = run_means(results, part)
            ends = results[part]["curves"][:, 0, -50:].mean(axis=1, dtype=np.float64)
            table.append(
                {
                    "method": METHOD_TITLES[method],
                    "interquartile mean [95 %]": str(interquartile_mean(means)),
                    "std over runs": round(float(means.std(ddof=1)), 1),
                    "at the end": round(float(ends.mean()), 1),
                    "runs that never learn": f"{100 * float((ends > 100).mean()):.0f} %",
                }
            )
        return table

    return rows


def _grid_rows(results: Results) -> list[Row]:
    return [{"t": t, "goals": ", ".join(str(s) for s in sorted(results[grid_part(t)]["goals"]))} for t in GRID_TIMES]


def _components_rows(results: Results) -> list[Row]:
    table: list[Row] = []
    for world in WORLDS:
        for t in TIMES:
            arrays = results[components_part(world, t)]
            row: Row = {"world": TITLES[world], "t": t, "all": int(arrays["whole"])}
            chosen = (5, 10, 15, 20, 30, 40, 60, 100)
            row |= {
                f"k = {number}": f"{count} ({shared})"
                for number, count, shared in zip(COMPONENT_NUMBERS, arrays["counts"], arrays["shared"], strict=True)
                if number in chosen
            }
            table.append(row)
    return table


def _algorithms_rows(results: Results) -> list[Row]:
    table: list[Row] = []
    for world in WORLDS:
        for algorithm in ("paper", "smdp", "intra-option"):
            part = algorithm_part(world, "diffusion", algorithm, results.scale)
            name = {"paper": "the paper's", "smdp": "SMDP", "intra-option": "intra-option"}[algorithm]
            table.append(_algorithm_row(results, world, "diffusion", f"{name} Q-learning", part))
        for method in METHODS:
            part = moves_part(world, method, results.scale)
            table.append(_algorithm_row(results, world, method, "the paper's, counting moves only", part))
    return table


def _algorithm_row(results: Results, world: str, method: str, algorithm: str, part: Part) -> Row:
    return {
        "world": TITLES[world],
        "options": METHOD_TITLES[method],
        "algorithm": algorithm,
        "mean steps to goal [95 %]": str(mean_of_runs(run_means(results, part))),
        "interquartile mean [95 %]": str(interquartile_mean(run_means(results, part))),
        "at the end": round(final_steps(results, part), 1),
    }


TABLES: dict[str, Callable[[Results], list[Row]]] = {
    "fig1": _figure_1_rows,
    "fig2": _learning_rows(4),
    "table1": _steps_rows("median", "IQR", PRINTED_MEDIAN),
    "fig3": _windy_rows,
    "difficulty": _difficulty_rows,
    "propositions": _propositions_rows,
    "eigen_number": _eigen_number_rows,
    "table2": _steps_rows("mean", "std", PRINTED_MEAN),
    "counts": _counts_rows,
    "fig2_t13": _learning_rows(13),
    "random": _corner_rows(0.0),
    "random_wind": _corner_rows(WIND),
    "grid": _grid_rows,
    "components": _components_rows,
    "rivals": _learning_rows(4, STEP_METHODS),
    "algorithms": _algorithms_rows,
}
