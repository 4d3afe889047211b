"""Which solver and which form `score` takes, by a model of what each costs, and the text that says why."""

from __future__ import annotations

from typing import NamedTuple

from farpoint.diffusion.scores.local import LocalScores, squaring_is_cheaper
from farpoint.diffusion.scores.probes import probe_seconds
from farpoint.diffusion.scores.request import DEFAULT_PROBES, ScoreRequest
from farpoint.diffusion.scores.spectral import spectral_bound, spectral_scores
from farpoint.diffusion.spectra.decomposition import DENSE_LIMIT, Spectrum, walk_spectrum
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput

# Rough time of a dense eigendecomposition on one core, per n³.
SECONDS_PER_CUBE = 1e-9
# Beyond this, on one core, auto prefers an approximate score with its bound.
_PATIENCE_SECONDS = 600.0
# The relative error that auto then allows.
TOLERANCE = 1e-3
# Beyond this, auto looks for a score within that error which is far cheaper: at most this share of the time.
GLANCE_SECONDS = 60.0
_BARGAIN = 1 / 4
# Components of a decomposition that auto tries; seconds to minutes, whatever t.
TRIED_COMPONENTS = 50
# Beyond this ratio of the weights that leave two states, a decomposition would round more than 10⁻⁹.
_UNEVEN = 1e4
# A dense singular value decomposition of this size takes about ten seconds.
POLAR_LIMIT = 2_500
# Up to here auto takes Algorithm 2; in larger worlds that are not symmetric (environments with thousands of states) the
# far points of the symmetrized walk are the better goals, and those of the walk's own form the worst: docs/choices.md.
AUTO_POLAR_LIMIT = 1_000


class Choice(NamedTuple):
    """The solver, its plan where it is the local one, why, and the spectrum where one was computed to decide."""

    solver: str
    plan: LocalScores | None
    reason: str
    spectrum: Spectrum | None = None


def symmetrized_by_auto(walk: Walk) -> str:
    """Return why auto takes the mean of the weights in both directions; empty where it does not."""
    if walk.symmetric:
        return ""
    if walk.n_states > AUTO_POLAR_LIMIT:
        return f"the better one in worlds of more than {AUTO_POLAR_LIMIT:,} states that are not symmetric"
    return f"no other is defined ({walk.stationary_problem})" if walk.polar_problem and walk.stationary_problem else ""


def choose_form(walk: Walk, form: str, solver: str) -> tuple[str, str]:
    """Return the form to compute, and why, to be added to the solver's reason."""
    follows = solver in ("local", "probes")
    if walk.symmetric:
        return ("walk" if form == "auto" else form), ""
    if form == "auto":
        problem = walk.polar_problem if solver == "auto" else ""
        form = "walk" if follows or problem else "polar"
        meaning = "Proposition 2 on the walk" if form == "walk" else "Algorithm 2"
        return form, f"; the world is not symmetric, so {meaning} (form={form!r}). {problem}".rstrip()
    if form == "polar" and follows:
        raise InvalidInput(f"form must be 'walk' with solver={solver!r} in a world that is not symmetric; got 'polar'.")
    if form == "walk" and solver in ("spectral", "truncated"):
        raise InvalidInput(
            f"form must be 'polar' with solver={solver!r} in a world that is not symmetric; got 'walk'. "
            "Use solver='local'."
        )
    return form, ""


def choose_solver(walk: Walk, request: ScoreRequest, form: str) -> Choice:
    """Return the solver that computes a request in the given form."""
    t, whole = request.t, float(request.t).is_integer()
    if request.solver in ("local", "probes") and not whole:
        raise InvalidInput(
            f"t must be a whole number with solver={request.solver!r}; got {t:g}. Use solver='spectral'."
        )
    if request.solver == "local":
        return Choice("local", LocalScores.of(walk, int(t), request.tolerance), "requested")
    if request.solver != "auto":
        return Choice(request.solver, None, "requested")
    if request.decomposition is not None:
        solver = "spectral" if request.decomposition.complete else "truncated"
        return Choice(solver, None, "auto: a decomposition was given")
    if not walk.symmetric and form == "polar":
        return Choice("spectral", None, "auto: Algorithm 2 needs the singular vectors")
    if not whole:
        return _choose_for_fraction(walk, t)
    return _choose_by_cost(walk, request)


