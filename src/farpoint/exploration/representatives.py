"""Representative observations, added as new regions are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from farpoint.errors import InvalidInput
from farpoint.worlds.arrays import real_numbers

# How many steps it takes to cross half of a state: fewer, and an agent that strays from its route by a little is in a
# state that it has never seen; more, and what an action does depends on where in the state it is taken.
_STEPS_PER_STATE = 2.0
# Where the scale has changed by more than this factor since states were made, they are made anew.
_CHANGE = 1.5
# Representatives that are compared one by one; beyond these a tree holds the older ones.
_RECENT = 512


class Representatives:
    """Observations each of which stands for what is near it: within ``scale``, as an ellipsoid.

    An observation farther than that from all of them becomes one itself, so that no two are within each other's reach.
    Where a scale is infinite, that number is ignored.

    Examples
    --------
    >>> places = Representatives(np.array([1.0, 10.0]))
    >>> [places.number(np.array(point)) for point in ([0.0, 0.0], [0.9, 0.0], [3.0, 0.0], [0.0, 9.0])]
    [0, 0, 1, 0]
    >>> places.observations
    array([[0., 0.],
           [3., 0.]])
    """

    def __init__(self, scale: NDArray[np.float64]) -> None:
        self.scale = scale
        self._scaled = np.empty((_RECENT, scale.size))
        self._observed = np.empty((_RECENT, scale.size))
        self._size = 0
        self._in_tree = 0
        self._tree: Any = None

    def __len__(self) -> int:
        return self._size

    @property
    def observations(self) -> NDArray[np.float64]:
        """One row per representative, in the order in which they were seen."""
        return self._observed[: self._size]

    def number(self, observation: NDArray[np.float64]) -> int:
        """Return the representative of an observation; where there is none within reach, a new one."""
        point = observation / self.scale
        found, distance = self._nearest(point)
        return found if distance <= 1.0 else self.add(observation)

    def find(self, observation: NDArray[np.float64]) -> int:
        """Return the representative of an observation; where there is none within reach, the number a new one gets."""
        found, distance = self._nearest(observation / self.scale)
        return found if distance <= 1.0 else self._size

    def nearest(self, observation: NDArray[np.float64]) -> int:
        """Return the representative nearest to an observation, however far; -1 if there is none."""
        return self._nearest(observation / self.scale)[0]

    def _nearest(self, point: NDArray[np.float64]) -> tuple[int, float]:
        found, least = -1, np.inf
        if self._tree is not None:
            least, number = self._tree.query(point)
            found, least = int(number), float(least) ** 2
        if self._size > self._in_tree:
            away = self._scaled[self._in_tree : self._size] - point
            squares = np.einsum("ij,ij->i", away, away)
            number = int(squares.argmin())
            # Of equally near ones the older.
            if squares[number] < least:
                found, least = self._in_tree + number, float(squares[number])
        return found, least

    def add(self, observation: NDArray[np.float64]) -> int:
        """Return the number of an observation that becomes a representative."""
        point = observation / self.scale
        if self._size == len(self._scaled):
            self._scaled = np.concatenate([self._scaled, np.empty_like(self._scaled)])
            self._observed = np.concatenate([self._observed, np.empty_like(self._observed)])
        self._scaled[self._size], self._observed[self._size] = point, observation
        self._size += 1
        # As the tree grows it is made anew less often, so that all trees together cost n log² n.
        if self._size - self._in_tree > max(_RECENT, self._in_tree // 2):
            self._tree, self._in_tree = cKDTree(self._scaled[: self._size].copy()), self._size
        return self._size - 1


def scale_of_steps(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far a state reaches where steps change each number of an observation by so much, squared, on average.

    Infinitely far in a number that never changes.

    >>> scale_of_steps(np.array([9.0, 0.0]))
    array([ 6., inf])
    """
    moved = _STEPS_PER_STATE * np.sqrt(squares)
    return np.where(moved > 0.0, moved, np.inf)


def differs(scale: NDArray[np.float64], now: NDArray[np.float64]) -> bool:
    """Return whether a scale is so different from the present one that states must be made anew.

    >>> differs(np.array([1.0, 2.0]), np.array([1.0, 2.5])), differs(np.array([1.0]), np.array([np.inf]))
    (False, True)
    """
    both = np.isfinite(scale) & np.isfinite(now)
    change = np.exp(np.abs(np.log(scale[both] / now[both])).max(initial=0.0))
    return bool(change > _CHANGE or (np.isfinite(scale) != np.isfinite(now)).any())


def as_point(observation: Any, where: str) -> NDArray[np.float64]:
    """Return an observation as a row of finite numbers."""
    point = np.array(observation, dtype=np.float64).ravel()
    if not np.isfinite(point).all():
        raise InvalidInput(f"observation must be finite; got {observation!r} {where}.")
    return point


def check_scale(scale: ArrayLike | None, n_dimensions: int) -> NDArray[np.float64] | None:
    """Return one scale per number of an observation, if any was given.

    >>> check_scale(2, 3)
    array([2., 2., 2.])
    """
    if scale is None:
        return None
    scales = real_numbers("scale", scale)
    if scales.shape not in ((), (n_dimensions,)) or not (scales > 0.0).all():
        raise InvalidInput(
            f"scale must be one number above 0, or {n_dimensions} of them, one per number of an observation; got "
            f"{scale!r}."
        )
    return np.broadcast_to(scales, (n_dimensions,)).copy()
