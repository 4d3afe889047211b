"""The smallest eigenvalues of N in symmetric worlds whose factors would fill up: LOBPCG with algebraic multigrid.

For grids of three dimensions or graphs without small separators the sparse factors grow like a power of the world,
while a multigrid cycle stays a few products with N. Needs the package pyamg (``farpoint[scale]``).
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, lobpcg

from farpoint.diffusion.spectra.inverse import NotAccurate, check_residual
from farpoint.diffusion.spectra.laplacian import Laplacian, Vectors

# A few vectors more than asked for: the last of a block converges slowly when the next value is close.
_GUARD = 2
_TOLERANCE = 1e-9
_MAX_STEPS = 200


def multigrid_installed() -> bool:
    """Return whether pyamg can be imported."""
    return find_spec("pyamg") is not None


class MultigridSolver:
    """The smallest eigenvalues of N by preconditioned block iterations; edges that are added keep the multigrid.

    Parameters
    ----------
    laplacian : Laplacian
        Of a connected symmetric world without restarts.
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
        with warnings.catch_warnings():
            # scipy warns when the tolerance is not reached; here the residual decides.
            warnings.simplefilter("ignore")
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
            except (np.linalg.LinAlgError, ValueError) as error:
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

    # pyamg draws from numpy's global generator; the same hierarchy each time, and the generator as it was.
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(0)  # noqa: NPY002
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solver = smoothed_aggregation_solver(csr_array(laplacian), B=null[:, None], max_coarse=300)
    finally:
        np.random.set_state(state)  # noqa: NPY002
    return solver.aspreconditioner()
