"""A few components of the spectrum of a large world, none missing, and the Fiedler vector as edges are added.

Measured on two cores (``python -m research.rivals``): on worlds that lie in a plane (mazes, rooms) the factorization
is the faster at every size up to a million states, and accurate to 10⁻¹⁴ where LOBPCG stops at 10⁻⁹, which there is
more than the gap between ν₂ and ν₃. On worlds whose layers are wide (grids of three dimensions, random graphs) its
factors fill up and multigrid is the faster from about 20 000 states on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator

from farpoint.diffusion.spectra.bases import canonical_vectors
from farpoint.diffusion.spectra.inverse import LaplacianInverse, NotAccurate
from farpoint.diffusion.spectra.lanczos import eigenpairs
from farpoint.diffusion.spectra.laplacian import Laplacian, Vectors
from farpoint.diffusion.spectra.multigrid import MultigridSolver, multigrid_installed

Result = TypeVar("Result")

# A layer this many times wider than that of a square room of as many states: the factors of a grid of 32 × 32 × 32
# (4.3 times) hold 480 entries per state, those of an open room 56, those of a random maze 13.
_WIDE = 3.5
_FEW_STATES = 20_000
# Two values closer than this are copies of one.
_SAME, _NEXT_TO_ZERO = 1e-7, 1e-12
# Copies of the last value that are looked for beyond the components wanted; a star has as many as it has leaves.
_MOST_COPIES = 32


class Solver(Protocol):
    """Gives the smallest ν of a world, and takes new edges."""

    laplacian: Laplacian

    @property
    def left(self) -> Vectors:
        """The vector of ν = 0."""

    def smallest(self, k: int, known: Vectors) -> tuple[Vectors, Vectors]:
        """Return the smallest ν and their vectors orthogonal to ``known``."""

    def add_edge(self, low: int, high: int) -> None:
        """Add an edge of weight 1."""


def is_wide(pattern: csr_array) -> bool:
    """Return whether the sparse factors of a world would fill up, judged by the widest of its layers.

    >>> import farpoint as fp
    >>> [is_wide(world.adjacency) for world in (fp.grid((150, 150)), fp.grid((30, 30, 30)))]
    [False, True]
    """
    n_states = pattern.shape[0]
    if n_states <= _FEW_STATES:
        return False
    place = np.empty(n_states, dtype=np.int64)
    place[reverse_cuthill_mckee(pattern, symmetric_mode=False)] = np.arange(n_states)
    entries = pattern.tocoo()
    return bool(np.abs(place[entries.row] - place[entries.col]).max() > _WIDE * np.sqrt(n_states))


def leading_components(laplacian: Laplacian, n_components: int) -> tuple[Vectors, Vectors, float]:
    """Return the smallest ν, ascending, their vectors ψ, and the largest |ω| of the components left out."""
    nu, psi, beyond = _first_that_succeeds(laplacian, lambda solver: with_every_copy(solver, n_components))
    omega_next = 1.0 - beyond / 2.0
    # ν may exceed 2 only in worlds that are not symmetric. A cheap bound mostly shows that this end does not matter.
    if not laplacian.symmetric and _norm_bound(laplacian) / 2.0 - 1.0 > omega_next:
        omega_next = max(omega_next, _largest_singular_value(laplacian) / 2.0 - 1.0)
    return nu, psi, abs(float(omega_next))


class FiedlerVectors:
    """The Fiedler vector ψ₂ of a world, again and again as edges are added, from one factorization or hierarchy.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.diffusion.walk import Walk
    >>> fiedler = FiedlerVectors(Laplacian.of(Walk.of(fp.grid((40, 20)))))
    >>> before = fiedler.vector()
    >>> fiedler.add_edge(int(before.argmin()), int(before.argmax()))
    >>> after = fiedler.vector()
    """

    def __init__(self, laplacian: Laplacian) -> None:
        self._laplacian = laplacian
        self._solver: Solver | None = None

    def vector(self) -> Vectors:
        """Return ψ₂ of the world as it is now; its sign is arbitrary."""
        if self._solver is not None:
            try:
                return _second_vector(self._solver)
            except NotAccurate:
                self._laplacian = self._solver.laplacian
        return _first_that_succeeds(self._laplacian, self._begin_with)

    def _begin_with(self, solver: Solver) -> Vectors:
        vector, self._solver = _second_vector(solver), solver
        return vector

    def add_edge(self, low: int, high: int) -> None:
        """Add an edge of weight 1 between two states, in both directions."""
        if self._solver is None:
            self._laplacian = self._laplacian.with_edge(low, high)
        else:
            self._solver.add_edge(low, high)


def _second_vector(solver: Solver) -> Vectors:
    return solver.smallest(1, solver.left[:, None])[1][:, 0]


def _first_that_succeeds(laplacian: Laplacian, work: Callable[[Solver], Result]) -> Result:
    if laplacian.symmetric and not laplacian.rank and multigrid_installed() and is_wide(laplacian.sparse):
        try:
            return work(MultigridSolver(laplacian))
        except NotAccurate:
            pass
    return work(LaplacianInverse(laplacian))


def with_every_copy(solver: Solver, n_components: int) -> tuple[Vectors, Vectors, float]:
    """Return the smallest ν, their vectors ψ, and the smallest ν left out; of repeated values no copy is missed.

    A value that is repeated beyond the last component is found whole before it is cut (up to 32 copies), so that the
    vectors can be given a basis that does not depend on the solver.
    """
    nu, psi = np.zeros(1), solver.left[:, None]
    if n_components > 1:
        more_nu, more_psi = solver.smallest(n_components - 1, psi)
        nu, psi = np.append(nu, more_nu), np.column_stack([psi, more_psi])
    # One run may miss a copy of a repeated eigenvalue. Look at what is left after taking out what was found, until the
    # smallest of the rest is larger than the last that is wanted: then nothing up to it is missing.
    while psi.shape[1] < min(psi.shape[0], n_components + _MOST_COPIES):
        nu_next, psi_next = solver.smallest(1, psi)
        if nu_next[0] > nu[n_components - 1] * (1.0 + _SAME) + _NEXT_TO_ZERO:
            break
        nu = np.append(nu, nu_next[0])
        order = np.argsort(nu, kind="stable")
        nu, psi = nu[order], np.column_stack([psi, psi_next])[:, order]
    beyond = min([*nu[n_components:], *nu_next])
    psi = canonical_vectors(nu, psi)
    return nu[:n_components], psi[:, :n_components], float(beyond)


def _norm_bound(laplacian: Laplacian) -> float:
    # ‖N‖₂² ≤ ‖N‖₁ ‖N‖∞, of the sparse part and of each product of the part of low rank.
    size = abs(laplacian.sparse)
    sparse = float(np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max()))
    return sparse + float((np.linalg.norm(laplacian.left, axis=0) * np.linalg.norm(laplacian.right, axis=0)).sum())


def _largest_singular_value(laplacian: Laplacian) -> float:
    transposed, n_states = laplacian.T, laplacian.n_states
    square = LinearOperator(
        (n_states, n_states), matvec=lambda x: laplacian @ (transposed @ np.ravel(x)), dtype=np.float64
    )
    largest = eigenpairs(square, 1, np.random.default_rng(0), which="LA", return_eigenvectors=False)
    return float(np.sqrt(largest[0]))
