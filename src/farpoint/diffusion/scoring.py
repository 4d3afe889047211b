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

import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.blas import one_blas_thread
from farpoint.diffusion.bounds import check_tolerance, worth_stating
from farpoint.diffusion.graphs import DEFAULT_PROBES, ProbePlan, local_plan, squaring_seconds
from farpoint.diffusion.scores import Found, Plan, Scores
from farpoint.diffusion.spectral import (
    DENSE_LIMIT,
    Spectrum,
    check_decomposition,
    check_even,
    spectral_bound,
    spectral_scores,
    spectrum_for,
    walk_spectrum,
)
from farpoint.diffusion.walk import Walk
from farpoint.display import LOG, LONG_SECONDS, announce
from farpoint.errors import (
    InvalidInput,
    OutputError,
    check_function,
    check_integer,
    check_jobs,
    check_path,
    check_time,
    check_word,
)
from farpoint.files import Checkpoint, atomic_write
from farpoint.parallel import parallel_map
from farpoint.worlds import WorldLike, as_world
from farpoint.worlds.arrays import digest

DEFAULT_T = 4
_SOLVERS = ("auto", "spectral", "local", "truncated", "probes")
_FORMS = ("auto", "polar", "walk", "symmetrized")
_DEVICES = ("cpu", "gpu", "auto")
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
# |ω| may exceed 1 by this much, because of rounding.
_ROUNDING = 1e-9
# Below, the processor is done before a map has reached the card.
_FEWEST_OF_GPU = 1_000_000

