"""Compiled intra-option Q-learning in worlds with episodes: starts, ends, a time limit, reward 1 at the targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.agents.option_value_kernels import best_decision, greedy_step, learn_inside_options, next_choice
from farpoint.compiling import allocation_free, compiled
from farpoint.options.tables import OptionTable
from farpoint.simulation.kernels import PRIMITIVE, Stream, draw_start, move, terminal
from farpoint.simulation.tables import WorldTable

Values = NDArray[np.float64]


class EpisodicTask(NamedTuple):
    """A task with episodes, and how it is learned and evaluated."""

    is_target: NDArray[np.bool_]
    start_cdf: Values
    max_steps: int
    alpha: float
    gamma: float
    epsilon: float
    option_probability: float
    checkpoints: NDArray[np.int64]
    good_enough: float
    n_evaluations: int


@allocation_free(nogil=True)
def greedy_return(
    world: WorldTable, options: OptionTable, q: Values, q_options: Values, task: EpisodicTask, stream: Stream
) -> float:
    """Return the mean discounted reward of best decisions, options among them."""
    total = 0.0
    for _ in range(task.n_evaluations):
        state = draw_start(task.start_cdf, stream)
        option = PRIMITIVE
        for step in range(task.max_steps):
            if terminal(world, state):
                break
            state, option = greedy_step(world, options, q, q_options, state, option, stream)
            if task.is_target[state]:
                total += task.gamma**step
                break
    return total / task.n_evaluations


@allocation_free(nogil=True)
def _learn(
    world: WorldTable, options: OptionTable, task: EpisodicTask, stream: Stream, q: Values, q_options: Values
) -> tuple[int, int]:
    alpha, gamma = task.alpha, task.gamma
    first = -1
    state = draw_start(task.start_cdf, stream)
    option = PRIMITIVE
    used = 0
    done = 0
    for checkpoint in task.checkpoints:
        while done < checkpoint:
            choice, option, _ = next_choice(
                world, options, q, q_options, state, option, task.epsilon, task.option_probability, stream
            )
            after = move(world, choice, stream)
            done += 1
            used += 1
            ended = terminal(world, after)
            reward = 1.0 if task.is_target[after] else 0.0
            value = 0.0
            if not ended:
                _, value, _ = best_decision(world, options, q, q_options, after, stream)
            q[choice] += alpha * (reward + gamma * value - q[choice])
            learn_inside_options(world, options, q_options, state, choice, reward, after, value, alpha, gamma)
            if reward > 0.0 and first < 0:
                first = done
            state = after
            if ended or used >= task.max_steps:
                state = draw_start(task.start_cdf, stream)
                option = PRIMITIVE
                used = 0
        if first >= 0 and greedy_return(world, options, q, q_options, task, stream) >= task.good_enough:
            return first, checkpoint
    return first, -1


@compiled(nogil=True)
def episodic_trial(world: WorldTable, options: OptionTable, task: EpisodicTask, seed: np.uint64) -> tuple[int, int]:
    """Return the step at which a target is first reached, and the checkpoint at which decisions are good enough.

    -1 where that does not happen within the last checkpoint. Learning stops when both have happened.
    """
    stream = np.full(1, seed, dtype=np.uint64)
    q = np.zeros(world.next_ptr.size - 1)
    q_options = np.zeros((options.goals.size, world.choice_ptr.size - 1))
    return _learn(world, options, task, stream, q, q_options)
