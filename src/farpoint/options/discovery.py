"""Discovery: from a world to its options, by any of the methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from farpoint.diffusion import Goals, Scores, find_goals, refine_goals, score, spectrum
from farpoint.diffusion.scores.local import local_seconds
from farpoint.diffusion.walk import check_walkable
from farpoint.errors import InvalidInput, check_integer, check_word
from farpoint.options.option_set import OptionSet
from farpoint.options.rivals import cover_options, eigenoptions, goal_states
from farpoint.worlds import World

DEFAULT_T = 4
# Up to this size one dense decomposition serves every t, up to this t.
_DENSE_STATES = 2_000
_LONGEST_T = 1_000
# Beyond it, a search for t stops before a single score would take this long.
_PATIENCE_SECONDS = 1.0
_VANISHED = 1e-200


@dataclass(frozen=True)
class Request:
    """What `discover` was asked for, passed to every method."""

    t: float | None
    n_options: int | None
    seed: int
    solver: str
    form: str
    min_prominence: float
    include_first: bool
    scoring: dict[str, Any]


def discover(
    world: World,
    method: str = "diffusion",
    *,
    t: float | None = None,
    n_options: int | None = None,
    seed: int = 0,
    solver: str = "auto",
    form: str = "auto",
    min_prominence: float = 0.0,
    include_first: bool = True,
    tolerance: float | None = None,
    checkpoint: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    n_jobs: int = -1,
) -> OptionSet:
    """Return options that were found without any reward.

    Parameters
    ----------
    world : World
    method : {"diffusion", "eigen", "cover", "random", "none"}
        ``"diffusion"``: Algorithm 1 of the paper (Algorithm 2 in worlds that are not symmetric): an option to each
        local maximum of the score f_t. ``"eigen"``: options that climb eigenvectors of the normalized Laplacian.
        ``"cover"``: pairs of options between the ends of Fiedler vectors. ``"random"``: an option to each of
        ``n_options`` states drawn uniformly. ``"none"``: an empty set.
    t : float, optional
        Diffusion time. Default 4, or, when only ``n_options`` is given, a large t that still has that many local
        maxima.
    n_options : int, optional
        How many. Diffusion: of the local maxima, the most prominent ones. The others: default as many as there are
        diffusion options at ``t``.
    seed : int
        For the methods that draw.
    solver, form : str
        As in `score`.
    min_prominence : float
        As in `find_goals`.
    include_first : bool
        Whether eigenoptions begin with ±ψ₁ (the authors' protocol) or with ±ψ₂.
    tolerance, checkpoint, progress, n_jobs
        As in `score`. A checkpoint holds one score, so it needs ``t``.

    Returns
    -------
    OptionSet

    Raises
    ------
    InvalidInput
        More options than states, or than local maxima.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.discover(fp.maze(), t=13)
    OptionSet(14 diffusion options on maze, t=13)
    >>> fp.discover(fp.maze(), n_options=10)
    OptionSet(10 diffusion options on maze, t=33)
    >>> fp.discover(fp.maze(), "random", n_options=3, seed=7).goals
    array([ 91, 101, 137])
    """
    check_walkable(world)
    check_word("method", method, METHODS)
    seed = check_integer("seed", seed, 0)
    if n_options is not None:
        n_options = check_integer("n_options", n_options, 1)
        most = goal_states(world).size
        if n_options > most:
            raise InvalidInput(f"n_options must be at most the number of states ({most}); got {n_options}.")
    if checkpoint is not None and t is None and n_options is not None:
        raise InvalidInput("checkpoint must go with t; got n_options alone, for which several t are looked at.")
    scoring = {"tolerance": tolerance, "checkpoint": checkpoint, "progress": progress, "n_jobs": n_jobs}
    request = Request(t, n_options, seed, solver, form, min_prominence, include_first, scoring)
    return METHODS[method](world, request)


def _diffusion(world: World, request: Request) -> OptionSet:
    if request.t is None and request.n_options is not None:
        scores, goals = _largest_t(world, request, request.n_options)
    else:
        scores, goals = _goals_at(world, request, DEFAULT_T if request.t is None else request.t)
    if len(goals) == 0:
        raise InvalidInput(f"min_prominence must leave at least one goal; got {request.min_prominence:g}.")
    if request.n_options is not None:
        if request.n_options > len(goals):
            raise InvalidInput(_too_few(request.n_options, len(goals), f"at t = {scores.t:g}"))
        goals = goals.most_prominent(request.n_options)
    record = {
        "t": scores.t,
        "solver": scores.solver,
        "form": scores.form,
        "reason": scores.reason,
        "heights": goals.heights,
        "prominences": goals.prominences,
    }
    return OptionSet(world, goals.states, "diffusion", record)


def _as_many_as_asked(world: World, request: Request) -> int:
    return len(_diffusion(world, request)) if request.n_options is None else request.n_options


def _eigen(world: World, request: Request) -> OptionSet:
    n_options = _as_many_as_asked(world, request)
    most = 2 * (world.n_states if request.include_first else world.n_states - 1)
    check_integer("n_options", n_options, 1, most)
    return eigenoptions(world, n_options, include_first=request.include_first)


def _cover(world: World, request: Request) -> OptionSet:
    return cover_options(world, _as_many_as_asked(world, request))


def _random(world: World, request: Request) -> OptionSet:
    n_options = _as_many_as_asked(world, request)
    goals = np.random.default_rng(request.seed).choice(goal_states(world), size=n_options, replace=False)
    return OptionSet(world, np.sort(goals), "random", {"seed": request.seed})


def _none(world: World, request: Request) -> OptionSet:
    return OptionSet(world, np.empty(0, dtype=np.int64), "none")


METHODS: dict[str, Callable[[World, Request], OptionSet]] = {
    "diffusion": _diffusion,
    "eigen": _eigen,
    "cover": _cover,
    "random": _random,
    "none": _none,
}


def _goals_at(world: World, request: Request, t: float) -> tuple[Scores, Goals]:
    scores = score(world, t, request.solver, form=request.form, seed=request.seed, **request.scoring)
    return scores, _goals_of(world, scores, request)


def _goals_of(world: World, scores: Scores, request: Request) -> Goals:
    """Return the local maxima, but for states in which an episode ends: an option into those would end it."""
    if scores.solver == "probes":
        goals = refine_goals(world, scores)
        goals = goals.where(goals.prominences >= request.min_prominence)
    else:
        goals = find_goals(world, scores, min_prominence=request.min_prominence)
    return goals.where(np.isin(goals.states, goal_states(world)))


def _too_few(asked: int, there: int, where: str) -> str:
    return (
        f"n_options must be at most the number of local maxima of the score; got {asked}, and there are {there} "
        f"{where}. Ask for fewer, or use method='random'."
    )


def _largest_t(world: World, request: Request, n_options: int) -> tuple[Scores, Goals]:
    """Return score and goals at a large whole t that has at least ``n_options`` local maxima.

    The number of maxima falls with t, though not strictly from one t to the next: the first few are all looked at,
    then t is doubled while there are enough, then halved in between. So the next t has too few, though a still larger
    one may have enough again.
    """
    form = score(world, DEFAULT_T, request.solver, form=request.form).form
    dense = world.n_states <= _DENSE_STATES and request.solver in ("auto", "spectral")
    symmetric = world.walker.symmetric
    parts = spectrum(world) if (dense and symmetric) or (form == "polar" and not symmetric) else None

    def look(t: int) -> tuple[Scores, Goals]:
        if parts is None:
            return _goals_at(world, request, t)
        scores = score(world, t, "spectral", decomposition=parts)
        return scores, _goals_of(world, scores, request)

    def enough_at(found: tuple[Scores, Goals]) -> bool:
        # Scores that have all but vanished have maxima of rounding only.
        return len(found[1]) >= n_options and float(found[0].max()) > _VANISHED

    def affordable(t: int) -> bool:
        return parts is not None or local_seconds(world.walker, t) <= _PATIENCE_SECONDS

    found = {t: look(t) for t in range(1, DEFAULT_T + 1)}
    enough = [t for t, tried in found.items() if enough_at(tried)]
    if not enough:
        most = max(len(goals) for _, goals in found.values())
        raise InvalidInput(_too_few(n_options, most, f"for any t from 1 to {DEFAULT_T}"))
    low = max(enough)
    if low < DEFAULT_T:
        return found[low]
    best, high = found[low], low
    while low < _LONGEST_T and affordable(further := min(2 * low, _LONGEST_T)):
        high, tried = further, look(further)
        if not enough_at(tried):
            break
        low, best = further, tried
    while high - low > 1:
        middle = (low + high) // 2
        tried = look(middle)
        if enough_at(tried):
            low, best = middle, tried
        else:
            high = middle
    return best
