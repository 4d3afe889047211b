"""Our own choice of goals: those with which an agent that acts at random needs the fewest steps.

Where diffusion options take the local maxima of a score, this takes what is measured in the end (exact mean steps) and
minimizes it over sets of goals, and over how often an option is taken. It begins with the
diffusion goals and with the best goals one by one, and exchanges goals while that helps (`exchange`). Small worlds are
searched whole. In larger ones the targets are a sample, another one in each round, and the candidates first local
maxima and states spread over the world, and then what lies around the goals found so far, nearer and nearer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import find_goals, score
from farpoint.errors import check_memory
from farpoint.options.goal_tables import (
    GoalSteps,
    Targets,
    both_ways,
    drawn_targets,
    exchanged_goals,
    goal_steps,
    greedy_goals,
    is_crossable,
    mean_objective,
)
from farpoint.options.methods.diffusion import TooFewMaxima, count_options, diffusion_options
from farpoint.options.methods.request import DiscoveryRequest, goal_states
from farpoint.options.methods.spread import farthest_first, spread_states
from farpoint.options.option_set import OptionSet
from farpoint.options.probability import usual_option_probability
from farpoint.worlds import World

# Up to so many states all of them are candidates and targets.
SMALL = 256
# Up to so many states all are targets, beyond that so many of them: with few targets the goals would go to those.
ALL_TARGETS, TARGETS = 1024, 420
# Targets × candidates² numbers are held twice.
ENTRIES = 2**24
# So many targets decide how often an option is taken, and so many others whether the search gained anything.
P_TARGETS, CHECKED_TARGETS = 120, 600
# How far from a goal other candidates are looked for, round after round, and at least how many of them at each goal.
_RADII = (8, 3, 1)
_FEWEST_AROUND = 2
# A round must gain this share for another one of its kind; an exchange of sampled candidates, the second.
_WORTH_A_ROUND, _WORTH_AN_EXCHANGE = 1e-3, 3e-3
_MOST_ROUNDS = 6
_LOG_P = (np.log(1e-4), np.log(0.99))
_P_DIGITS = 0.02


@dataclass(frozen=True)
class _Found:
    """Goals, how often their options are taken, and what that is worth."""

    goals: NDArray[np.int64]
    option_probability: float
    value: float


def farpoint_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return the options with the fewest mean steps that an exchange of goals finds; the record says how much it is.

    In a world with episodes, or one that cannot be crossed in both directions, steps are those on its moves taken both
    ways, and how often an option is taken follows the rule of `OptionSet.option_probability`.
    """
    n_options = count_options(world, request)
    search = _Search(world, request)
    check_memory("n_options", n_options, 16 * search.n_targets * (search.n_candidates(n_options)) ** 2)
    best = search.run(n_options)
    order = np.sort(best.goals)
    both_ways = search.plan is not world
    record = {
        "value": best.value,
        "choice": (
            f"the {n_options} goals with the least mean steps between states that exchanges found: {best.value:.4g}"
            + (", on moves taken both ways" if both_ways else "")
        ),
    }
    if not both_ways:
        record["option_probability"] = best.option_probability
    return OptionSet(world, order, "farpoint", record)


