"""Which solver and which form `score` takes, by a model of what each costs, and the words that say why."""

from __future__ import annotations

from farpoint.diffusion.scores.local import local_seconds
from farpoint.diffusion.scores.probes import probe_seconds
from farpoint.diffusion.spectra.decomposition import DENSE_LIMIT, Spectrum
from farpoint.diffusion.walk import why_not_polar, why_not_walk
from farpoint.errors import InvalidInput
from farpoint.worlds import World

SOLVERS = ("auto", "spectral", "local", "truncated", "probes")
FORMS = ("auto", "polar", "walk", "symmetrized")

# Rough time of a dense eigendecomposition on one core, per n³.
_SECONDS_PER_CUBE = 1e-9
# Beyond this, on one core, auto rather gives an approximate score with its bound.
PATIENCE_SECONDS = 600.0
# The relative error that auto then allows.
_TOLERANCE = 1e-3
# A dense singular value decomposition of this size takes about ten seconds.
POLAR_LIMIT = 2_500


def only_symmetrized(world: World) -> bool:
    """Return whether a world has neither Algorithm 2 nor a walk with one stationary distribution."""
    return bool(not world.symmetric and why_not_polar(world) and why_not_walk(world))


def choose_form(world: World, form: str, solver: str) -> tuple[str, str]:
    """Return the form to compute, and why, to be added to the solver's reason."""
    follows = solver in ("local", "probes")
    if world.symmetric:
        return ("walk" if form == "auto" else form), ""
    if form == "auto":
        problem = why_not_polar(world) if solver == "auto" else ""
        if solver == "auto" and not problem and world.n_states > POLAR_LIMIT:
            problem = f"Algorithm 2 takes minutes for more than {POLAR_LIMIT} states."
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


def choose_solver(
    world: World,
    t: float,
    solver: str,
    form: str,
    decomposition: Spectrum | None,
    tolerance: float | None,
    n_probes: int,
) -> tuple[str, float | None, str]:
    """Return the solver, the tolerance of the local one (None: exact), and why."""
    whole = t.is_integer()
    if solver in ("local", "probes") and not whole:
        raise InvalidInput(f"t must be a whole number with solver={solver!r}; got {t:g}. Use solver='spectral'.")
    if solver != "auto":
        return solver, tolerance, "asked for"
    if decomposition is not None:
        return ("spectral" if decomposition.complete else "truncated"), None, "auto: a decomposition was given"
    dense = world.n_states <= DENSE_LIMIT
    if not world.symmetric and form == "polar":
        return "spectral", None, "auto: Algorithm 2 needs the singular vectors"
    if not whole:
        if not world.symmetric:
            raise InvalidInput(f"t must be a whole number with form='walk'; got {t:g}. Use form='polar'.")
        if dense:
            return "spectral", None, "auto: t is not a whole number"
        return "truncated", None, f"auto: t is not a whole number and {world.n_states} states are too many for dense"
    local = local_seconds(world, int(t))
    if world.symmetric and dense:
        if local <= _SECONDS_PER_CUBE * world.n_states**3:
            return "local", None, f"auto: following {t:g} steps is cheaper than a whole decomposition"
        return "spectral", None, f"auto: a whole decomposition is cheaper than following {t:g} steps"
    if local <= PATIENCE_SECONDS:
        why = "too many for a whole decomposition" if world.symmetric else "followed step by step, for the walk's form"
        return "local", None, f"auto: {world.n_states} states are {why}"
    part = local_seconds(world, int(t), _TOLERANCE)
    if part <= max(PATIENCE_SECONDS, probe_seconds(world, int(t), n_probes)):
        return (
            "local",
            _TOLERANCE,
            f"auto: all of {t:g} steps would take about {local:.0f} s on one core, this {part:.0f}",
        )
    return "probes", None, f"auto: following {t:g} steps to {_TOLERANCE:g} would take about {part:.0f} s on one core"
