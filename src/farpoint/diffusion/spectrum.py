"""The spectrum of a world: eigenvalues ω of the lazy walk with its left (φ) and right (φ̃) eigenvectors.

All of them come from the orthonormal vectors ψ of the normalized Laplacian N, by Eq. 6 of the supplement:
ω = 1 − ν/2, φ = D^-½ ψ, φ̃ = D^½ ψ. An unsymmetric solver would return left and right vectors that do not match
inside repeated eigenvalues, and a wrong score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import LinearOperator, eigsh, splu
from threadpoolctl import threadpool_limits

from farpoint.diffusion.walk import entering_weight, normalized_laplacian
from farpoint.domain import Domain
from farpoint.errors import InvalidInput, check_integer

# Three n × n arrays of doubles: about 2.4 GB at this size.
DENSE_LIMIT = 10_000
# Below this size, or for this share of the components, the whole decomposition is as fast as a part of it.
_SMALL = 500
_ONE_THREAD = 1_000
_MOST_OF_IT = 0.3
# Shift-invert needs N + shift regular (N has a zero eigenvalue), and a shift no larger than the gaps sought.
_SHIFT = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Eigenvalues of the lazy walk, largest first, and the eigenvectors that belong to them.

    Attributes
    ----------
    omega : array, shape (n_components,)
        Eigenvalues ω of the walk, descending; the first is 1.
    psi : array, shape (n_states, n_components)
        Orthonormal eigenvectors of the normalized Laplacian (left singular vectors in Algorithm 2), one a column,
        each with its largest entry positive.
    degrees : array, shape (n_states,)
        D: the weight that enters each state.
    omega_next : float
        The largest |ω| that was left out; 0 when nothing was.

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
        omega = self.omega
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
        )

    def __repr__(self) -> str:
        return f"Spectrum({self.n_components} of {self.psi.shape[0]} components)"


def spectrum(domain: Domain, n_components: int | None = None) -> Spectrum:
    """Return the spectrum of the lazy walk, whole or the ``n_components`` with the largest ω.

    Symmetric worlds: eigenvectors of N (Algorithm 1). Others: the polar decomposition N = R U has
    R = U Σ Uᵀ of the singular value decomposition N = U Σ Vᵀ, so ψ̃ are left singular vectors and ν̃ singular
    values (Algorithm 2); no matrix square root is formed.

    Parameters
    ----------
    domain : Domain
    n_components : int, optional
        How many; default all, by a dense solver. A few of a large sparse world come from Lanczos iterations on the
        inverse, checked for missed copies of repeated eigenvalues.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.spectrum(fp.ring(), n_components=10)
    Spectrum(10 of 192 components)
    """
    domain = domain.walker
    n_states = domain.n_states
    if n_components is not None:
        n_components = check_integer("n_components", n_components, 1, n_states)
    laplacian = normalized_laplacian(domain)
    degrees = entering_weight(domain)
    few = n_components is not None and n_components < _MOST_OF_IT * n_states and n_states > _SMALL
    if few and domain.symmetric:
        assert n_components is not None
        return _leading_components(csc_array(laplacian), degrees, n_components)
    if n_states > DENSE_LIMIT:
        raise InvalidInput(
            f"a whole spectrum must have at most {DENSE_LIMIT} states; got {n_states}. Use solver='local', "
            "or pass n_components (symmetric worlds)."
        )
    # Inside repeated eigenvalues the vectors depend on the order of additions: one thread, where that is no loss.
    with threadpool_limits(1 if n_states <= _ONE_THREAD else None):
        if domain.symmetric:
            nu, psi = linalg.eigh(laplacian.toarray(), overwrite_a=True, check_finite=False)
        else:
            left, singular, _ = linalg.svd(laplacian.toarray(), overwrite_a=True, check_finite=False)
            nu, psi = singular[::-1], left[:, ::-1]
    whole = Spectrum(1.0 - nu / 2.0, with_fixed_signs(psi), degrees, 0.0)
    return whole if n_components is None else whole.first(n_components)


def with_fixed_signs(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns, each with the sign that makes its largest entry positive.

    Of entries equally large up to rounding (a symmetric world has many) the first decides.

    >>> with_fixed_signs(np.array([[-1.0, 0.5], [1.0, -2.0]]))
    array([[ 1. , -0.5],
           [-1. ,  2. ]])
    """
    size = np.abs(vectors)
    first_large = (size >= (1 - 1e-6) * size.max(axis=0)).argmax(axis=0)
    signs = np.where(vectors[first_large, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return np.asarray(vectors * signs)


def _leading_components(laplacian: csc_array, degrees: NDArray[np.float64], n_components: int) -> Spectrum:
    n_states = laplacian.shape[0]
    solve = splu(csc_array(laplacian + _SHIFT * eye_array(n_states, format="csc"))).solve
    start = np.random.default_rng(0).standard_normal(n_states)

    def smallest(k: int, known: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        def inverse(x: NDArray[np.float64]) -> NDArray[np.float64]:
            x = np.asarray(x).ravel()
            y = solve(x - known @ (known.T @ x))
            return np.asarray(y - known @ (known.T @ y))

        operator = LinearOperator((n_states, n_states), matvec=inverse, dtype=np.float64)
        nu, psi = eigsh(laplacian, k, sigma=-_SHIFT, OPinv=operator, v0=start)
        order = np.argsort(nu)
        return nu[order], psi[:, order]

    nu, psi = smallest(n_components, np.zeros((n_states, 0)))
    # One Lanczos run may miss a copy of a repeated eigenvalue. Look at what is left after taking out what was found,
    # until the smallest of the rest is no smaller than the largest found: then nothing below it is missing.
    while True:
        nu_next, psi_next = smallest(1, psi)
        if nu_next[0] >= nu[n_components - 1] - 1e-9:
            break
        order = np.argsort(np.append(nu, nu_next[0]), kind="stable")
        nu = np.append(nu, nu_next[0])[order]
        psi = np.column_stack([psi, psi_next])[:, order]
    beyond = min([*nu[n_components:], nu_next[0]])
    nu, psi = nu[:n_components], psi[:, :n_components]
    return Spectrum(1.0 - nu / 2.0, with_fixed_signs(psi), degrees, float(1.0 - beyond / 2.0))
