"""Summaries of runs with their uncertainty, and the one way in which they are written."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_integer, check_positive, check_word
from farpoint.worlds.arrays import real_numbers

_N_DRAWS = 2_000
Statistic = Callable[..., Any]


def format_number(number: float | None) -> str:
    """Return a number with three significant digits, whole from 100 on; ``–`` for None and nan.

    >>> [format_number(x) for x in (0.0872, 2.345, 38.94, 1224.3, 3e9, float("inf"), None)]
    ['0.0872', '2.35', '38.9', '1,224', '3.0e+09', '∞', '–']
    >>> format_number(20)
    '20'
    """
    if number is not None and not isinstance(number, (int, float, np.integer, np.floating)):
        raise InvalidInput(f"number must be a number or None; got {number!r}.")
    if number is None or math.isnan(number):
        return "–"
    if isinstance(number, (int, np.integer)) or number == 0:
        return f"{number:,.0f}"
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    # Rounded first: 9.999 is 10.0.
    size = abs(float(f"{number:.3g}"))
    if size < 1:
        return f"{number:.3g}"
    if size < 100:
        return f"{number:.2f}" if size < 10 else f"{number:.1f}"
    return f"{number:,.0f}" if size < 1e7 else f"{number:.1e}"


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; ``capped`` if a limit on the runs censored it, so that it is a lower bound.

    Examples
    --------
    >>> print(Estimate(1224.0, 853.0, 1817.0))
    1,224 [853, 1,817]
    >>> print(Estimate(300_000.0, 280_000.0, 300_000.0, capped=True))
    ≥ 300,000 [280,000, 300,000]
    """

    value: float
    low: float = float("nan")
    high: float = float("nan")
    capped: bool = False

    @property
    def alone(self) -> str:
        """The number without its interval.

        >>> Estimate(1224.0, 853.0, 1817.0).alone
        '1,224'
        """
        return f"{'≥ ' if self.capped else ''}{format_number(self.value)}"

    def columns(self, name: str) -> dict[str, float | bool]:
        """Return the number and its interval as four columns of a table.

        >>> Estimate(5.0, 4.0, 6.0).columns("steps")
        {'steps': 5.0, 'steps_low': 4.0, 'steps_high': 6.0, 'steps_capped': False}
        """
        return {name: self.value, **{f"{name}_{part}": getattr(self, part) for part in ("low", "high", "capped")}}

    def clearly_below(self, other: Estimate, *, by: float = 0.5) -> bool:
        """Return whether the intervals are apart, and the values by at least this much.

        >>> Estimate(2.0, 1.5, 2.5).clearly_below(Estimate(4.0, 3.0, 5.0))
        True
        """
        if not isinstance(other, Estimate):
            raise InvalidInput(f"other must be an Estimate; got {other!r}.")
        return self.high < other.low and self.value + by <= other.value

    def __str__(self) -> str:
        if np.isnan(self.low):
            return self.alone
        return f"{self.alone} [{format_number(self.low)}, {format_number(self.high)}]"


