"""A few components of the spectrum of a large world, none missing, and the Fiedler vector as edges are added.

Two solvers give the smallest ν of the normalized Laplacian N. Measured on two cores (``python -m research.rivals``): on
worlds that lie in a plane (mazes, rooms) the factorization is faster at every size up to a million states, and accurate
to 10⁻¹⁴ where LOBPCG stops at 10⁻⁹, which there is more than the gap between ν₂ and ν₃. On worlds whose layers are wide
(grids of three dimensions, random graphs) the size of its factors grows as a power of the number of states while a
multigrid cycle costs a few products with N, and multigrid (the package pyamg, ``farpoint[scale]``) is faster from about
20 000 states on.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg, splu

from farpoint.diffusion.spectral import Laplacian, Vectors, canonical_vectors
from farpoint.errors import FarpointError

Result = TypeVar("Result")

# A layer this many times wider than that of a square room of as many states: the factors of a grid of 32 × 32 × 32
# (4.3 times) hold 480 entries per state, those of an open room 56, those of a random maze 13.
_WIDE = 3.5
# Up to this many states a factorization is fast whatever the shape.
_DIRECT_LIMIT = 20_000
# Two values closer than this are copies of one.
_SAME_RTOL, _SAME_ATOL = 1e-7, 1e-12
# Copies of the last value that are looked for beyond the components wanted; a star has as many as it has leaves.
_MOST_COPIES = 32
# Solutions lose digits where the root's weight in u is below this share of the largest: another root is better.
_POOR_ROOT = 1e-3
_MOST_ROOTS = 5
_LARGEST_RESIDUAL = 1e-8
# Where values are repeated many times, about one run in several hundred loses half its digits: retry with another
# start vector.
_MOST_ATTEMPTS = 4
# Lanczos vectors: with at least this many few restarts are needed (scipy's own choice).
_LEAST_VECTORS = 20
# A few vectors more than asked for: the last of a block converges slowly when the next value is close.
_GUARD = 2
_TOLERANCE = 1e-9
_MAX_STEPS = 200
_TAKES_GENERATOR = "rng" in inspect.signature(eigsh).parameters

# scipy warns when the tolerance of LOBPCG is not reached; here the residual decides. Only warnings that name this
# module are left out, and from the start: to change the filters around each call is not safe where there are threads.
warnings.filterwarnings("ignore", category=UserWarning, module=r"farpoint\.diffusion\.lanczos")


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
    if n_states <= _DIRECT_LIMIT:
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
    """The Fiedler vector ψ₂ of a world to which edges are added; one factorization or hierarchy serves all of them.

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
    # One run may miss a copy of a repeated eigenvalue. Search the space orthogonal to the vectors found so far, until
    # its smallest value is above the last one wanted: then nothing up to it is missing.
    while psi.shape[1] < min(psi.shape[0], n_components + _MOST_COPIES):
        nu_next, psi_next = solver.smallest(1, psi)
        if nu_next[0] > nu[n_components - 1] * (1.0 + _SAME_RTOL) + _SAME_ATOL:
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


class NotAccurate(FarpointError, ArithmeticError):
    """Vectors that are not eigenvectors to the accuracy promised."""


def check_residual(residual: float) -> None:
    """Fail unless the residual is small enough."""
    if not residual <= _LARGEST_RESIDUAL:
        raise NotAccurate(f"the residual of eigenvectors must be at most {_LARGEST_RESIDUAL:g}; got {residual:.3g}.")


