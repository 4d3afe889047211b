"""Compiled SMDP and intra-option Q-learning: options are decisions with values of their own.

``q`` holds one number per choice, ``q_options[k, s]`` the value of starting option k in state s. A decision is a
choice, or ``-1 - k`` for option k. Reaching a target gives reward 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.agents.task import Task
from farpoint.compiling import allocation_free, compiled
from farpoint.options.tables import OptionTable
from farpoint.simulation.kernels import (
    PRIMITIVE,
    Stream,
    below,
    move,
    option_choice,
    random_choice,
    random_decision,
    takes,
    uniform,
)
from farpoint.simulation.tables import WorldTable

Values = NDArray[np.float64]


@compiled(nogil=True, inline="always")
def ends(world: WorldTable, options: OptionTable, option: int, state: int) -> bool:
    """Return whether an option ends in a state."""
    taken = 0
    for choice in range(world.choice_ptr[state], world.choice_ptr[state + 1]):
        taken += takes(options, option, choice)
    return taken == 0


@allocation_free(nogil=True)
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


@allocation_free(nogil=True)
def next_choice(
    world: WorldTable,
    options: OptionTable,
    q: Values,
    q_options: Values,
    state: int,
    option: int,
    epsilon: float,
    option_probability: float,
    stream: Stream,
) -> Any:
    """Return the next choice of a learning agent, the option that it now follows, and whether it decided anew.

    It follows ``option`` until that ends. Then it takes the best decision if that is unique, except for a share
    ``epsilon`` of the time, and otherwise a random one.
    """
    choice = -1
    decided = False
    while choice < 0:
        if option == PRIMITIVE:
            decided = True
            choice, _, count = best_decision(world, options, q, q_options, state, stream)
            if count > 1 or (epsilon > 0.0 and uniform(stream) < epsilon):
                option = random_decision(options, state, option_probability, stream)
                if option == PRIMITIVE:
                    choice = random_choice(world, state, stream)
            elif choice < 0:
                option = -1 - choice
        if option != PRIMITIVE:
            choice = option_choice(world, options, option, state, stream)
            if choice < 0:
                option = PRIMITIVE
    return choice, option, decided


@allocation_free(nogil=True)
def greedy_step(
    world: WorldTable, options: OptionTable, q: Values, q_options: Values, state: int, option: int, stream: Stream
) -> Any:
    """Return the next state of an agent that takes best decisions, options among them, and the option it follows."""
    choice = -1
    while choice < 0:
        if option == PRIMITIVE:
            choice, _, _ = best_decision(world, options, q, q_options, state, stream)
            if choice < 0:
                option = -1 - choice
        if option != PRIMITIVE:
            choice = option_choice(world, options, option, state, stream)
            if choice < 0:
                option = PRIMITIVE
    return move(world, choice, stream), option


@allocation_free(nogil=True)
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
    """Update every option whose policy could have taken this choice: in the next state it continues, or ends."""
    for option in range(q_options.shape[0]):
        if takes(options, option, choice):
            value = value_after
            if reward == 0.0 and not ends(world, options, option, after):
                value = q_options[option, after]
            q_options[option, state] += alpha * (reward + gamma * value - q_options[option, state])


@allocation_free(nogil=True)
def learn_episode(
    world: WorldTable,
    options: OptionTable,
    task: Task,
    target: int,
    intra: bool,
    stream: Stream,
    visits: NDArray[np.int64],
    q: Values,
    q_options: Values,
) -> None:
    """Learn in one episode towards the target, which ends it; the values and ``visits`` are changed in place."""
    alpha, gamma = task.alpha, task.gamma
    state = task.start
    option = PRIMITIVE
    begun, lasted = state, 0
    for _ in range(task.max_steps):
        choice, option, decided = next_choice(
            world, options, q, q_options, state, option, 0.0, task.option_probability, stream
        )
        if decided:
            begun, lasted = state, 0
        after = move(world, choice, stream)
        visits[after] += 1
        lasted += 1
        reward = 1.0 if after == target else 0.0
        value = 0.0
        if after != target:
            _, value, _ = best_decision(world, options, q, q_options, after, stream)
        # A primitive choice: Q(s, a) ← Q + α (r + γ max Q(s′, ·) − Q)
        if intra or option == PRIMITIVE:
            q[choice] += alpha * (reward + gamma * value - q[choice])
        if intra:
            learn_inside_options(world, options, q_options, state, choice, reward, after, value, alpha, gamma)
        elif option != PRIMITIVE and (after == target or ends(world, options, option, after)):
            # An option that took k steps: Q(s, o) ← Q + α (γᵏ⁻¹ r + γᵏ max Q(s′, ·) − Q)
            total = gamma ** (lasted - 1) * (reward + gamma * value)
            q_options[option, begun] += alpha * (total - q_options[option, begun])
        state = after
        if state == target:
            break


@compiled(nogil=True)
def option_value_trial(
    world: WorldTable,
    options: OptionTable,
    task: Task,
    target: int,
    intra: bool,
    seed: np.uint64,
    visits: NDArray[np.int64],
) -> Values:
    """Learn towards one target, which ends the episode; return the steps after each episode, and add to ``visits``."""
    curve = np.empty(task.n_episodes)
    stream = np.full(1, seed, dtype=np.uint64)
    q = np.zeros(world.next_ptr.size - 1)
    q_options = np.zeros((options.goals.size, world.choice_ptr.size - 1))
    for episode in range(task.n_episodes):
        learn_episode(world, options, task, target, intra, stream, visits, q, q_options)
        curve[episode] = greedy_length(world, options, q, q_options, task, target, stream)
    return curve


@allocation_free(nogil=True)
def greedy_length(
    world: WorldTable, options: OptionTable, q: Values, q_options: Values, task: Task, target: int, stream: Stream
) -> int:
    """Return the steps in which best decisions reach the target, one more than the maximum if they do not."""
    state = task.start
    option = PRIMITIVE
    for step in range(1, task.max_steps + 1):
        state, option = greedy_step(world, options, q, q_options, state, option, stream)
        if state == target:
            return step
    return task.max_steps + 1