def estimate(
    values: ArrayLike,
    statistic: str | Statistic = "iqm",
    groups: ArrayLike | None = None,
    *,
    limit: float | None = None,
    seed: int = 0,
) -> Estimate:
    """Return a statistic of runs with its 95 % bootstrap interval.

    Parameters
    ----------
    values : array of float, shape (n_runs,)
        One number per run. inf: not reached, which needs a ``limit``.
    statistic : "iqm", "mean", "median", or function of an array and an ``axis``
        iqm: the interquartile mean, which is the mean of the middle half. It is as robust as a median and nearly as
        precise as a mean.
    groups : array of shape (n_runs,), optional
        What runs have in common, for example their layout. The interval is then one for other layouts too: groups are
        drawn with replacement, then runs inside each drawn group. Default: runs are independent.
    limit : float, optional
        Where runs ended. Values beyond it count as ``limit``; if that touches the statistic, the estimate is `capped`.
    seed : int

    Examples
    --------
    >>> print(estimate([1.0, 2.0, 3.0, 1000.0]).value)
    2.5
    >>> print(estimate([1.0, 2.0, 3.0, 2.0], "mean"))
    2.00 [1.25, 2.75]
    >>> print(estimate([30.0, 50.0, 40.0, float("inf"), float("inf")], limit=1000).alone)
    ≥ 363
    >>> layouts = [0, 0, 0, 1, 1, 1]
    >>> print(estimate([10.0, 11.0, 12.0, 20.0, 21.0, 22.0], "mean", layouts))
    16.0 [10..., 21...]
    """
    runs = real_numbers("values", values)
    limit = None if limit is None else check_positive("limit", limit)
    reached = runs if limit is None else np.minimum(runs, limit)
    if runs.ndim != 1 or not runs.size or not np.isfinite(reached).all():
        raise InvalidInput(f"values must be finite, one per run, at least one; got {values!r}.")
    seed = check_integer("seed", seed, 0)
    compute = _STATISTICS[check_word("statistic", statistic, _STATISTICS)] if isinstance(statistic, str) else statistic
    capped = False
    if limit is not None:
        with np.errstate(invalid="ignore"):
            # inf or nan where a run that did not get there has a part in it.
            capped = not np.isfinite(compute(np.where(runs > limit, np.inf, runs), axis=-1))
        runs = reached
    value = float(compute(runs, axis=-1))
    members = _members(groups, runs.size)
    if runs.size < 2:
        return Estimate(value, capped=capped)
    if np.ptp(runs) == 0:
        return Estimate(value, value, value, capped)
    low, high = np.percentile(_resampled(runs, compute, members, np.random.default_rng(seed)), [2.5, 97.5])
    return Estimate(value, float(low), float(high), capped)


def _members(groups: ArrayLike | None, n_runs: int) -> list[NDArray[np.int64]] | None:
    """Return the runs of each group."""
    if groups is None:
        return None
    labels = np.asarray(groups).tolist()
    if np.shape(groups) != (n_runs,):
        raise InvalidInput(f"groups must have one label per run, shape ({n_runs},); got shape {np.shape(groups)}.")
    # By their text, so that labels may be of any kind, None and nan included.
    names = np.array([repr(label) for label in labels])
    return [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]


def _resampled(
    runs: NDArray[np.float64],
    compute: Statistic,
    members: list[NDArray[np.int64]] | None,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the statistic of runs that were drawn with replacement, from groups that were drawn first."""
    if members is None:
        return np.asarray(compute(runs[rng.integers(0, runs.size, (_N_DRAWS, runs.size))], axis=-1))
    drawn = rng.integers(0, len(members), (_N_DRAWS, len(members)))
    sizes = np.array([group.size for group in members])
    # Every group is made as long as the longest; only its own runs are ever drawn.
    padded = np.array([np.resize(runs[group], sizes.max()) for group in members])
    inside = (rng.random((_N_DRAWS, len(members), sizes.max())) * sizes[drawn][:, :, None]).astype(np.int64)
    values = np.take_along_axis(padded[drawn], inside, axis=2)
    used = np.arange(sizes.max()) < sizes[drawn][:, :, None]
    found = np.empty(_N_DRAWS)
    counts = used.sum(axis=(1, 2))
    # Draws of unequal groups have different numbers of runs.
    for count in np.unique(counts):
        some = counts == count
        found[some] = compute(values[some][used[some]].reshape(-1, count), axis=-1)
    return found


def _interquartile_mean(values: NDArray[np.float64], axis: int = -1) -> Any:
    from scipy import stats  # here: it takes a second to import

    return stats.trim_mean(values, 0.25, axis=axis)


_STATISTICS: dict[str, Statistic] = {"iqm": _interquartile_mean, "mean": np.mean, "median": np.median}
