"""Discovery: from a world to its options, by any of the methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from farpoint.diffusion import Goals, Scores, find_goals, score, spectrum
from farpoint.diffusion.score import local_seconds
from farpoint.domain import Domain
from farpoint.errors import InvalidInput, check_integer, check_word
from farpoint.options.option_set import OptionSet

DEFAULT_T = 4
# Up to this size one dense decomposition serves every t, up to this t.
_DENSE_STATES = 2_000
_LONGEST_T = 1_000
# Beyond it, a search for t stops before a single score would take this long.
_PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class Request:
    """What `discover` was asked for, passed to every method."""

    t: float | None
    n_options: int | None
    seed: int
    solver: str
    form: str
    min_prominence: float


def discover(
    domain: Domain,
    method: str = "diffusion",
    *,
    t: float | None = None,
    n_options: int | None = None,
    seed: int = 0,
    solver: str = "auto",
    form: str = "auto",
    min_prominence: float = 0.0,
) -> OptionSet:
    """Return options that were found without any reward.

    Parameters
    ----------
    domain : Domain
    method : {"diffusion", "random"}
        ``"diffusion"``: Algorithm 1 of the paper (Algorithm 2 in worlds that are not symmetric): an option to each
        local maximum of the score f_t. ``"random"``: an option to each of ``n_options`` states drawn uniformly.
    t : float, optional
        Diffusion time. Default 4, or, when only ``n_options`` is given, the largest t that has that many local maxima.
    n_options : int, optional
        How many. Diffusion: of the local maxima, the most prominent ones. Random: default as many as there are
        diffusion options.
    seed : int
        For the methods that draw.
    solver, form : str
        As in `score`.
    min_prominence : float
        As in `find_goals`.

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
    check_word("method", method, METHODS)
    if n_options is not None:
        n_options = check_integer("n_options", n_options, 1)
        if n_options > domain.n_states:
            raise InvalidInput(f"n_options must be at most the number of states ({domain.n_states}); got {n_options}.")
    return METHODS[method](domain, Request(t, n_options, seed, solver, form, min_prominence))


def _diffusion(domain: Domain, request: Request) -> OptionSet:
    if request.t is None and request.n_options is not None:
        scores, goals = _largest_t(domain, request, request.n_options)
    else:
        scores, goals = _goals_at(domain, request, DEFAULT_T if request.t is None else request.t)
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
    return OptionSet(domain, goals.states, "diffusion", record)


def _random(domain: Domain, request: Request) -> OptionSet:
    n_options = request.n_options
    if n_options is None:
        n_options = len(_diffusion(domain, request))
    goals = np.random.default_rng(request.seed).choice(domain.n_states, size=n_options, replace=False)
    return OptionSet(domain, np.sort(goals), "random", {"seed": request.seed})


METHODS: dict[str, Callable[[Domain, Request], OptionSet]] = {"diffusion": _diffusion, "random": _random}


def _goals_at(domain: Domain, request: Request, t: float) -> tuple[Scores, Goals]:
    scores = score(domain, t, request.solver, form=request.form)
    return scores, find_goals(domain, scores, min_prominence=request.min_prominence)


def _too_few(asked: int, there: int, where: str) -> str:
    return (
        f"n_options must be at most the number of local maxima of the score; got {asked}, and there are {there} "
        f"{where}. Ask for fewer, or use method='random'."
    )


def _largest_t(domain: Domain, request: Request, n_options: int) -> tuple[Scores, Goals]:
    """Return score and goals at the largest whole t that has at least ``n_options`` local maxima.

    The number of maxima falls with t, though not strictly from one t to the next: the first few are all looked at, then
    t is doubled while there are enough, then halved in between.
    """
    dense = domain.n_states <= _DENSE_STATES and request.solver in ("auto", "spectral") and request.form != "walk"
    parts = spectrum(domain) if dense else None

    def look(t: int) -> tuple[Scores, Goals]:
        if parts is None:
            return _goals_at(domain, request, t)
        scores = score(domain, t, "spectral", decomposition=parts)
        return scores, find_goals(domain, scores, min_prominence=request.min_prominence)

    def affordable(t: int) -> bool:
        return t <= _LONGEST_T and (dense or local_seconds(domain, t) <= _PATIENCE_SECONDS)

    found = {t: look(t) for t in range(1, DEFAULT_T + 1)}
    enough = [t for t, (_, goals) in found.items() if len(goals) >= n_options]
    if not enough:
        most = max(len(goals) for _, goals in found.values())
        raise InvalidInput(_too_few(n_options, most, f"for any t from 1 to {DEFAULT_T}"))
    low = max(enough)
    if low < DEFAULT_T:
        return found[low]
    best, high = found[low], low
    while affordable(2 * low):
        tried = look(2 * low)
        if len(tried[1]) < n_options:
            high = 2 * low
            break
        low, best = 2 * low, tried
        high = low
    while high - low > 1:
        middle = (low + high) // 2
        tried = look(middle)
        if len(tried[1]) >= n_options:
            low, best = middle, tried
        else:
            high = middle
    return best
