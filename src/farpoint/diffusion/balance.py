"""The stationary distribution of a chain that is not symmetric: small ones to the last digit, large ones checked.

A chain that falls nearly into two parts has a stationary distribution that rests on its lightest moves, and the
subtraction 1 − Σ p in the usual linear system rounds them away.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import LinearOperator, onenormest, splu

from farpoint.errors import NotConnected

Vector = NDArray[np.float64]

# Elimination of a dense matrix of this size takes a tenth of a second.
ELIMINATION_LIMIT = 500
# With doubles the relative error is then about 10⁻⁵ at worst.
_WORST_CONDITION = 1e11


def stationary_weights(moves: csc_array, out: Vector, into: Vector) -> Vector:
    """Return the stationary distribution of a chain in which every state can be reached from every other.

    Parameters
    ----------
    moves : sparse array, shape (n_states, n_states)
        Chances of single moves in one step; columns are "from". The rest to 1 is the chance to stay or to jump.
    out, into : array, shape (rank, n_states)
        Further chances, from s to s2: Σ_j out[j, s] · into[j, s2].

    Raises
    ------
    NotConnected
        If the chain is large and so nearly in several parts that the result would have no correct digits.

    Examples
    --------
    >>> stationary_weights(csc_array([[0.0, 0.1], [0.3, 0.0]]), np.empty((0, 2)), np.empty((0, 2)))
    array([0.25, 0.75])
    """
    if moves.shape[0] <= ELIMINATION_LIMIT:
        return by_elimination(moves.toarray().T + out.T @ into)
    off = moves - diags_array(moves.diagonal())
    system = csc_array(diags_array(off.sum(axis=0) + out.T @ into.sum(axis=1)) - off)
    if out.any():
        # With L the walk without jumps, π = L π + into (out · π): π is a multiple of (I − L)⁻¹ into.
        weights = _solved(system, into[0], checked=True)
    else:
        # A second time with the most visited state fixed: relative to a rarely visited one the rounding would be large.
        most_visited = int(_with_fixed(system, 0, checked=False).argmax())
        weights = np.maximum(_with_fixed(system, most_visited, checked=True), 0.0)
    return np.asarray(weights / weights.sum())


def by_elimination(chances: Vector) -> Vector:
    """Return the stationary distribution from a dense matrix with rows "from"; its diagonal is not used.

    States are left out one after the other, the chances of passing through them added to those of the others
    (Grassmann, Taksar and Heyman 1985). Nothing is subtracted, so every entry is right to rounding, however small.

    Examples
    --------
    >>> by_elimination(np.array([[0.0, 1e-30], [3e-30, 0.0]]))
    array([0.75, 0.25])
    """
    chances = np.array(chances, dtype=np.float64)
    n_states = len(chances)
    for last in range(n_states - 1, 0, -1):
        chances[:last, last] /= chances[last, :last].sum()
        chances[:last, :last] += np.outer(chances[:last, last], chances[last, :last])
    weights = np.ones(n_states)
    for state in range(1, n_states):
        weights[state] = weights[:state] @ chances[:state, state]
    return np.asarray(weights / weights.sum())


def _with_fixed(system: csc_array, state: int, *, checked: bool) -> Vector:
    """Return π up to a factor: the weight of one state is fixed at 1, and (I − W) π = 0 is solved for the others.

    One row of the singular system is spare, and what is left is regular because the chain is irreducible.
    """
    others = np.delete(np.arange(system.shape[0]), state)
    weights = np.ones(system.shape[0])
    right = -system[others][:, [state]].toarray().ravel()
    weights[others] = _solved(csc_array(system[others][:, others]), right, checked=checked)
    return weights


def _solved(system: csc_array, right: Vector, *, checked: bool) -> Vector:
    condition = np.inf
    with suppress(RuntimeError):  # exactly singular
        factors = splu(system)
        condition = _condition(system, factors) if checked else 1.0
    if condition > _WORST_CONDITION:
        raise NotConnected(
            f"the walk must not fall nearly into parts; got a condition number of {condition:.1g}. "
            "Use form='symmetrized', or drop what is hardly connected."
        )
    return np.asarray(factors.solve(right))


def _condition(system: csc_array, factors: Any) -> float:
    inverse = LinearOperator(
        system.shape, matvec=factors.solve, rmatvec=lambda x: factors.solve(x, "T"), dtype=np.float64
    )
    return float(onenormest(inverse) * abs(system).sum(axis=0).max())
