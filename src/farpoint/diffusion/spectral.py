"""The spectrum of a world: eigenvalues ω of the lazy walk with its left (φ) and right (φ̃) eigenvectors, and the score.

All come from the orthonormal vectors ψ of the normalized Laplacian N, by Eq. 6 of the supplement:
ω = 1 − ν/2, φ = D^-½ ψ, φ̃ = D^½ ψ. An unsymmetric solver would return left and right vectors that do not match
inside repeated eigenvalues, and the score would be wrong.

Inside a repeated eigenvalue any orthonormal basis is right, and which one a solver returns depends on the processor and
on how many threads add the numbers. Options that climb eigenvectors would depend on it too, so `canonical_vectors`
chooses one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_array, diags_array, eye_array

from farpoint.blas import one_blas_thread
from farpoint.diffusion.bounds import distance_bound
from farpoint.diffusion.walk import AUTO_POLAR_LIMIT, MOST_UNEVEN, NEARLY_ZERO, Walk, check_polar
from farpoint.display import Tabular
from farpoint.errors import InvalidInput, check_integer, check_time
from farpoint.worlds import WorldLike

Vectors = NDArray[np.float64]

# Four n × n arrays of doubles: about 3.2 GB at this size.
DENSE_LIMIT = 10_000
# Below this size, or for this share of the components, the whole decomposition is as fast as a part of it.
SMALL = 500
_MOST_OF_IT = 0.3
# Values nearer than this, relatively, or nearer than the rounding of a dense solver are one that is repeated: those of
# an iterative solver, which stops before the last digits, and those of a dense one.
SAME_VALUE, SAME_DENSE = 1e-9, 1e-13
_ROUNDING = 1e-13
# Entries that are equal up to rounding: of these the first decides.
_SAME_SIZE = 1e-6
_DEFAULT_COMPONENTS = 100
# Largest error of a dense solver, in units of rounding per state; up to 15 were measured.
_UNITS = 32.0


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Tabular):
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
        omega_next = max(float(np.abs(self.omega[n_components:]).max()), self.omega_next)
        return replace(self, omega=self.omega[:n_components], psi=self.psi[:, :n_components], omega_next=omega_next)

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
        from farpoint.diffusion.lanczos import leading_components

        nu, psi, omega_next = leading_components(laplacian, n_components)
        return Spectrum(1.0 - nu / 2.0, psi, laplacian.degrees, omega_next, walk.fingerprint)
    if n_states > DENSE_LIMIT:
        raise InvalidInput(
            f"a whole spectrum must have at most {DENSE_LIMIT} states; got {n_states}. Use solver='local', "
            "or pass n_components."
        )
    if walk.symmetric:
        nu, psi = _symmetric_components(laplacian)
        whole = Spectrum(1.0 - nu / 2.0, psi, laplacian.degrees, 0.0, walk.fingerprint)
    else:
        whole = walk.polar_spectrum if n_states <= AUTO_POLAR_LIMIT else polar_spectrum(walk)
        if n_states > 1 and whole.nu[1] < NEARLY_ZERO:
            raise InvalidInput(
                f"the second singular value of Algorithm 2 must be at least {NEARLY_ZERO:g}; got {whole.nu[1]:.2g}: "
                "the world is nearly in two parts. Use form='walk' or 'symmetrized'."
            )
    return whole if n_components is None else whole.first(n_components)


def polar_spectrum(walk: Walk) -> Spectrum:
    """Return all singular values ν̃ and left singular vectors ψ̃ of Algorithm 2, computed densely.

    >>> import farpoint as fp
    >>> polar_spectrum(Walk.of(fp.four_rooms(wind=0.2)))
    Spectrum(104 of 104 components)
    """
    laplacian = Laplacian.of(walk)
    left, singular, _ = linalg.svd(laplacian.toarray(), overwrite_a=True, check_finite=False)
    nu, psi = singular[::-1], left[:, ::-1]
    psi = canonical_vectors(nu, psi, SAME_DENSE)
    return Spectrum(1.0 - nu / 2.0, psi, laplacian.degrees, 0.0, walk.fingerprint)


def _symmetric_components(laplacian: Laplacian) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all ν, ascending, and ψ; the first is the known ψ₁ = √(d / Σ d).

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


@dataclass(frozen=True, eq=False)
class Laplacian:
    """N = ``sparse`` − ``left`` ``right``ᵀ, with columns as "from".

    Attributes
    ----------
    sparse : sparse matrix, shape (n_states, n_states)
    degrees : array
        D, the weight that enters each state.
    symmetric : bool
    root : int
        A state from which the walk reaches every other.
    left, right : arrays, shape (n_states, rank)
        The restarts; of rank 0 where there are none.

    Examples
    --------
    >>> import farpoint as fp
    >>> laplacian = Laplacian.of(Walk.of(fp.grid((3,))))
    >>> np.abs(laplacian @ np.sqrt(laplacian.degrees)).max() < 1e-15
    np.True_
    """

    sparse: csr_array
    degrees: Vectors
    symmetric: bool
    root: int
    left: Vectors
    right: Vectors

    @classmethod
    def of(cls, walk: Walk) -> Laplacian:
        """Return the Laplacian of a walk on which Algorithm 2 is defined."""
        check_polar(walk)
        scale = walk.entering**-0.5
        sparse = csr_array(eye_array(walk.n_states) - diags_array(scale) @ walk.moves.T @ diags_array(scale))
        none = np.zeros((walk.n_states, 0))
        left = none if walk.jumps is None else (walk.jumps.into * scale).T
        right = none if walk.jumps is None else (walk.jumps.out * scale).T
        if walk.symmetric:
            root = int(walk.entering.argmax())
        else:
            _, sources, component = walk.sets
            root = int(np.flatnonzero(sources[component])[0])
        return cls(sparse, walk.entering, walk.symmetric, root, left, right)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.sparse.shape[0])

    @property
    def T(self) -> Laplacian:
        """The transpose."""
        return replace(self, sparse=csr_array(self.sparse.T), left=self.right, right=self.left)

    def __matmul__(self, x: Vectors) -> Vectors:
        product = np.asarray(self.sparse @ x)
        return product - self.left @ (self.right.T @ x) if self.rank else product

    @property
    def rank(self) -> int:
        """Rank of the part that is not sparse."""
        return int(self.left.shape[1])

    def toarray(self) -> Vectors:
        """Return the dense matrix."""
        dense = self.sparse.toarray()
        if self.rank:
            dense -= self.left @ self.right.T
        return np.asarray(dense)

    def with_edge(self, low: int, high: int) -> Laplacian:
        """Return N after an edge of weight 1 between two states is added, in both directions.

        >>> import farpoint as fp
        >>> path, ring = fp.grid((3,)), fp.World.from_graph(1 - np.eye(3))
        >>> closed = Laplacian.of(Walk.of(path)).with_edge(0, 2)
        >>> closed.degrees, bool(np.allclose(closed.toarray(), fp.diffusion.normalized_laplacian(ring).toarray()))
        (array([2., 2., 2.]), True)
        """
        ends = np.array([low, high])
        degrees = self.degrees.copy()
        degrees[ends] += 1.0
        # D − M gains b bᵀ with b = e_low − e_high.
        b = np.array([1.0, -1.0]) / np.sqrt(self.degrees[ends])
        edge = csr_array((np.outer(b, b).ravel(), (ends.repeat(2), np.tile(ends, 2))), shape=self.sparse.shape)
        scale = np.sqrt(self.degrees / degrees)
        sparse = csr_array(diags_array(scale) @ (self.sparse + edge) @ diags_array(scale))
        left, right = self.left * scale[:, None], self.right * scale[:, None]
        return replace(self, sparse=sparse, degrees=degrees, left=left, right=right)


def canonical_vectors(nu: Vectors, psi: Vectors, same: float = SAME_VALUE) -> Vectors:
    """Return eigenvectors with the same spans, in a basis that depends on those spans only, signs fixed.

    Inside a repeated eigenvalue the first vector is the longest projection of a state's unit vector onto the span (the
    first state wins a tie); the others follow in the same way from the rest of the span.

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
    # The squared length of the projection of every e_s onto the rest of the span.
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

    Among entries that are equally large up to rounding (a symmetric world has many) the first decides.

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


