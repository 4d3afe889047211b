"""Steps between states by simulation, to hold the exact ones to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import farpoint as fp
from farpoint.compiling import allocation_free, compiled
from farpoint.options.option_set import option_table
from farpoint.simulation.kernels import PRIMITIVE, Stream, next_random_state
from farpoint.simulation.tables import OptionTable, WorldTable, streams, world_table

# A walk that takes longer counts as nan.
_LONGEST = 100_000_000


class Sampled(NamedTuple):
    """The mean steps to each target over all starts, and its standard error over runs."""

    per_target: NDArray[np.float64]
    standard_error: NDArray[np.float64]


def sampled_steps(
    world: fp.World,
    options: fp.OptionSet | None = None,
    *,
    targets: ArrayLike | None = None,
    option_probability: float = 0.5,
    n_runs: int = 30,
    seed: int = 0,
) -> Sampled:
    """Return the quantity of `steps_between_states` by ``n_runs`` walks from every state to each target."""
    chosen = np.arange(world.n_states) if targets is None else np.asarray(targets)
    tables = world_table(world), option_table(world, options)
    samples = np.empty((chosen.size, n_runs))
    for row, target, seed_of in zip(samples, chosen.tolist(), streams(seed, chosen.size), strict=True):
        _add_steps(*tables, option_probability, target, np.full(1, seed_of), row)
    return Sampled(samples.mean(axis=1), samples.std(axis=1, ddof=1) / np.sqrt(n_runs))


@compiled(nogil=True, inline="always")
def _steps_to_target(
    world: WorldTable, options: OptionTable, option_probability: float, start: int, target: int, stream: Stream
) -> float:
    state, option, steps = start, PRIMITIVE, 0
    while state != target and steps <= _LONGEST:
        state, option = next_random_state(world, options, state, option, option_probability, stream)
        steps += 1
    return steps if steps <= _LONGEST else np.nan


@allocation_free(nogil=True)
def _add_steps(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    target: int,
    stream: Stream,
    means: NDArray[np.float64],
) -> None:
    n_states = world.choice_ptr.size - 1
    for run in range(means.size):
        total = 0.0
        for start in range(n_states):
            total += _steps_to_target(world, options, option_probability, start, target, stream)
        means[run] = total / n_states