class _Search:
    """The search of one world for one request."""

    def __init__(self, world: World, request: DiscoveryRequest) -> None:
        self.world, self.request = world, request
        self.plan = world if is_crossable(world) else both_ways(world)
        self.allowed = goal_states(world)
        self.rng = np.random.default_rng(request.seed)
        self.n_targets = world.n_states if world.n_states <= ALL_TARGETS else TARGETS

    def _drawn(self, goals: NDArray[np.int64], n_targets: int) -> Targets:
        return drawn_targets(self.plan, goals, n_targets, self.rng)

    def n_candidates(self, n_options: int) -> int:
        """Return how many states are looked at together."""
        if self.world.n_states <= SMALL:
            return self.allowed.size
        return min(max(int(np.sqrt(ENTRIES / self.n_targets)), 2 * n_options), self.allowed.size)

    def run(self, n_options: int) -> _Found:
        """Return the best goals, by targets that they were not chosen by where there are others."""
        given = self._given(n_options)
        n_jobs, progress = self.request.n_jobs, self.request.scoring.get("progress")
        found = begun = self._with_best_probability(given, self._first_probability(given))
        whole = self.n_candidates(n_options) == self.allowed.size
        n_rounds = _MOST_ROUNDS if whole else 1 + len(_RADII)
        for number in range(n_rounds):
            candidates = self._candidates(found, number)
            tables = self._tables(candidates, found.option_probability, self._drawn(found.goals, self.n_targets))
            starts = [np.searchsorted(candidates, found.goals)]
            before = float(mean_objective(tables.mean_steps(starts[0]), tables.weights))
            if whole and number == 0:
                starts.append(greedy_goals(tables, n_options, n_jobs)[0])
            gain = {} if whole else {"min_gain": _WORTH_AN_EXCHANGE}
            tried = [exchanged_goals(tables, start, n_jobs, **gain) for start in starts]
            places, value = min(tried, key=lambda pair: pair[1])
            found = _Found(np.sort(candidates[places]), found.option_probability, value)
            if whole or number in (0, n_rounds - 1):
                found = self._with_best_probability(found.goals, found.option_probability)
            if progress is not None:
                progress(number + 1, n_rounds)
            if whole and found.value > before * (1.0 - _WORTH_A_ROUND):
                break
        return self._checked(found, begun)

    def _given(self, n_options: int) -> NDArray[np.int64]:
        """Return the diffusion goals, or, where there are not so many, states that are spread over the world."""
        try:
            return np.sort(diffusion_options(self.world, replace(self.request, n_options=n_options)).goals)
        except TooFewMaxima:
            return spread_states(self.plan, self.allowed, n_options)

    def _first_probability(self, goals: NDArray[np.int64]) -> float:
        if self.request.option_probability is not None:
            return self.request.option_probability
        return usual_option_probability(self.world, goals)

    def _tables(self, candidates: NDArray[np.int64], option_probability: float, targets: Targets) -> GoalSteps:
        return goal_steps(
            self.plan, candidates, targets.states, option_probability, self.request.n_jobs,
            weights=targets.weights,
        )  # fmt: skip

    def _value(self, goals: NDArray[np.int64], option_probability: float, targets: Targets) -> float:
        tables = self._tables(goals, option_probability, targets)
        return float(mean_objective(tables.mean_steps(np.arange(goals.size)), tables.weights))

    def _with_best_probability(self, goals: NDArray[np.int64], option_probability: float) -> _Found:
        """Return the goals with the probability that is best for them, unless it is given or there are episodes."""
        targets = self._drawn(goals, self.n_targets if self.n_targets == self.world.n_states else P_TARGETS)
        p = option_probability
        if self.plan is not self.world and self.request.option_probability is None:
            p = usual_option_probability(self.world, goals)
        elif self.request.option_probability is None:
            p = self._best_probability(goals, option_probability, targets)
        return _Found(goals, p, self._value(goals, p, targets))

    def _best_probability(self, goals: NDArray[np.int64], option_probability: float, targets: Targets) -> float:
        """Return the best probability near the given one."""
        from scipy.optimize import minimize_scalar  # takes 0.15 s to import, and no other method needs it

        def value(place: float) -> float:
            return float(np.log(self._value(goals, float(np.exp(place)), targets)))

        # The value need not have a single minimum: a few places first, then around the best of them.
        places = np.unique(np.clip(np.log(option_probability) + np.log([0.3, 1.0, 3.0]), *_LOG_P))
        values = [value(place) for place in places]
        while values[-1] == min(values) and places[-1] < _LOG_P[1]:
            places = np.append(places, min(places[-1] + np.log(3.0), _LOG_P[1]))
            values.append(value(places[-1]))
        while values[0] == min(values) and places[0] > _LOG_P[0]:
            places = np.append(max(places[0] - np.log(3.0), _LOG_P[0]), places)
            values.insert(0, value(places[0]))
        best = int(np.argmin(values))
        bounds = (places[max(best - 1, 0)], places[min(best + 1, places.size - 1)])
        fit = minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": _P_DIGITS, "maxiter": 8})
        return float(np.exp(fit.x if fit.fun < values[best] else places[best]))

    def _candidates(self, found: _Found, number: int) -> NDArray[np.int64]:
        """Return the states to choose from in one round, those of the goals found so far among them."""
        n_candidates = self.n_candidates(found.goals.size)
        if n_candidates == self.allowed.size:
            return self.allowed
        if number == 0:
            scores = score(self.world, self.request.t, **self.request.scoring)
            maxima = find_goals(self.world, scores, n_jobs=self.request.n_jobs)
            maxima = maxima.where(np.isin(maxima.states, self.allowed))
            if len(maxima) > n_candidates // 2:
                maxima = farthest_first(self.plan, maxima, n_candidates // 2)
            others = np.union1d(found.goals, maxima.states)
            spread = spread_states(self.plan, self.allowed, max(n_candidates - others.size, 1))
            return np.union1d(others, spread)
        farthest = spread_states(self.plan, self.allowed, n_candidates // 8, far_from=found.goals)
        room = max((n_candidates - farthest.size) // found.goals.size - 1, _FEWEST_AROUND)
        around = [self._around(int(goal), _RADII[number - 1], room) for goal in found.goals]
        return np.unique(np.concatenate([found.goals, farthest, *around]))

    def _around(self, goal: int, radius: int, n_states: int) -> NDArray[np.int64]:
        """Return some states at most ``radius`` moves from a goal."""
        graph, near = self.plan.neighbors, {goal}
        front = near
        for _ in range(radius):
            front = {int(s) for u in front for s in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]} - near
            near = near | front
        states = np.intersect1d(np.array(sorted(near), dtype=np.int64), self.allowed)
        return self.rng.choice(states, size=min(n_states, states.size), replace=False)

    def _checked(self, found: _Found, begun: _Found) -> _Found:
        """Return what was found, or what the search began with if that is better by more targets."""
        if self.n_targets == self.world.n_states:
            return min(found, begun, key=lambda one: one.value)
        both = np.union1d(found.goals, begun.goals)
        # Drawn by what both and what each of the two leave far away, so that neither hides what it does badly.
        targets = self._drawn(both, CHECKED_TARGETS // 2)
        by_one, by_other = (self._drawn(one.goals, CHECKED_TARGETS // 2) for one in (found, begun))
        joined = Targets(
            np.concatenate([targets.states, by_one.states, by_other.states]),
            np.concatenate([targets.weights, by_one.weights, by_other.weights]) / 3.0,
        )
        checked = [replace(one, value=self._value(one.goals, one.option_probability, joined)) for one in (found, begun)]
        return min(checked, key=lambda one: one.value)
