"""Eigenvectors of the walk from a few of its columns.

The symmetric lazy walk L = ½ (I + D^-½ M D^-½) has the eigenvalues ω and the orthonormal eigenvectors ψ, the first of
which is known: ψ₁ = √(d / Σd), ω₁ = 1. Here K = L^τ − ψ₁ψ₁ᵀ is replaced by the matrix of low rank that agrees with it
on the rows and columns of the sample S,

    K ≈ Q = K_xS K_SS⁺ K_Sx,

and the *exact* eigenvectors of Q are taken: with K_SS = V Λ Vᵀ and F = K_xS V Λ^-½, Q = F Fᵀ, so the eigenvectors
U, μ of the small matrix FᵀF give ψ̂ = F U μ^-½ and ω̂ = μ^{1/τ}. The textbook formula, ψ̂ = K_xS V Λ⁻¹, is neither
orthonormal nor near f_t. Columns of L^τ are walks of τ steps from the landmarks, sparse where the world is large; no
matrix of n × n, and none of n × m unless it is small, is ever filled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csc_array, csr_array

from farpoint.diffusion.walk import Walk
from farpoint.engines import each

# Entries of the columns that are kept at most: 12 bytes each, and as much again while their order is changed.
MOST_ENTRIES = 40_000_000
# Entries of the columns times the steps of the walks, at most: about a minute of one core.
MOST_WORK = 6e9
_LANDMARKS_PER_TASK = 32
_BLOCK_BYTES = 1 << 26
# Probabilities below this are dropped on the way: all of them together are less than the rounding of the largest.
_CUTOFF = 1e-18
# Eigenvalues below this share of the largest are rounding.
_TRUSTED = 1e-12
# Products of the columns with themselves lose twice the digits: only for kernels conditioned better than this.
_SAFE_CONDITION = 1e-5
_SPARSE = 0.05
_ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of L^τ that belong to a sample, one row per state, and the degrees."""

    matrix: csr_array
    sample: NDArray[np.int64]
    degrees: NDArray[np.float64]
    tau: int

    @cached_property
    def first(self) -> NDArray[np.float64]:
        """ψ₁ of every state."""
        return np.asarray(np.sqrt(self.degrees / self.degrees.sum()))

    @property
    def within(self) -> NDArray[np.float64]:
        """The rows of the sample: L^τ between landmarks, symmetric to the last digit."""
        rows = self.matrix[self.sample].toarray()
        return np.asarray((rows + rows.T) / 2)

    def blocks(self) -> list[tuple[int, int]]:
        """Ranges of rows, each small enough to be filled."""
        rows = max(1, _BLOCK_BYTES // (8 * self.sample.size))
        n_states = self.degrees.size
        return [(first, min(first + rows, n_states)) for first in range(0, n_states, rows)]


def columns_of(walk: Walk, sample: NDArray[np.int64], tau: int, n_jobs: int = -1) -> Columns:
    """Return the columns of L^τ = D^-½ W^τ D^½ at the states of the sample, of a symmetric walk without jumps."""
    degrees = walk.leaving
    _ = walk.stay, walk.leave  # computed once, here, and not by every worker
    starts = range(0, sample.size, _LANDMARKS_PER_TASK)
    tasks = [sample[first : first + _LANDMARKS_PER_TASK] for first in starts]
    walks = list(each(_follow_walks, (walk, tau), tasks, n_jobs=n_jobs))
    counts = np.concatenate([[0], *(np.diff(pointers) for pointers, _, _ in walks)])
    states = np.concatenate([ends for _, ends, _ in walks])
    data = np.concatenate([values for _, _, values in walks])
    root = np.sqrt(degrees)
    data /= root[states]
    data *= np.repeat(root[sample], counts[1:])
    matrix = csc_array((data, states, np.cumsum(counts)), shape=(degrees.size, sample.size))
    return Columns(csr_array(matrix.tocsr()), sample, degrees, tau)


def _follow_walks(
    shared: tuple[Walk, int], sources: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    from farpoint.diffusion.extension.kernels import walk_ends

    walk, tau = shared
    moves = walk.moves
    pointers, ends, values = walk_ends(
        moves.indptr, moves.indices, moves.data, walk.stay, walk.leave, sources, tau, _CUTOFF
    )
    return pointers, ends, values


def affordable_tau(walk: Walk, sample: NDArray[np.int64], tau: int) -> int:
    """Return τ, or the longest below it whose columns, judged by a few of them, fit into memory and a minute."""
    few = sample[np.linspace(0, sample.size - 1, num=min(8, sample.size)).astype(np.int64)]
    if walk.n_states * sample.size <= min(MOST_ENTRIES, MOST_WORK / tau):
        return tau
    # Upwards, so that no walk longer than needed is tried.
    fits, length = 1, 8
    while True:
        length = min(length, tau)
        pointers, _, _ = _follow_walks((walk, length), few)
        entries = pointers[-1] / few.size * sample.size
        if entries > MOST_ENTRIES or entries * length > MOST_WORK:
            return fits
        if entries == walk.n_states * sample.size:
            # The walks are everywhere: from here on every step costs the same.
            return min(tau, int(MOST_WORK / entries))
        fits = length
        if length == tau:
            return tau
        length = int(1.3 * length)


def positive_part(
    matrix: NDArray[np.float64], least: float, rank: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues above ``least`` of the largest, descending, at most ``rank``, and their vectors."""
    if not matrix.size:
        return np.empty(0), np.empty((0, 0))
    values, vectors = linalg.eigh(matrix, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    # The walk has norm 1: what is this small is rounding, also where nothing larger is left.
    kept = int((values > max(least * values[0], _ROUNDING)).sum())
    kept = kept if rank is None else min(kept, rank)
    return values[:kept], vectors[:, :kept]


@dataclass(frozen=True, eq=False)
class LowRank:
    """Eigenpairs of the low-rank walk: ψ̂ = (K_xS − ψ₁ ψ₁(S)ᵀ) ``mix``, orthonormal, without the constant one."""

    columns: Columns
    mix: NDArray[np.float64]
    omega: NDArray[np.float64]
    # Ψᵀ D Ψ: the inner products of φ̃.
    gram: NDArray[np.float64]

    def scores(self, t: float, n_jobs: int = -1) -> NDArray[np.float64]:
        """Return ‖Σ ω̂_iᵗ φ̂_i(s) φ̃̂_i‖² of every state, block of rows by block of rows (Eq. 1)."""
        if not self.omega.size:
            return np.zeros(self.columns.degrees.size)
        values, vectors = linalg.eigh(self.gram, check_finite=False)
        half = vectors * np.sqrt(np.maximum(values, 0.0))
        return self._squares((self.mix * self.omega**t) @ half, n_jobs) / self.columns.degrees

    def row_squares(self, weights: NDArray[np.float64], n_jobs: int = -1) -> NDArray[np.float64]:
        """Return Σ_i weights_i ψ̂_i(s)² of every state."""
        return self._squares(self.mix * np.sqrt(weights), n_jobs)

    def _squares(self, mix: NDArray[np.float64], n_jobs: int) -> NDArray[np.float64]:
        return np.concatenate(list(each(_square_block, (self.columns, mix), self.columns.blocks(), n_jobs=n_jobs)))

    def vectors(self) -> NDArray[np.float64]:
        """Return ψ̂ of every state, one per column: only for worlds small enough to hold it."""
        return np.concatenate([_factor_rows(self.columns, self.mix, block) for block in self.columns.blocks()])


def low_rank(columns: Columns, rank: int | None = None) -> LowRank:
    """Return the eigenpairs of the matrix of low rank that the columns of a sample make."""
    first = columns.first[columns.sample]
    values, vectors = positive_part(columns.within - np.outer(first, first), _TRUSTED)
    to_factor = vectors / np.sqrt(values)
    squares, weighted = _grams(columns, to_factor, values)
    mu, turn = positive_part(squares, _TRUSTED, rank)
    turn = turn / np.sqrt(mu)
    omega = np.minimum(mu, 1.0) ** (1.0 / columns.tau)
    return LowRank(columns, to_factor @ turn, omega, turn.T @ weighted @ turn)


def _grams(
    columns: Columns, to_factor: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return FᵀF and FᵀDF."""
    matrix, degrees = columns.matrix, columns.degrees
    rank = values.size
    well = rank == columns.sample.size and values[-1] > _SAFE_CONDITION * values[0]
    if well and matrix.nnz < _SPARSE * matrix.shape[0] * matrix.shape[1]:
        psi_1 = columns.first
        first = psi_1[columns.sample]
        # L^τ ψ₁ = ψ₁, so taking ψ₁ out of the columns takes its square out of their products.
        squares = (matrix.T @ matrix).toarray() - np.outer(first, first)
        across = np.outer(matrix.T @ (degrees * psi_1), first)
        weighted = (matrix.T @ matrix.multiply(degrees[:, None]).tocsr()).toarray() - across - across.T
        weighted += psi_1 @ (degrees * psi_1) * np.outer(first, first)
        return to_factor.T @ squares @ to_factor, to_factor.T @ weighted @ to_factor
    plain, heavy = np.zeros((rank, rank)), np.zeros((rank, rank))
    for block in columns.blocks():
        rows = _factor_rows(columns, to_factor, block)
        plain += rows.T @ rows
        heavy += rows.T @ (degrees[slice(*block), None] * rows)
    return plain, heavy


def _factor_rows(columns: Columns, mix: NDArray[np.float64], block: tuple[int, int]) -> NDArray[np.float64]:
    """Return a few rows of (K_xS − ψ₁ ψ₁(S)ᵀ) mix."""
    part = columns.matrix[slice(*block)]
    filled = part.nnz > 0.2 * part.shape[0] * part.shape[1]
    product = (part.toarray() if filled else part) @ mix
    psi_1 = columns.first
    return np.asarray(product - np.outer(psi_1[slice(*block)], psi_1[columns.sample] @ mix))


def _square_block(shared: tuple[Columns, NDArray[np.float64]], block: tuple[int, int]) -> NDArray[np.float64]:
    rows = _factor_rows(*shared, block)
    return np.asarray(np.einsum("si,si->s", rows, rows))
