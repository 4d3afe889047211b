"""What actions are worth, by value iteration on all that is remembered; and what an agent that knows it does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import allocation_free
from farpoint.exploration.memory import NONE, STATES, Memory, decide
from farpoint.simulation.kernels import Stream, uniform

Array = NDArray[np.float64]

_MOST_SWEEPS = 100
_NO_CHANGE = 1e-9


class Rates(NamedTuple):
    """Whether an agent learns, its discount, and the shares of decisions and of episodes that only explore."""

    learns: bool
    gamma: float
    epsilon: float
    exploring: float


NO_LEARNING = Rates(False, 0.0, 1.0, 1.0)


class Values(NamedTuple):
    """Values and mean rewards of actions, shape (states, actions)."""

    actions: Array
    rewards: Array

    @classmethod
    def none(cls, n_actions: int) -> Values:
        """Return the values of an agent that has seen nothing.

        >>> Values.none(4).actions.shape
        (0, 4)
        """
        return cls(np.zeros((0, n_actions)), np.zeros((0, n_actions)))

    def with_room(self, memory: Memory) -> Values:
        """Return the values with room for as many states as the memory has."""
        missing = len(memory.visits) - len(self.actions)
        if missing <= 0:
            return self
        room = np.zeros((missing, self.actions.shape[1]))
        return Values(np.concatenate([self.actions, room]), np.concatenate([self.rewards, room]))


@allocation_free(nogil=True)
def best_action(memory: Memory, values: Values, state: int) -> Any:
    """Return the first action of highest value that is not barred, that value, and how many have it and how many not.

    A barred action is never tried, so its value says nothing.
    """
    best, highest, equal, allowed = NONE, 0.0, 0, 0
    for action in range(memory.n_actions[state]):
        if memory.barred[state, action]:
            continue
        value = values.actions[state, action]
        allowed += 1
        if best == NONE or value > highest:
            best, highest, equal = action, value, 1
        elif value == highest:
            equal += 1
    return best, highest, equal, allowed - equal


@allocation_free(nogil=True)
def known_action(memory: Memory, values: Values, state: int) -> int:
    """Return the best action, or -1 where several are best.

    Where only one action is possible, nothing is known by its being the best.
    """
    best, _, equal, others = best_action(memory, values, state)
    return best if equal == 1 and others > 0 else NONE


@allocation_free(nogil=True, inline="always")
def explores(rates: Rates, stream: Stream) -> bool:
    """Return whether a learning agent only explores in the episode that begins now."""
    return bool(rates.learns and uniform(stream) < rates.exploring)


@allocation_free(nogil=True, inline="always")
def next_action(
    memory: Memory,
    routes: NDArray[np.int16],
    values: Values,
    rates: Rates,
    state: int,
    option: int,
    exploring: bool,
    running: NDArray[np.int64],
    option_probability: float,
    least_tried: bool,
    stream: Stream,
) -> Any:
    """Return the next action of a learning agent and the option that it belongs to, or -1.

    ``routes[k, s]`` is the action of option k in state s, or -1 where it ends. The best action is taken where it is
    known, except for a share ε of the time; elsewhere, and everywhere while ``exploring``, the agent explores. An
    option is left where a best action is known.
    """
    if not rates.learns or exploring:
        return decide(memory, routes, running, state, option, option_probability, least_tried, stream)
    action = known_action(memory, values, state)
    if action == NONE:
        if option >= 0 and state < routes.shape[1] and routes[option, state] != NONE:
            return routes[option, state], option
    elif uniform(stream) >= rates.epsilon:
        return action, NONE
    return decide(memory, routes, running, state, NONE, option_probability, least_tried, stream)


@allocation_free(nogil=True, inline="always")
def count_reward(memory: Memory, values: Values, rates: Rates, state: int, action: int, reward: float) -> None:
    """Keep the mean reward of an action; the step is remembered already."""
    if rates.learns:
        values.rewards[state, action] += (reward - values.rewards[state, action]) / memory.tried[state, action]


@allocation_free(nogil=True)
def replay(memory: Memory, values: Values, gamma: float) -> None:
    """Compute what the actions that were tried are worth, by mean rewards and the outcomes seen, until nothing changes.

    So a reward reaches all states from which a way to it is known, and not one state further with each episode.
    """
    for _ in range(_MOST_SWEEPS):
        change = 0.0
        # The states that were seen last lie behind the others, and rewards mostly behind them.
        for state in range(memory.sizes[STATES] - 1, -1, -1):
            for action in range(memory.n_actions[state]):
                if memory.tried[state, action] == 0:
                    continue
                later = 0.0
                entry = memory.first_outcome[state, action]
                while entry != NONE:
                    after = memory.outcome_state[entry]
                    # An end of episodes is a state of its own, without actions.
                    if memory.n_actions[after] > 0:
                        later += memory.outcome_count[entry] * best_action(memory, values, after)[1]
                    entry = memory.next_outcome[entry]
                # Q(s, a) = r(s, a) + γ Σ n(s′ | s, a) / n(s, a) max Q(s′, ·)
                value = values.rewards[state, action] + gamma * later / memory.tried[state, action]
                change = max(change, abs(value - values.actions[state, action]))
                values.actions[state, action] = value
        if change < _NO_CHANGE:
            return
