"""Scores at some t of one world, and scores between them: drawn at once, until the score itself is computed.

f_t(s) is a sum of e^(−rt) with rates r ≥ 0, so over log t its logarithm is a smooth curve, which four points that are a
factor of 1.3 apart determine to about a thousandth, as long as many rates count.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock, RLock

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import Scores

# Neighbors farther apart than this factor do not say what lies between them.
_WIDEST_GAP = 1.7
_N_POINTS = 4
# A world that has mixed so well has nothing to show.
_SMALLEST = 1e-30
# Of the scores of one world, and of all tabs of a server together.
MOST_BYTES, MOST_BYTES_OF_ALL = 256 * 2**20, 2**30


class Room:
    """How many bytes all worlds of this process hold."""

    def __init__(self) -> None:
        self._held = 0
        # A world may be collected, which gives back what it took, while this very thread takes room for another.
        self._lock = RLock()

    def take(self, n_bytes: int) -> bool:
        """Return whether there is room for so many bytes more, which are then taken."""
        with self._lock:
            if self._held + n_bytes > MOST_BYTES_OF_ALL:
                return False
            self._held += n_bytes
            return True

    def give_back(self, own: list[int]) -> None:
        """Give back what one world took."""
        with self._lock:
            self._held -= sum(own)


ROOM = Room()


@dataclass(frozen=True)
class Known:
    """A score, its largest relative error (None: exact), and the seconds that it took."""

    scores: Scores
    error: float | None
    seconds: float


class Between:
    """The scores of one world at some t.

    Examples
    --------
    >>> import farpoint as fp
    >>> world, known = fp.ring(), Between()
    >>> for t in (8, 10, 13, 16):
    ...     known.add(t, fp.score(world, t))
    >>> bool(np.abs(known.between(12) / fp.score(world, 12) - 1).max() < 1e-3), known.between(40)
    (True, None)
    """

    def __init__(self) -> None:
        self._known: dict[int, Known] = {}
        self._lock = Lock()
        self._taken: list[int] = []
        weakref.finalize(self, ROOM.give_back, self._taken)

    def add(self, t: int, scores: Scores, seconds: float = 0.0) -> None:
        """Keep the scores at t, while there is room."""
        values, bound = scores.values, scores.error_bound
        n_bytes = values.nbytes
        if float(values.min()) < _SMALLEST:
            return
        # One number in place of a bound per state, which would take as much room again.
        error = None if bound is None else float((bound / values).max())
        with self._lock:
            if t in self._known or sum(self._taken) + n_bytes > MOST_BYTES or not ROOM.take(n_bytes):
                return
            self._taken.append(n_bytes)
            self._known[t] = Known(replace(scores, error_bound=None, standard_error=None), error, seconds)

    def __contains__(self, t: int) -> bool:
        return t in self._known

    def known(self, t: int) -> tuple[Scores, float] | None:
        """Return the score at t and the seconds that it took, if it was added."""
        found = self._known.get(t)
        if found is None:
            return None
        bound = None if found.error is None else found.error * found.scores
        return replace(found.scores, error_bound=bound), found.seconds

    def at(self, t: int) -> NDArray[np.float64] | None:
        """Return the scores at t: those that were added, or from their neighbors; None where these are not known."""
        found = self._known.get(t)
        return self.between(t) if found is None else found.scores.values

    def _around(self, t: int) -> Sequence[int]:
        """Return the t whose scores determine those at t; none if they do not."""
        with self._lock:
            times = np.array(sorted(self._known))
        place = int(np.searchsorted(times, t))
        if not 0 < place < times.size or times[place] > _WIDEST_GAP * times[place - 1]:
            return []
        first = int(np.clip(place - _N_POINTS // 2, 0, max(times.size - _N_POINTS, 0)))
        chosen: list[int] = times[first : first + _N_POINTS].tolist()
        return chosen if len(chosen) == _N_POINTS else []

    def between(self, t: int) -> NDArray[np.float64] | None:
        """Return the scores at t by the polynomial through its neighbors; None where these are not known."""
        times = self._around(t)
        if not times:
            return None
        places = np.log(times)
        total = np.zeros(self._known[times[0]].scores.size)
        for number, one in enumerate(times):
            others = np.delete(places, number)
            weight = np.prod((np.log(t) - others) / (places[number] - others))
            total += weight * np.log(self._known[one].scores)
        return np.asarray(np.exp(total, out=total))
