"""Scores from eigenvectors: the sum of Eq. 1, and a bound on what leading components leave out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.scores.bounds import distance_bound
from farpoint.diffusion.scores.request import ScoreRequest
from farpoint.diffusion.spectra.decomposition import Spectrum, walk_spectrum
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, check_integer

_DEFAULT_COMPONENTS = 100
# So many units per state a dense solver may be off; what is measured is up to 15.
_UNITS = 32.0
# Rounding is enlarged by this ratio of degrees.
_MOST_UNEVEN = 1e12


def spectrum_for(walk: Walk, request: ScoreRequest, solver: str) -> Spectrum:
    """Return the spectrum that a solver needs, from the given one if there is one."""
    given = request.decomposition
    if solver == "truncated":
        available = given.n_components if given else walk.n_states
        wanted = request.n_components
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
    if ratio > _MOST_UNEVEN:
        raise InvalidInput(
            f"the weights that enter two states must differ by less than {_MOST_UNEVEN:g} times for a decomposition; "
            f"got {ratio:.2g}. Use solver='local'."
        )


def check_decomposition(walk: Walk, decomposition: Spectrum, form: str) -> None:
    """Fail unless a spectrum is that of this walk."""
    if not isinstance(decomposition, Spectrum):
        raise InvalidInput(
            f"decomposition must be a Spectrum; got {decomposition!r}. Compute one with spectrum(world)."
        )
    if decomposition.fingerprint != walk.fingerprint:
        raise InvalidInput(
            f"decomposition must be of this world ({walk.n_states} states); got {decomposition} of another."
        )
    if form == "walk" and not walk.symmetric:
        raise InvalidInput("form must be 'polar' with a decomposition in a world that is not symmetric; got 'walk'.")


def spectral_scores(spectrum: Spectrum, t: float) -> NDArray[np.float64]:
    """Return f_t of every state from the components of a spectrum, without the first."""
    # f_t(s) = ‖Σ_{i≥2} ω_iᵗ φ_i(s) φ̃_i‖² = aᵀ (Φ̃ᵀΦ̃) a with a_i = ω_iᵗ φ_i(s)                     (Eq. 1)
    a = (spectrum.phi * spectrum.powers(t))[:, 1:]
    phi_tilde = spectrum.phi_tilde[:, 1:]
    return np.asarray(np.einsum("si,si->s", a @ (phi_tilde.T @ phi_tilde), a))


def spectral_bound(spectrum: Spectrum, t: float, values: NDArray[np.float64], symmetric: bool) -> NDArray[np.float64]:
    """Return a bound on |f_t − values| of every state: what the components left out add, and rounding.

    What is left out is r = D^½ Σ_{i>k} ω_iᵗ ψ_i(s) ψ_i / √d(s). The ψ are orthonormal and so are the rows of the
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