def spectrum_for(walk: Walk, solver: str, wanted: int | None, given: Spectrum | None) -> Spectrum:
    """Return the spectrum that a solver needs: ``wanted`` components, computed or taken from the given spectrum."""
    if solver == "truncated":
        available = given.n_components if given else walk.n_states
        if wanted is not None:
            check_integer("n_components", wanted, 1, walk.n_states)
        n_components = wanted or min(_DEFAULT_COMPONENTS, available)
        return given.first(n_components) if given else walk_spectrum(walk, n_components)
    if given is not None and not given.complete:
        raise InvalidInput(f"decomposition must be whole for solver='spectral'; got {given}. Use solver='truncated'.")
    return given if given is not None else walk_spectrum(walk)


def check_even(spectrum: Spectrum) -> None:
    """Fail where the degrees differ so much that rounding would be larger than any score.

    >>> import farpoint as fp
    >>> check_even(fp.spectrum(fp.ring()))
    """
    ratio = spectrum.degrees.max() / spectrum.degrees.min()
    if ratio > MOST_UNEVEN:
        raise InvalidInput(
            f"the weights that enter two states must differ by less than {MOST_UNEVEN:g} times for a decomposition; "
            f"got {ratio:.2g}. Use solver='local', in a world that is not symmetric with form='walk'."
        )