def _choose_for_fraction(walk: Walk, t: float) -> Choice:
    if not walk.symmetric:
        raise InvalidInput(f"t must be a whole number with form='walk'; got {t:g}. Use form='polar'.")
    if walk.n_states <= DENSE_LIMIT:
        return Choice("spectral", None, "auto: t is not a whole number")
    why = f"auto: t is not a whole number and {walk.n_states} states are too many for a dense decomposition"
    return Choice("truncated", None, why)


def _choose_by_cost(walk: Walk, request: ScoreRequest) -> Choice:
    t = int(request.t)
    exact = LocalScores.of(walk, t)
    seconds = exact.seconds
    if walk.symmetric and walk.n_states <= DENSE_LIMIT:
        if seconds <= SECONDS_PER_CUBE * walk.n_states**3:
            return Choice("local", exact, f"auto: following {t} steps is cheaper than a whole decomposition")
        # Eigenvectors lose digits where degrees are uneven, following the walk loses none.
        if walk.leaving.max() > _UNEVEN * walk.leaving.min() and (
            seconds <= _PATIENCE_SECONDS or squaring_is_cheaper(walk, seconds, t)
        ):
            return Choice("local", exact, "auto: the weights are too uneven for a decomposition")
        return Choice("spectral", None, f"auto: a whole decomposition is cheaper than following {t} steps")
    cheaper = _far_cheaper(walk, exact, seconds) if seconds > GLANCE_SECONDS else None
    if cheaper is not None:
        return cheaper
    if seconds <= _PATIENCE_SECONDS:
        why = "too many for a whole decomposition" if walk.symmetric else "followed step by step, for the walk's form"
        return Choice("local", exact, f"auto: {walk.n_states} states are {why}")
    rough = exact.with_tolerance(TOLERANCE)
    if rough.seconds <= max(_PATIENCE_SECONDS, probe_seconds(walk, t, request.n_probes or DEFAULT_PROBES)):
        why = f"auto: all of {t} steps would take about {seconds:.0f} s on one core, this {rough.seconds:.0f}"
        return Choice("local", rough, why)
    why = f"auto: following {t} steps to {TOLERANCE:g} would take about {rough.seconds:.0f} s on one core"
    return Choice("probes", None, why)


def _far_cheaper(walk: Walk, exact: LocalScores, seconds: float) -> Choice | None:
    """Return a choice within the tolerance that takes far less than the exact one, if there is one.

    In a planar network that is following the part of the walk that matters. In a network of few steps from end to end
    it is the leading components, where there are so few slow ones that the others have died out by t.
    """
    rough = exact.with_tolerance(TOLERANCE)
    if rough.seconds <= _BARGAIN * min(seconds, _PATIENCE_SECONDS):
        why = f"auto: all of {exact.t} steps would take about {seconds:.0f} s on one core, to {TOLERANCE:g} this"
        return Choice("local", rough, f"{why} {rough.seconds:.0f}")
    if not walk.symmetric or walk.leaving.max() > _UNEVEN * walk.leaving.min():
        return None
    spectrum = walk_spectrum(walk, TRIED_COMPONENTS)
    values = spectral_scores(spectrum, exact.t)
    if (spectral_bound(spectrum, exact.t, values, True) > TOLERANCE * values).any():
        return None
    why = f"auto: {TRIED_COMPONENTS} components are within {TOLERANCE:g}; all of {exact.t} steps would take about"
    return Choice("truncated", None, f"{why} {seconds:.0f} s on one core", spectrum)
