"""How soon a place is seen: a table and a curve per place, and one figure of them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farpoint.measures.statistics import Estimate, estimate
from farpoint.paper.framework import Arrays, Captioned
from farpoint.report.curves import interval_dot, tidy
from farpoint.report.names import METHOD_COLORS, METHOD_LINES, METHOD_TITLES
from farpoint.report.sheets import new_figure
from farpoint.report.tables import Count, Row, Share
from research.exploration.plan import DEFAULT_PROBABILITY, METHODS, PROBABILITIES, Place, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEASURES = {"half": "half seen", "most": "90 % seen", "all": "all seen", "target": "target reached"}


def best_probability(results: Results, place: Place, method: str) -> float:
    """Return the option probability with which a method sees most of a place soonest, in runs that no table shows."""

    def order(probability: float) -> tuple[float, float]:
        arrays = results[place.tuning_part(method, probability, results.scale)]
        return _steps(place, arrays, "most").value, -float(arrays["share"][:, -1].mean())

    return min(PROBABILITIES[method], key=order)


def _seen(results: Results, place: Place, method: str, probability: float) -> float:
    return float(results[place.part(method, probability, results.scale)]["share"][:, -1].mean())


def _estimate(results: Results, place: Place, method: str, probability: float, measure: str) -> Estimate:
    return _steps(place, results[place.part(method, probability, results.scale)], measure)


def _steps(place: Place, arrays: Arrays, measure: str) -> Estimate:
    """Return the interquartile mean of a measure over runs and layouts, capped where runs did not get there."""
    return estimate(arrays[measure], groups=place.layouts(arrays[measure].size), limit=float(arrays["points"][-1]))


def place_rows(results: Results, place: Place) -> list[Row]:
    """Return the steps of each method, with the same probability for all and with its own best."""
    rows: list[Row] = []
    for method in METHODS:
        best = best_probability(results, place, method)
        for probability in dict.fromkeys((DEFAULT_PROBABILITY, best)):
            arrays = results[place.part(method, probability, results.scale)]
            row: Row = {"method": METHOD_TITLES[method], "p": None if method == "none" else probability}
            row["best p"] = "yes" if probability == best else ""
            for measure, title in _MEASURES.items():
                if measure == "target" and not np.isfinite(_all_of(results, place, measure)).any():
                    continue
                row[title] = _estimate(results, place, method, probability, measure)
                row[f"{title}, runs"] = Count(int(np.isfinite(arrays[measure]).sum()), arrays[measure].size)
            row["seen at the end"] = Share(_seen(results, place, method, probability))
            rows.append(row)
    return rows


def _all_of(results: Results, place: Place, measure: str) -> NDArray[np.float64]:
    return np.concatenate(
        [results[place.part(method, DEFAULT_PROBABILITY, results.scale)][measure] for method in METHODS]
    )


def draw_coverage(results: Results, place: Place) -> Figure:
    """Return the share of states seen over steps: median and middle half of the runs, each method at its best p."""
    figure = new_figure(7.2, 4.0)
    axes = figure.subplots()
    for method in METHODS:
        arrays = results[place.part(method, best_probability(results, place, method), results.scale)]
        low, middle, high = np.quantile(arrays["share"], [0.25, 0.5, 0.75], axis=0)
        axes.fill_between(arrays["points"], 100 * low, 100 * high, color=METHOD_COLORS[method], alpha=0.18, linewidth=0)
        axes.plot(
            arrays["points"], 100 * middle, color=METHOD_COLORS[method], linestyle=METHOD_LINES[method],
            linewidth=1.6, label=METHOD_TITLES[method],
        )  # fmt: skip
    axes.set_xlabel("steps")
    axes.set_ylabel("states seen (%)")
    axes.set_xlim(0, arrays["points"][-1])
    axes.set_ylim(0, 102)
    tidy(axes)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def place_figures(results: Results, place: Place) -> list[Captioned]:
    """Return the coverage of a place."""
    n_states = int(results[place.part("none", DEFAULT_PROBABILITY, results.scale)]["n_states"].mean())
    caption = (
        f"States seen over steps, of {n_states:,}: median and middle half of the runs, each method with its own best p."
    )
    return [(caption, draw_coverage(results, place))]


def draw_places(results: Results, places: Sequence[Place]) -> Figure:
    """Return the steps until nine tenths were seen, for every place and method, on a logarithmic scale."""
    figure = new_figure(9.0, 0.62 * len(places) + 1.4)
    axes = figure.subplots()
    for place_number, place in enumerate(places):
        for offset, method in enumerate(METHODS):
            probability = best_probability(results, place, method)
            most = _estimate(results, place, method, probability, "most")
            y = place_number + 0.1 * (offset - (len(METHODS) - 1) / 2)
            label = METHOD_TITLES[method] if place_number == 0 else None
            interval_dot(axes, y, most.value, most.low, most.high, color=METHOD_COLORS[method], label=label)
    axes.set_xscale("log")
    axes.set_xlabel("steps until 90 % of the states were seen")
    axes.set_yticks(range(len(places)), [place.title for place in places])
    axes.invert_yaxis()
    tidy(axes)
    axes.grid(axis="x", color="#00000012")
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
