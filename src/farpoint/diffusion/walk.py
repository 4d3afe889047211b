"""The lazy random walk on a world and the matrices that belong to it.

Convention
----------
Here, as in the paper, matrices act on column vectors and columns are "from": ``M[i, j]`` is the weight of the move
from j to i, so ``M`` is the transpose of the public ``World.adjacency``. D is diagonal. In a symmetric world the
weight that leaves a state equals the weight that enters it; elsewhere the walk divides by what leaves (so that its
columns sum to one) and Algorithm 2 divides by what enters (row sums of M).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from farpoint.errors import InvalidInput, NotConnected, listed
from farpoint.worlds import World


def check_walkable(world: World) -> None:
    """Fail unless this is a world, with at least two states, in one part."""
    if not isinstance(world, World):
        raise InvalidInput(
            f"world must be a World; got {type(world).__name__}. Make one with World.from_graph or from_map."
        )
    if world.n_states < 2:
        raise InvalidInput("world must have at least 2 states to have far points; got 1.")
    sizes = world.walker.component_sizes
    if len(sizes) > 1:
        raise NotConnected(
            f"world must be connected; got {len(sizes)} components (sizes {listed(sizes)}). "
            "Build it with largest_component=True to keep the largest."
        )


def both_ways(world: World) -> World:
    """Return the world in which every move has the mean of the weights there and back (times two)."""
    return World.from_graph(world.adjacency + world.adjacency.T, name=world.name)


def leaving_weight(world: World) -> NDArray[np.float64]:
    """Return the total weight of the moves that leave each state."""
    return np.asarray(world.adjacency.sum(axis=1), dtype=np.float64)


def entering_weight(world: World) -> NDArray[np.float64]:
    """Return the total weight of the moves that enter each state: the degrees D of Algorithm 2."""
    return np.asarray(world.adjacency.sum(axis=0), dtype=np.float64)


def lazy_walk(world: World) -> csr_array:
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
    check_walkable(world)
    world = world.walker
    leaving = leaving_weight(world)
    stuck = leaving == 0
    inverse = 1.0 / np.where(stuck, 1.0, leaving)
    walk = 0.5 * (eye_array(world.n_states) + world.adjacency.T @ diags_array(inverse))
    return csr_array(walk + diags_array(np.where(stuck, 0.5, 0.0)) if stuck.any() else walk)


def stationary(world: World) -> NDArray[np.float64]:
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
    check_walkable(world)
    world = world.walker
    leaving = leaving_weight(world)
    if world.symmetric:
        return np.asarray(leaving / leaving.sum(), dtype=np.float64)
    closed, part = _closed_sets(world)
    if closed.sum() > 1:
        raise NotConnected(
            f"world must have one set of states that a walk ends in; got {closed.sum()}, so the stationary "
            "distribution depends on the start."
        )
    inside = np.flatnonzero(closed[part])
    pi = np.zeros(world.n_states)
    pi[inside] = _stationary_of_irreducible(csc_array(lazy_walk(world)[inside][:, inside]))
    return pi


def _closed_sets(world: World) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which sets of mutually reachable states cannot be left, and the set of each state."""
    n_parts, part = connected_components(world.adjacency, directed=True, connection="strong")
    edges = world.adjacency.tocoo()
    closed = np.ones(n_parts, dtype=bool)
    closed[part[edges.row[part[edges.row] != part[edges.col]]]] = False
    return closed, part


def why_not_walk(world: World) -> str:
    """Return why the walk has no stationary distribution of its own, or an empty text where it has."""
    closed, _ = _closed_sets(world.walker)
    return f"a walk must end in one set of states; got {closed.sum()}." if closed.sum() > 1 else ""


def _stationary_of_irreducible(walk: csc_array) -> NDArray[np.float64]:
    # Fix the weight of one state at 1 and solve (I − W) π = 0 for the others: one row of the singular system is spare,
    # and what is left is regular because the chain is irreducible.
    n = walk.shape[0]
    if n == 1:
        return np.ones(1)
    system = csc_array(eye_array(n, format="csc") - walk)

    def with_fixed(state: int) -> NDArray[np.float64]:
        others = np.delete(np.arange(n), state)
        weights = np.ones(n)
        weights[others] = splu(csc_array(system[others][:, others])).solve(
            -system[others][:, [state]].toarray().ravel()
        )
        return weights

    # A second time with the most visited state fixed: relative to a rarely visited one the rounding would be large.
    weights = np.maximum(with_fixed(int(with_fixed(0).argmax())), 0.0)
    return np.asarray(weights / weights.sum())


def why_not_polar(world: World) -> str:
    """Return why Algorithm 2 is not defined on this world, or an empty text where it is.

    It divides by the weight that enters each state, and it leaves out one eigenvalue 0, of which there are as many as
    there are sets of states that nothing leads into.
    """
    world = world.walker
    if world.symmetric:
        return ""
    entering = entering_weight(world)
    if (entering == 0).any():
        state = int(np.flatnonzero(entering == 0)[0])
        return f"every state must be entered by some move for Algorithm 2; got none into state {state}."
    n_parts, part = connected_components(world.adjacency, directed=True, connection="strong")
    edges = world.adjacency.tocoo()
    entered = np.zeros(n_parts, dtype=bool)
    entered[part[edges.col[part[edges.row] != part[edges.col]]]] = True
    if (~entered).sum() > 1:
        return f"at most one set of states may have no way in for Algorithm 2; got {(~entered).sum()}."
    return ""


def normalized_laplacian(world: World) -> csr_array:
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
    check_walkable(world)
    world = world.walker
    problem = why_not_polar(world)
    if problem:
        raise InvalidInput(f"{problem} Use form='walk', or a world in which every state can be reached again.")
    entering = entering_weight(world)
    scale = diags_array(entering**-0.5)
    return csr_array(eye_array(world.n_states) - scale @ world.adjacency.T @ scale)
