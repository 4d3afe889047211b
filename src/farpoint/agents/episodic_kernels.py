"""Compiled intra-option Q-learning in worlds with episodes: starts, ends, a time limit, one reward at the goal."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from farpoint.agents.smdp_kernels import best_decision, learn_inside_options
from farpoint.simulation.kernels import (
    PRIMITIVE,
    Stream,
    move,
    option_choice,
    random_choice,
    random_decision,
    uniform,
)
from farpoint.simulation.tables import OptionTable, WorldTable

Values = NDArray[np.float64]


@numba.njit(cache=True, nogil=True, inline="always")
def draw_start(start_cdf: Values, stream: Stream) -> int:
    """Return a state in which an episode begins."""
    return int(np.searchsorted(start_cdf, uniform(stream), side="right"))


@numba.njit(cache=True, nogil=True)
def greedy_return(
    world: WorldTable,
    options: OptionTable,
    q: Values,
    q_options: Values,
    is_goal: NDArray[np.bool_],
    start_cdf: Values,
    limit: int,
    gamma: float,
    episodes: int,
    stream: Stream,
) -> float:
    """Return the mean discounted reward of the greedy decisions, options among them."""
    total = 0.0
    for _ in range(episodes):
        state = draw_start(start_cdf, stream)
        option = PRIMITIVE
        step = 0
        while step < limit and world.choice_ptr[state + 1] > world.choice_ptr[state]:
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
            step += 1
            if is_goal[state]:
                total += gamma ** (step - 1)
                break
    return total / episodes


@numba.njit(cache=True, nogil=True)
def episodic_trial(
    world: WorldTable,
    options: OptionTable,
    is_goal: NDArray[np.bool_],
    start_cdf: Values,
    limit: int,
    alpha: float,
    gamma: float,
    epsilon: float,
    checkpoints: NDArray[np.int64],
    good_enough: float,
    evaluations: int,
    seed: int,
) -> tuple[int, int]:
    """Return the step at which the goal is first reached, and the checkpoint at which greedy decisions are good enough.

    -1 where that does not happen within the last checkpoint. Learning stops when both have happened.
    """
    stream = np.full(1, seed, dtype=np.uint64)
    q = np.zeros(world.next_ptr.size - 1)
    q_options = np.zeros((options.goals.size, world.choice_ptr.size - 1))
    first = -1
    state = draw_start(start_cdf, stream)
    option = PRIMITIVE
    used = 0
    done = 0
    for checkpoint in checkpoints:
        while done < checkpoint:
            choice = -1
            while choice < 0:
                if option == PRIMITIVE:
                    choice, _, count = best_decision(world, options, q, q_options, state, stream)
                    if count > 1 or uniform(stream) < epsilon:
                        option = random_decision(options, state, stream)
                        if option == PRIMITIVE:
                            choice = random_choice(world, state, stream)
                    elif choice < 0:
                        option = -1 - choice
                if option != PRIMITIVE:
                    choice = option_choice(world, options, option, state, stream)
                    if choice < 0:
                        option = PRIMITIVE
            after = move(world, choice, stream)
            done += 1
            used += 1
            ended = world.choice_ptr[after + 1] == world.choice_ptr[after]
            reward = 1.0 if is_goal[after] else 0.0
            value = 0.0
            if not ended:
                _, value, _ = best_decision(world, options, q, q_options, after, stream)
            q[choice] += alpha * (reward + gamma * value - q[choice])
            learn_inside_options(world, options, q_options, state, choice, reward, after, value, alpha, gamma)
            if reward > 0.0 and first < 0:
                first = done
            state = after
            if ended or used >= limit:
                state = draw_start(start_cdf, stream)
                option = PRIMITIVE
                used = 0
        if first >= 0:
            reached = greedy_return(world, options, q, q_options, is_goal, start_cdf, limit, gamma, evaluations, stream)
            if reached >= good_enough:
                return first, checkpoint
    return first, -1
