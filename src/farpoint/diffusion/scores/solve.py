"""The score f_t(s) of every state: squared distance between the t-step distribution from s and the stationary one.

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

from dataclasses import replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from farpoint.blas import one_blas_thread
from farpoint.diffusion.scores.bounds import worth_stating
from farpoint.diffusion.scores.choose import SECONDS_PER_CUBE, choose_form, choose_solver, symmetrized_by_auto
from farpoint.diffusion.scores.local import LocalScores, Progress
from farpoint.diffusion.scores.probes import probe_scores, probe_seconds
from farpoint.diffusion.scores.request import DEFAULT_PROBES, ScoreRequest
from farpoint.diffusion.scores.result import Scores
from farpoint.diffusion.scores.spectral import (
    check_decomposition,
    check_even,
    spectral_bound,
    spectral_scores,
    spectrum_for,
)
from farpoint.diffusion.spectra.decomposition import Spectrum
from farpoint.diffusion.walk import Walk
from farpoint.display.progress import announce
from farpoint.errors import InvalidInput
from farpoint.worlds import WorldLike, as_world

_ROUNDING = 1e-9


@one_blas_thread()
def score(
    world: WorldLike,
    t: float = 4,
    solver: str = "auto",
    *,
    form: str = "auto",
    tolerance: float | None = None,
    n_components: int | None = None,
    decomposition: Spectrum | None = None,
    n_probes: int | None = None,
    seed: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    n_jobs: int = -1,
    device: str = "cpu",
) -> Scores:
    """Return f_t(s) of every state: large where a random walk seldom comes.

    Parameters
    ----------
    world : World
    t : float
        Diffusion time, above 0. Larger is smoother and gives fewer local maxima. The local solver and the probes need
        a whole number.
    solver : {"auto", "spectral", "local", "truncated", "probes"}
        ``"auto"`` takes the cheapest that is exact. Where that takes more than a minute and one that errs by a
        thousandth at most takes far less, that one: the local one with a tolerance, or the truncated one where 50
        components suffice. Where none can be afforded, probes (or, for a fraction of t, the truncated one). The
        result's ``solver`` and ``reason`` say which and why, ``error_bound`` how far off it may be.
    form : {"auto", "polar", "walk", "symmetrized"}
        Only matters in worlds that are not symmetric: Algorithm 2 of the paper, Proposition 2 on the walk itself, or
        Algorithm 1 on the mean of the weights in both directions. ``"auto"`` takes the first of these that is defined
        (Algorithm 2 must not explode: its ω must lie in −1 … 1), but in worlds of more than 1 000 states the last, as
        measured in docs/choices.md; with ``solver="local"`` it follows the walk.
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
        A folder in which the local solver keeps finished blocks. Called again with the same folder after an
        interruption it computes only those that are missing. Other solvers do not use it.
    progress : function of (done, total), optional
        Called after each block of the local solver, or each group of probes.
    n_jobs : int
        Workers of the local solver and the probes; the numbers do not depend on it. See also `engine`.
    device : {"cpu", "gpu", "auto"}
        Where the local solver runs. A GPU (NVIDIA's; ``farpoint[gpu]``) scores a billion cells of a map in a tenth of a
        second; ``"auto"`` takes it for maps of more than a million states where there is one.

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
    request = ScoreRequest(
        t=t,
        solver=solver,
        form=form,
        tolerance=tolerance,
        n_components=n_components,
        decomposition=decomposition,
        n_probes=n_probes,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
        n_jobs=n_jobs,
        device=device,
    )
    scores = walk_scores(Walk.of(world), request)
    scores.world = as_world(world)
    return scores


def walk_scores(walk: Walk, request: ScoreRequest) -> Scores:
    """Return the scores of a walk; see `score`."""
    automatic = request.form == request.solver == "auto"
    # A decomposition that was given is of the walk as it is.
    why = symmetrized_by_auto(walk) if automatic and request.decomposition is None else ""
    if request.form == "symmetrized" or why:
        scores = walk_scores(walk.symmetrized(), replace(request, form="auto"))
        scores.form, scores.reason = "symmetrized", f"{scores.reason}; form {f'auto: {why}' if why else 'requested'}"
        return scores
    if request.decomposition is not None:
        check_decomposition(walk, request.decomposition, request.form)
    form, form_reason = choose_form(walk, request.form, request.solver)
    solver, plan, reason, found = choose_solver(walk, request, form)
    reason = reason + form_reason
    what = f"score at t = {request.t:g} of {walk.n_states:,} states, solver {solver} ({reason})"
    if plan is not None:
        announce(what, plan.seconds)
        return _local(plan, request, form, reason)
    if solver == "probes":
        n_probes = request.n_probes or DEFAULT_PROBES
        announce(what, probe_seconds(walk, int(request.t), n_probes))
        values, error = probe_scores(
            walk, int(request.t), n_probes, request.seed, progress=request.progress, n_jobs=request.n_jobs
        )
        return Scores.of(values, t=request.t, solver=solver, form=form, reason=reason, standard_error=error)
    if solver == "spectral" and request.decomposition is None:
        announce(what, SECONDS_PER_CUBE * walk.n_states**3)
    spectrum = found or spectrum_for(walk, request, solver)
    if max(np.abs(spectrum.omega).max(), spectrum.omega_next) > 1.0 + _ROUNDING:
        least = min(spectrum.omega.min(), -spectrum.omega_next)
        if automatic and float(request.t).is_integer():
            reason = f"auto: Algorithm 2 has ω = {least:.3g} here and would explode, so form='walk'"
            return _local(LocalScores.of(walk, int(request.t)), request, "walk", reason)
        raise InvalidInput(
            f"the eigenvalues ω of Algorithm 2 must lie in −1 … 1; got {least:.3g} in this world, with "
            "which the score grows without limit. Use form='walk'."
        )
    check_even(spectrum)
    values = spectral_scores(spectrum, request.t)
    bound: NDArray[np.float64] | None = spectral_bound(spectrum, request.t, values, walk.symmetric)
    if solver == "spectral" and bound is not None:
        bound = worth_stating(bound, values, float(np.square(spectrum.degrees / spectrum.degrees.sum()).sum()))
    return Scores.of(values, t=request.t, solver=solver, form=form, reason=reason, error_bound=bound)


def _local(plan: LocalScores, request: ScoreRequest, form: str, reason: str) -> Scores:
    if request.device != "cpu":
        from farpoint.diffusion.gpu.solve import plan_scores, worth_it

        if request.device == "gpu" or worth_it(plan, request):
            values, bounds = plan_scores(plan)
            reason = f"{reason}; on a GPU"
            return Scores.of(values, t=request.t, solver="local", form=form, reason=reason, error_bound=bounds)
    values, bounds = plan.compute(checkpoint=request.checkpoint, progress=request.progress, n_jobs=request.n_jobs)
    return Scores.of(values, t=request.t, solver="local", form=form, reason=reason, error_bound=bounds)
