"""The score f_t(s) of every state: how far a walk of t steps from s still is from forgetting where it began.

Four ways to the same numbers (Eq. 1 and Proposition 2):

- ``spectral``: f_t(s) = ‖Σ_{i≥2} ω_iᵗ φ_i(s) φ̃_i‖², any t > 0, from a whole dense decomposition;
- ``local``: f_t(s) = ‖Wᵗe_s − π₀‖², whole t, following the walk inside the t-step neighborhood of each state, all of
  it or, with a tolerance, the part that matters, with a bound on the rest;
- ``truncated``: the spectral sum over the leading components, with a bound on what is missing;
- ``probes``: an estimate from random vectors, with its standard error.

In worlds that are not symmetric the two formulas are two different scores, named by ``form``: ``polar`` is Algorithm 2
(Eq. 1 on the polar factor of N), ``walk`` is Proposition 2 on the walk itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.scores.bounds import check_tolerance
from farpoint.diffusion.scores.choose import FORMS, SOLVERS, choose_form, choose_solver, only_symmetrized
from farpoint.diffusion.scores.local import Progress, local_scores
from farpoint.diffusion.scores.probes import DEFAULT_PROBES, probe_scores
from farpoint.diffusion.scores.result import Scores
from farpoint.diffusion.spectra.decomposition import Spectrum, spectrum
from farpoint.diffusion.walk import both_ways, check_walkable, entering_weight, why_not_walk
from farpoint.errors import InvalidInput, check_integer, check_time, check_word
from farpoint.worlds import World

_DEFAULT_COMPONENTS = 100
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Asked:
    """What `score` was asked for, checked."""

    t: float
    solver: str
    form: str
    n_components: int | None
    decomposition: Spectrum | None
    tolerance: float | None
    n_probes: int
    seed: int
    checkpoint: str | Path | None
    progress: Progress | None
    n_jobs: int


def score(
    world: World,
    t: float = 4,
    solver: str = "auto",
    *,
    form: str = "auto",
    tolerance: float | None = None,
    n_components: int | None = None,
    decomposition: Spectrum | None = None,
    n_probes: int | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    n_jobs: int = -1,
) -> Scores:
    """Return f_t(s) of every state: large where a random walk seldom comes.

    Parameters
    ----------
    world : World
    t : float
        Diffusion time, above 0. Larger is smoother and gives fewer local maxima. The local solver and the probes need
        a whole number.
    solver : {"auto", "spectral", "local", "truncated", "probes"}
        ``"auto"`` takes the cheapest that is exact; where none can be afforded, the local one with a tolerance of a
        thousandth; where that cannot either, probes (or, for a fraction of t, the truncated one). The result's
        ``solver`` and ``reason`` say which and why.
    form : {"auto", "polar", "walk", "symmetrized"}
        Only matters in worlds that are not symmetric: Algorithm 2 of the paper, Proposition 2 on the walk itself, or
        Algorithm 1 on the mean of the weights there and back. ``"auto"`` takes the first of these that is defined.
        It takes Algorithm 2 where that is defined, does not explode (its ω lie in −1 … 1) and is affordable, unless
        ``solver="local"`` is asked for, which follows the walk.
    tolerance : float, optional
        Relative error that each score may have, for the local solver: the walk is then followed only as far as needed,
        which for large t is far cheaper. ``error_bound`` of the result holds what is guaranteed of each state: within
        the tolerance, but for scores so small that the rounding of doubles is larger. Default: exact.
    n_components : int, optional
        Components of the truncated solver (default 100, or fewer states if there are fewer).
    decomposition : Spectrum, optional
        A spectrum of this world computed before, to be used again for another t.
    n_probes, seed : int
        Of the probes: how many (default 256, for a standard error of 9 %), and the seed of their signs.
    checkpoint : path, optional
        A folder in which the local solver keeps the blocks that are done. Called again with the same folder after an
        interruption it computes only those that are missing. Other solvers have no use for it.
    progress : function of (done, total), optional
        Called after each block of the local solver, or each group of probes.
    n_jobs : int
        Workers of the local solver and the probes; the numbers do not depend on it. See also `engine`.

    Returns
    -------
    Scores
        An array of shape (n_states,) with attributes ``t``, ``solver``, ``form``, ``reason``, ``error_bound`` and
        ``standard_error``.

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

    A long walk in a large world, to a thousandth:

    >>> world = fp.random_maze(100, 100)
    >>> scores = fp.score(world, t=60, solver="local", tolerance=1e-3)
    >>> bool((scores.error_bound <= 1e-3 * scores).all())
    True
    """
    check_walkable(world)
    asked = _check(
        world, t, solver, form, n_components, decomposition, tolerance, n_probes, seed, checkpoint, progress, n_jobs
    )
    # In worlds with episodes the walk begins again where they end.
    world = world.walker
    if asked.form == "symmetrized" or (asked.form == asked.solver == "auto" and only_symmetrized(world)):
        why = "asked for" if form == "symmetrized" else f"auto: no other is defined ({why_not_walk(world)})"
        return _symmetrized(world, asked, why)
    return _score(world, asked)


def _check(
    world: World,
    t: float,
    solver: str,
    form: str,
    n_components: int | None,
    decomposition: Spectrum | None,
    tolerance: float | None,
    n_probes: int | None,
    seed: int,
    checkpoint: str | Path | None,
    progress: Progress | None,
    n_jobs: int,
) -> Asked:
    t = check_time(t)
    solver = check_word("solver", solver, SOLVERS)
    form = check_word("form", form, FORMS)
    tolerance = check_tolerance(tolerance)
    # What only one solver understands names that solver.
    meant = {"n_components": "truncated", "tolerance": "local", "n_probes": "probes", "checkpoint": "local"}
    values = {"n_components": n_components, "tolerance": tolerance, "n_probes": n_probes, "checkpoint": checkpoint}
    for name, value in values.items():
        if value is None or solver == meant[name]:
            continue
        if solver != "auto":
            raise InvalidInput(f"{name} must go with solver={meant[name]!r}; got solver={solver!r}.")
        # A checkpoint does not ask for a solver: it is used if the local one is taken.
        solver = "auto" if name == "checkpoint" else meant[name]
    if n_components is not None:
        n_components = check_integer("n_components", n_components, 1, world.n_states)
    n_probes = DEFAULT_PROBES if n_probes is None else check_integer("n_probes", n_probes, 2)
    seed = check_integer("seed", seed, 0)
    return Asked(t, solver, form, n_components, decomposition, tolerance, n_probes, seed, checkpoint, progress, n_jobs)


def _score(world: World, asked: Asked) -> Scores:
    if asked.decomposition is not None:
        _check_decomposition(world, asked.decomposition, asked.form)
    form, form_reason = choose_form(world, asked.form, asked.solver)
    solver, tolerance, reason = choose_solver(
        world, asked.t, asked.solver, form, asked.decomposition, asked.tolerance, asked.n_probes
    )
    chosen = replace(asked, solver=solver, form=form, tolerance=tolerance)
    reason = reason + form_reason
    if solver == "local":
        return _local(world, chosen, reason)
    if solver == "probes":
        values, error = probe_scores(
            world, int(asked.t), asked.n_probes, asked.seed, progress=asked.progress, n_jobs=asked.n_jobs
        )
        return Scores.of(values, t=asked.t, solver=solver, form=form, reason=reason, standard_error=error)
    parts = _parts(world, chosen)
    if np.abs(parts.omega).max() > 1.0 + _ROUNDING:
        if asked.form == asked.solver == "auto" and asked.t.is_integer():
            reason = f"auto: Algorithm 2 has ω = {parts.omega.min():.3g} here and would explode, so form='walk'"
            return _local(world, replace(chosen, form="walk"), reason)
        raise InvalidInput(
            f"the eigenvalues ω of Algorithm 2 must lie in −1 … 1; got {parts.omega.min():.3g} in this world, with "
            "which the score grows without limit. Use form='walk'."
        )
    values = _spectral(parts, asked.t)
    bound = _truncation_bound(parts, asked.t, values) if solver == "truncated" else None
    return Scores.of(values, t=asked.t, solver=solver, form=form, reason=reason, error_bound=bound)


def _local(world: World, chosen: Asked, reason: str) -> Scores:
    values, bounds = local_scores(
        world,
        int(chosen.t),
        tolerance=chosen.tolerance,
        checkpoint=chosen.checkpoint,
        progress=chosen.progress,
        n_jobs=chosen.n_jobs,
    )
    return Scores.of(values, t=chosen.t, solver="local", form=chosen.form, reason=reason, error_bound=bounds)


def _parts(world: World, chosen: Asked) -> Spectrum:
    """Return the spectrum that the solver needs, from the one that was given if one was."""
    given = chosen.decomposition
    if chosen.solver == "truncated":
        most = given.n_components if given else world.n_states
        n_components = chosen.n_components or min(_DEFAULT_COMPONENTS, most)
        return given.first(n_components) if given else spectrum(world, n_components)
    if given is not None and not given.complete:
        raise InvalidInput(f"decomposition must be whole for solver='spectral'; got {given}. Use solver='truncated'.")
    return given if given is not None else spectrum(world)


def _symmetrized(world: World, asked: Asked, why: str) -> Scores:
    scores = _score(both_ways(world), replace(asked, form="auto"))
    scores.form, scores.reason = "symmetrized", f"{scores.reason}; form {why}"
    return scores


def _check_decomposition(world: World, parts: Spectrum, form: str) -> None:
    if not np.array_equal(parts.degrees, entering_weight(world)):
        raise InvalidInput(f"decomposition must be of this world ({world.n_states} states); got {parts} of another.")
    if form == "walk" and not world.symmetric:
        raise InvalidInput("form must be 'polar' with a decomposition in a world that is not symmetric; got 'walk'.")


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
