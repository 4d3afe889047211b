"""Eigenvectors that do not depend on the solver: signs, and bases inside repeated eigenvalues.

Inside a repeated eigenvalue any orthonormal basis is right, and which one a solver returns depends on the processor and
on how many threads add the numbers. Options that climb eigenvectors would depend on it too.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]

# Values nearer than this, relatively, or nearer than the rounding of a dense solver are one that is repeated: those of
# an iterative solver, which stops before the last digits, and those of a dense one.
SAME_VALUE, SAME_DENSE = 1e-9, 1e-13
_ROUNDING = 1e-13
# Entries that are equal up to rounding: of these the first decides.
_SAME_SIZE = 1e-6


def canonical_vectors(nu: Vectors, psi: Vectors, same: float = SAME_VALUE) -> Vectors:
    """Return eigenvectors with the same spans, in a basis that depends on those spans only, signs fixed.

    Inside a repeated eigenvalue: the first vector is the projection of the unit vector of the state at which that
    projection is longest, of equals the first state; the others follow in the same way from what is left.

    Parameters
    ----------
    nu : array, shape (n_components,)
        Ascending.
    psi : array, shape (n_states, n_components)
        Orthonormal columns.
    same : float
        Relative difference up to which two values are one that is repeated.

    Examples
    --------
    >>> turned = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> canonical_vectors(np.array([1.0, 1.0]), turned).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    apart = np.flatnonzero(np.diff(nu) > same * nu[1:] + _ROUNDING) + 1
    ends = [0, *apart.tolist(), nu.size]
    repeated = [(first, last) for first, last in itertools.pairwise(ends) if last - first > 1]
    psi = np.array(psi) if repeated else psi
    for first, last in repeated:
        psi[:, first:last] = _canonical_basis(psi[:, first:last])
    return fixed_signs(psi)


def _canonical_basis(vectors: Vectors) -> Vectors:
    size = vectors.shape[1]
    turn = np.zeros((size, size))
    # The squared length of the projection of every e_s onto what is left of the span.
    lengths = np.einsum("si,si->s", vectors, vectors)
    for number in range(size):
        state = int((lengths >= (1.0 - _SAME_SIZE) * lengths.max()).argmax())
        # The projection of e_s onto the span is V V[s]ᵀ: V[s] are its coefficients, less what is taken already (twice,
        # for the rounding).
        coefficients = vectors[state].copy()
        for _ in range(2):
            coefficients -= turn[:, :number] @ (turn[:, :number].T @ coefficients)
        turn[:, number] = coefficients / np.linalg.norm(coefficients)
        lengths = np.maximum(lengths - (vectors @ turn[:, number]) ** 2, 0.0)
    return np.asarray(vectors @ turn)


def fixed_signs(vectors: Vectors) -> Vectors:
    """Return the columns, each with the sign that makes its largest entry positive.

    Of entries equally large up to rounding (a symmetric world has many) the first decides.

    >>> fixed_signs(np.array([[-1.0, 0.5], [1.0, -2.0]]))
    array([[ 1. , -0.5],
           [-1. ,  2. ]])
    """
    signs = np.ones(vectors.shape[1])
    # One column at a time: of a million states all of them at once would be several copies of the vectors.
    for column, vector in enumerate(vectors.T):
        size = np.abs(vector)
        if vector[(size >= (1 - _SAME_SIZE) * size.max()).argmax()] < 0:
            signs[column] = -1.0
    return np.asarray(vectors * signs)
