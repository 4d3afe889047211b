"""Compiled Q-learning by the paper's protocol: one trial (one run towards one target) per call.

``q`` holds one number per choice, in the world's own order of choices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.agents.task import Rates, Task
from farpoint.compiling import allocation_free, compiled
from farpoint.simulation.kernels import PRIMITIVE, Stream, below, move, option_choice, random_choice, random_decision
from farpoint.simulation.tables import OptionTable, WorldTable


@compiled(nogil=True, inline="always")
def best_choice(world: WorldTable, q: NDArray[np.float64], state: int) -> Any:
    """Return the first choice of highest value in a state, that value, and how many choices have it."""
    first = world.choice_ptr[state]
    best = first
    highest = q[first]
    count = 1
    for choice in range(first + 1, world.choice_ptr[state + 1]):
        if q[choice] > highest:
            best = choice
            highest = q[choice]
            count = 1
        elif q[choice] == highest:
            count += 1
    return best, highest, count


@compiled(nogil=True, inline="always")
def greedy_choice(world: WorldTable, q: NDArray[np.float64], state: int, stream: Stream) -> int:
    """Return a choice of highest value, uniformly among equals."""
    best, highest, count = best_choice(world, q, state)
    if count > 1:
        skip = below(stream, count)
        choice = best
        while skip > 0:
            choice += 1
            if q[choice] == highest:
                skip -= 1
        best = choice
    return best  # type: ignore[no-any-return]


@allocation_free(nogil=True)
def steps_of_greedy_policy(world: WorldTable, q: NDArray[np.float64], task: Task, target: int, stream: Stream) -> int:
    """Return the steps in which the greedy policy reaches the target, one more than the maximum if it does not."""
    state = task.starts[0]
    for step in range(1, task.max_steps + 1):
        state = move(world, greedy_choice(world, q, state, stream), stream)
        if state == target:
            return step
    return task.max_steps + 1


@allocation_free(nogil=True)
def paper_trial(
    world: WorldTable,
    options: OptionTable,
    task: Task,
    rates: Rates,
    target: int,
    decision_cost: int,
    stream: Stream,
    visits: NDArray[np.int64],
    q: NDArray[np.float64],
    curve: NDArray[np.float64],
) -> None:
    """Learn towards one target as the paper does; fill in the steps after each episode, and add to ``visits``.

    ``q`` are the values at first, 0 but for 1 in the target, and at the end.
    """
    max_steps, alpha, gamma, option_probability = task.max_steps, rates.alpha, rates.gamma, rates.option_probability
    for episode in range(curve.size):
        state = task.starts[0]
        option = PRIMITIVE
        used = 0
        while used < max_steps:
            at_random = False
            if option == PRIMITIVE:
                choice, _, count = best_choice(world, q, state)
                if count > 1:
                    option = random_decision(options, state, option_probability, stream)
                    if option == PRIMITIVE:
                        choice = random_choice(world, state, stream)
                        at_random = True
                    else:
                        used += decision_cost
            if option != PRIMITIVE:
                choice = option_choice(world, options, option, state, stream)
                if choice < 0:
                    if state != options.goals[option]:
                        used += decision_cost
                    option = PRIMITIVE
                    continue
            after = move(world, choice, stream)
            _, value, _ = best_choice(world, q, after)
            reward = 1.0 if state == target else 0.0
            # Q(s, a) ← (1 − α) Q(s, a) + α (R(s) + γ max Q(s′, ·))
            q[choice] = (1.0 - alpha) * q[choice] + alpha * (reward + gamma * value)
            state = after
            visits[state] += 1
            used += 1
            # As in the published loop, only a random primitive move into the target ends the episode.
            if at_random and state == target:
                break
        curve[episode] = steps_of_greedy_policy(world, q, task, target, stream)
