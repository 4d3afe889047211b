"""The inverse of the normalized Laplacian of a large world, from one sparse factorization that takes new edges.

N = I − D^-½ M D^-½ is singular: N v = 0 with v = D^½ 1, and uᵀ N = 0 with some u ≥ 0 (u = v in a symmetric world).
Adding 1 to the diagonal entry of one state g with u_g > 0, the root, makes it regular, and for x ⟂ u the solution of
(N + e_g e_gᵀ) y = x has y_g = 0, hence N y = x exactly; without its part along v it is y = N⁺ x. No shift is needed
that would have to be small against eigenvalues near 10⁻⁶.

Up to a diagonal scaling, N + e_g e_gᵀ is a diagonally dominant M-matrix, for which elimination without pivoting is
stable. So rows and columns may be ordered alike for little fill: measured on random mazes that leaves half the entries
of scipy's default (15.9 against 35.8 million at 10⁶ states), and each of the dozens of solves takes less time.

What is added to the sparse part needs no new factorization (Woodbury): restarts, which have low rank, and a few edges
i–j of weight 1, each of which adds b bᵀ with b = e_i − e_j to D − M.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import LinearOperator, splu

from farpoint.diffusion.spectra.lanczos import eigenpairs
from farpoint.diffusion.spectra.laplacian import Laplacian, Vectors
from farpoint.errors import FarpointError

# A root whose weight in u is this much smaller than the largest makes solutions lose digits: take a better one.
_POOR_ROOT = 1e-3
_MOST_ROOTS = 5
_LARGEST_RESIDUAL = 1e-8
# Where values are repeated many times, one run in some hundreds loses half of its digits: begin anew.
_MOST_ATTEMPTS = 4
# Lanczos vectors: with at least this many few restarts are needed (scipy's own choice).
_LEAST_VECTORS = 20


class NotAccurate(FarpointError, ArithmeticError):
    """Vectors that are not eigenvectors to the accuracy promised."""


def check_residual(residual: float) -> None:
    """Fail unless the residual is small enough."""
    if not residual <= _LARGEST_RESIDUAL:
        raise NotAccurate(f"the residual of eigenvectors must be at most {_LARGEST_RESIDUAL:g}; got {residual:.3g}.")


class LaplacianInverse:
    """N⁺ and its transpose as functions, and the smallest eigenvalues or singular values of N that follow.

    Parameters
    ----------
    laplacian : Laplacian
        Of a connected world.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.diffusion.walk import Walk
    >>> inverse = LaplacianInverse(Laplacian.of(Walk.of(fp.grid((3,)))))
    >>> nu, psi = inverse.smallest(1, inverse.left[:, None])
    >>> nu.round(12)
    array([1.])
    """

    def __init__(self, laplacian: Laplacian) -> None:
        self.laplacian = laplacian
        self._base = laplacian
        self._scale = np.ones(laplacian.n_states)
        self._edges = np.zeros((2, 0), dtype=np.int64)
        self._answers = [np.zeros((laplacian.n_states, 0)), np.zeros((laplacian.n_states, 0))]
        self.right = _unit(np.sqrt(laplacian.degrees))
        self._factor(laplacian.root)
        self.left = self.right
        if not laplacian.symmetric:
            self._improve_root()

    def _factor(self, root: int) -> None:
        self._root = root
        base = self._base
        grounded = csc_array(base.sparse + diags_array((np.arange(base.n_states) == root).astype(np.float64)))
        self._factors = splu(
            grounded, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        # F⁻¹ left and F⁻ᵀ right, F the grounded sparse part: what the restarts need.
        self._jumps = (self._factors.solve(base.left), self._factors.solve(base.right, "T")) if base.rank else None

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
        at_root = np.zeros(self._base.n_states)
        at_root[self._root] = 1.0
        return self._solve(at_root, transposed=True)

    def add_edge(self, low: int, high: int) -> None:
        """Add an edge of weight 1 between two states, in both directions."""
        edge = np.zeros(self._base.n_states)
        edge[[low, high]] = np.array([1.0, -1.0]) / np.sqrt(self._base.degrees[[low, high]])
        for side in range(1 if self._base.symmetric else 2):
            answer = self._solve_base(edge, transposed=bool(side))
            self._answers[side] = np.column_stack([self._answers[side], answer])
        self._edges = np.column_stack([self._edges, [low, high]])
        added = np.bincount(self._edges.ravel(), minlength=self._base.n_states)
        self._scale = np.sqrt(1.0 + added / self._base.degrees)
        self.laplacian = self.laplacian.with_edge(low, high)
        self.right = _unit(np.sqrt(self.laplacian.degrees))
        self.left = self.right if self._base.symmetric else _unit(np.abs(self._left_null() * self._scale))

    def _along_edges(self, x: Vectors) -> Vectors:
        low, high = self._edges
        per_degree = (1.0 / np.sqrt(self._base.degrees[self._edges])).reshape(2, -1, *(1,) * (x.ndim - 1))
        return np.asarray(x[low] * per_degree[0] - x[high] * per_degree[1])

    def _solve_base(self, x: Vectors, transposed: bool) -> Vectors:
        """Solve with the world as it was given, restarts included."""
        y = np.asarray(self._factors.solve(x, "T" if transposed else "N"))
        if self._jumps is None:
            return y
        answers, other = (self._jumps[1], self._base.left) if transposed else (self._jumps[0], self._base.right)
        # (F − L Rᵀ)⁻¹ = F⁻¹ + F⁻¹ L (I − Rᵀ F⁻¹ L)⁻¹ Rᵀ F⁻¹
        small = np.eye(self._base.rank) - other.T @ answers
        return np.asarray(y + answers @ np.linalg.solve(small, other.T @ y))

    def _solve(self, x: Vectors, transposed: bool = False) -> Vectors:
        y = self._solve_base(x, transposed)
        if self._edges.size:
            answers = self._answers[1 if transposed and not self._base.symmetric else 0]
            # (N_g + B Bᵀ)⁻¹ = N_g⁻¹ − N_g⁻¹ B (I + Bᵀ N_g⁻¹ B)⁻¹ Bᵀ N_g⁻¹
            small = np.eye(self._edges.shape[1]) + self._along_edges(answers)
            y -= answers @ np.linalg.solve(small, self._along_edges(y))
        return y

    def apply(self, x: Vectors, *, transposed: bool = False) -> Vectors:
        """Return N⁺ x, or its transpose."""
        into, out_of = (self.right, self.left) if transposed else (self.left, self.right)
        y = self._any_solution(x - into * (into @ x), transposed)
        return np.asarray(y - out_of * (out_of @ y))

    def _any_solution(self, x: Vectors, transposed: bool = False) -> Vectors:
        if not self._edges.size:
            return self._solve(x, transposed)
        y = self._solve(self._scale * x, transposed)
        y *= self._scale
        return y

    def smallest(self, k: int, known: Vectors) -> tuple[Vectors, Vectors]:
        """Return the ``k`` smallest ν, ascending, and their vectors ψ, among those orthogonal to ``known``.

        The vector of ν = 0, `left`, must be among those that are known. Lanczos iterations on N⁺, or on N⁺ᵀ N⁺ for
        singular values. A copy of a repeated value may be missed.

        Raises
        ------
        NotAccurate
            If they are not eigenvectors (left singular vectors) to eight digits in four attempts.
        """
        known = np.asfortranarray(known)
        symmetric, n_states = self._base.symmetric, self._base.n_states

        def inverse(x: Vectors) -> Vectors:
            x = np.asarray(x).ravel()
            # What is known holds u, so that x ⟂ u without another projection.
            y = self._any_solution(x - known @ (known.T @ x))
            if not symmetric:
                y = self._any_solution(y - self.right * (self.right @ y), transposed=True)
            y -= known @ (known.T @ y)
            return y

        operator = LinearOperator((n_states, n_states), matvec=inverse, dtype=np.float64)
        n_vectors = min(n_states, max(2 * k + 1, _LEAST_VECTORS))
        for attempt in range(_MOST_ATTEMPTS):
            # Not the same start each time: of a repeated value, the copy that one start leads to is all of that start
            # in the copies' space, and after taking it out nothing would lead to the others.
            rng = np.random.default_rng((known.shape[1], attempt))
            start = rng.standard_normal(n_states)
            large, psi = eigenpairs(operator, k, rng, which="LM", v0=start - known @ (known.T @ start), ncv=n_vectors)
            order = np.argsort(-large)
            nu = 1.0 / large[order] if symmetric else large[order] ** -0.5
            psi = psi[:, order]
            residual = self.residual(nu, psi)
            if residual <= _LARGEST_RESIDUAL:
                break
        check_residual(residual)
        return nu, psi

    def residual(self, nu: Vectors, psi: Vectors) -> float:
        """Return the largest ‖N ψ − ν ψ‖, or for singular values of ‖Nᵀψ − ν y‖ and ‖N y − ν ψ‖ with y = ν N⁺ ψ."""
        largest = 0.0
        symmetric, transposed = self._base.symmetric, self.laplacian.T
        for value, vector in zip(nu, psi.T, strict=True):
            other = vector if symmetric else value * self.apply(vector)
            largest = max(largest, float(np.linalg.norm(self.laplacian @ other - value * vector)))
            if not symmetric:
                largest = max(largest, float(np.linalg.norm(transposed @ vector - value * other)))
        return largest


def _unit(vector: Vectors) -> Vectors:
    vector = vector / vector.max()
    return np.asarray(vector / np.linalg.norm(vector))
