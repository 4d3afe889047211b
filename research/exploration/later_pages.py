"""Tasks that come after one exploration: what the options that were found are worth to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.measures.statistics import Estimate, estimate
from farpoint.report.names import METHOD_TITLES
from farpoint.report.tables import Row
from research.exploration.plan import LATER, LATER_METHODS, PROBABILITIES, Place, Results


def _steps(place: Place, values: NDArray[np.float64]) -> Estimate:
    return estimate(values, groups=place.layouts(values.size))


def _best_of(results: Results, place: Place, measure: str) -> NDArray[np.float64]:
    """Return what every run of diffusion took, at its own best probability."""
    best = _best_probability(results, place, "diffusion")
    return np.asarray(results[place.later_part("diffusion", best, results.scale)][measure])


def _best_probability(results: Results, place: Place, method: str) -> float:
    """Return the best probability in runs that no table shows."""

    def order(probability: float) -> float:
        arrays = results[place.later_tuning_part(method, probability, results.scale)]
        return _steps(place, arrays["first_target"]).value

    return min(PROBABILITIES[method], key=order)


def _ratio(place: Place, steps: NDArray[np.float64], reference: NDArray[np.float64]) -> Estimate:
    """Return how many times as many steps, run by run: each has the same tasks and the same seed."""
    logarithms = _steps(place, np.log(steps / reference))
    value, low, high = (float(np.exp(one)) for one in (logarithms.value, logarithms.low, logarithms.high))
    return Estimate(value, low, high)


def later_rows(results: Results) -> list[Row]:
    """Return the steps of all tasks together, each method with its own best probability."""
    rows: list[Row] = []
    for place in LATER:
        for method in LATER_METHODS:
            best = _best_probability(results, place, method)
            arrays = results[place.later_part(method, best, results.scale)]
            row: Row = {"world": place.title, "method": METHOD_TITLES[method], "p": best}
            row["options"] = float(arrays["n_options"].mean())
            for measure, title in (("first_target", "targets first reached"), ("near_optimal", "near-optimal")):
                row[title] = _steps(place, arrays[measure])
                row[f"{title}, × diffusion"] = _ratio(place, arrays[measure], _best_of(results, place, measure))
            rows.append(row)
    return rows
