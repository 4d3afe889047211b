"""The score from random probes: for very long walks, where even the part of the neighborhood that matters is large.

For a vector z of random signs, z·(Wᵗe_s − π₀) has mean 0 and variance f_t(s), and all of them are one product:
zᵀWᵗ, the sparse matrix applied t times. The mean of m squares estimates f_t of every state with a relative standard
error of about √(2/m), whatever t. Neighboring states see nearly the same numbers, so the estimate is smooth, and its
maxima lie near those of f_t: `refine_goals` climbs from there on exact scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.scores.local import Progress, WalkTable, walk_table
from farpoint.engines import each
from farpoint.worlds import World

DEFAULT_PROBES = 256
# So many at once: a line of the cache for each state.
_PROBES_A_TASK = 8
_SECONDS_PER_MOVE = 0.6e-9


def probe_seconds(world: World, t: int, n_probes: int = DEFAULT_PROBES) -> float:
    """Return roughly how long the probes take on one core."""
    return float(_SECONDS_PER_MOVE * n_probes * t * (world.adjacency.nnz + world.n_states))


def probe_scores(
    world: World, t: int, n_probes: int, seed: int, *, progress: Progress | None = None, n_jobs: int = -1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the estimate of f_t of every state, and its standard error."""
    n_tasks = -(-n_probes // _PROBES_A_TASK)
    seeds = np.random.SeedSequence(seed).spawn(n_tasks)
    sizes = [min(_PROBES_A_TASK, n_probes - _PROBES_A_TASK * number) for number in range(n_tasks)]
    squares, fourths = np.zeros(world.n_states), np.zeros(world.n_states)
    parts = each(_probe, walk_table(world, t), list(zip(seeds, sizes, strict=True)), n_jobs=n_jobs)
    for done, (second, fourth) in enumerate(parts, start=1):
        squares += second
        fourths += fourth
        if progress is not None:
            progress(done, n_tasks)
    mean = squares / n_probes
    variance = np.maximum(fourths / n_probes - mean**2, 0.0) * n_probes / (n_probes - 1)
    return mean, np.sqrt(variance / n_probes)


def _probe(
    table: WalkTable, task: tuple[np.random.SeedSequence, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of squares and of fourth powers over the probes of one task."""
    from farpoint.diffusion.scores.walk_kernels import probe_walks

    seed, n_probes = task
    shape = (table.pi.size, n_probes)
    probes = np.random.default_rng(seed).integers(0, 2, size=shape, dtype=np.int8).astype(np.float64)
    probes *= 2.0
    probes -= 1.0
    middle = table.pi @ probes
    walks = probe_walks(
        table.matrix.indptr, table.matrix.indices, table.matrix.data, table.stay, table.leave, probes, table.t
    )
    walks -= middle
    walks *= walks
    squares = walks.sum(axis=1)
    walks *= walks
    return squares, walks.sum(axis=1)
