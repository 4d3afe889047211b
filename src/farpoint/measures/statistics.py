"""Summaries of runs with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from farpoint.errors import InvalidInput, check_integer
from farpoint.worlds.arrays import real_numbers


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % bootstrap interval.

    Examples
    --------
    >>> print(Estimate(2.0, 1.5, 2.5))
    2.0 [1.5, 2.5]
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.low):
            return f"{self.value:.1f}"
        return f"{self.value:.1f} [{self.low:.1f}, {self.high:.1f}]"

    def clearly_below(self, other: Estimate, *, by: float = 0.5) -> bool:
        """Return whether the intervals are apart, and the values by at least this much.

        >>> Estimate(2.0, 1.5, 2.5).clearly_below(Estimate(4.0, 3.0, 5.0))
        True
        """
        if not isinstance(other, Estimate):
            raise InvalidInput(f"other must be an Estimate; got {other!r}.")
        return self.high < other.low and self.value + by <= other.value


def mean_of_runs(values: ArrayLike, *, seed: int = 0) -> Estimate:
    """Return the mean of the runs.

    Examples
    --------
    >>> print(mean_of_runs([1.0, 2.0, 3.0, 2.0]))
    2.0 [1.2, 2.8]
    """
    return _estimate(values, np.mean, seed)


def median_of_runs(values: ArrayLike, *, seed: int = 0) -> Estimate:
    """Return the median of the runs.

    Examples
    --------
    >>> print(median_of_runs([1.0, 2.0, 3.0, 2.0]))
    2.0 [1.0, 3.0]
    """
    return _estimate(values, np.median, seed)


def interquartile_mean(values: ArrayLike, *, seed: int = 0) -> Estimate:
    """Return the mean of the middle half of the runs: as robust as a median, nearly as precise as a mean.

    Examples
    --------
    >>> interquartile_mean([1.0, 2.0, 3.0, 1000.0]).value
    2.5
    """
    return _estimate(values, _middle_mean, seed)


def _middle_mean(values: np.ndarray, axis: int = -1) -> np.ndarray:
    from scipy import stats  # here: it takes a second to import

    return np.asarray(stats.trim_mean(values, 0.25, axis=axis))


def _estimate(runs: ArrayLike, statistic: object, seed: int) -> Estimate:
    values = real_numbers("values", runs)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InvalidInput(f"values must be finite, one per run, at least one; got {runs!r}.")
    seed = check_integer("seed", seed, 0)
    value = float(statistic(values))  # type: ignore[operator]
    if values.size < 2:
        return Estimate(value, float("nan"), float("nan"))
    if np.ptp(values) == 0:
        return Estimate(value, value, value)
    from scipy import stats

    interval = stats.bootstrap(
        (values,), statistic, n_resamples=2000, method="percentile", vectorized=True, rng=np.random.default_rng(seed)
    ).confidence_interval
    return Estimate(value, float(interval.low), float(interval.high))
