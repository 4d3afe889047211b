"""The paper's formulas in decimal arithmetic of 80 digits: what results in doubles are measured against.

Slow, so for graphs of up to about 60 states. A double is taken as the number that it is, so the weights are exact.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

Precise = NDArray[Any]  # of Decimal

DIGITS = 80
_ZERO, _ONE, _TWO = Decimal(0), Decimal(1), Decimal(2)


def exactly(values: Any) -> Precise:
    """The numbers as decimals, without rounding."""
    array = np.asarray(values, dtype=np.float64)
    return np.array([Decimal(float(value)) for value in array.ravel()], dtype=object).reshape(array.shape)


def rounded(values: Precise) -> NDArray[np.float64]:
    """The nearest doubles."""
    return np.array([float(value) for value in values.ravel()]).reshape(values.shape)


def identity(n: int) -> Precise:
    """The unit matrix."""
    return exactly(np.eye(n))


def walk(weights: NDArray[np.float64]) -> Precise:
    """W = ½ (I + M D⁻¹), columns from; ``weights[s, s2]`` is from s to s2. A state that nothing leaves stays."""
    with localcontext(prec=DIGITS):
        moves = exactly(weights)
        leaving = moves.sum(axis=1)
        stays = [state for state, weight in enumerate(leaving) if weight == 0]
        leaving[stays] = _ONE
        shares = moves / leaving[:, None]
        shares[stays, stays] = _ONE
        return np.asarray((identity(len(moves)) + shares.T) / _TWO)


def power(matrix: Precise, t: int) -> Precise:
    """The matrix to a whole power, by squaring."""
    with localcontext(prec=DIGITS):
        result, square = identity(len(matrix)), matrix
        while t:
            result = result @ square if t & 1 else result
            t >>= 1
            square = square @ square if t else square
        return np.asarray(result)


def stationary(weights: NDArray[np.float64]) -> Precise:
    """The long-run distribution of a walk that ends in one set of states: W π₀ = π₀ and Σ π₀ = 1."""
    with localcontext(prec=DIGITS):
        if (weights == weights.T).all():
            degrees = exactly(weights).sum(axis=0)
            return np.asarray(degrees / degrees.sum())
        system = walk(weights) - identity(len(weights))
        system[-1] = _ONE
        return solve(system, exactly(np.eye(len(weights))[-1]))


def distributions(weights: NDArray[np.float64], t: float) -> Precise:
    """Wᵗ, one column per first state; a fraction of t on symmetric weights only, by eigenvectors."""
    with localcontext(prec=DIGITS):
        if float(t).is_integer():
            return power(walk(weights), int(t))
        omega, psi, degrees = spectrum(weights)
        root = np.array([degree.sqrt() for degree in degrees], dtype=object)
        powers = np.array([value ** Decimal(t) if value > 0 else _ZERO for value in omega], dtype=object)
        return np.asarray(root[:, None] * ((psi * powers) @ psi.T) / root[None, :])


def score(weights: NDArray[np.float64], t: float) -> Precise:
    """‖Wᵗe_s − π₀‖² for every s (Proposition 2)."""
    after, pi = distributions(weights, t), stationary(weights)
    with localcontext(prec=DIGITS):
        rest = after - pi[:, None]
        return np.asarray((rest * rest).sum(axis=0))


def spectrum(weights: NDArray[np.float64]) -> tuple[Precise, Precise, Precise]:
    """ω (descending), ψ and degrees of symmetric weights: eigenvectors of N = I − D^-½ M D^-½."""
    with localcontext(prec=DIGITS):
        moves = exactly(weights)
        degrees = moves.sum(axis=0)
        scale = np.array([_ONE / degree.sqrt() for degree in degrees], dtype=object)
        nu, psi = eigh(identity(len(moves)) - scale[:, None] * moves * scale[None, :])
        return np.asarray(_ONE - nu / _TWO), psi, degrees


def polar_score(weights: NDArray[np.float64], t: int) -> Precise:
    """Algorithm 2: ν̃ and ψ̃ of N = R U are the square roots and vectors of N Nᵀ; D is what enters each state."""
    with localcontext(prec=DIGITS):
        moves = exactly(weights)
        degrees = moves.sum(axis=0)
        scale = np.array([_ONE / degree.sqrt() for degree in degrees], dtype=object)
        laplacian = identity(len(moves)) - scale[:, None] * moves.T * scale[None, :]
        squares, psi = eigh(laplacian @ laplacian.T)
        omega = np.array([_ONE - max(value, _ZERO).sqrt() / _TWO for value in squares], dtype=object)
        powers = np.array([value**t for value in omega[1:]], dtype=object)
        a = psi[:, 1:] * scale[:, None] * powers[None, :]
        after = (psi[:, 1:] / scale[:, None]) @ a.T
        return np.asarray((after * after).sum(axis=0))


def eigh(matrix: Precise) -> tuple[Precise, Precise]:
    """Eigenvalues (ascending) and eigenvectors of a symmetric matrix, by Jacobi's rotations."""
    with localcontext(prec=DIGITS):
        a, vectors, n = matrix.copy(), identity(len(matrix)), len(matrix)
        tiny = Decimal(10) ** (5 - DIGITS)
        for _ in range(60):
            if max((abs(a[p, q]) for p in range(n) for q in range(p)), default=_ZERO) < tiny:
                break
            for p in range(n - 1):
                for q in range(p + 1, n):
                    if abs(a[p, q]) >= tiny / 10:
                        _rotate(a, vectors, p, q)
        values = np.array([a[i, i] for i in range(n)], dtype=object)
        order = sorted(range(n), key=lambda i: values[i])
        return values[order], vectors[:, order]


def _rotate(a: Precise, vectors: Precise, p: int, q: int) -> None:
    theta = (a[q, q] - a[p, p]) / (_TWO * a[p, q])
    sign = _ONE if theta >= 0 else -_ONE
    tangent = sign / (abs(theta) + (theta * theta + _ONE).sqrt())
    cosine = _ONE / (tangent * tangent + _ONE).sqrt()
    sine = tangent * cosine
    for side in (a, vectors):
        side[:, p], side[:, q] = cosine * side[:, p] - sine * side[:, q], sine * side[:, p] + cosine * side[:, q]
    a[p], a[q] = cosine * a[p] - sine * a[q], sine * a[p] + cosine * a[q]


def solve(system: Precise, right: Precise) -> Precise:
    """The solution of a regular system, by elimination with the largest pivot."""
    with localcontext(prec=DIGITS):
        table, n = np.column_stack([system, right]), len(system)
        for column in range(n):
            pivot = max(range(column, n), key=lambda row: abs(table[row, column]))
            table[[column, pivot]] = table[[pivot, column]]
            table[column] = table[column] / table[column, column]
            for row in range(n):
                if row != column and table[row, column] != 0:
                    table[row] = table[row] - table[row, column] * table[column]
        return np.asarray(table[:, n:] if right.ndim > 1 else table[:, n])
