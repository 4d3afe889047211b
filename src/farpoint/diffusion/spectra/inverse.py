"""The inverse of the normalized Laplacian of a large world, from one sparse factorization that takes new edges.

N = I − D^-½ M D^-½ is singular: N v = 0 with v = D^½ 1, and uᵀ N = 0 with some u ≥ 0 (u = v in a symmetric world).
Adding 1 to the diagonal entry of one state g with u_g > 0, the root, makes it regular, and for x ⟂ u the solution of
(N + e_g e_gᵀ) y = x has y_g = 0, hence N y = x exactly; without its part along v it is y = N⁺ x. No shift is needed
that would have to be small against eigenvalues near 10⁻⁶.

Up to a diagonal scaling, N + e_g e_gᵀ is a diagonally dominant M-matrix, for which elimination without pivoting is
stable. So rows and columns may be ordered alike for little fill: measured on random mazes that leaves half the entries
of scipy's default (15.9 against 35.8 million at 10⁶ states), and each of the dozens of solves takes less time.

An edge i–j of weight 1 adds b bᵀ with b = e_i − e_j to D − M. A few of them need no new factorization (Woodbury).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from farpoint.errors import FarpointError

Vectors = NDArray[np.float64]

# A root whose weight in u is this much smaller than the largest makes solutions lose digits: take a better one.
_POOR_ROOT = 1e-3
_MOST_ROOTS = 5
_LARGEST_RESIDUAL = 1e-8
# Lanczos vectors: with at least this many few restarts are needed (scipy's own choice).
_LEAST_VECTORS = 20


class NotAccurate(FarpointError, ArithmeticError):
    """Vectors that are not eigenvectors to the accuracy promised."""


def check_residual(residual: float) -> None:
    """Fail unless the residual is small enough."""
    if not residual <= _LARGEST_RESIDUAL:
        raise NotAccurate(f"the residual of eigenvectors must be at most {_LARGEST_RESIDUAL:g}; got {residual:.3g}.")


def with_edge(laplacian: csr_array, degrees: Vectors, low: int, high: int) -> tuple[csr_array, Vectors]:
    """Return N and D after an edge of weight 1 between two states is added, both ways.

    >>> import farpoint as fp
    >>> path, ring = fp.grid((3,)), fp.World.from_graph(1 - np.eye(3))
    >>> laplacian, degrees = with_edge(fp.normalized_laplacian(path), np.array([1.0, 2.0, 1.0]), 0, 2)
    >>> degrees, bool(np.allclose(laplacian.toarray(), fp.normalized_laplacian(ring).toarray()))
    (array([2., 2., 2.]), True)
    """
    ends = np.array([low, high])
    joined = degrees.copy()
    joined[ends] += 1.0
    b = np.array([1.0, -1.0]) / np.sqrt(degrees[ends])
    edge = csr_array((np.outer(b, b).ravel(), (ends.repeat(2), np.tile(ends, 2))), shape=laplacian.shape)
    scale = diags_array(np.sqrt(degrees / joined))
    return csr_array(scale @ (laplacian + edge) @ scale), joined


class LaplacianInverse:
    """N⁺ and its transpose as functions, and the smallest eigenvalues or singular values of N that follow.

    Parameters
    ----------
    laplacian : sparse matrix
        N of a world in one part.
    degrees : array
        D, the weight that enters each state.
    symmetric : bool

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.grid((3,))
    >>> inverse = LaplacianInverse(fp.normalized_laplacian(world), np.array([1.0, 2.0, 1.0]), symmetric=True)
    >>> nu, psi = inverse.smallest(1, inverse.left[:, None])
    >>> nu.round(12)
    array([1.])
    """

    def __init__(self, laplacian: csr_array, degrees: Vectors, *, symmetric: bool) -> None:
        self.n_states = int(laplacian.shape[0])
        self.symmetric = symmetric
        self.degrees = degrees
        self.laplacian = laplacian
        self._base_degrees = degrees
        self._scale = np.ones(self.n_states)
        self._edges = np.zeros((2, 0), dtype=np.int64)
        self._answers = [np.zeros((self.n_states, 0)), np.zeros((self.n_states, 0))]
        self.right = _unit(np.sqrt(degrees))
        self._factor(int(degrees.argmax()) if symmetric else _state_of_the_source(laplacian))
        self.left = self.right
        if not symmetric:
            self._improve_root()

    def _factor(self, root: int) -> None:
        self._root = root
        grounded = csc_array(self.laplacian + diags_array((np.arange(self.n_states) == root).astype(np.float64)))
        self._factors = splu(
            grounded, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )

    def _improve_root(self) -> None:
        for _ in range(_MOST_ROOTS):
            with np.errstate(over="ignore", invalid="ignore"):
                weights = np.abs(self._left_null())
            # Beside a root of next to no weight the others overflow: any of them is the better root.
            weights = np.nan_to_num(weights, nan=np.inf, posinf=np.inf)
            if weights[self._root] >= _POOR_ROOT * weights.max():
                break
            self._factor(int(weights.argmax()))
        self.left = _unit(weights)

    def _left_null(self) -> Vectors:
        at_root = np.zeros(self.n_states)
        at_root[self._root] = 1.0
        return self._solve(at_root, transposed=True)

    def add_edge(self, low: int, high: int) -> None:
        """Add an edge of weight 1 between two states, both ways."""
        edge = np.zeros(self.n_states)
        edge[[low, high]] = np.array([1.0, -1.0]) / np.sqrt(self._base_degrees[[low, high]])
        for side in range(1 if self.symmetric else 2):
            answer = self._factors.solve(edge, "T" if side else "N")
            self._answers[side] = np.column_stack([self._answers[side], answer])
        self._edges = np.column_stack([self._edges, [low, high]])
        added = np.bincount(self._edges.ravel(), minlength=self.n_states)
        self._scale = np.sqrt(1.0 + added / self._base_degrees)
        self.laplacian, self.degrees = with_edge(self.laplacian, self.degrees, low, high)
        self.right = _unit(np.sqrt(self.degrees))
        self.left = self.right if self.symmetric else _unit(np.abs(self._left_null() * self._scale))

    def _along_edges(self, x: Vectors) -> Vectors:
        low, high = self._edges
        per_degree = (1.0 / np.sqrt(self._base_degrees[self._edges])).reshape(2, -1, *(1,) * (x.ndim - 1))
        return np.asarray(x[low] * per_degree[0] - x[high] * per_degree[1])

    def _solve(self, x: Vectors, transposed: bool = False) -> Vectors:
        y = np.asarray(self._factors.solve(x, "T" if transposed else "N"))
        if self._edges.size:
            answers = self._answers[1 if transposed and not self.symmetric else 0]
            # (N_g + B Bᵀ)⁻¹ = N_g⁻¹ − N_g⁻¹ B (I + Bᵀ N_g⁻¹ B)⁻¹ Bᵀ N_g⁻¹
            small = np.eye(self._edges.shape[1]) + self._along_edges(answers)
            y -= answers @ np.linalg.solve(small, self._along_edges(y))
        return y

    def apply(self, x: Vectors, *, transposed: bool = False) -> Vectors:
        """Return N⁺ x, or its transpose."""
        into, outof = (self.right, self.left) if transposed else (self.left, self.right)
        y = self._any_solution(x - into * (into @ x), transposed)
        return np.asarray(y - outof * (outof @ y))

    def _any_solution(self, x: Vectors, transposed: bool = False) -> Vectors:
        if not self._edges.size:
            return self._solve(x, transposed)
        y = self._solve(self._scale * x, transposed)
        y *= self._scale
        return y

    def smallest(self, k: int, known: Vectors) -> tuple[Vectors, Vectors]:
        """Return the ``k`` smallest ν, ascending, and their vectors ψ, among those at right angles to ``known``.

        The vector of ν = 0, `left`, must be among those that are known. Lanczos iterations on N⁺, or on N⁺ᵀ N⁺ for
        singular values. A copy of a repeated value may be missed.

        Raises
        ------
        NotAccurate
            If they are not eigenvectors (left singular vectors) to eight digits.
        """
        known = np.asfortranarray(known)

        def inverse(x: Vectors) -> Vectors:
            x = np.asarray(x).ravel()
            # What is known holds u, so that x ⟂ u without another projection.
            y = self._any_solution(x - known @ (known.T @ x))
            if not self.symmetric:
                y = self._any_solution(y - self.right * (self.right @ y), transposed=True)
            y -= known @ (known.T @ y)
            return y

        # Not the same start each time: of a repeated value, the copy that one start leads to is all of that start in
        # the copies' space, and after taking it out nothing would lead to the others.
        start = np.random.default_rng(known.shape[1]).standard_normal(self.n_states)
        operator = LinearOperator((self.n_states, self.n_states), matvec=inverse, dtype=np.float64)
        n_vectors = min(self.n_states, max(2 * k + 1, _LEAST_VECTORS))
        large, psi = eigsh(operator, k, which="LM", v0=start - known @ (known.T @ start), ncv=n_vectors)
        order = np.argsort(-large)
        nu = 1.0 / large[order] if self.symmetric else large[order] ** -0.5
        psi = psi[:, order]
        check_residual(self.residual(nu, psi))
        return nu, psi

    def residual(self, nu: Vectors, psi: Vectors) -> float:
        """Return the largest ‖N ψ − ν ψ‖, or for singular values of ‖Nᵀψ − ν y‖ and ‖N y − ν ψ‖ with y = ν N⁺ ψ."""
        largest = 0.0
        for value, vector in zip(nu, psi.T, strict=True):
            other = vector if self.symmetric else value * self.apply(vector)
            largest = max(largest, float(np.linalg.norm(self.laplacian @ other - value * vector)))
            if not self.symmetric:
                largest = max(largest, float(np.linalg.norm(self.laplacian.T @ vector - value * other)))
        return largest


def _unit(vector: Vectors) -> Vectors:
    vector = vector / vector.max()
    return np.asarray(vector / np.linalg.norm(vector))


def _state_of_the_source(laplacian: csr_array) -> int:
    # u is positive on the one set of states that nothing leads into (in a strongly connected world, all of them).
    n_parts, part = connected_components(laplacian, directed=True, connection="strong")
    moves = laplacian.tocoo()  # row: to, column: from
    crossing = part[moves.row] != part[moves.col]
    entered = np.zeros(n_parts, dtype=bool)
    entered[part[moves.row[crossing]]] = True
    return int(np.flatnonzero(~entered[part])[0])
