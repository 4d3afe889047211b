"""Groups of states: those that move exactly alike, or those whose diffusion distance is small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array

from farpoint.aggregation.chain import Chain
from farpoint.diffusion import Walk

# Chances that differ by less are the same: sums of a few, each exact to about 1e-16.
_SAME = 1e-11
# Random directions that the distributions are projected onto: distances are kept to about a tenth.
_DIRECTIONS = 128
_COLUMNS = 256


def exact_groups(chain: Chain, first: NDArray[np.int64], *, seed: int = 0) -> NDArray[np.int64]:
    """Return the coarsest groups within ``first`` between which the chain is a chain (ordinary lumpability).

    States of a group that reach another group with different chances are taken apart, until none are. Chances to all
    groups are compared at once, by their products with random numbers, one per group.

    Examples
    --------
    >>> import farpoint as fp
    >>> exact_groups(Chain.of(fp.grid((5,))), np.array([0, 0, 1, 0, 0]))       # the middle apart
    array([0, 1, 2, 1, 0])
    """
    rng = np.random.default_rng(seed)
    groups = _renumbered(first)
    while True:
        n_groups = int(groups.max()) + 1
        chances = chain.after(rng.standard_normal(n_groups)[groups])
        finer = _renumbered(_split(groups, chances))
        if int(finer.max()) + 1 == n_groups:
            return finer
        groups = finer


def _split(groups: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return groups that differ where the group or, by more than rounding, the value differs."""
    order = np.lexsort((values, groups))
    new = np.diff(groups[order]) != 0
    new |= np.diff(values[order]) > _SAME * max(1.0, float(np.abs(values).max()))
    labels = np.empty(groups.size, dtype=np.int64)
    labels[order] = np.concatenate([[0], np.cumsum(new)])
    return labels


def _renumbered(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the same groups, numbered in the order of their first states."""
    _, first, labels = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return np.asarray(rank[labels])


def near_groups(
    walk: Walk, t: int, *, n_groups: int | None, tolerance: float | None, apart: NDArray[np.int64], seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the group of each state, the representative of each group, and each state's distance to its own.

    Representatives are taken one by one, each the state farthest from those before it, among states with the same
    number in ``apart``, until there are ``n_groups`` or, by exact distances, none is farther than ``tolerance``. Which
    is farthest is judged in a random projection of the distributions Wᵗe_s, so that no n × n matrix is needed.

    Examples
    --------
    >>> import farpoint as fp
    >>> groups, _, distances = near_groups(
    ...     Walk.of(fp.grid((6,))), 4, n_groups=3, tolerance=None, apart=np.zeros(6, dtype=np.int64)
    ... )
    >>> groups
    array([0, 0, 2, 2, 1, 1])
    """
    points = _projected(walk, t, seed)
    n_states = walk.n_states
    nearest, groups = np.full(n_states, np.inf), np.full(n_states, -1, dtype=np.int64)
    chosen: list[int] = []

    def choose(state: int) -> None:
        distances = np.where(apart == apart[state], np.square(points - points[state]).sum(axis=1), np.inf)
        distances[state] = -1.0  # a representative stays in its own group, whatever rounding says
        nearer = distances < nearest
        nearest[nearer], groups[nearer] = distances[nearer], len(chosen)
        chosen.append(state)

    for number in np.unique(apart):
        choose(int(np.flatnonzero(apart == number)[0]))
    if n_groups is not None:
        while len(chosen) < n_groups:
            choose(int(nearest.argmax()))
        representatives = np.array(chosen)
        return groups, representatives, exact_distances(walk, t, groups, representatives)
    assert tolerance is not None
    while True:
        # By the projection first; then by exact distances, of which it may be off by a tenth.
        while nearest.max() > tolerance**2:
            choose(int(nearest.argmax()))
        representatives = np.array(chosen)
        distances = exact_distances(walk, t, groups, representatives)
        too_far = np.flatnonzero(distances > tolerance)
        if too_far.size == 0:
            return groups, representatives, distances
        nearest[too_far] = np.inf
        choose(int(too_far[distances[too_far].argmax()]))


def _projected(walk: Walk, t: int, seed: int) -> NDArray[np.float64]:
    """Return Ωᵀ Wᵗ e_s of every state s (rows): the transposed walk of t steps, applied to random columns."""
    n_states = walk.n_states
    width = min(_DIRECTIONS, n_states)
    columns = np.random.default_rng(seed).standard_normal((n_states, width)) / np.sqrt(width)
    for _ in range(t):
        back = walk.moves @ columns
        if walk.jumps is not None:
            back = back + walk.jumps.out.T @ (walk.jumps.into @ columns)
        columns = walk.stay[:, None] * columns + walk.leave[:, None] * back
    return np.asarray(columns)


def exact_distances(
    walk: Walk, t: int, groups: NDArray[np.int64], representatives: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return ‖Wᵗ(e_s − e_r)‖ of every state s and the representative r of its group: the diffusion distance.

    Sparse, a few states at a time: t steps reach only what is at most t moves away.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.grid((4,))
    >>> exact_distances(Walk.of(world), 1, np.zeros(4, dtype=np.int64), np.array([0])).round(3)
    array([0.   , 0.354, 0.791, 1.   ])
    """
    n_states = walk.n_states
    step = csr_array(walk.moves.T @ diags_array(walk.leave) + diags_array(walk.stay))
    distances = np.zeros(n_states)
    own = representatives[groups]
    moved = np.flatnonzero(own != np.arange(n_states))
    for first in range(0, moved.size, _COLUMNS):
        states = moved[first : first + _COLUMNS]
        count = np.arange(states.size)
        entries = (np.repeat([1.0, -1.0], states.size), (np.concatenate([states, own[states]]), np.tile(count, 2)))
        columns = csc_array(entries, shape=(n_states, states.size))
        if walk.jumps is None:
            for _ in range(t):
                columns = step @ columns
            distances[states] = np.sqrt(np.asarray(columns.multiply(columns).sum(axis=0)).ravel())
        else:
            dense = columns.toarray()
            for _ in range(t):
                dense = walk.forward(dense)
            distances[states] = np.linalg.norm(dense, axis=0)
    return distances
