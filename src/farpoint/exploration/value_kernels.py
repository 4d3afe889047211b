"""Compiled intra-option Q-learning over actions and the options of the moment.

``routes[k, s]`` is the action of option k in state s, or -1 where it ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import allocation_free
from farpoint.exploration.memory import NONE, STATES, Memory
from farpoint.exploration.memory_kernels import decide
from farpoint.exploration.values import Rates, Values
from farpoint.simulation.kernels import Stream, uniform

Routes = NDArray[np.int16]

_MOST_SWEEPS = 100
_NO_CHANGE = 1e-9


@allocation_free(nogil=True)
def best_action(memory: Memory, values: Values, state: int) -> Any:
    """Return the first action of highest value, that value, and how many actions have it."""
    best, highest, count = 0, values.actions[state, 0], 1
    for action in range(1, memory.n_actions[state]):
        value = values.actions[state, action]
        if value > highest:
            best, highest, count = action, value, 1
        elif value == highest:
            count += 1
    return best, highest, count


@allocation_free(nogil=True)
def best_option(routes: Routes, values: Values, state: int, least: float) -> Any:
    """Return the option of highest value above ``least`` that can start, or -1; and that value, or ``least``."""
    best, highest = NONE, least
    n_options, n_known = routes.shape
    if state < n_known:
        for k in range(n_options):
            # An unknown value, NaN, is larger than nothing.
            if routes[k, state] != NONE and values.options[state, k] > highest:
                best, highest = k, values.options[state, k]
    return best, highest


@allocation_free(nogil=True)
def greedy_action(memory: Memory, routes: Routes, values: Values, state: int) -> Any:
    """Return the best action and the option it belongs to, or -1; the action is -1 where nothing is known.

    An action of its own comes first: its value is learned from every step, that of an option only from its own. Where
    only one action is possible, nothing is known by its being the best.
    """
    best, highest, count = best_action(memory, values, state)
    if count == 1 and memory.n_actions[state] > 1:
        return best, NONE
    option, _ = best_option(routes, values, state, highest)
    if option != NONE:
        return routes[option, state], option
    return NONE, NONE


@allocation_free(nogil=True)
def explores(rates: Rates, stream: Stream) -> bool:
    """Return whether a learning agent only explores in the episode that begins now."""
    return bool(rates.alpha > 0.0 and uniform(stream) < rates.exploring)


@allocation_free(nogil=True)
def next_action(
    memory: Memory,
    routes: Routes,
    values: Values,
    rates: Rates,
    state: int,
    option: int,
    exploring: bool,
    option_probability: float,
    uniform_actions: bool,
    stream: Stream,
) -> Any:
    """Return the next action of a learning agent and the option that it belongs to, or -1.

    The best action is taken where it is known, except for a share ε of the time; where it is not, the best option, if
    one is known to be worth something; elsewhere the agent explores, and so it does everywhere while ``exploring``. An
    option is left where a best action is known.
    """
    if rates.alpha == 0.0 or exploring:
        return decide(memory, routes, state, option, option_probability, uniform_actions, stream)
    action, through = greedy_action(memory, routes, values, state)
    known = action != NONE and through == NONE
    if option >= 0 and state < routes.shape[1] and routes[option, state] != NONE and not known:
        return routes[option, state], option
    if action != NONE and uniform(stream) >= rates.epsilon:
        return action, through
    return decide(memory, routes, state, NONE, option_probability, uniform_actions, stream)


@allocation_free(nogil=True)
def learn_step(
    memory: Memory,
    routes: Routes,
    values: Values,
    rates: Rates,
    before: int,
    action: int,
    reward: float,
    after: int,
    terminated: bool,
) -> None:
    """Update the value of the action, and of every option that would have taken it; the step is remembered already."""
    if rates.alpha == 0.0:
        return
    value = 0.0
    if not terminated:
        _, value, _ = best_action(memory, values, after)
        _, value = best_option(routes, values, after, value)
    values.rewards[before, action] += (reward - values.rewards[before, action]) / memory.tried[before, action]
    here = values.actions[before]
    here[action] += rates.alpha * (reward + rates.gamma * value - here[action])
    n_options, n_known = routes.shape
    if before >= n_known:
        return
    for k in range(n_options):
        if routes[k, before] != action:
            continue
        # In the next state the option goes on, with its own value there, or it ends and the best decision follows.
        later = value
        if not terminated and after < n_known and routes[k, after] != NONE and not np.isnan(values.options[after, k]):
            later = values.options[after, k]
        known = values.options[before, k]
        target = reward + rates.gamma * later
        values.options[before, k] = target if np.isnan(known) else known + rates.alpha * (target - known)


@allocation_free(nogil=True)
def replay(memory: Memory, values: Values, rates: Rates) -> None:
    """Learn once more from everything that is remembered: what the actions that were tried are worth, by their mean
    rewards and the outcomes that were seen, until nothing changes.

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
                    if not memory.terminal[after]:
                        later += memory.outcome_count[entry] * best_action(memory, values, after)[1]
                    entry = memory.next_outcome[entry]
                value = values.rewards[state, action] + rates.gamma * later / memory.tried[state, action]
                change = max(change, abs(value - values.actions[state, action]))
                values.actions[state, action] = value
        if change < _NO_CHANGE:
            return
