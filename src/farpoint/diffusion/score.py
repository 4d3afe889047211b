"""The score f_t(s) of every state: how far a walk of t steps from s still is from forgetting where it began.

Three ways to the same numbers (Eq. 1 and Proposition 2):

- ``spectral``: f_t(s) = ‖Σ_{i≥2} ω_iᵗ φ_i(s) φ̃_i‖², any t > 0, from a whole dense decomposition;
- ``local``: f_t(s) = ‖Wᵗe_s − π₀‖², whole t, following the walk inside the t-step neighbourhood of each state;
- ``truncated``: the spectral sum over the leading components, with a bound on what is missing.

In worlds that are not symmetric the two formulas are two different scores, named by ``form``: ``polar`` is Algorithm 2
(Eq. 1 on the polar factor of N), ``walk`` is Proposition 2 on the walk itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.spectrum import DENSE_LIMIT, Spectrum, spectrum
from farpoint.diffusion.walk import (
    check_walkable,
    entering_weight,
    leaving_weight,
    stationary,
    why_not_polar,
    why_not_walk,
)
from farpoint.domain import Domain
from farpoint.errors import InvalidInput, check_integer, check_time, check_word

SOLVERS = ("auto", "spectral", "local", "truncated")
FORMS = ("auto", "polar", "walk", "symmetrized")

# Rough times of one core: an edge update of the local solver, and a dense eigendecomposition per n³.
_SECONDS_PER_MOVE = 2e-9
_SECONDS_PER_CUBE = 1e-9
# Beyond this, on one core, auto rather gives an approximate score with its bound.
_PATIENCE_SECONDS = 600.0
# A dense singular value decomposition of this size takes about ten seconds.
POLAR_LIMIT = 2_500
_DEFAULT_COMPONENTS = 100
_ROUNDING = 1e-9


class Scores(NDArray[np.float64]):
    """f_t of every state: an array of floats that remembers how it was made.

    Slices and results of arithmetic are plain arrays; only the whole carries the record.

    Attributes
    ----------
    t : float
    solver : str
        The solver that made it.
    form : str
        ``"polar"`` or ``"walk"``; in symmetric worlds they are the same number.
    reason : str
        Why this solver and form.
    error_bound : array of float, shape (n_states,), or None
        No entry is farther than this from f_t; None where the solver is exact up to rounding.

    Examples
    --------
    >>> import farpoint as fp
    >>> scores = fp.score(fp.open_room(4, 4), t=2)
    >>> scores.solver, scores.t, scores.error_bound
    ('local', 2.0, None)
    """

    t: float = float("nan")
    solver: str = "unknown"
    form: str = "unknown"
    reason: str = ""
    error_bound: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, values: NDArray[np.float64], **record: Any) -> Scores:
        """Return ``values`` with the record of how they were made."""
        scores = np.asarray(values, dtype=np.float64).view(cls)
        for name, value in record.items():
            setattr(scores, name, value)
        return scores

    def copy(self, order: Any = "C") -> Scores:
        """Return a copy that carries the record."""
        return Scores.of(np.array(self, order=order), **vars(self))

    def __deepcopy__(self, memo: Any) -> Scores:
        return self.copy()

    def __reduce__(self) -> Any:
        return _restored, (np.asarray(self), vars(self))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]


def _restored(values: NDArray[np.float64], record: dict[str, Any]) -> Scores:
    return Scores.of(values, **record)


def score(
    domain: Domain,
    t: float = 4,
    solver: str = "auto",
    *,
    form: str = "auto",
    n_components: int | None = None,
    decomposition: Spectrum | None = None,
) -> Scores:
    """Return f_t(s) of every state: large where a random walk seldom comes.

    Parameters
    ----------
    domain : Domain
    t : float
        Diffusion time, above 0. Larger is smoother and gives fewer local maxima. The local solver needs a whole number.
    solver : {"auto", "spectral", "local", "truncated"}
        ``"auto"`` takes the cheapest that is exact, or, where none can be afforded, the truncated one; the result's
        ``solver`` and ``reason`` say which and why.
    form : {"auto", "polar", "walk", "symmetrized"}
        Only matters in worlds that are not symmetric: Algorithm 2 of the paper, Proposition 2 on the walk itself, or
        Algorithm 1 on the mean of the weights there and back. ``"auto"`` takes the first of these that is defined.
        It takes Algorithm 2 where that is defined, does not explode (its ω lie in −1 … 1) and is affordable, unless
        ``solver="local"`` is asked for, which follows the walk.
    n_components : int, optional
        Components of the truncated solver (default 100, or fewer states if there are fewer).
    decomposition : Spectrum, optional
        A spectrum of this world computed before, to be used again for another t.

    Returns
    -------
    Scores
        An array of shape (n_states,) with attributes ``t``, ``solver``, ``form``, ``reason`` and ``error_bound``.

    Raises
    ------
    InvalidInput
        t ≤ 0, a fraction of t with the local solver, a solver that cannot compute the form asked for.
    NotConnected
        A world in several parts.

    Examples
    --------
    The corners of an open room are its far points:

    >>> import farpoint as fp
    >>> scores = fp.score(fp.open_room(3, 3), t=4)
    >>> scores.reshape(3, 3).round(3)
    array([[0.048, 0.032, 0.048],
           [0.032, 0.002, 0.032],
           [0.048, 0.032, 0.048]])
    """
    t = check_time(t)
    solver = check_word("solver", solver, SOLVERS)
    form = check_word("form", form, FORMS)
    if n_components is not None:
        n_components = check_integer("n_components", n_components, 1, domain.n_states)
        if solver == "auto":
            solver = "truncated"
        elif solver != "truncated":
            raise InvalidInput(f"n_components must go with solver='truncated'; got solver={solver!r}.")
    check_walkable(domain)
    # In worlds with episodes the walk begins again where they end.
    domain = domain.walker
    if form == "symmetrized" or (form == "auto" and solver == "auto" and _only_symmetrized(domain)):
        why = "asked for" if form == "symmetrized" else f"auto: no other is defined ({why_not_walk(domain)})"
        return _symmetrized(domain, t, solver, why, n_components, decomposition)
    if decomposition is not None:
        _check_decomposition(domain, decomposition, form)
    may_fall_back = form == "auto" and solver == "auto" and t.is_integer()
    form, form_reason = _choose_form(domain, form, solver)
    solver, reason = _choose_solver(domain, t, solver, form, decomposition)
    reason = reason + form_reason
    if solver == "local":
        return Scores.of(_local(domain, int(t)), t=t, solver=solver, form=form, reason=reason)
    if solver == "truncated":
        most = decomposition.n_components if decomposition else domain.n_states
        n_components = n_components or min(_DEFAULT_COMPONENTS, most)
        parts = decomposition.first(n_components) if decomposition else spectrum(domain, n_components)
    else:
        parts = decomposition if decomposition else spectrum(domain)
        if not parts.complete:
            raise InvalidInput(
                f"decomposition must be whole for solver='spectral'; got {parts}. Use solver='truncated'."
            )
    if np.abs(parts.omega).max() > 1.0 + _ROUNDING:
        if may_fall_back:
            reason = f"auto: Algorithm 2 has ω = {parts.omega.min():.3g} here and would explode, so form='walk'"
            return Scores.of(_local(domain, int(t)), t=t, solver="local", form="walk", reason=reason)
        raise InvalidInput(
            f"the eigenvalues ω of Algorithm 2 must lie in −1 … 1; got {parts.omega.min():.3g} in this world, with "
            "which the score grows without limit. Use form='walk'."
        )
    values = _spectral(parts, t)
    bound = _truncation_bound(parts, t, values) if solver == "truncated" else None
    return Scores.of(values, t=t, solver=solver, form=form, reason=reason, error_bound=bound)


def _symmetrized(
    domain: Domain, t: float, solver: str, why: str, n_components: int | None, decomposition: Spectrum | None
) -> Scores:
    both_ways = Domain.from_adjacency(domain.adjacency + domain.adjacency.T, name=domain.name)
    scores = score(both_ways, t, solver, n_components=n_components, decomposition=decomposition)
    scores.form, scores.reason = "symmetrized", f"{scores.reason}; form {why}"
    return scores


def _only_symmetrized(domain: Domain) -> bool:
    return bool(not domain.symmetric and why_not_polar(domain) and why_not_walk(domain))


def _check_decomposition(domain: Domain, parts: Spectrum, form: str) -> None:
    if not np.array_equal(parts.degrees, entering_weight(domain)):
        raise InvalidInput(f"decomposition must be of this world ({domain.n_states} states); got {parts} of another.")
    if form == "walk" and not domain.symmetric:
        raise InvalidInput("form must be 'polar' with a decomposition in a world that is not symmetric; got 'walk'.")


def _choose_form(domain: Domain, form: str, solver: str) -> tuple[str, str]:
    if domain.symmetric:
        return ("walk" if form == "auto" else form), ""
    if form == "auto":
        problem = why_not_polar(domain) if solver == "auto" else ""
        if solver == "auto" and not problem and domain.n_states > POLAR_LIMIT:
            problem = f"Algorithm 2 takes minutes for more than {POLAR_LIMIT} states."
        form = "walk" if solver == "local" or problem else "polar"
        meaning = "Proposition 2 on the walk" if form == "walk" else "Algorithm 2"
        return form, f"; the world is not symmetric, so {meaning} (form={form!r}). {problem}".rstrip()
    if form == "polar" and solver == "local":
        raise InvalidInput("form must be 'walk' with solver='local' in a world that is not symmetric; got 'polar'.")
    if form == "walk" and solver in ("spectral", "truncated"):
        raise InvalidInput(
            f"form must be 'polar' with solver={solver!r} in a world that is not symmetric; got 'walk'. "
            "Use solver='local'."
        )
    return form, ""


def _choose_solver(domain: Domain, t: float, solver: str, form: str, decomposition: Spectrum | None) -> tuple[str, str]:
    whole = t.is_integer()
    if solver == "local" and not whole:
        raise InvalidInput(f"t must be a whole number with solver='local'; got {t:g}. Use solver='spectral'.")
    if solver != "auto":
        return solver, "asked for"
    if decomposition is not None:
        return ("spectral" if decomposition.complete else "truncated"), "auto: a decomposition was given"
    if not domain.symmetric:
        if form == "polar":
            return "spectral", "auto: Algorithm 2 needs the singular vectors"
        if not whole:
            raise InvalidInput(f"t must be a whole number with form='walk'; got {t:g}. Use form='polar'.")
        return "local", "auto: the walk's own form is followed step by step"
    if not whole:
        if domain.n_states <= DENSE_LIMIT:
            return "spectral", "auto: t is not a whole number"
        return (
            "truncated",
            f"auto: t is not a whole number and {domain.n_states} states are too many for dense",
        )
    local = local_seconds(domain, int(t))
    if domain.n_states > DENSE_LIMIT:
        if local <= _PATIENCE_SECONDS:
            return "local", f"auto: {domain.n_states} states are too many for a whole decomposition"
        return "truncated", f"auto: following {t:g} steps would take about {local:.0f} s, a whole decomposition more"
    if local <= _SECONDS_PER_CUBE * domain.n_states**3:
        return "local", f"auto: following {t:g} steps is cheaper than a whole decomposition"
    return "spectral", f"auto: a whole decomposition is cheaper than following {t:g} steps"


def local_seconds(domain: Domain, t: int) -> float:
    """Return roughly how long the local solver takes on one core, from the neighbourhoods of a few states."""
    from farpoint.diffusion.kernels import moves_per_state

    samples = np.linspace(0, domain.n_states - 1, num=min(32, domain.n_states)).astype(np.int64)
    matrix = domain.adjacency
    return _SECONDS_PER_MOVE * domain.n_states * float(moves_per_state(matrix.indptr, matrix.indices, samples, t))


def _local(domain: Domain, t: int) -> NDArray[np.float64]:
    import numba

    from farpoint.diffusion.kernels import local_scores

    matrix = domain.adjacency
    n_states, n_threads = domain.n_states, numba.get_num_threads()
    leaving = leaving_weight(domain)
    stuck = leaving == 0
    return np.asarray(
        local_scores(
            matrix.indptr,
            matrix.indices,
            matrix.data,
            np.where(stuck, 1.0, 0.5),
            0.5 / np.where(stuck, 1.0, leaving),
            stationary(domain),
            t,
            np.zeros((n_threads, 2, n_states)),
            np.zeros((n_threads, n_states), dtype=np.int32),
            np.empty((n_threads, n_states + 1), dtype=np.int32),
        )
    )


def _spectral(parts: Spectrum, t: float) -> NDArray[np.float64]:
    # f_t(s) = ‖Σ_{i≥2} ω_iᵗ φ_i(s) φ̃_i‖² = aᵀ (Φ̃ᵀΦ̃) a with a_i = ω_iᵗ φ_i(s)                     (Eq. 1)
    a = (parts.phi * parts.powers(t))[:, 1:]
    phi_tilde = parts.phi_tilde[:, 1:]
    return np.asarray(np.einsum("si,si->s", a @ (phi_tilde.T @ phi_tilde), a))


def _truncation_bound(parts: Spectrum, t: float, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a bound on |f_t − values| of every state.

    What is left out is r = D^½ Σ_{i>k} ω_iᵗ ψ_i(s) ψ_i / √d(s). The ψ are orthonormal and so are the rows of the
    whole Ψ, hence ‖r‖² ≤ d_max / d(s) · ω_{k+1}^{2t} · (1 − Σ_{i≤k} ψ_i(s)²), and
    |‖a + r‖² − ‖a‖²| ≤ 2 ‖a‖ ‖r‖ + ‖r‖².
    """
    missing = np.maximum(1.0 - np.einsum("si,si->s", parts.psi, parts.psi), 0.0)
    rest = parts.omega_next**t * np.sqrt(parts.degrees.max() / parts.degrees * missing)
    return np.asarray(2.0 * np.sqrt(values) * rest + rest**2)
