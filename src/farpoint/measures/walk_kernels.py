"""Compiled simulations of an agent that acts at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import allocation_free, compiled
from farpoint.options.tables import OptionTable
from farpoint.simulation.kernels import PRIMITIVE, Stream, draw_start, next_random_state, terminal
from farpoint.simulation.tables import WorldTable


@compiled(nogil=True, inline="always")
def steps_to_target(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start: int,
    target: int,
    max_steps: int,
    stream: Stream,
) -> int:
    """Return the steps of one walk until it reaches the target, one more than ``max_steps`` if it does not."""
    state, option, steps = start, PRIMITIVE, 0
    while state != target and steps <= max_steps:
        state, option = next_random_state(world, options, state, option, option_probability, stream)
        steps += 1
    return steps


@allocation_free(nogil=True)
def _add_steps(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    target: int,
    max_steps: int,
    stream: Stream,
    totals: NDArray[np.float64],
) -> None:
    for run in range(totals.size):
        for start in range(world.choice_ptr.size - 1):
            steps = steps_to_target(world, options, option_probability, start, target, max_steps, stream)
            totals[run] += steps if steps <= max_steps else np.nan


@compiled(nogil=True)
def sampled_steps(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    target: int,
    n_runs: int,
    max_steps: int,
    seed: np.uint64,
) -> NDArray[np.float64]:
    """Return ``n_runs`` samples of the steps to the target, each averaged over all start states."""
    stream = np.full(1, seed, dtype=np.uint64)
    totals = np.zeros(n_runs)
    _add_steps(world, options, option_probability, target, max_steps, stream, totals)
    return totals / (world.choice_ptr.size - 1)


@allocation_free(nogil=True)
def _steps_until_all_seen(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start: int,
    max_steps: int,
    stream: Stream,
    seen: NDArray[np.bool_],
) -> int:
    seen[start] = True
    left = seen.size - 1
    state, option, steps = start, PRIMITIVE, 0
    while left > 0:
        if steps == max_steps:
            return -1
        state, option = next_random_state(world, options, state, option, option_probability, stream)
        steps += 1
        if not seen[state]:
            seen[state] = True
            left -= 1
    return steps


@compiled(nogil=True)
def cover_steps(
    world: WorldTable, options: OptionTable, option_probability: float, start: int, max_steps: int, seed: np.uint64
) -> int:
    """Return the steps of one walk until it has visited every state, -1 if ``max_steps`` do not suffice."""
    stream = np.full(1, seed, dtype=np.uint64)
    seen = np.zeros(world.choice_ptr.size - 1, dtype=np.bool_)
    return _steps_until_all_seen(world, options, option_probability, start, max_steps, stream, seen)


@allocation_free(nogil=True)
def _fill_first_visits(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start_cdf: NDArray[np.float64],
    max_steps: int,
    n_steps: int,
    stream: Stream,
    first: NDArray[np.int64],
) -> None:
    state, option, used = draw_start(start_cdf, stream), PRIMITIVE, 0
    first[state] = 0
    left = first.size - 1
    for step in range(1, n_steps + 1):
        if terminal(world, state) or used == max_steps:
            # The way back to a start is no step of the environment.
            state, option, used = draw_start(start_cdf, stream), PRIMITIVE, 0
            if first[state] < 0:
                first[state] = step - 1
                left -= 1
        state, option = next_random_state(world, options, state, option, option_probability, stream)
        used += 1
        if first[state] < 0:
            first[state] = step
            left -= 1
        if left == 0:
            break


@compiled(nogil=True)
def first_visits(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start_cdf: NDArray[np.float64],
    max_steps: int,
    n_steps: int,
    seed: np.uint64,
) -> NDArray[np.int64]:
    """Return the step at which one agent first is in each state, -1 where it never is; episodes begin by the cdf."""
    stream = np.full(1, seed, dtype=np.uint64)
    first = np.full(world.choice_ptr.size - 1, -1, dtype=np.int64)
    _fill_first_visits(world, options, option_probability, start_cdf, max_steps, n_steps, stream, first)
    return first


@allocation_free(nogil=True)
def _count_visits(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start: int,
    n_steps: int,
    stream: Stream,
    counts: NDArray[np.int64],
) -> None:
    state, option = start, PRIMITIVE
    for _ in range(n_steps):
        state, option = next_random_state(world, options, state, option, option_probability, stream)
        counts[state] += 1


@compiled(nogil=True)
def visit_counts(
    world: WorldTable, options: OptionTable, option_probability: float, start: int, n_steps: int, seed: np.uint64
) -> NDArray[np.int64]:
    """Return how often one walk of ``n_steps`` steps is in each state, the start not counted."""
    stream = np.full(1, seed, dtype=np.uint64)
    counts = np.zeros(world.choice_ptr.size - 1, dtype=np.int64)
    _count_visits(world, options, option_probability, start, n_steps, stream, counts)
    return counts
