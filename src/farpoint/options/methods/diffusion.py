"""Diffusion options: one to each local maximum of the score (Algorithm 1 and 2 of the paper)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from farpoint.diffusion import Goals, Scores, Walk, refine_goals
from farpoint.diffusion.goals.maxima import check_prominence, goals_of
from farpoint.diffusion.scores.request import DEFAULT_T
from farpoint.diffusion.scores.solve import walk_scores
from farpoint.errors import InvalidInput
from farpoint.options.curves import judge_sets
from farpoint.options.methods.request import DiscoveryRequest, goal_states
from farpoint.options.methods.spread import farthest_first
from farpoint.options.option_set import OptionSet
from farpoint.options.record import Later, Record
from farpoint.worlds import World

# The times that t="auto" chooses among.
AUTO_TIMES = (1, 2, 4, 8, 16, 32, 64, 128)
# An environment has hundreds of local maxima; beyond this many options more are hardly better (docs/choices.md).
MOST_BY_DEFAULT = 20


def diffusion_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return an option to each local maximum of the score, or to ``n_options`` of them; the record says which and why.

    With ``t`` given they are the most prominent ones at that t. Otherwise the rules that docs/choices.md measures: t is
    the paper's 4, where it has enough maxima; of those of a world with episodes the most prominent are taken, elsewhere
    those that are spread farthest.
    """
    walk = Walk.of(world)
    number = request.n_options
    if request.t_auto:
        return _at_the_best_time(world, walk, request)
    if number is not None and not request.t_given:
        scores, goals = _with_enough(world, walk, request, number)
        why_t = f"t = {scores.t:g}, as in the paper"
        if scores.t < DEFAULT_T:
            why_t = f"t = {scores.t:g}, the largest up to {DEFAULT_T} with {number} local maxima"
    else:
        scores = walk_scores(walk, request.scoring)
        goals = _goals_of(world, scores, request)
        why_t = f"t = {scores.t:g}, {'as asked for' if request.t_given else 'as in the paper'}"
    if len(goals) == 0:
        raise InvalidInput(f"min_prominence must leave at least one goal; got {request.min_prominence:g}.")
    episodic = world.restart is not None
    if number is None and not request.t_given and episodic:
        number = min(MOST_BY_DEFAULT, len(goals))
    goals, why_these = _chosen(world, scores, goals, number, by_prominence=episodic or request.t_given)
    return _options_of(world, scores, goals, f"{why_t}; {why_these}")


def _options_of(world: World, scores: Scores, goals: Goals, choice: str) -> OptionSet:
    record = Record(
        t=scores.t,
        solver=scores.solver,
        form=scores.form,
        reason=scores.reason,
        choice=choice,
        heights=goals.heights,
        prominences=Later(lambda: goals.prominences),
    )
    return OptionSet(world, goals.states, "diffusion", record)


def goals_over_time(world: World, request: DiscoveryRequest) -> list[tuple[Scores, Goals]]:
    """Return the score and its goals at each of the times that ``t="auto"`` chooses among, where there are any."""
    walk = Walk.of(world)
    found = []
    for t in AUTO_TIMES:
        scores = walk_scores(walk, replace(request.scoring, t=t))
        goals = _goals_of(world, scores, request)
        if len(goals):
            found.append((scores, goals))
    return found


def _at_the_best_time(world: World, walk: Walk, request: DiscoveryRequest) -> OptionSet:
    """Return the options of the t with which an agent that acts at random needs the fewest steps."""
    number = request.n_options
    found = goals_over_time(world, request)
    if number is not None:
        enough = [(scores, farthest_first(world, goals, number)) for scores, goals in found if len(goals) >= number]
        if not enough:
            most = max(len(goals) for _, goals in found)
            raise InvalidInput(_too_few(number, most, f"for any t from 1 to {AUTO_TIMES[-1]}"))
        found = enough
    sets = [goals.states for _, goals in found]
    judged = judge_sets(world, sets, objective=request.objective, seed=request.seed, n_jobs=request.scoring.n_jobs)
    best = int(judged.values.argmin())
    scores, goals = found[best]
    these = "all of its" if number is None else f"the highest and those farthest from each other, {number} of its"
    times = ", ".join(f"{one.t:g}" for one, _ in found)
    return _options_of(
        world, scores, goals,
        f"t = {scores.t:g}, of {times} the one with the fewest steps ({judged.values[best]:.4g}); {these} local maxima",
    )  # fmt: skip


def count_options(world: World, request: DiscoveryRequest) -> int:
    """Return how many options are requested: by default as many as there are diffusion options."""
    return len(diffusion_options(world, request)) if request.n_options is None else request.n_options


def _chosen(
    world: World, scores: Scores, goals: Goals, number: int | None, *, by_prominence: bool
) -> tuple[Goals, str]:
    """Return ``number`` of the goals, or all of them, and how they were chosen."""
    found = len(goals)
    if number is None or number == found:
        return goals, f"all of its {found} local maxima"
    if number > found:
        raise InvalidInput(_too_few(number, found, f"at t = {scores.t:g}"))
    if by_prominence:
        return goals.most_prominent(number), f"of its {found} local maxima the {number} most prominent"
    spread = farthest_first(world, goals, number)
    return spread, f"of its {found} local maxima the highest and those farthest from each other, {number} in all"


def _goals_of(world: World, scores: Scores, request: DiscoveryRequest) -> Goals:
    """Return the local maxima, without states in which an episode ends: an option into those would end it."""
    if scores.solver == "probes":
        goals = refine_goals(world, scores, n_jobs=request.scoring.n_jobs)
        goals = goals.where(goals.prominences >= check_prominence(request.min_prominence))
    else:
        # The scores are nobody else's, so that their prominences need no copy of them.
        goals = goals_of(world, np.asarray(scores), check_prominence(request.min_prominence))
    if world.restart is None:
        return goals
    return goals.where(np.isin(goals.states, goal_states(world)))


def _too_few(wanted: int, available: int, where: str) -> str:
    return (
        f"n_options must be at most the number of local maxima of the score; got {wanted}, and there are {available} "
        f"{where}. Ask for fewer, or use method='random'."
    )


def _with_enough(world: World, walk: Walk, request: DiscoveryRequest, number: int) -> tuple[Scores, Goals]:
    """Return score and goals at the paper's t or, where that has too few local maxima, at the largest below it."""
    most = 0
    for t in range(DEFAULT_T, 0, -1):
        scores = walk_scores(walk, replace(request.scoring, t=t))
        goals = _goals_of(world, scores, request)
        if len(goals) >= number:
            return scores, goals
        most = max(most, len(goals))
    raise InvalidInput(_too_few(number, most, f"for any t from 1 to {DEFAULT_T}"))
