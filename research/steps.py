"""Exact steps between states against a factorization for each target, which is what the equations ask for as written.

``python -m research.steps`` takes about a minute. Both run on one thread, one after the other; the rival solves the
system without options by numpy, so with options its time is the least that it would take.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from farpoint.blas import one_blas_thread

N_TARGETS, N_OPTIONS = 40, 10


def solved_one_by_one(world: fp.World, targets: NDArray[np.int64]) -> NDArray[np.float64]:
    adjacency = world.adjacency.toarray()
    system = np.eye(world.n_states) - adjacency / adjacency.sum(axis=1, keepdims=True)
    steps = np.zeros((world.n_states, targets.size))
    for column, target in enumerate(targets):
        others = np.delete(np.arange(world.n_states), target)
        steps[others, column] = np.linalg.solve(system[np.ix_(others, others)], np.ones(others.size))
    return steps


@one_blas_thread()
def main() -> None:
    for size in (20, 40, 60):
        world = fp.random_maze(size, size, seed=1)
        options = fp.discover(world, n_options=N_OPTIONS)
        targets = np.linspace(0, world.n_states - 1, N_TARGETS).astype(np.int64)
        begun = time.perf_counter()
        rival = solved_one_by_one(world, targets)
        seconds = [time.perf_counter() - begun]
        tables, chance = [], options.option_probability
        for chosen in (None, options):
            begun = time.perf_counter()
            steps = fp.steps_between_states(world, chosen, targets=targets, option_probability=chance, n_jobs=1)
            seconds.append(time.perf_counter() - begun)
            tables.append(steps.matrix)
        error = np.abs(tables[0] - rival).max() / rival.max()
        alone = fp.steps_between_states(world, options, targets=targets[:1], option_probability=chance).matrix[:, 0]
        np.testing.assert_allclose(tables[1][:, 0], alone, rtol=1e-9)
        print(
            f"{world.n_states:,} states, {N_TARGETS} targets: {seconds[0] / seconds[1]:.1f} times faster without "
            f"options (largest difference {error:.0e}), {seconds[0] / seconds[2]:.1f} times with {N_OPTIONS}",
            flush=True,
        )


if __name__ == "__main__":
    main()