class LaplacianInverse:
    """N⁺ and its transpose as functions, and the smallest eigenvalues or singular values of N that follow.

    N = I − D^-½ M D^-½ is singular: N v = 0 with v = D^½ 1, and uᵀ N = 0 with some u ≥ 0 (u = v in a symmetric world).
    Adding 1 to the diagonal entry of one state g with u_g > 0, the root, makes it regular, and for x ⟂ u the solution
    of (N + e_g e_gᵀ) y = x has y_g = 0, hence N y = x exactly; without its part along v it is y = N⁺ x. No shift is
    needed that would have to be small against eigenvalues near 10⁻⁶.

    Up to a diagonal scaling, N + e_g e_gᵀ is a diagonally dominant M-matrix, for which elimination without pivoting is
    stable. So rows and columns may be ordered alike for little fill: measured on random mazes that leaves half the
    entries of scipy's default (15.9 against 35.8 million at 10⁶ states), and each of the dozens of solves takes less
    time.

    Additions to the sparse part need no new factorization (Woodbury): restarts, which have low rank, and a few edges
    i–j of weight 1, each adding b bᵀ with b = e_i − e_j to D − M.

    Parameters
    ----------
    laplacian : Laplacian of a connected world

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
            # u is among the known vectors, so x ⟂ u without another projection.
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


def multigrid_installed() -> bool:
    """Return whether pyamg can be imported."""
    return find_spec("pyamg") is not None


class MultigridSolver:
    """The smallest eigenvalues of N by preconditioned block iterations; edges that are added keep the multigrid.

    Parameters
    ----------
    laplacian : Laplacian of a connected symmetric world without restarts
    """

    def __init__(self, laplacian: Laplacian) -> None:
        self.laplacian = laplacian
        self._precondition = _hierarchy(laplacian.sparse, self.left)
        self._found: Vectors = np.zeros((laplacian.n_states, 0))

    @property
    def left(self) -> Vectors:
        """The eigenvector D^½ 1 of the eigenvalue 0, of length one."""
        root = np.sqrt(self.laplacian.degrees)
        return np.asarray(root / np.linalg.norm(root))

    def add_edge(self, low: int, high: int) -> None:
        """Add an edge of weight 1 between two states. The vectors of the last call are the next starting point."""
        self.laplacian = self.laplacian.with_edge(low, high)

    def smallest(self, k: int, known: Vectors) -> tuple[Vectors, Vectors]:
        """Return the ``k`` smallest ν, ascending, and their vectors ψ, among those orthogonal to ``known``.

        Raises
        ------
        NotAccurate
            If the iterations end before they are eigenvectors to eight digits.
        """
        size = k + _GUARD
        start = np.random.default_rng(known.shape[1]).standard_normal((self.laplacian.n_states, size))
        if known.shape[1] == 1:
            # Only added to noise: vectors of a symmetric world would never lead out of their symmetry.
            warm = self._found[:, :size]
            start[:, : warm.shape[1]] += 100.0 * np.sqrt(self.laplacian.n_states) * warm
        try:
            nu, psi = lobpcg(
                self.laplacian.sparse,
                start,
                M=self._precondition,
                Y=known,
                tol=_TOLERANCE,
                maxiter=_MAX_STEPS,
                largest=False,
            )
        except (np.linalg.LinAlgError, ValueError, UserWarning) as error:
            raise NotAccurate(str(error)) from error
        order = np.argsort(nu)
        nu, psi = nu[order], psi[:, order]
        if known.shape[1] == 1:
            self._found = psi
        nu, psi = nu[:k], psi[:, :k]
        check_residual(self.residual(nu, psi))
        return nu, psi

    def residual(self, nu: Vectors, psi: Vectors) -> float:
        """Return the largest ‖N ψ − ν ψ‖."""
        return float(np.linalg.norm(self.laplacian @ psi - psi * nu, axis=0).max())


def _hierarchy(laplacian: csr_array, null: Vectors) -> LinearOperator:
    from pyamg import smoothed_aggregation_solver

    # By default pyamg estimates a spectral radius from a random vector of numpy's global generator.
    smooth = ("jacobi", {"weighting": "local"})
    solver = smoothed_aggregation_solver(csr_array(laplacian), B=null[:, None], smooth=smooth, max_coarse=300)
    return solver.aspreconditioner()


def eigenpairs(matrix: Any, k: int, rng: np.random.Generator, **options: Any) -> Any:
    """Return the result of ``scipy.sparse.linalg.eigsh``, the same in each run; it starts from ``v0`` or the generator.

    Lanczos iterations continue from a random vector when the space of the first one is used up, as in a cube, which has
    a few eigenvalues that are repeated many times. Since version 1.17 scipy draws that vector at random unless it is
    given a generator. Before, each process had one sequence, so that two calls in one process differed.

    >>> from scipy.sparse import eye_array
    >>> eigenpairs(2.0 * eye_array(50), 3, np.random.default_rng(0))[0].round(12)
    array([2., 2., 2.])
    """
    if "v0" not in options:
        options["v0"] = rng.standard_normal(matrix.shape[0])
    return eigsh(matrix, k, **options, **({"rng": rng} if _TAKES_GENERATOR else {}))
