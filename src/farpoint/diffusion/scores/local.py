"""The local solver: every state's walk is followed inside its own t-step neighborhood, block by block.

Nothing but the neighborhood and three sums over the whole world enters a score, so blocks of states can be computed
anywhere, in any order, and be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from farpoint.diffusion.scores.bounds import loss_bound, rounding_bound
from farpoint.diffusion.scores.checkpoint import Checkpoint
from farpoint.diffusion.scores.lattice import lattice_block, lattice_blocks, lattice_of
from farpoint.diffusion.walk import leaving_weight, stationary
from farpoint.engines import each_as_done
from farpoint.worlds import World

Found = tuple[NDArray[np.float64], NDArray[np.float64] | None]
Progress = Callable[[int, int], None]

_STATES_A_BLOCK = 1 << 16
# Of all drops to the neighbors' numbers more than this share must be far before the states are put into another order.
_SCATTERED = 0.5
_FAR = 1_000
_WORTH_ORDERING = 50_000
# A cutoff ε loses about this many ε a step on a plane, and a loss δ costs about 4 δ of the score.
_LOSS_A_STEP = 25.0
_FINER = 8.0
# Seconds of one core: an edge update on a graph, a sum of the lattice kernel.
_SECONDS_PER_MOVE = 2.5e-9
_SECONDS_PER_SUM = 0.5e-9


def local_seconds(world: World, t: int, tolerance: float | None = None) -> float:
    """Return roughly how long the local solver takes on one core."""
    lattice = lattice_of(world, t, tolerance)
    if lattice is not None:
        return _SECONDS_PER_SUM * lattice.degrees.size * lattice.outputs_a_cell()
    from farpoint.diffusion.scores.walk_kernels import moves_per_state

    samples = np.linspace(0, world.n_states - 1, num=min(32, world.n_states)).astype(np.int64)
    matrix = world.adjacency
    # With a tolerance the walk is followed about c √k far, as if it were that many steps long.
    far = t if tolerance is None else min(t, int(np.ceil(2.5 * np.sqrt(t))))
    moves = float(moves_per_state(matrix.indptr, matrix.indices, samples, far)) * t / far
    return _SECONDS_PER_MOVE * world.n_states * moves


def local_scores(
    world: World,
    t: int,
    *,
    tolerance: float | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    n_jobs: int = -1,
) -> Found:
    """Return the scores of all states, and bounds on their errors where a tolerance was asked for."""
    lattice = lattice_of(world, t, tolerance)
    if lattice is not None:
        return _in_blocks(world, lattice_block, lattice, lattice_blocks(lattice), checkpoint, progress, n_jobs)
    table = walk_table(world, t, tolerance)
    order = _better_order(table.matrix)
    if order is not None:
        table = table.in_order(order)
    starts = range(0, world.n_states, _STATES_A_BLOCK)
    blocks = [(first, min(first + _STATES_A_BLOCK, world.n_states)) for first in starts]
    scores, bounds = _in_blocks(world, _graph_block, table, blocks, checkpoint, progress, n_jobs)
    if order is not None:
        back = np.empty_like(order)
        back[order] = np.arange(order.size, dtype=order.dtype)
        scores, bounds = scores[back], None if bounds is None else bounds[back]
    return scores, bounds


def _in_blocks(
    world: World,
    function: Callable[[Any, tuple[int, int]], Found],
    shared: Any,
    blocks: list[tuple[int, int]],
    checkpoint: str | Path | None,
    progress: Progress | None,
    n_jobs: int,
) -> Found:
    kept = Checkpoint.open(checkpoint, world, shared.t, shared.tolerance, blocks)
    missing = [number for number in range(len(blocks)) if number not in kept]
    results = each_as_done(function, shared, [blocks[number] for number in missing], n_jobs=n_jobs)
    found: list[Found | None] = [None] * len(blocks)
    for done, (place, result) in enumerate(results, start=1):
        number = missing[place]
        if not kept.save(number, *result):
            found[number] = result
        if progress is not None:
            progress(len(blocks) - len(missing) + done, len(blocks))
    every = [kept.load(number) if part is None else part for number, part in enumerate(found)]
    bounds = [bound for _, bound in every if bound is not None]
    return np.concatenate([scores for scores, _ in every]), np.concatenate(bounds) if bounds else None


@dataclass(frozen=True, eq=False)
class WalkTable:
    """A walk on any graph as the kernels read it; what every task shares."""

    matrix: csr_array
    stay: NDArray[np.float64]
    leave: NDArray[np.float64]
    pi: NDArray[np.float64]
    pi_squared: float
    t: int
    tolerance: float | None

    def in_order(self, order: NDArray[Any]) -> WalkTable:
        """Return the same walk with the states numbered in another order."""
        matrix = csr_array(self.matrix[order][:, order])
        matrix.sort_indices()
        return replace(self, matrix=matrix, stay=self.stay[order], leave=self.leave[order], pi=self.pi[order])


def walk_table(world: World, t: int, tolerance: float | None = None) -> WalkTable:
    """Return the lazy walk of a world as flat arrays."""
    leaving = leaving_weight(world)
    stuck = leaving == 0
    pi = stationary(world)
    stay, leave = np.where(stuck, 1.0, 0.5), 0.5 / np.where(stuck, 1.0, leaving)
    return WalkTable(world.adjacency, stay, leave, pi, float(pi @ pi), t, tolerance)


def scores_at(table: WalkTable, states: NDArray[np.int64]) -> Found:
    """Return the scores of some states only, within the table's tolerance."""
    from farpoint.diffusion.scores.walk_kernels import neighborhood_scores

    def follow(sources: NDArray[np.int64], cutoff: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        found, lost, peaks = np.empty(sources.size), np.empty(sources.size), np.empty(sources.size)
        neighborhood_scores(
            table.matrix.indptr, table.matrix.indices, table.matrix.data, table.stay, table.leave,
            table.pi, table.pi_squared, sources, table.t, cutoff, found, lost, peaks,
        )  # fmt: skip
        return found, loss_bound(lost, np.maximum(peaks, table.pi.max()))

    if table.tolerance is None:
        return follow(states, 0.0)[0], None
    degree = int(np.diff(table.matrix.indptr).max())
    cutoff = table.tolerance / (4.0 * _LOSS_A_STEP * table.t)
    scores, losses = follow(states, cutoff)
    while True:
        rounding = rounding_bound(scores, table.t, degree, table.pi.size, table.pi_squared)
        # Where the loss is below the rounding already, following more would mend nothing.
        poor = np.flatnonzero((losses + rounding > table.tolerance * scores) & (losses > rounding))
        if poor.size == 0 or cutoff == 0.0:
            return scores, losses + rounding
        cutoff = cutoff / _FINER if cutoff > 1e-30 else 0.0
        scores[poor], losses[poor] = follow(states[poor], cutoff)


def _graph_block(table: WalkTable, block: tuple[int, int]) -> Found:
    return scores_at(table, np.arange(*block))


def _better_order(matrix: csr_array) -> NDArray[np.int32] | None:
    """Return an order that brings neighbors together, or None where they lie together already."""
    n_states = matrix.shape[0]
    if n_states < _WORTH_ORDERING:
        return None
    sample = np.linspace(0, matrix.nnz - 1, num=10_000).astype(np.int64)
    begins = np.searchsorted(matrix.indptr, sample, side="right") - 1
    far = np.abs(begins - matrix.indices[sample]) > max(_FAR, 4 * int(np.sqrt(n_states)))
    if far.mean() < _SCATTERED:
        return None
    return np.asarray(reverse_cuthill_mckee(matrix, symmetric_mode=False))