def check_decomposition(walk: Walk, decomposition: Spectrum, form: str) -> None:
    """Fail unless a spectrum is that of this walk."""
    if not isinstance(decomposition, Spectrum):
        raise InvalidInput(
            f"decomposition must be a Spectrum; got {decomposition!r}. Compute one with spectrum(world)."
        )
    if form == "walk" and not walk.symmetric:
        raise InvalidInput(
            "form must be 'polar' with a decomposition in a world that is not symmetric; got 'walk'. Pass form='polar' "
            "for that quantity, or solver='local' without the decomposition."
        )
    if decomposition.fingerprint != walk.fingerprint:
        what, advice = "this world", ""
        if form == "symmetrized":
            what = "the symmetrized walk of this world"
            advice = " Pass form='polar' for the score of spectrum(world), or a solver= without it."
        raise InvalidInput(
            f"decomposition must be of {what} ({walk.n_states} states); got {decomposition} of another.{advice}"
        )


def spectral_scores(spectrum: Spectrum, t: float) -> NDArray[np.float64]:
    """Return f_t of every state from the components of a spectrum, without the first."""
    # f_t(s) = ‖Σ_{i≥2} ω_iᵗ φ_i(s) φ̃_i‖² = aᵀ (Φ̃ᵀΦ̃) a with a_i = ω_iᵗ φ_i(s)                     (Eq. 1)
    a = (spectrum.phi * spectrum.powers(t))[:, 1:]
    phi_tilde = spectrum.phi_tilde[:, 1:]
    return np.asarray(np.einsum("si,si->s", a @ (phi_tilde.T @ phi_tilde), a))


def spectral_bound(spectrum: Spectrum, t: float, values: NDArray[np.float64], symmetric: bool) -> NDArray[np.float64]:
    """Return a bound on |f_t − values| of every state: what the components left out add, and rounding.

    The part left out is r = D^½ Σ_{i>k} ω_iᵗ ψ_i(s) ψ_i / √d(s). The ψ are orthonormal and so are the rows of the
    whole Ψ, hence ‖r‖² ≤ d_max / d(s) · ω_{k+1}^{2t} · (1 − Σ_{i≤k} ψ_i(s)²), and
    |‖a + r‖² − ‖a‖²| ≤ 2 ‖a‖ ‖r‖ + ‖r‖².

    A solver returns the ν and ψ of a matrix that is a few n units from N. That changes ωᵗ by what it changes when ω is
    moved so far, and the vectors by as much; the first vector too where it is not known (Algorithm 2), by that over ν₂.
    D^½ and D^-½ enlarge it by √(d_max / d(s)), and the sums of the products of both by the square of that.
    """
    missing = np.maximum(1.0 - np.einsum("si,si->s", spectrum.psi, spectrum.psi), 0.0)
    rest = spectrum.omega_next**t * np.sqrt(spectrum.degrees.max() / spectrum.degrees * missing)
    off = _UNITS * spectrum.psi.shape[0] * 2.0**-53
    size = np.abs(spectrum.omega)
    change = float(((size + off) ** t - np.maximum(size - off, 0.0) ** t).max()) + off
    if not symmetric and spectrum.n_components > 1:
        change += off / max(float(spectrum.nu[1]), off)
    ratio = spectrum.degrees.max() / spectrum.degrees
    return np.asarray(distance_bound(values, rest + change * np.sqrt(ratio)) + off * ratio)
