"""Tasks that come after one exploration: what the options that were found are worth to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.measures.statistics import Estimate, interquartile_mean
from farpoint.report.names import METHOD_TITLES
from farpoint.report.tables import Row
from research.exploration.plan import LATER, LATER_METHODS, PROBABILITIES, Place, Results


def _estimate(results: Results, place: Place, method: str, probability: float, measure: str) -> Estimate:
    return interquartile_mean(results[place.later_part(method, probability, results.scale)][measure])


def _best_of(results: Results, place: Place, measure: str) -> NDArray[np.float64]:
    """Return what every run of diffusion took, at its own best probability."""
    best = _best_probability(results, place, "diffusion")
    return np.asarray(results[place.later_part("diffusion", best, results.scale)][measure])


def _best_probability(results: Results, place: Place, method: str) -> float:
    return min(PROBABILITIES[method], key=lambda p: _estimate(results, place, method, p, "first_target").value)


def _ratio(steps: NDArray[np.float64], reference: NDArray[np.float64]) -> str:
    """Return how many times as many steps, run by run: each has the same tasks and the same seed."""
    logarithms = interquartile_mean(np.log(steps / reference))
    value, low, high = (np.exp(one) for one in (logarithms.value, logarithms.low, logarithms.high))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def later_rows(results: Results) -> list[Row]:
    """Return the steps of all tasks together, each method with its own best probability."""
    rows: list[Row] = []
    for place in LATER:
        for method in LATER_METHODS:
            best = _best_probability(results, place, method)
            arrays = results[place.later_part(method, best, results.scale)]
            row: Row = {"world": place.title, "method": METHOD_TITLES[method], "p": f"{best:g}"}
            row["options"] = f"{arrays['n_options'].mean():.0f}"
            for measure, title in (("first_target", "targets first reached"), ("near_optimal", "near-optimal")):
                estimate = _estimate(results, place, method, best, measure)
                row[f"{title} [95 %]"] = f"{estimate.value:,.0f} [{estimate.low:,.0f}, {estimate.high:,.0f}]"
                row[f"{title}, × diffusion [95 %]"] = _ratio(arrays[measure], _best_of(results, place, measure))
            rows.append(row)
    return rows
