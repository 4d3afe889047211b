"""The far points of a world: local maxima of the score on the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.diffusion.goals.order import SAME_SCORE, descending
from farpoint.diffusion.goals.peaks import bands_of, find_peaks, prominences_of
from farpoint.diffusion.walk import Walk
from farpoint.display import Drawn, Framed
from farpoint.errors import InvalidInput, check_fraction, check_integer
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.presenting import state_columns


class Goals(Drawn, Framed):
    """Local maxima of a score, highest first.

    Attributes
    ----------
    states : array of int
        One state per maximum: of a plateau of equal score, the first.
    heights : array of float
        The score there.
    prominences : array of float
        How far the score must fall on the way to a higher maximum; of the highest, to the lowest score of all. Computed
        when first asked for.
    world : World or None
        Where the states lie, for pictures and tables; not kept in a pickle.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.open_room(5, 9)
    >>> goals = fp.find_goals(world, fp.score(world, t=4))
    >>> goals.states
    array([ 0,  8, 36, 44])
    >>> goals.most_prominent(1).states
    array([0])
    """

    def __init__(
        self,
        states: NDArray[np.int64],
        heights: NDArray[np.float64],
        prominences: NDArray[np.float64] | Callable[[], NDArray[np.float64]],
        world: World | None = None,
    ) -> None:
        self.states, self.heights, self.world = states, heights, world
        self._find = prominences

    @cached_property
    def prominences(self) -> NDArray[np.float64]:
        """How far the score must fall on the way to a higher maximum."""
        return self._find() if callable(self._find) else self._find

    def most_prominent(self, n_goals: int) -> Goals:
        """Return the ``n_goals`` of largest prominence, in the same order as here.

        >>> import farpoint as fp
        >>> world = fp.maze()
        >>> len(fp.find_goals(world, fp.score(world)).most_prominent(5))
        5
        """
        n_goals = check_integer("n_goals", n_goals, 1, len(self))
        rank = descending(self.prominences, self.states)[:n_goals]
        return self.where(np.isin(np.arange(len(self)), rank))

    def where(self, keep: NDArray[np.bool_]) -> Goals:
        """Return the goals for which ``keep`` is true.

        >>> import farpoint as fp
        >>> world = fp.ring()
        >>> goals = fp.find_goals(world, fp.score(world))
        >>> len(goals.where(goals.states < 100)) < len(goals)
        True
        """
        if not isinstance(keep, np.ndarray) or keep.dtype != bool or keep.shape != self.states.shape:
            raise InvalidInput(f"keep must be an array of one True or False per goal ({len(self)}); got {keep!r}.")
        return Goals(self.states[keep], self.heights[keep], lambda: self.prominences[keep], self.world)

    def columns(self) -> dict[str, Any]:
        """Return one row per goal: its state, where that is, how high and how prominent."""
        where = {"state": self.states} if self.world is None else state_columns(self.world, self.states)
        return {**where, "height": self.heights, "prominence": self.prominences}

    def __reduce__(self) -> tuple[Any, ...]:
        return Goals, (self.states, self.heights, self.prominences)

    def __repr__(self) -> str:
        return f"Goals({len(self)} states)"

    def __len__(self) -> int:
        return int(self.states.size)

    def __iter__(self) -> Iterator[int]:
        return iter(int(state) for state in self.states)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.states, dtype=dtype, copy=copy)


def find_goals(
    world: WorldLike, scores: ArrayLike, *, min_prominence: float = 0.0, tolerance: float = SAME_SCORE
) -> Goals:
    """Return the local maxima of a score on the world's graph, one state per plateau, highest first.

    A plateau is a connected set of states whose scores are equal up to ``tolerance``; it is a maximum if no neighbor
    of any of its states is higher. Neighbors are the states one move away in either direction.

    Parameters
    ----------
    world : World
    scores : array, shape (n_states,)
    min_prominence : float
        Leave out the maxima from which the score falls by less than this on the way to a higher one.
    tolerance : float
        Relative difference up to which two scores are equal.

    Returns
    -------
    Goals
        With ``states``, ``heights`` and ``prominences``.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> goals = fp.find_goals(world, fp.score(world, t=4))
    >>> len(goals)
    20
    """
    world = as_world(world)
    Walk.of(world)  # fails on a world that is not connected
    values = real_numbers("scores", scores)
    if values.shape != (world.n_states,):
        raise InvalidInput(f"scores must have one entry per state ({world.n_states}); got shape {values.shape}.")
    if not np.isfinite(values).all():
        raise InvalidInput(f"scores must be finite; got {(~np.isfinite(values)).sum()} that are not.")
    tolerance = check_fraction("tolerance", tolerance)
    min_prominence = check_prominence(min_prominence)
    return goals_of(world, values, min_prominence, tolerance)


def goals_of(
    world: World, values: NDArray[np.float64], min_prominence: float = 0.0, tolerance: float = SAME_SCORE
) -> Goals:
    """Return the goals of values that are checked and that nobody changes; see `find_goals`."""
    bands = bands_of(world)
    states = np.flatnonzero(find_peaks(bands, values, tolerance).is_peak)
    states = states[descending(values[states], states, tolerance)]
    goals = Goals(states, values[states], lambda: prominences_of(bands, values, states, tolerance), world)
    return goals if min_prominence == 0.0 else goals.where(goals.prominences >= min_prominence)


def check_prominence(min_prominence: float) -> float:
    """Return the least prominence if it is a number of at least 0.

    >>> check_prominence(0.5)
    0.5
    """
    if isinstance(min_prominence, bool) or not isinstance(min_prominence, Real) or not min_prominence >= 0:
        raise InvalidInput(f"min_prominence must be at least 0; got {min_prominence!r}.")
    return float(min_prominence)
