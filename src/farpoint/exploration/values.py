"""What an agent has learned: a value per action and per option, in every state that it has seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import check_fraction
from farpoint.exploration.memory import Memory

Array = NDArray[np.float64]


class Rates(NamedTuple):
    """How an agent learns: learning rate (0: not at all), discount, and the shares of decisions and of episodes that
    explore whatever is known.
    """

    alpha: float
    gamma: float
    epsilon: float
    exploring: float

    @classmethod
    def checked(cls, alpha: float, gamma: float, epsilon: float, exploring_episodes: float) -> Rates:
        """Return the rates, each from 0 to 1."""
        return cls(
            check_fraction("alpha", alpha),
            check_fraction("gamma", gamma),
            check_fraction("epsilon", epsilon),
            check_fraction("exploring_episodes", exploring_episodes),
        )


NO_LEARNING = Rates(0.0, 0.0, 1.0, 1.0)


class Values(NamedTuple):
    """Values of actions, shape (states, actions), and of options, shape (states, slots); mean rewards of actions.

    An option of which nothing is known has the value NaN: no number would do for rewards of either sign.
    """

    actions: Array
    options: Array
    rewards: Array

    @classmethod
    def none(cls, most_actions: int, n_options: int) -> Values:
        """Return the values of an agent that has seen nothing.

        >>> Values.none(4, 2).options.shape
        (0, 2)
        """
        return cls(np.zeros((0, most_actions)), np.empty((0, n_options)), np.zeros((0, most_actions)))

    def with_room(self, memory: Memory) -> Values:
        """Return the values with room for as many states as the memory has."""
        missing = len(memory.visits) - len(self.actions)
        if missing <= 0:
            return self
        return Values(
            np.concatenate([self.actions, np.zeros((missing, self.actions.shape[1]))]),
            np.concatenate([self.options, np.full((missing, self.options.shape[1]), np.nan)]),
            np.concatenate([self.rewards, np.zeros((missing, self.rewards.shape[1]))]),
        )

    def forget(self, slots: list[int]) -> None:
        """Forget the values of options that lead elsewhere now."""
        self.options[:, slots] = np.nan
