"""The spectrum of a world: eigenvalues ω of the lazy walk with its left (φ) and right (φ̃) eigenvectors.

All come from the orthonormal vectors ψ of the normalized Laplacian N, by Eq. 6 of the supplement:
ω = 1 − ν/2, φ = D^-½ ψ, φ̃ = D^½ ψ. An unsymmetric solver would return left and right vectors that do not match
inside repeated eigenvalues, and the score would be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from farpoint.blas import one_blas_thread
from farpoint.diffusion.spectra.bases import SAME_DENSE, canonical_vectors
from farpoint.diffusion.spectra.laplacian import Laplacian
from farpoint.diffusion.spectra.leading import leading_components
from farpoint.diffusion.walk import Walk
from farpoint.display import Framed
from farpoint.errors import InvalidInput, check_integer, check_time
from farpoint.worlds import WorldLike

# Four n × n arrays of doubles: about 3.2 GB at this size.
DENSE_LIMIT = 10_000
# Below this size, or for this share of the components, the whole decomposition is as fast as a part of it.
SMALL = 500
_MOST_OF_IT = 0.3
# Below this a second singular value cannot be told from the first, which is 0.
_NEARLY_ZERO = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Framed):
    """Eigenvalues of the lazy walk, largest first, and the eigenvectors that belong to them.

    Attributes
    ----------
    omega : array, shape (n_components,)
        Eigenvalues ω of the walk, descending; the first is 1.
    psi : array, shape (n_states, n_components)
        Orthonormal eigenvectors of the normalized Laplacian (left singular vectors in Algorithm 2), one per
        column, each with its largest entry positive.
    degrees : array, shape (n_states,)
        D: the weight that enters each state.
    omega_next : float
        The largest ``|ω|`` that was left out; 0 when nothing was.
    fingerprint : str
        A digest of the walk that it belongs to.

    Examples
    --------
    >>> import farpoint as fp
    >>> spectrum = fp.spectrum(fp.grid((3,)))
    >>> spectrum
    Spectrum(3 of 3 components)
    >>> spectrum.omega.round(12) + 0.0
    array([1. , 0.5, 0. ])
    """

    omega: NDArray[np.float64]
    psi: NDArray[np.float64]
    degrees: NDArray[np.float64]
    omega_next: float
    fingerprint: str

    def columns(self) -> dict[str, Any]:
        """Return one row per component: its number and its eigenvalue."""
        return {"component": np.arange(self.n_components), "omega": self.omega}

    @property
    def n_components(self) -> int:
        """Number of components held."""
        return int(self.omega.size)

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return bool(self.n_components == self.psi.shape[0])

    @property
    def nu(self) -> NDArray[np.float64]:
        """Eigenvalues of the normalized Laplacian, ν = 2 (1 − ω)."""
        return 2.0 * (1.0 - self.omega)

    @property
    def phi(self) -> NDArray[np.float64]:
        """Left eigenvectors of the walk, φ = D^-½ ψ."""
        return self.psi / np.sqrt(self.degrees)[:, None]

    @property
    def phi_tilde(self) -> NDArray[np.float64]:
        """Right eigenvectors of the walk, φ̃ = D^½ ψ."""
        return self.psi * np.sqrt(self.degrees)[:, None]

    def powers(self, t: float) -> NDArray[np.float64]:
        """Return ωᵗ of every component.

        >>> import farpoint as fp
        >>> fp.spectrum(fp.grid((3,))).powers(2).round(12)
        array([1.  , 0.25, 0.  ])
        """
        omega, t = self.omega, check_time(t)
        if not float(t).is_integer():
            # In exact arithmetic the walk of a symmetric world has ω ≥ 0; a rounded zero may lie just below.
            if (omega < -1e-9).any():
                raise InvalidInput(
                    f"t must be a whole number in this world; got {t:g}, and the polar factor has the negative "
                    f"eigenvalue {omega.min():.3g}."
                )
            omega = np.maximum(omega, 0.0)
        return np.asarray(omega**t)

    def first(self, n_components: int) -> Spectrum:
        """Return the leading components only.

        >>> import farpoint as fp
        >>> fp.spectrum(fp.grid((3,))).first(2).omega_next < 1e-12
        True
        """
        n_components = check_integer("n_components", n_components, 1, self.n_components)
        if n_components == self.n_components:
            return self
        left_out = float(np.abs(self.omega[n_components:]).max())
        return Spectrum(
            self.omega[:n_components],
            self.psi[:, :n_components],
            self.degrees,
            max(left_out, self.omega_next),
            self.fingerprint,
        )

    def __repr__(self) -> str:
        return f"Spectrum({self.n_components} of {self.psi.shape[0]} components)"


@one_blas_thread()
def spectrum(world: WorldLike, n_components: int | None = None) -> Spectrum:
    """Return the spectrum of the lazy walk, whole or the ``n_components`` with the largest ω.

    Symmetric worlds: eigenvectors of N (Algorithm 1). Others: the polar decomposition N = R U has
    R = U Σ Uᵀ of the singular value decomposition N = U Σ Vᵀ, so ψ̃ are left singular vectors and ν̃ singular
    values (Algorithm 2); no matrix square root is formed.

    Parameters
    ----------
    world : World
    n_components : int, optional
        How many; default all, by a dense solver. A few of a large sparse world come from Lanczos iterations on the
        inverse (or multigrid where its factors would fill up), checked for missed copies of repeated eigenvalues.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.spectrum(fp.ring(), n_components=10)
    Spectrum(10 of 192 components)
    """
    return walk_spectrum(Walk.of(world), n_components)


def walk_spectrum(walk: Walk, n_components: int | None = None) -> Spectrum:
    """Return the spectrum of a walk; see `spectrum`."""
    n_states = walk.n_states
    if n_components is not None:
        n_components = check_integer("n_components", n_components, 1, n_states)
    laplacian = Laplacian.of(walk)
    if n_components is not None and n_components < _MOST_OF_IT * n_states and n_states > SMALL:
        nu, psi, omega_next = leading_components(laplacian, n_components)
        return Spectrum(1.0 - nu / 2.0, psi, laplacian.degrees, omega_next, walk.fingerprint)
    if n_states > DENSE_LIMIT:
        raise InvalidInput(
            f"a whole spectrum must have at most {DENSE_LIMIT} states; got {n_states}. Use solver='local', "
            "or pass n_components."
        )
    nu, psi = _symmetric_components(laplacian) if walk.symmetric else _polar_components(laplacian)
    whole = Spectrum(1.0 - nu / 2.0, psi, laplacian.degrees, 0.0, walk.fingerprint)
    return whole if n_components is None else whole.first(n_components)


def _symmetric_components(laplacian: Laplacian) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all ν, ascending, and ψ; the first is ψ₁ = √(d / Σ d) as it is known.

    In a world that is nearly in two parts the solver would mix ψ₁ with the next vector, whose ν is nearly 0 too. So ψ₁
    is moved to the other end of the spectrum first: N + 3 ψ₁ψ₁ᵀ has the same eigenvectors, and no other ν is above 2.
    """
    first = np.sqrt(laplacian.degrees / laplacian.degrees.sum())
    moved = laplacian.toarray()
    moved += 3.0 * np.outer(first, first)
    # Divide and conquer: its vectors are orthogonal to rounding, where those of the default driver were found to be off
    # by a hundred times that, and it is no slower.
    nu, psi = linalg.eigh(moved, overwrite_a=True, check_finite=False, driver="evd")
    rest = canonical_vectors(nu[:-1], psi[:, :-1], SAME_DENSE)
    return np.concatenate([[0.0], nu[:-1]]), np.column_stack([first, rest])


def _polar_components(laplacian: Laplacian) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all singular values ν̃, ascending, and left singular vectors ψ̃; fail where two of them are nearly 0."""
    left, singular, _ = linalg.svd(laplacian.toarray(), overwrite_a=True, check_finite=False)
    nu, psi = singular[::-1], left[:, ::-1]
    if nu.size > 1 and nu[1] < _NEARLY_ZERO:
        raise InvalidInput(
            f"the second singular value of Algorithm 2 must be at least {_NEARLY_ZERO:g}; got {nu[1]:.2g}: the world "
            "is nearly in two parts. Use form='walk' or 'symmetrized'."
        )
    return nu, canonical_vectors(nu, psi, SAME_DENSE)
