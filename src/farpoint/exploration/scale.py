"""How far a state of continuous observations reaches: measured from the steps, and then left as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.worlds.state_index import StateIndex

# How many steps cross half of a state. With fewer, an agent that strays from its route by a little is in a state that
# it has never seen; with more, what an action does depends on where in the state it is taken.
_STEPS_PER_STATE = 2.0
# States are numbered again where the scale has changed by more than this factor.
_CHANGE = 1.5
# The last measurement is after this many steps. Two measurements in a row that changed nothing are no reason to stop
# sooner: a car that has only seen the bottom of its valley would keep the scale of small steps for good.
_LAST_STEP = 2**14
_NO_ACTION = -1


class ScaleMeasure:
    """Measures the scale at doubling numbers of steps, and keeps the steps until it is final.

    Attributes
    ----------
    events : list of tuples
        (copy of the environment, observation, action, terminated), in order; action -1: an episode began there.

    Examples
    --------
    >>> measure = ScaleMeasure(1)
    >>> measure.begin([0.0], copy=0)
    >>> measure.add(1, [0.5], False, copy=0)
    >>> measure.changed(1, np.array([np.inf]))
    array([1.])
    """

    def __init__(self, n_dimensions: int) -> None:
        self.events: list[tuple[int, NDArray[np.float64], int, bool]] = []
        self._latest: dict[int, NDArray[np.float64]] = {}
        self._squares = np.zeros(n_dimensions)
        self._n_steps = 0
        self._measured_at = 0

    @classmethod
    def for_index(cls, index: StateIndex) -> ScaleMeasure | None:
        """Return a measure for an index that has no scale yet; None for any other.

        >>> ScaleMeasure.for_index(StateIndex.exact()) is None
        True
        """
        scale = index.scale
        return None if scale is None or np.isfinite(scale).any() else cls(scale.size)

    def begin(self, observation: Any, copy: int) -> None:
        """Keep the first observation of an episode."""
        self._latest[copy] = self._point(observation)
        self.events.append((copy, self._latest[copy], _NO_ACTION, False))

    def add(self, action: int, observation: Any, terminated: bool, copy: int) -> None:
        """Keep a step."""
        point = self._point(observation)
        self._squares += (point - self._latest[copy]) ** 2
        self._n_steps += 1
        self._latest[copy] = point
        self.events.append((copy, point, action, terminated))

    def _point(self, observation: Any) -> NDArray[np.float64]:
        point = np.array(observation, dtype=np.float64).ravel()
        if not np.isfinite(point).all():
            raise InvalidInput(f"observation must be finite; got {observation!r} after {self._n_steps} steps.")
        return point

    def changed(self, n_steps: int, now: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Return the scale if it is time to measure it and it differs from the present one; else None."""
        if now is None or not self._n_steps or n_steps < max(1, 2 * self._measured_at):
            return None
        self._measured_at = n_steps
        scale = scale_of_steps(self._squares / self._n_steps)
        return scale if differs(scale, now) else None

    @property
    def final(self) -> bool:
        """Whether the scale stays as it is from now on."""
        return self._measured_at >= _LAST_STEP

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_state` makes this again."""
        width = self._squares.size
        return {
            "copies": np.array([event[0] for event in self.events], dtype=np.int64),
            "points": np.array([event[1] for event in self.events], dtype=np.float64).reshape(-1, width),
            "actions": np.array([event[2] for event in self.events], dtype=np.int64),
            "terminated": np.array([event[3] for event in self.events], dtype=bool),
            "measured": np.array(self._measured_at),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]]) -> ScaleMeasure:
        """Return the measure that `state` described."""
        measure = cls(arrays["points"].shape[1])
        columns = (arrays[name].tolist() for name in ("copies", "actions", "terminated"))
        for copy, action, terminated, point in zip(*columns, arrays["points"], strict=True):
            if action == _NO_ACTION:
                measure.begin(point, copy)
            else:
                measure.add(action, point, terminated, copy)
        measure._measured_at = int(arrays["measured"])
        return measure


def scale_of_steps(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scale for the mean squared change per step of each number; infinite in a number that never changes.

    >>> scale_of_steps(np.array([9.0, 0.0]))
    array([ 6., inf])
    """
    moved = _STEPS_PER_STATE * np.sqrt(squares)
    return np.where(moved > 0.0, moved, np.inf)


def differs(scale: NDArray[np.float64], now: NDArray[np.float64]) -> bool:
    """Return whether a scale is so different from the present one that states must be numbered again.

    >>> differs(np.array([1.0, 2.0]), np.array([1.0, 2.5])), differs(np.array([1.0]), np.array([np.inf]))
    (False, True)
    """
    both = np.isfinite(scale) & np.isfinite(now)
    change = np.exp(np.abs(np.log(scale[both] / now[both])).max(initial=0.0))
    return bool(change > _CHANGE or (np.isfinite(scale) != np.isfinite(now)).any())
