"""The lazy random walk on a world and the matrices that belong to it.

Convention
----------
Here, as in the paper, matrices act on column vectors and columns are "from": ``M[i, j]`` is the weight of the move
from j to i, so ``M`` is the transpose of the public ``Domain.adjacency``. D is diagonal. In a symmetric world the
weight that leaves a state equals the weight that enters it; elsewhere the walk divides by what leaves (so that its
columns sum to one) and Algorithm 2 divides by what enters (row sums of M).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from farpoint.domain import Domain
from farpoint.errors import InvalidInput, NotConnected, listed


def check_walkable(domain: Domain) -> None:
    """Fail unless the world has at least two states and is in one part."""
    if domain.n_states < 2:
        raise InvalidInput("world must have at least 2 states to have far points; got 1.")
    sizes = domain.component_sizes
    if len(sizes) > 1:
        raise NotConnected(
            f"world must be connected; got {len(sizes)} components (sizes {listed(sizes)}). "
            "Build it with largest_component=True to keep the largest."
        )


def leaving_weight(domain: Domain) -> NDArray[np.float64]:
    """Return the total weight of the moves that leave each state."""
    return np.asarray(domain.adjacency.sum(axis=1), dtype=np.float64)


def entering_weight(domain: Domain) -> NDArray[np.float64]:
    """Return the total weight of the moves that enter each state: the degrees D of Algorithm 2."""
    return np.asarray(domain.adjacency.sum(axis=0), dtype=np.float64)


def lazy_walk(domain: Domain) -> csr_array:
    """Return the lazy random walk, W = ½ (I + M D⁻¹), columns "from".

    A state without moves keeps the walker. The result's columns sum to one.

    Paper: Algorithm 1 prints ½ (I − M D⁻¹).
    Here: plus, as in the text and the supplement, because only that is a walk.

    Returns
    -------
    sparse matrix, shape (n_states, n_states)

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.lazy_walk(fp.grid((3,))).toarray()
    array([[0.5 , 0.25, 0.  ],
           [0.5 , 0.5 , 0.5 ],
           [0.  , 0.25, 0.5 ]])
    """
    check_walkable(domain)
    leaving = leaving_weight(domain)
    stuck = leaving == 0
    inverse = 1.0 / np.where(stuck, 1.0, leaving)
    walk = 0.5 * (eye_array(domain.n_states) + domain.adjacency.T @ diags_array(inverse))
    return csr_array(walk + diags_array(np.where(stuck, 0.5, 0.0)) if stuck.any() else walk)


def stationary(domain: Domain) -> NDArray[np.float64]:
    """Return the stationary distribution π₀ of the lazy walk: where a random walk is found in the long run.

    In a symmetric world π₀(s) = d(s) / Σ d. Elsewhere it solves W π₀ = π₀ on the one set of states that the walk
    cannot leave, and is zero outside that set.

    Raises
    ------
    NotConnected
        If the walk can end in several sets of states, so that π₀ depends on the start.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.stationary(fp.grid((3,)))
    array([0.25, 0.5 , 0.25])
    """
    check_walkable(domain)
    leaving = leaving_weight(domain)
    if domain.symmetric:
        return np.asarray(leaving / leaving.sum(), dtype=np.float64)
    n_parts, part = connected_components(domain.adjacency, directed=True, connection="strong")
    edges = domain.adjacency.tocoo()
    closed = np.ones(n_parts, dtype=bool)
    closed[part[edges.row[part[edges.row] != part[edges.col]]]] = False
    if closed.sum() > 1:
        raise NotConnected(
            f"world must have one set of states that a walk ends in; got {closed.sum()}, so the stationary "
            "distribution depends on the start."
        )
    inside = np.flatnonzero(closed[part])
    pi = np.zeros(domain.n_states)
    pi[inside] = _stationary_of_irreducible(csc_array(lazy_walk(domain)[inside][:, inside]))
    return pi


def _stationary_of_irreducible(walk: csc_array) -> NDArray[np.float64]:
    # Fix the weight of the first state at 1 and solve (I − W) π = 0 for the others: one row of the singular system
    # is spare, and what is left is regular because the chain is irreducible.
    n = walk.shape[0]
    if n == 1:
        return np.ones(1)
    system = csc_array(eye_array(n, format="csc") - walk)
    rest = splu(csc_array(system[1:, 1:])).solve(-system[1:, [0]].toarray().ravel())
    weights = np.concatenate([[1.0], rest])
    return np.asarray(weights / weights.sum())


def normalized_laplacian(domain: Domain) -> csr_array:
    """Return the normalized Laplacian, N = I − D^-½ M D^-½, with D the weight that enters each state.

    Paper: the supplement prints D^-½ (I − M) D^-½.
    Here: D^-½ (D − M) D^-½, because only that has the eigenvalues ν = 2 (1 − ω).

    Raises
    ------
    InvalidInput
        If some state is entered by no move (it would be divided by zero).

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.normalized_laplacian(fp.grid((2,))).toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    check_walkable(domain)
    entering = entering_weight(domain)
    if (entering == 0).any():
        state = int(np.flatnonzero(entering == 0)[0])
        raise InvalidInput(
            f"every state must be entered by some move; got none into state {state}. Algorithm 2 divides by the "
            "weight that enters: use form='walk', or a world in which every state can be reached again."
        )
    scale = diags_array(entering**-0.5)
    return csr_array(eye_array(domain.n_states) - scale @ domain.adjacency.T @ scale)
