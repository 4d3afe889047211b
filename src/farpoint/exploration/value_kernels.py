"""Compiled intra-option Q-learning over actions and the options of the moment.

A decision is an action, or ``-1 - k`` for option k. ``routes[k, s]`` is the action of option k in state s, or -1 where
it ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled
from farpoint.exploration.memory import NONE, Memory
from farpoint.exploration.memory_kernels import decide
from farpoint.exploration.values import Rates, Values
from farpoint.simulation.kernels import Stream, uniform

Routes = NDArray[np.int16]


@compiled(nogil=True)
def best_decision(memory: Memory, routes: Routes, values: Values, state: int) -> Any:
    """Return the first decision of highest value, that value, and how many decisions have it."""
    best, highest, count = 0, values.actions[state, 0], 1
    for action in range(1, memory.n_actions[state]):
        value = values.actions[state, action]
        if value > highest:
            best, highest, count = action, value, 1
        elif value == highest:
            count += 1
    n_options, n_known = routes.shape
    if state < n_known:
        for k in range(n_options):
            # An unknown value, NaN, is larger than nothing. An option that is no better than its first action is no
            # decision of its own.
            if routes[k, state] != NONE and values.options[state, k] > highest:
                best, highest, count = -1 - k, values.options[state, k], 1
    return best, highest, count


@compiled(nogil=True)
def next_action(
    memory: Memory,
    routes: Routes,
    values: Values,
    rates: Rates,
    state: int,
    option: int,
    option_probability: float,
    uniform_actions: bool,
    stream: Stream,
) -> Any:
    """Return the next action of a learning agent and the option that it belongs to, or -1.

    Where the best decision is unique it is taken, except for a share ε of the time; elsewhere the agent explores. An
    option that was begun is left where something better than going on is known.
    """
    if rates.alpha == 0.0:
        return decide(memory, routes, state, option, option_probability, uniform_actions, stream)
    best, highest, count = best_decision(memory, routes, values, state)
    follows = option >= 0 and state < routes.shape[1] and routes[option, state] != NONE
    if follows and (count > 1 or not values.options[state, option] < highest):
        return routes[option, state], option
    if count == 1 and uniform(stream) >= rates.epsilon:
        if best >= 0:
            return best, NONE
        return routes[-1 - best, state], -1 - best
    return decide(memory, routes, state, NONE, option_probability, uniform_actions, stream)


@compiled(nogil=True)
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
    """Update the value of the action, and of every option that would have taken it."""
    if rates.alpha == 0.0:
        return
    value = 0.0
    if not terminated:
        _, value, _ = best_decision(memory, routes, values, after)
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
