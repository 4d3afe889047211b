"""The cells of a comparison: as columns of a CSV file, and as text for a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.measures.statistics import Estimate, interquartile_mean
from farpoint.options import OptionSet
from farpoint.report.names import METHOD_TITLES


class Cell(NamedTuple):
    """A number with its 95 % interval, and whether a limit cut it off, so that the true one is larger.

    Examples
    --------
    >>> print(Cell(1224.0, 853.0, 1817.0))
    1,224 [853, 1,817]
    >>> print(Cell(300_000.0, 280_000.0, 300_000.0, capped=True))
    > 300,000 [280,000, 300,000]
    >>> Cell(5.0).columns("cover_time")
    {'cover_time': 5.0, 'cover_time_low': nan, 'cover_time_high': nan, 'cover_time_capped': False}
    """

    value: float
    low: float = float("nan")
    high: float = float("nan")
    capped: bool = False

    @classmethod
    def of(cls, estimate: Estimate) -> Cell:
        """Return an estimate as a cell."""
        return cls(estimate.value, estimate.low, estimate.high)

    @classmethod
    def of_runs(cls, runs: NDArray[np.float64], limit: float) -> Cell:
        """Return the interquartile mean of runs that end at a limit: cut off if runs of the middle half were.

        >>> print(Cell.of_runs(np.array([3.0, 5.0, 4.0, np.inf, np.inf]), 100))
        > 36 [3.3, 100]
        """
        # A quarter of the runs at either end is not looked at.
        beyond = int(np.count_nonzero(runs > limit))
        estimate = interquartile_mean(np.minimum(runs, limit))
        return cls(estimate.value, estimate.low, estimate.high, beyond > runs.size // 4)

    def columns(self, name: str) -> dict[str, float | bool]:
        """Return the cell as four columns of a table."""
        parts = {f"{name}_{part}": getattr(self, part) for part in ("low", "high", "capped")}
        return {name: self.value, **parts}

    @property
    def alone(self) -> str:
        """The number without its interval.

        >>> Cell(1224.0, 853.0, 1817.0).alone
        '1,224'
        """
        return f"{'> ' if self.capped else ''}{short(self.value)}"

    def __str__(self) -> str:
        return self.alone if np.isnan(self.low) else f"{self.alone} [{short(self.low)}, {short(self.high)}]"


def short(number: float) -> str:
    """Return a number with few digits.

    >>> short(2.34), short(1224.0), short(3e9), short(float("inf"))
    ('2.3', '1,224', '3.0e+09', '∞')
    """
    if number < 10:
        return f"{number:.1f}"
    return f"{number:,.0f}" if number < 1e7 else "∞" if np.isinf(number) else f"{number:.1e}"


def about_cells(options: OptionSet, given: float | None) -> dict[str, str]:
    """Return the first cells of a row: the method, how many options, at which t, taken how often."""
    t = options.record.get("t")
    return {
        "method": METHOD_TITLES[options.method],
        "options": str(len(options)),
        "t": "–" if t is None else f"{t:g}",
        "p": _chance(options, given),
    }


def fact_columns(options: OptionSet, given: float | None) -> dict[str, object]:
    """Return the first columns of a row of the CSV file."""
    chance = options.option_probability if given is None else given
    return {
        "method": options.method,
        "n_options": len(options),
        "t": options.record.get("t"),
        "option_probability": chance if len(options) else None,
    }


def _chance(options: OptionSet, given: float | None) -> str:
    if len(options) == 0:
        return "–"
    return f"{options.option_probability if given is None else given:.3g}"
