"""Performance profiles: in which share of the worlds a method is within a factor of the best one.

Each number is divided by the least of all methods in the same world (Dolan and Moré, 2002). Intervals are percentiles
over resampled worlds, drawn with replacement within each family, so that every resample has as many of each (the
stratified bootstrap of Agarwal et al., 2021).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

N_RESAMPLES = 1_000
FACTORS = np.geomspace(1.0, 10.0, 60)
WIDE_FACTORS = np.geomspace(1.0, 10_000.0, 120)


class Interval(NamedTuple):
    """A statistic of every method, with its 95 % interval."""

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def ratios_to_best(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return every number as a multiple of the least in its row: worlds × methods.

    >>> ratios_to_best(np.array([[2.0, 4.0], [3.0, 3.0]]))
    array([[1., 2.],
           [1., 1.]])
    """
    finite = np.where(np.isfinite(values), values, 1e300)
    return np.asarray(finite / np.maximum(finite.min(axis=1, keepdims=True), 1e-12))


def profile_of(ratios: NDArray[np.float64], factors: NDArray[np.float64] = FACTORS) -> NDArray[np.float64]:
    """Return the share of the worlds in which each method is within each factor of the best: methods × factors.

    >>> profile_of(np.array([[1.0, 2.0], [1.0, 20.0]]))[:, [0, -1]]
    array([[1. , 1. ],
           [0. , 0.5]])
    """
    return np.asarray((ratios[:, :, None] <= factors * (1.0 + 1e-12)).mean(axis=0))


def typical_ratio(ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the interquartile mean of the ratios of each method, on a logarithmic scale.

    >>> typical_ratio(np.array([[1.0], [2.0], [2.0], [1000.0]]))
    array([2.])
    """
    return np.asarray(np.exp(stats.trim_mean(np.log(ratios), 0.25, axis=0)))


def with_interval(
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ratios: NDArray[np.float64],
    families: NDArray[np.int64],
    *,
    seed: int = 0,
) -> Interval:
    """Return a statistic of ratios with its interval over worlds that are resampled within their families.

    >>> with_interval(typical_ratio, np.ones((6, 1)), np.array([0, 0, 0, 1, 1, 1])).high
    array([1.])
    """
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(families == family) for family in np.unique(families)]
    resampled = [
        statistic(ratios[np.concatenate([rng.choice(rows, size=rows.size) for rows in members])])
        for _ in range(N_RESAMPLES)
    ]
    low, high = np.percentile(resampled, [2.5, 97.5], axis=0)
    return Interval(statistic(ratios), low, high)
