"""The stationary distribution of a walk that is not symmetric, accurate also where it is nearly in two parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import splu

from farpoint.errors import NotConnected

if TYPE_CHECKING:
    from farpoint.diffusion.walk import Walk

Vector = NDArray[np.float64]

_UNIT = 2.0**-53
# Sparse factors are as accurate as this, or states are eliminated one by one, up to so many of them.
_ACCURATE = 1e-12
_MOST_ELIMINATED = 2_500
# Beyond this relative error there is no answer.
_WORST = 1e-6


def stationary_inside(walk: Walk, inside: NDArray[np.int64]) -> tuple[Vector, float]:
    """Return the stationary distribution on one closed set of mutually reachable states, and its relative error.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.diffusion.walk import Walk
    >>> one_way = Walk.of(fp.World.from_graph([[0, 1, 0], [0, 0, 1], [1, 1, 0]]))
    >>> stationary_inside(one_way, np.arange(3))[0]
    array([0.2, 0.4, 0.4])
    """
    if inside.size == 1:
        return np.ones(1), 0.0
    flow = csc_array((walk.moves.T @ diags_array(walk.leave)).tocsc()[:, inside])[inside]
    system = csc_array(diags_array(1.0 - walk.stay[inside]) - flow)
    jumps = walk.jumps if walk.jumps is not None and walk.jumps.out[:, inside].any() else None
    weights, error = _by_factors(system) if jumps is None else _by_jumps(system, jumps.into[0, inside])
    if error > _ACCURATE and inside.size <= _MOST_ELIMINATED:
        rates = flow.T.toarray()
        if jumps is not None:
            rates += (jumps.out[:, inside] * walk.leave[inside]).T @ jumps.into[:, inside]
        weights, error = by_elimination(rates), inside.size * _UNIT
    elif jumps is not None and not error < _WORST:
        # Jumps that are rarer than the rounding of the moves: the distribution is that of the moves.
        weights, error = _by_factors(system)
    if not error < _WORST:
        raise NotConnected(
            f"the walk must cross the world in less than {_WORST / _UNIT:.0g} steps for a stationary distribution; got "
            f"{inside.size} states that are nearly in two parts. Use form='symmetrized'."
        )
    weights = np.maximum(weights, 0.0)
    return np.asarray(weights / weights.sum()), float(error)


def by_elimination(rates: Vector) -> Vector:
    """Return weights in proportion to the stationary distribution, of rates from each state (rows) to each other.

    States are taken out one by one (Grassmann, Taksar and Heyman 1985). Nothing is ever subtracted, so every entry has
    nearly all its digits, however rarely the walk crosses from one part to another.

    Examples
    --------
    >>> by_elimination(np.array([[0.0, 1e-30], [1.0, 0.0]]))
    array([1.e+00, 1.e-30])
    """
    rates = np.array(rates, dtype=np.float64)
    n_states = len(rates)
    for state in range(n_states - 1, 0, -1):
        # Whoever comes to this state leaves it for one of the others.
        rates[:state, state] /= rates[state, :state].sum()
        rates[:state, :state] += np.outer(rates[:state, state], rates[state, :state])
    weights = np.ones(n_states)
    for state in range(1, n_states):
        weights[state] = weights[:state] @ rates[:state, state]
    return weights


def _by_jumps(system: csc_array, into: Vector) -> tuple[Vector, float]:
    # With L the walk without jumps, π = L π + into (out · π): π is a multiple of (I − L)⁻¹ into.
    return _solved(system, into)


def _by_factors(system: csc_array) -> tuple[Vector, float]:
    def with_fixed(state: int) -> tuple[Vector, float]:
        # Fix the weight of one state at 1 and solve (I − W) π = 0 for the others: one row of the singular system is
        # spare, and what is left is regular because the chain is irreducible.
        others = np.delete(np.arange(system.shape[0]), state)
        weights = np.ones(system.shape[0])
        right = -system[others][:, [state]].toarray().ravel()
        weights[others], error = _solved(csc_array(system[others][:, others]), right)
        return weights, error

    # A second time with the most visited state fixed: relative to a rarely visited one the rounding would be large.
    return with_fixed(int(with_fixed(0)[0].argmax()))


def _solved(system: csc_array, right: Vector) -> tuple[Vector, float]:
    """Return the solution and its relative error: a unit for each of the steps until the walk is where it ends."""
    try:
        factors = splu(system)
    except RuntimeError:  # singular
        return np.ones(right.size), np.inf
    solution, steps = factors.solve(right), factors.solve(np.ones(right.size), "T")
    known = np.isfinite(solution).all() and np.isfinite(steps).all()
    return (solution, float(np.abs(steps).max() * _UNIT)) if known else (np.ones(right.size), np.inf)
