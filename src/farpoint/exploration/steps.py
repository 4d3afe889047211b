"""The steps that an explorer took, in its own numbers of states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# How a step ended the episode.
GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2


class Steps(NamedTuple):
    """One entry per step: from which state, by which action, to which state, and whether the episode ended there."""

    before: NDArray[np.int32]
    actions: NDArray[np.int16]
    after: NDArray[np.int32]
    ended: NDArray[np.int8]

    @classmethod
    def room_for(cls, n_steps: int) -> Steps:
        """Return arrays for so many steps.

        >>> Steps.room_for(3).before
        array([0, 0, 0], dtype=int32)
        """
        return cls(*(np.zeros(n_steps, dtype=dtype) for dtype in (np.int32, np.int16, np.int32, np.int8)))

    def until(self, n_steps: int) -> Steps:
        """Return the first so many steps."""
        return Steps(*(column[:n_steps] for column in self))

    @property
    def first_states(self) -> NDArray[np.int32]:
        """The state in which each episode began."""
        if not len(self.before):
            return self.before
        begins = np.append(0, np.flatnonzero(self.ended[:-1]) + 1)
        return self.before[begins]
