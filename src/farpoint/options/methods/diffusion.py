"""Diffusion options: one to each local maximum of the score (Algorithm 1 and 2 of the paper)."""

from __future__ import annotations

import numpy as np

from farpoint.diffusion import Goals, Scores, score
from farpoint.diffusion.goals import check_prominence, goals_of
from farpoint.diffusion.scoring import DEFAULT_T
from farpoint.errors import InvalidInput
from farpoint.options.methods.request import DiscoveryRequest, goal_states
from farpoint.options.methods.spread import farthest_first
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World

# An environment has hundreds of local maxima; beyond this many options more are hardly better (docs/choices.md).
MOST_BY_DEFAULT = 20


class TooFewMaxima(InvalidInput):
    """More options were asked for than the score has local maxima."""


def diffusion_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return an option to each local maximum of the score, or to ``n_options`` of them; the record says which and why.

    With ``t`` given they are the most prominent ones at that t. Otherwise the rules that docs/choices.md measures: t is
    the paper's 4, where it has enough maxima; of those of a world with episodes the most prominent are taken, elsewhere
    those that are spread farthest.
    """
    number = request.n_options
    if number is not None and not request.t_given:
        scores, goals = _with_enough(world, request, number)
        why_t = f"t = {scores.t:g}, as in the paper"
        if scores.t < DEFAULT_T:
            why_t = f"t = {scores.t:g}, the largest up to {DEFAULT_T} with {number} local maxima"
    else:
        scores = score(world, request.t, **request.scoring)
        goals = _goals_of(world, scores, request)
        why_t = f"t = {scores.t:g}, {'as asked for' if request.t_given else 'as in the paper'}"
    found = len(goals)
    if found == 0:
        raise _none_left(request.min_prominence)
    episodic = world.restart is not None
    if number is None and not request.t_given and episodic:
        number = min(MOST_BY_DEFAULT, found)
    why_these = f"all of its {found} local maxima"
    if number is not None and number != found:
        goals, why_these = _chosen(world, scores, goals, number, by_prominence=episodic or request.t_given)
    choice = f"{why_t}; {why_these}"
    if scores.standard_error is not None:
        error = float(np.median(scores.standard_error / scores.values))
        choice += f"; they are maxima of an estimate (standard error {error:.1g} of a score), not of the score itself"
    record = {
        "t": scores.t,
        "solver": scores.solver,
        "form": scores.form,
        "reason": scores.reason,
        "choice": choice,
        "maxima": goals,
    }
    return OptionSet(world, goals.states, "diffusion", record)


def count_options(world: World, request: DiscoveryRequest) -> int:
    """Return how many options are requested: by default as many as there are diffusion options."""
    return len(diffusion_options(world, request)) if request.n_options is None else request.n_options


def _chosen(world: World, scores: Scores, goals: Goals, number: int, *, by_prominence: bool) -> tuple[Goals, str]:
    """Return ``number`` of the goals, and how they were chosen."""
    found = len(goals)
    if number > found:
        raise _too_few(number, found, f"at t = {scores.t:g}")
    if by_prominence:
        return goals.most_prominent(number), f"of its {found} local maxima the {number} most prominent"
    spread = farthest_first(world, goals, number)
    return spread, f"of its {found} local maxima the highest and those farthest from each other, {number} in all"


def _goals_of(world: World, scores: Scores, request: DiscoveryRequest) -> Goals:
    """Return the local maxima, without states in which an episode ends: an option into those would end it."""
    prominence = check_prominence(request.min_prominence)
    # The scores are nobody else's, so that their prominences need no copy of them.
    goals = goals_of(world, scores.values, prominence, n_jobs=request.n_jobs)
    if world.restart is None:
        return goals
    return goals.where(np.isin(goals.states, goal_states(world)))


def _none_left(min_prominence: float) -> InvalidInput:
    return InvalidInput(f"min_prominence must leave at least one goal; got {min_prominence:g}.")


def _too_few(wanted: int, available: int, where: str) -> TooFewMaxima:
    return TooFewMaxima(
        f"n_options must be at most the number of local maxima of the score; got {wanted}, and there are {available} "
        f"{where}. Ask for fewer, or use method='random'."
    )


def _with_enough(world: World, request: DiscoveryRequest, number: int) -> tuple[Scores, Goals]:
    """Return score and goals at the paper's t or, where that has too few local maxima, at the largest below it."""
    most = 0
    for t in range(DEFAULT_T, 0, -1):
        scores = score(world, t, **request.scoring)
        goals = _goals_of(world, scores, request)
        if len(goals) >= number:
            return scores, goals
        most = max(most, len(goals))
    if most == 0:
        raise _none_left(request.min_prominence)
    raise _too_few(number, most, f"for any t from 1 to {DEFAULT_T}")
