"""Compiled simulations of an agent that acts at random."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from farpoint.simulation.kernels import PRIMITIVE, Stream, next_random_state
from farpoint.simulation.tables import OptionTable, WorldTable


@numba.njit(cache=True, nogil=True, inline="always")
def steps_to_target(world: WorldTable, options: OptionTable, start: int, target: int, most: int, stream: Stream) -> int:
    """Return the number of steps of one walk until it reaches the target, one more than ``most`` if it does not."""
    state, option, steps = start, PRIMITIVE, 0
    while state != target and steps <= most:
        state, option = next_random_state(world, options, state, option, stream)
        steps += 1
    return steps


@numba.njit(cache=True, nogil=True)
def sampled_steps(
    world: WorldTable, options: OptionTable, target: int, runs: int, most: int, seed: int
) -> NDArray[np.float64]:
    """Return ``runs`` samples of the steps to the target, each averaged over all start states."""
    stream = np.full(1, seed, dtype=np.uint64)
    n_states = world.choice_ptr.size - 1
    samples = np.zeros(runs)
    for run in range(runs):
        for start in range(n_states):
            steps = steps_to_target(world, options, start, target, most, stream)
            samples[run] += steps if steps <= most else np.nan
    return samples / n_states


@numba.njit(cache=True, nogil=True)
def cover_steps(world: WorldTable, options: OptionTable, start: int, most: int, seed: int) -> int:
    """Return the steps of one walk until it has visited every state, -1 if ``most`` steps do not suffice."""
    stream = np.full(1, seed, dtype=np.uint64)
    n_states = world.choice_ptr.size - 1
    seen = np.zeros(n_states, dtype=np.bool_)
    seen[start] = True
    left = n_states - 1
    state, option, steps = start, PRIMITIVE, 0
    while left > 0:
        if steps == most:
            return -1
        state, option = next_random_state(world, options, state, option, stream)
        steps += 1
        if not seen[state]:
            seen[state] = True
            left -= 1
    return steps


@numba.njit(cache=True, nogil=True)
def visit_counts(world: WorldTable, options: OptionTable, start: int, steps: int, seed: int) -> NDArray[np.int64]:
    """Return how often one walk of ``steps`` steps is in each state, the start not counted."""
    stream = np.full(1, seed, dtype=np.uint64)
    counts = np.zeros(world.choice_ptr.size - 1, dtype=np.int64)
    state, option = start, PRIMITIVE
    for _ in range(steps):
        state, option = next_random_state(world, options, state, option, stream)
        counts[state] += 1
    return counts
