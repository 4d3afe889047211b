"""Compiled SMDP and intra-option Q-learning: options are decisions with values of their own.

``q`` holds one number a choice, ``q_options[k, s]`` the value of starting option k in state s. A decision is a
choice, or ``-1 - k`` for option k. Reaching the goal gives reward 1 and ends the episode, also in the middle of an
option.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from farpoint.simulation.kernels import (
    PRIMITIVE,
    Stream,
    below,
    move,
    option_choice,
    random_choice,
    random_decision,
    takes,
)
from farpoint.simulation.tables import OptionTable, WorldTable

Values = NDArray[np.float64]


@numba.njit(cache=True, nogil=True, inline="always")
def ends(world: WorldTable, options: OptionTable, option: int, state: int) -> bool:
    """Return whether an option ends in a state."""
    taken = 0
    for choice in range(world.choice_ptr[state], world.choice_ptr[state + 1]):
        taken += takes(options, option, choice)
    return taken == 0


@numba.njit(cache=True, nogil=True)
def best_decision(
    world: WorldTable, options: OptionTable, q: Values, q_options: Values, state: int, stream: Stream
) -> Any:
    """Return a decision of highest value, drawn uniformly among equals, that value, and how many have it."""
    first = world.choice_ptr[state]
    best = first
    highest = q[first]
    count = 1
    for choice in range(first + 1, world.choice_ptr[state + 1]):
        if q[choice] > highest:
            best, highest, count = choice, q[choice], 1
        elif q[choice] == highest:
            count += 1
            if below(stream, count) == 0:
                best = choice
    group = options.group[state]
    for entry in range(options.start_ptr[group], options.start_ptr[group + 1]):
        option = options.startable[entry]
        if ends(world, options, option, state):
            continue
        value = q_options[option, state]
        if value > highest:
            best, highest, count = -1 - option, value, 1
        elif value == highest:
            count += 1
            if below(stream, count) == 0:
                best = -1 - option
    return best, highest, count


@numba.njit(cache=True, nogil=True)
def steps_of_greedy_decisions(
    world: WorldTable,
    options: OptionTable,
    q: Values,
    q_options: Values,
    start: int,
    goal: int,
    max_steps: int,
    stream: Stream,
) -> int:
    """Return the steps in which greedy decisions, options among them, reach the goal; one more than the most if not."""
    state = start
    option = PRIMITIVE
    steps = 0
    while steps < max_steps:
        if option == PRIMITIVE:
            choice, _, _ = best_decision(world, options, q, q_options, state, stream)
            if choice < 0:
                option = -1 - choice
        if option != PRIMITIVE:
            choice = option_choice(world, options, option, state, stream)
            if choice < 0:
                option = PRIMITIVE
                continue
        state = move(world, choice, stream)
        steps += 1
        if state == goal:
            return steps
    return max_steps + 1


@numba.njit(cache=True, nogil=True)
def learn_inside_options(
    world: WorldTable,
    options: OptionTable,
    q_options: Values,
    state: int,
    choice: int,
    reward: float,
    after: int,
    value_after: float,
    alpha: float,
    gamma: float,
) -> None:
    """Update every option that may take this choice here: in the next state it goes on, or ends and is chosen anew."""
    for option in range(q_options.shape[0]):
        if takes(options, option, choice):
            value = value_after
            if reward == 0.0 and not ends(world, options, option, after):
                value = q_options[option, after]
            q_options[option, state] += alpha * (reward + gamma * value - q_options[option, state])


@numba.njit(cache=True, nogil=True)
def smdp_trial(
    world: WorldTable,
    options: OptionTable,
    start: int,
    goal: int,
    episodes: int,
    max_steps: int,
    alpha: float,
    gamma: float,
    intra: bool,
    seed: int,
    curve: NDArray[np.float64],
    visits: NDArray[np.int64],
) -> None:
    """Learn towards one goal; fill ``curve`` (steps to goal after each episode) and add to ``visits``."""
    stream = np.full(1, seed, dtype=np.uint64)
    n_options = options.goals.size
    q = np.zeros(world.next_ptr.size - 1)
    q_options = np.zeros((n_options, world.choice_ptr.size - 1))
    for episode in range(episodes):
        state = start
        option = PRIMITIVE
        begun, lasted = start, 0
        for _ in range(max_steps):
            choice = -1
            while choice < 0:
                if option == PRIMITIVE:
                    choice, _, count = best_decision(world, options, q, q_options, state, stream)
                    if count > 1:
                        option = random_decision(options, state, stream)
                        if option == PRIMITIVE:
                            choice = random_choice(world, state, stream)
                    elif choice < 0:
                        option = -1 - choice
                    begun, lasted = state, 0
                if option != PRIMITIVE:
                    choice = option_choice(world, options, option, state, stream)
                    if choice < 0:
                        option = PRIMITIVE
            after = move(world, choice, stream)
            visits[after] += 1
            lasted += 1
            reward = 1.0 if after == goal else 0.0
            value = 0.0
            if after != goal:
                _, value, _ = best_decision(world, options, q, q_options, after, stream)
            # A primitive choice: Q(s, a) ← Q + α (r + γ max Q(s′, ·) − Q)
            if intra or option == PRIMITIVE:
                q[choice] += alpha * (reward + gamma * value - q[choice])
            if intra:
                learn_inside_options(world, options, q_options, state, choice, reward, after, value, alpha, gamma)
            elif option != PRIMITIVE and (after == goal or ends(world, options, option, after)):
                # An option that took k steps: Q(s, o) ← Q + α (γᵏ⁻¹ r + γᵏ max Q(s′, ·) − Q)
                target = gamma ** (lasted - 1) * (reward + gamma * value)
                q_options[option, begun] += alpha * (target - q_options[option, begun])
            state = after
            if state == goal:
                break
        curve[episode] = steps_of_greedy_decisions(world, options, q, q_options, start, goal, max_steps, stream)
