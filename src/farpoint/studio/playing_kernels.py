"""Compiled walks of which every state is kept, for the page to play."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.agents.option_value_kernels import Values, greedy_step
from farpoint.agents.task import Task
from farpoint.compiling import allocation_free, compiled
from farpoint.options.tables import OptionTable
from farpoint.simulation.kernels import PRIMITIVE, Stream, draw_start, next_random_state, terminal
from farpoint.simulation.tables import WorldTable


@allocation_free(nogil=True)
def _walk(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start_cdf: NDArray[np.float64],
    now: NDArray[np.int64],
    stream: Stream,
    states: NDArray[np.int32],
    followed: NDArray[np.int32],
) -> None:
    state, option = now[0], now[1]
    for step in range(states.size):
        if terminal(world, state):
            state, option = draw_start(start_cdf, stream), PRIMITIVE
        else:
            state, option = next_random_state(world, options, state, option, option_probability, stream)
        states[step], followed[step] = state, option
    now[0], now[1] = state, option


@compiled(nogil=True)
def walk_states(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start_cdf: NDArray[np.float64],
    now: NDArray[np.int64],
    n_steps: int,
    stream: Stream,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the states of a random agent and the option that led to each (-1: none), going on from ``now``.

    ``now`` holds its state and its option, and is changed. Where an episode has ended the agent begins anew; that is a
    step on the page.
    """
    states = np.empty(n_steps, dtype=np.int32)
    followed = np.empty(n_steps, dtype=np.int32)
    _walk(world, options, option_probability, start_cdf, now, stream, states, followed)
    return states, followed


@compiled(nogil=True)
def greedy_path(
    world: WorldTable, options: OptionTable, q: Values, q_options: Values, task: Task, target: int, stream: Stream
) -> NDArray[np.int32]:
    """Return the states that best decisions lead through, up to the target or until steps run out."""
    path = np.empty(task.max_steps + 1, dtype=np.int32)
    path[0] = task.start
    state, option = task.start, PRIMITIVE
    for step in range(1, task.max_steps + 1):
        state, option = greedy_step(world, options, q, q_options, state, option, stream)
        path[step] = state
        if state == target:
            return path[: step + 1]
    return path
