"""The score from random probes: for very long walks, where even the part of the neighborhood that matters is large.

For a vector z of random signs, z·(Wᵗe_s − π₀) has mean 0 and variance f_t(s), and all of them are one product:
zᵀWᵗ, the sparse matrix applied t times. The mean of m squares estimates f_t of every state with a relative standard
error of about √(2/m), whatever t. Neighboring states see nearly the same numbers, so the estimate is smooth, and its
maxima lie near those of f_t: `refine_goals` climbs from there on exact scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.scores.local import Progress, dense_power, squaring_is_cheaper
from farpoint.diffusion.scores.request import DEFAULT_PROBES
from farpoint.diffusion.walk import Walk
from farpoint.engines import each
from farpoint.errors import InvalidInput

# So many at once: one line of the cache per state.
_PROBES_PER_TASK = 8
_SECONDS_PER_MOVE = 0.6e-9
# A group of probes cannot be interrupted.
_LONGEST_TASK_SECONDS = 600.0


def probe_seconds(walk: Walk, t: int, n_probes: int = DEFAULT_PROBES) -> float:
    """Return roughly how long the probes take on one core."""
    return float(_SECONDS_PER_MOVE * n_probes * t * (walk.moves.nnz + walk.n_states))


def probe_scores(
    walk: Walk, t: int, n_probes: int, seed: int, *, progress: Progress | None = None, n_jobs: int = -1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the estimate of f_t of every state, and its standard error."""
    power = dense_power(walk, t) if squaring_is_cheaper(walk, probe_seconds(walk, t, n_probes), t) else None
    if power is None and probe_seconds(walk, t, _PROBES_PER_TASK) > _LONGEST_TASK_SECONDS:
        raise InvalidInput(
            f"t must be small enough for probes to be followed; got {t}, which would take more than "
            f"{_LONGEST_TASK_SECONDS:.0f} s per group of {_PROBES_PER_TASK}. Use solver='auto'."
        )
    n_tasks = -(-n_probes // _PROBES_PER_TASK)
    seeds = np.random.SeedSequence(seed).spawn(n_tasks)
    sizes = [min(_PROBES_PER_TASK, n_probes - _PROBES_PER_TASK * number) for number in range(n_tasks)]
    squares, fourths = np.zeros(walk.n_states), np.zeros(walk.n_states)
    # Computed once, here, and not by every worker.
    _ = walk.pi, walk.stay, walk.leave
    label = "score" if progress is None else None
    sums = each(_probe, (walk, t, power), list(zip(seeds, sizes, strict=True)), n_jobs=n_jobs, label=label)
    for done, (second, fourth) in enumerate(sums, start=1):
        squares += second
        fourths += fourth
        if progress is not None:
            progress(done, n_tasks)
    mean = squares / n_probes
    variance = np.maximum(fourths / n_probes - mean**2, 0.0) * n_probes / (n_probes - 1)
    return mean, np.sqrt(variance / n_probes)


def _probe(
    shared: tuple[Walk, int, NDArray[np.float64] | None], task: tuple[np.random.SeedSequence, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of squares and of fourth powers over the probes of one task."""
    from farpoint.diffusion.scores.walk_kernels import probe_walks

    (walk, t, power), (seed, n_probes) = shared, task
    probes = np.random.default_rng(seed).integers(0, 2, size=(walk.n_states, n_probes), dtype=np.int8)
    signs = 2.0 * probes.astype(np.float64) - 1.0
    if power is not None:
        squares = (power.T @ signs) ** 2
        return squares.sum(axis=1), (squares**2).sum(axis=1)
    mean = walk.pi @ signs
    none = np.zeros((0, walk.n_states))
    out, into = (none, none) if walk.jumps is None else (walk.jumps.out * walk.leave, walk.jumps.into)
    moves = walk.moves
    walks = probe_walks(moves.indptr, moves.indices, moves.data, walk.stay, walk.leave, out, into, signs, t)
    walks -= mean
    walks *= walks
    squares = walks.sum(axis=1)
    walks *= walks
    return squares, walks.sum(axis=1)
