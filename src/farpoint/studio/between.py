"""Scores between two t that are known: drawn at once, until the score itself is computed.

f_t(s) is a sum of e^(−rt) with rates r ≥ 0, so over log t its logarithm is a smooth curve, which four points determine
to about a thousandth where they are a factor of 1.3 apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Neighbors farther apart than this factor do not say what lies between them.
_WIDEST_GAP = 1.7
_N_POINTS = 4
_SMALLEST = 1e-30
_MOST_BYTES = 256 * 2**20


class Between:
    """The logarithms of the scores of one world at some t.

    Examples
    --------
    >>> import farpoint as fp
    >>> world, known = fp.ring(), Between()
    >>> for t in (8, 10, 13, 16):
    ...     known.add(t, fp.score(world, t))
    >>> bool(np.abs(known.scores(12) / fp.score(world, 12) - 1).max() < 1e-3), known.scores(40)
    (True, None)
    """

    def __init__(self) -> None:
        self._logs: dict[int, NDArray[np.float64]] = {}
        self._lock = Lock()

    def add(self, t: int, scores: NDArray[Any]) -> None:
        """Keep the scores at t, while there is room."""
        logs = np.log(np.maximum(scores, _SMALLEST)).astype(np.float64)
        with self._lock:
            if (len(self._logs) + 1) * logs.nbytes <= _MOST_BYTES:
                self._logs[t] = logs

    def holds(self, t: int) -> bool:
        """Return whether the scores at t are known or lie between such."""
        return bool(self._around(t))

    def _around(self, t: int) -> Sequence[int]:
        """Return the t whose scores determine those at t; none if they do not."""
        with self._lock:
            known = np.array(sorted(self._logs))
        if t in known:
            return [t]
        place = int(np.searchsorted(known, t))
        if not 0 < place < known.size or known[place] > _WIDEST_GAP * known[place - 1]:
            return []
        first = int(np.clip(place - _N_POINTS // 2, 0, max(known.size - _N_POINTS, 0)))
        chosen: list[int] = known[first : first + _N_POINTS].tolist()
        return chosen if len(chosen) == _N_POINTS else []

    def scores(self, t: int) -> NDArray[np.float64] | None:
        """Return the scores at t, by the polynomial through its neighbors; None where these are not known."""
        times = self._around(t)
        if not times:
            return None
        places = np.log(times)
        total = np.zeros(self._logs[times[0]].size)
        for number, one in enumerate(times):
            others = np.delete(places, number)
            total += np.prod((np.log(t) - others) / (places[number] - others)) * self._logs[one]
        return np.asarray(np.exp(total, out=total))