Vector = NDArray[np.float64]
Progress = Callable[[int, int], None]


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
    out: str | PathLike[str] | None = None,
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
        measured in docs/choices.md. It depends on the world alone: no other parameter changes which quantity is
        computed, only how. A solver that cannot compute the form is refused.
    tolerance : float, optional
        Relative error that each score may have: the local solver then follows the walk only as far as needed, which for
        large t is far cheaper. Algorithm 2 is computed exactly. ``error_bound`` of the result holds what is guaranteed
        of each state: within the tolerance, but for scores so small that the rounding of doubles is larger. Default:
        exact.
    n_components : int, optional
        Components of the truncated solver (default 100, or fewer states if there are fewer).
    decomposition : Spectrum, optional
        A spectrum of this world computed before, to be used again for another t.
    n_probes, seed : int
        The number of probes (default 256, for a standard error of 9 %), and the seed of their signs.
    checkpoint : path, optional
        A folder in which the local solver keeps finished blocks. Called again with the same folder after an
        interruption it computes only those that are missing. Other solvers do not use it.
    progress : function of (done, total), optional
        Called after each block of the local solver, or each group of probes.
    n_jobs : int
        Workers of the local solver and the probes, on joblib's active backend (a cluster's too, see docs/scale.md); the
        numbers do not depend on them.
    device : {"cpu", "gpu", "auto"}
        Where the local solver runs. A GPU (NVIDIA's; ``farpoint[gpu]``) scores a billion cells of a map in a tenth of a
        second; ``"auto"`` takes it for maps of more than a million states where there is one.
    out : path, optional
        A ``.npy`` file for the scores, which are then a memory map: on a map in a file nothing of the size of the world
        is in memory. The file appears when it is complete. With a tolerance of many states the bounds lie beside it, in
        ``….bounds.npy``.

    Returns
    -------
    Scores
        One number per state, to be used as an array, with a record of how they were computed: ``t``, ``solver``,
        ``form``, ``reason``, ``error_bound`` and ``standard_error``.

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
    solver = check_word("solver", solver, _SOLVERS)
    form, device = check_word("form", form, _FORMS), check_word("device", device, _DEVICES)
    t, seed, n_jobs = check_time(t), check_integer("seed", seed, 0), check_jobs(n_jobs)
    tolerance = None if tolerance is None else check_tolerance(tolerance)
    n_components = None if n_components is None else check_integer("n_components", n_components, 1)
    n_probes = None if n_probes is None else check_integer("n_probes", n_probes, 2)
    check_function("progress", progress)
    wanted, how = _wanted(solver, device, {"n_components": n_components, "tolerance": tolerance, "n_probes": n_probes})
    if checkpoint is not None and solver not in ("auto", "local"):
        raise InvalidInput(f"checkpoint must go with solver='local'; got solver={solver!r}.")
    if device == "gpu":
        for name, value in {"checkpoint": checkpoint, "decomposition": decomposition}.items():
            if value is not None:
                raise InvalidInput(f"{name} must not be given with device='gpu'; got one.")
    world = as_world(world)
    walk = Walk.of(world)
    form, why = choose_form(walk, form)
    walk = walk.symmetrized() if form == "symmetrized" else walk
    plan, reason = choose_solver(
        walk, form, t, wanted=wanted, how=how, tolerance=tolerance, n_components=n_components,
        decomposition=decomposition, n_probes=n_probes, seed=seed,
    )  # fmt: skip
    if device == "gpu" or (device == "auto" and progress is None and checkpoint is None and worth_a_gpu(plan, walk)):
        plan, why = OnGpu(walk, int(t), tolerance), f"{why}; on a GPU"
    if plan.seconds > LONG_SECONDS or LOG.isEnabledFor(logging.INFO):
        announce(f"score at t = {t:g} of {walk.n_states:,} states, solver {plan.solver} ({reason}{why})", plan.seconds)
    found = run_blocks(plan, walk, t, tolerance, checkpoint=checkpoint, progress=progress, n_jobs=n_jobs, out=out)
    return Scores(
        found.scores, t=t, solver=plan.solver, form=form, reason=reason + why, error_bound=found.error_bound,
        standard_error=found.standard_error, world=world,
    )  # fmt: skip


def check_keywords(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments that are passed on to `score`; fail on one that it does not have.

    >>> check_keywords({"n_jobs": 1})
    {'n_jobs': 1}
    """
    names = [name for name in inspect.signature(score).parameters if name != "world"]
    return {check_word("keyword", name, names): value for name, value in keywords.items()}


def _wanted(solver: str, device: str, parameters: dict[str, Any]) -> tuple[str, str]:
    """Return the solver that is asked for, by its name or by a parameter that only it has, and how; or ``"auto"``."""
    owners = {"n_components": "truncated", "tolerance": "local", "n_probes": "probes"}
    wanted, how = solver, "" if solver == "auto" else f"solver={solver!r}"
    for name, owner in owners.items():
        if parameters[name] is None or wanted == owner:
            continue
        if wanted != "auto":
            raise InvalidInput(f"{name} must go with solver={owner!r}; got {how}.")
        wanted, how = owner, f"{name}={parameters[name]:g}"
    if device != "gpu":
        return wanted, how
    if wanted not in ("auto", "local"):
        raise InvalidInput(f"solver must be 'local' with device='gpu'; got {wanted!r}.")
    return "local", "device='gpu'" if solver == "auto" else how


def choose_form(walk: Walk, asked: str) -> tuple[str, str]:
    """Return the form to compute, and why: from the world alone, whatever solver, tolerance or device is asked for.

    >>> import farpoint as fp
    >>> choose_form(Walk.of(fp.ring()), "auto")
    ('walk', '')
    """
    if asked != "auto":
        return asked, "" if walk.symmetric else f"; form={asked!r} requested"
    form, why = walk.default_form
    return form, f"; form={form!r}, {why}" if why else ""


def choose_solver(
    walk: Walk,
    form: str,
    t: float,
    *,
    wanted: str = "auto",
    how: str = "",
    tolerance: float | None = None,
    n_components: int | None = None,
    decomposition: Spectrum | None = None,
    n_probes: int | None = None,
    seed: int = 0,
) -> tuple[Plan, str]:
    """Return the plan of a score in the given form, and why; fail where no solver computes it.

    ``walk`` is the one whose score is computed: with ``form="symmetrized"`` the symmetrized one. ``wanted`` is the
    solver that is asked for, and ``how`` says by which parameter.

    >>> import farpoint as fp
    >>> plan, reason = choose_solver(Walk.of(fp.ring()), "walk", 1000)
    >>> plan.solver, reason
    ('spectral', 'auto: a whole decomposition is cheaper than following 1000 steps')
    """
    whole, polar = float(t).is_integer(), form == "polar" and not walk.symmetric
    if decomposition is not None:
        check_decomposition(walk, decomposition, form)
    if polar and wanted in ("local", "probes") and not how.startswith("tolerance"):
        raise InvalidInput(
            f"solver must be 'spectral' or 'truncated' for form='polar', the score of Algorithm 2; got {how}. Pass "
            "form='walk' or form='symmetrized' for another quantity, or solver='spectral'."
        )
    if not walk.symmetric and not polar:
        if wanted in ("spectral", "truncated"):
            raise InvalidInput(
                f"solver must be 'local' or 'probes' for form='walk' in a world that is not symmetric; got {how}. "
                "Pass form='polar' or form='symmetrized' for another quantity, or another solver=."
            )
        if not whole:
            raise InvalidInput(
                f"t must be a whole number for form='walk' in a world that is not symmetric; got {t:g}. No solver= "
                "computes it: pass form='polar' or form='symmetrized' for another quantity."
            )

    def spectral(solver: str) -> SpectralPlan:
        return SpectralPlan(walk, t, solver, tolerance, n_components, decomposition)

    if wanted in ("spectral", "truncated"):
        return spectral(wanted), "requested"
    if decomposition is not None and wanted == "auto":
        return spectral("spectral" if decomposition.complete else "truncated"), "auto: a decomposition was given"
    if polar:
        exact = "" if tolerance is None else "; computed to rounding, see error_bound"
        return spectral("spectral"), f"auto: Algorithm 2 needs the singular vectors{exact}"
    if wanted != "auto" and not whole:
        raise InvalidInput(f"t must be a whole number with solver={wanted!r}; got {t:g}. Use solver='spectral'.")
    if wanted == "local":
        return local_plan(walk, int(t), tolerance), "requested"
    if wanted == "probes":
        return ProbePlan(walk, int(t), n_probes or DEFAULT_PROBES, seed), "requested"
    if whole:
        return _cheapest(walk, int(t), seed)
    if walk.n_states <= DENSE_LIMIT:
        return spectral("spectral"), "auto: t is not a whole number"
    why = f"auto: t is not a whole number and {walk.n_states} states are too many for a dense decomposition"
    return spectral("truncated"), why


def _cheapest(walk: Walk, t: int, seed: int) -> tuple[Plan, str]:
    """Return the plan that auto takes for a whole t, and why."""
    exact = local_plan(walk, t)
    seconds = exact.seconds
    if walk.symmetric and walk.n_states <= DENSE_LIMIT:
        if seconds <= SECONDS_PER_CUBE * walk.n_states**3:
            return exact, f"auto: following {t} steps is cheaper than a whole decomposition"
        # Eigenvectors lose digits where degrees are uneven, following the walk loses none.
        if _uneven(walk) and min(seconds, squaring_seconds(walk, t)) <= _PATIENCE_SECONDS:
            return exact, "auto: the weights are too uneven for a decomposition"
        return SpectralPlan(walk, t, "spectral"), f"auto: a whole decomposition is cheaper than following {t} steps"
    cheaper = _far_cheaper(walk, t, seconds) if seconds > GLANCE_SECONDS else None
    if cheaper is not None:
        return cheaper
    if seconds <= _PATIENCE_SECONDS:
        why = "too many for a whole decomposition" if walk.symmetric else "followed step by step, for the walk's form"
        return exact, f"auto: {walk.n_states} states are {why}"
    rough, probes = local_plan(walk, t, TOLERANCE), ProbePlan(walk, t, seed=seed)
    if rough.seconds <= max(_PATIENCE_SECONDS, probes.seconds):
        return rough, f"auto: all of {t} steps would take about {seconds:.0f} s on one core, this {rough.seconds:.0f}"
    return probes, f"auto: following {t} steps to {TOLERANCE:g} would take about {rough.seconds:.0f} s on one core"


def _far_cheaper(walk: Walk, t: int, seconds: float) -> tuple[Plan, str] | None:
    """Return a plan within the tolerance that takes far less than the exact one, if there is one.

    In a planar network that is following the part of the walk that matters. In a network of few steps from end to end
    it is the leading components, where there are so few slow ones that the others have died out by t.
    """
    rough = local_plan(walk, t, TOLERANCE)
    if rough.seconds <= _BARGAIN * min(seconds, _PATIENCE_SECONDS):
        why = f"auto: all of {t} steps would take about {seconds:.0f} s on one core, to {TOLERANCE:g} this"
        return rough, f"{why} {rough.seconds:.0f}"
    if not walk.symmetric or _uneven(walk):
        return None
    spectrum = walk_spectrum(walk, TRIED_COMPONENTS)
    values = spectral_scores(spectrum, t)
    if (spectral_bound(spectrum, t, values, True) > TOLERANCE * values).any():
        return None
    why = f"auto: {TRIED_COMPONENTS} components are within {TOLERANCE:g}; all of {t} steps would take about"
    return SpectralPlan(walk, t, "truncated", given=spectrum), f"{why} {seconds:.0f} s on one core"


def _uneven(walk: Walk) -> bool:
    leaving = walk.leaving
    return bool(leaving.max() > _UNEVEN * leaving.min())


@dataclass(frozen=True, eq=False)
class SpectralPlan(Plan):
    """Scores from eigenvectors: all of them, or the leading ones with a bound on what is missing.

    >>> import farpoint as fp
    >>> SpectralPlan(Walk.of(fp.grid((3,))), 1, "spectral").block(0)[0].round(3)
    array([0.125, 0.   , 0.125])
    """

    walk: Walk
    t: float
    solver: str
    tolerance: float | None = None
    n_components: int | None = None
    given: Spectrum | None = None

    names = ("scores", "bounds")

    @property
    def seconds(self) -> float:
        """Roughly how long this takes on one core, where all eigenvectors are computed."""
        whole = self.solver == "spectral" and self.given is None
        return SECONDS_PER_CUBE * float(self.walk.n_states) ** 3 if whole else 0.0

    def block(self, task: int) -> tuple[Vector, Vector]:
        """Return the scores of all states, and bounds on their errors."""
        spectrum = spectrum_for(self.walk, self.solver, self.n_components, self.given)
        if max(np.abs(spectrum.omega).max(), spectrum.omega_next) > 1.0 + _ROUNDING:
            least = min(spectrum.omega.min(), -spectrum.omega_next)
            raise InvalidInput(
                f"the eigenvalues ω of Algorithm 2 must lie in −1 … 1; got {least:.3g} in this world, with "
                "which the score grows without limit. Use form='walk'."
            )
        check_even(spectrum)
        values = spectral_scores(spectrum, self.t)
        return values, spectral_bound(spectrum, self.t, values, self.walk.symmetric)

    def found(self, *arrays: Vector) -> Found:
        """Return the scores, and bounds where components are missing, there is a tolerance or much rounding."""
        scores, bounds = arrays
        if self.solver == "truncated" or self.tolerance is not None:
            return Found(scores, bounds)
        degrees = self.walk.entering
        return Found(scores, worth_stating(bounds, scores, float(np.square(degrees / degrees.sum()).sum())))


@dataclass(frozen=True, eq=False)
class OnGpu(Plan):
    """Scores that are computed on a GPU, all in one task."""

    walk: Walk
    t: int
    tolerance: float | None

    seconds = 0.0

    def block(self, task: int) -> tuple[Vector, ...]:
        """Return the scores of all states, and bounds on their errors where there is a tolerance."""
        from farpoint.diffusion.gpu import walk_scores

        scores, bounds = walk_scores(self.walk, self.t, self.tolerance)
        scores = scores.astype(np.float64, copy=False)
        return (scores,) if bounds is None else (scores, bounds.astype(np.float64, copy=False))


def worth_a_gpu(plan: Plan, walk: Walk) -> bool:
    """Return whether ``device="auto"`` takes the GPU: for a large map, where there is a card."""
    if walk.floor is None or plan.solver != "local" or walk.n_states <= _FEWEST_OF_GPU:
        return False
    from farpoint.diffusion.gpu import can_score

    return can_score(walk.floor.cells.shape, plan.t)  # type: ignore[attr-defined]


def run_blocks(
    plan: Plan,
    walk: Walk,
    t: float,
    tolerance: float | None,
    *,
    checkpoint: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    n_jobs: int = -1,
    out: str | PathLike[str] | None = None,
) -> Found:
    """Return the scores of a plan, computed task by task; those that a checkpoint holds are not computed again."""
    tasks, names, n_states = list(plan.tasks), plan.names, walk.n_states
    kept_or_told = checkpoint is not None or out is not None or progress is not None
    if len(tasks) == 1 and not kept_or_told and isinstance(plan.states(tasks[0]), slice):
        # All states in their order at once: nothing to put together, to keep or to tell.
        return plan.found(*plan.shared().block(tasks[0]))
    folder = None
    if checkpoint is not None and plan.about is not None:
        about = {"world": walk.fingerprint, "t": int(t), "tolerance": tolerance, "tasks": digest(np.array(tasks))}
        folder = Checkpoint(checkpoint, "score", {**about, **plan.about})
    files = {} if out is None else _files(out, plan, None if walk.floor is None else walk.floor.path)
    with ExitStack() as stack:
        # Filled as tasks finish, so that nothing is there twice.
        maps = {name: stack.enter_context(_mapped(path, n_states)) for name, path in files.items()}
        together = {name: maps[name] if name in maps else np.zeros(n_states) for name in names}

        def put(task: Any, piece: Mapping[str, Vector]) -> None:
            for name, array in together.items():
                if plan.added:
                    array += piece[name]
                else:
                    array[plan.states(task)] = piece[name]

        missing = []
        for task in tasks:
            piece = None if folder is None else _usable(folder.load(_name_of(task)), plan, task, n_states)
            if piece is None:
                missing.append(task)
            else:
                put(task, piece)
        label = "score" if progress is None else None
        for done, (number, arrays) in enumerate(_results(plan, missing, n_jobs, label), start=1):
            piece = dict(zip(names, arrays, strict=True))
            put(missing[number], piece)
            if folder is not None:
                folder.save(_name_of(missing[number]), piece)
            if progress is not None:
                progress(len(tasks) - len(missing) + done, len(tasks))
        found = plan.found(*together.values())
        if maps and found.scores is not maps["scores"]:
            maps["scores"][:] = found.scores
    opened = {name: _read_back(path) for name, path in files.items()}
    return Found(opened.get("scores", found.scores), opened.get("bounds", found.error_bound), found.standard_error)


def _results(plan: Plan, tasks: list[Any], n_jobs: int, label: str | None) -> Iterator[tuple[int, Any]]:
    """Yield the number and the arrays of each task."""
    if not tasks:
        return iter(())
    if len(tasks) == 1:
        return iter([_block(plan.shared(), (0, tasks[0]))])
    # Arrays that are added up come in order: a sum of floats depends on it.
    numbered = list(enumerate(tasks))
    return parallel_map(_block, plan.shared(), numbered, n_jobs=n_jobs, label=label, ordered=plan.added)


def _block(shared: Any, task: tuple[int, Any]) -> tuple[int, Any]:
    number, inner = task
    return number, shared.block(inner)


def _name_of(task: Any) -> str:
    """Return the name of a task's file: by what is in it, for the division into tasks may change."""
    return "block-" + "-".join(str(number) for number in np.atleast_1d(task))


def _usable(piece: dict[str, Vector] | None, plan: Plan, task: Any, n_states: int) -> dict[str, Vector] | None:
    """Return a piece of a checkpoint if it holds what its task returns; otherwise None, and it is computed again."""
    if piece is None or piece.keys() != set(plan.names):
        return None
    states = plan.states(task)
    size = len(range(n_states)[states]) if isinstance(states, slice) else states.size
    return piece if all(one.shape == (size,) and np.isfinite(one).all() for one in piece.values()) else None


def _files(out: str | PathLike[str], plan: Plan, map_file: str | None) -> dict[str, Path]:
    """Return the files that arrays are written to: the scores, and the bounds on the errors of many."""
    path = check_path("out", out)
    if path.suffix != ".npy":
        raise InvalidInput(f"out must be the name of a .npy file; got {out!r}.")
    many = "bounds" in plan.names and len(plan.tasks) > 1
    files = {"scores": path, **({"bounds": path.with_suffix(".bounds.npy")} if many else {})}
    if map_file is not None and any(file.exists() and file.samefile(map_file) for file in files.values()):
        raise InvalidInput(f"out must be another file than the map of the world; got {out!r}.")
    return files


@contextmanager
def _mapped(path: Path, size: int) -> Iterator[NDArray[np.float64]]:
    """Give a memory map of a new file, which appears under its name when the block succeeds."""
    with atomic_write(path) as temporary:
        array = np.lib.format.open_memmap(temporary, "w+", np.float64, (size,))
        yield array
        array.flush()


def _read_back(path: Path) -> NDArray[np.float64]:
    try:
        return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]
    except OSError as error:
        raise OutputError(f"{path} must be one that can be read back; got {error.strerror}.") from error
