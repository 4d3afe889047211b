"""The steps that an explorer took, in its own numbers of states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_memory

# How a step ended the episode.
GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2


_MOST_ACTIONS = 32_767


def check_actions(count: int) -> int:
    """Return the number of actions if it can be kept.

    >>> check_actions(4)
    4
    """
    if count > _MOST_ACTIONS:
        raise InvalidInput(f"a state must have at most {_MOST_ACTIONS} actions to be explored; got {count}.")
    return count


class Steps(NamedTuple):
    """One entry per step: the state before, the action, the state after, how the episode ended there, the reward."""

    before: NDArray[Any]
    actions: NDArray[Any]
    after: NDArray[Any]
    ended: NDArray[Any]
    rewards: NDArray[Any]

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The five arrays."""
        return self.before, self.actions, self.after, self.ended, self.rewards

    @classmethod
    def room_for(cls, n_steps: int) -> Steps:
        """Return arrays for so many steps.

        >>> Steps.room_for(3).before
        array([0, 0, 0], dtype=int32)
        """
        check_memory("n_steps", n_steps, 15 * n_steps)
        return cls(*(np.zeros(n_steps, dtype=dtype) for dtype in (np.int32, np.int16, np.int32, np.int8, np.float32)))

    def until(self, n_steps: int) -> Steps:
        """Return the first so many steps."""
        return Steps(*(column[:n_steps] for column in self.columns))

    @property
    def first_reward(self) -> float:
        """After how many steps a positive reward was first given; inf if never."""
        given = np.flatnonzero(self.rewards > 0)
        return float(given[0] + 1) if given.size else float("inf")

    @property
    def first_states(self) -> NDArray[Any]:
        """The state in which each episode began."""
        if not len(self.before):
            return self.before
        begins = np.append(0, np.flatnonzero(self.ended[:-1]) + 1)
        return np.asarray(self.before[begins])
