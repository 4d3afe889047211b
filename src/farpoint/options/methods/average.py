"""Average Options: goals with which an agent that plans needs the fewest decisions (Ivanov, Bagaria and Konidaris,
2025).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import check_memory
from farpoint.options.goal_tables import both_ways, exchanged_goals, greedy_goals, is_crossable
from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.request import DiscoveryRequest, goal_states
from farpoint.options.option_set import OptionSet
from farpoint.options.routes import steps_to
from farpoint.parallel import parallel_map
from farpoint.worlds import World

# Worlds with at most ALL_STATES states use all of them as candidates for goals, as starts and as targets. In larger
# worlds ALL_STATES candidates, which are also the starts, and TARGETS targets are drawn.
ALL_STATES, TARGETS = 2_048, 1_024
# Routes in a world of chance are linear systems instead of a search: fewer targets.
_RANDOM_TARGETS = 256
# A round of exchanges must gain this share where every state counts, and by a sample.
_GAIN, _GAIN_BY_SAMPLE = 1e-9, 1e-4
# More goals are left as Fast Average Options find them: judging an exchange takes goals × targets comparisons.
MOST_EXCHANGED = 256
# The alternation of Fast Average Options ends in a local minimum, so it is begun this many times.
_TRIALS = 5
_TARGETS_PER_TASK = 16


def average_options(world: World, request: DiscoveryRequest) -> OptionSet:
    r"""Return options to the goals with the fewest mean decisions between states that an exchange of goals finds.

    An agent that plans goes from s to x by its own moves, or takes one option and goes on from its goal:

        decisions(s, x) = min(d(s, x), 1 + min_g d(g, x)),

    with d the least (expected) number of moves. The mean over s and x is what k-medians with penalties minimize: a
    target costs its distance from the nearest goal, unless going without options is cheaper. The goals of Fast Average
    Options (`alternated_goals`) and goals taken one by one are exchanged for others while that helps, which is the
    local search of Average Options; the best result is returned. More than 256 goals are not exchanged.

    Paper: an option joins one of the goals, the root, with another, in both directions, and starts at its ends only.
    Here: options start anywhere, as those of other methods do, which is better by both objectives (docs/methods.md).
    In worlds of more than 2 048 states, candidates are a sample of that many and targets one of 1 024 (more for more
    than 512 goals); in worlds of chance, where d needs a linear system per target, there are 256 targets. In a
    world with episodes, or one that cannot be crossed in both directions, d counts moves taken both ways.
    """
    n_options = count_options(world, request)
    rng = np.random.default_rng(request.seed)
    plan = world if is_crossable(world) else both_ways(world)
    costs = median_costs(plan, goal_states(world), n_options, rng, request.n_jobs)
    trials = [alternated_goals(costs, n_options, rng) for _ in range(_TRIALS)]
    found, value = min(trials, key=lambda pair: pair[1])
    by = "Fast Average Options"
    if n_options <= MOST_EXCHANGED:
        gain, by = _GAIN_BY_SAMPLE if costs.sampled else _GAIN, "exchanges"
        begins = [found] if costs.sampled else [goals for goals, _ in trials]
        begins.append(greedy_goals(costs, n_options)[0])
        found, value = min((exchanged_goals(costs, begin, min_gain=gain) for begin in begins), key=lambda pair: pair[1])
    said = [f"the {n_options} goals with the fewest mean decisions of a planner that {by} found: {value:.4g}"]
    if costs.sampled:
        said.append("by a sample of {} states as goals, of {} as targets".format(*costs.per_goal.shape))
    if plan is not world:
        said.append("on moves taken both ways")
    record = {"value": value, "seed": request.seed, "choice": ", ".join(said)}
    return OptionSet(world, np.sort(costs.candidates[found]), "average", record)


@dataclass(frozen=True, eq=False)
class MedianCosts:
    """The mean decisions to each target from the starts, if one candidate were the only goal.

    Goals are judged as `GoalSteps` judges them, so that the same exchange serves both.

    Attributes
    ----------
    candidates : array of int
    per_goal : array, shape (n_candidates, n_targets)
        Mean over starts s of min(d(s, x), 1 + d(g, x)): the cost of target x with goal g alone. With several goals a
        target costs the least of these, so the best goals are the medians.
    sampled : bool
        Whether targets were drawn at random.

    Examples
    --------
    >>> import farpoint as fp
    >>> costs = median_costs(fp.grid((3,)), np.arange(3), 1, np.random.default_rng(0))
    >>> costs.per_goal[1]                     # from the middle: 0.67 to itself, and to the ends (0 + 1 + 2) / 3
    array([1.        , 0.66666667, 1.        ])
    """

    candidates: NDArray[np.int64]
    per_goal: NDArray[np.float64]
    sampled: bool
    weights: ClassVar[None] = None

    def mean_steps(self, goals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean decisions to all targets, as an array of one number."""
        return np.atleast_1d(self.per_goal[goals].min(axis=0).mean())

    def with_one_more(self, goals: NDArray[np.int64], n_jobs: int = -1) -> NDArray[np.float64]:
        """Return the mean decisions with each candidate as one more goal."""
        nearest = self.per_goal[goals].min(axis=0, initial=np.inf)
        return np.asarray(np.minimum(self.per_goal, nearest).mean(axis=1)[None])

    def with_one_replaced(self, goals: NDArray[np.int64], n_jobs: int = -1) -> NDArray[np.float64]:
        """Return the mean decisions with each of the goals replaced by each candidate."""
        own = np.sort(self.per_goal[goals], axis=0)
        first, second = own[0], own[1] if goals.size > 1 else np.full(own.shape[1], np.inf)
        # A target keeps its goal. If that is the one replaced, it takes the second best, or the candidate.
        kept = np.minimum(self.per_goal, first)
        lost = _sums_of_parts(np.minimum(self.per_goal, second) - kept, self.joined(goals), goals.size)
        return np.asarray((kept.mean(axis=1) + lost.T / first.size)[None])

    def joined(self, goals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the goal from which each target is reached."""
        return np.asarray(self.per_goal[goals].argmin(axis=0))


def _sums_of_parts(values: NDArray[np.float64], part: NDArray[np.int64], n_parts: int) -> NDArray[np.float64]:
    """Return the sums over the columns of each part; 0 for a part without any."""
    order = np.argsort(part, kind="stable")
    there, first = np.unique(part[order], return_index=True)
    sums = np.zeros((len(values), n_parts))
    sums[:, there] = np.add.reduceat(values[:, order], first, axis=1)
    return sums


def median_costs(
    world: World, allowed: NDArray[np.int64], n_goals: int, rng: np.random.Generator, n_jobs: int = -1
) -> MedianCosts:
    """Return the costs of the allowed states as goals, or of a sample of them, in a world that can be crossed."""
    starts, candidates, targets = np.arange(world.n_states), allowed, np.arange(world.n_states)
    if world.n_states > ALL_STATES:
        n_candidates = min(max(ALL_STATES, 2 * n_goals), allowed.size)
        starts = candidates = np.sort(rng.choice(allowed, size=n_candidates, replace=False))
    n_targets = min(max(TARGETS, 2 * n_goals), world.n_states) if world.n_states > ALL_STATES else world.n_states
    n_targets = n_targets if world.deterministic else min(n_targets, max(_RANDOM_TARGETS, 2 * n_goals))
    if n_targets < world.n_states:
        targets = np.sort(rng.choice(world.n_states, size=n_targets, replace=False))
    # The costs, and three arrays of that size while exchanges are judged.
    check_memory("n_options", n_goals, 4 * 8 * candidates.size * targets.size)
    tasks = [targets[first : first + _TARGETS_PER_TASK] for first in range(0, targets.size, _TARGETS_PER_TASK)]
    parts = parallel_map(_costs_of_targets, (world, candidates, starts), tasks, n_jobs=n_jobs)
    return MedianCosts(candidates, np.concatenate(list(parts), axis=1), n_targets < world.n_states)


def _costs_of_targets(
    shared: tuple[World, NDArray[np.int64], NDArray[np.int64]], targets: Sequence[int]
) -> NDArray[np.float64]:
    world, candidates, starts = shared
    costs = np.empty((candidates.size, len(targets)))
    for place, target in enumerate(targets):
        moves = steps_to(world, int(target))
        alone = np.sort(moves[starts])
        total = np.concatenate([[0.0], np.cumsum(alone)])
        with_goal = 1.0 + moves[candidates]
        # Σ_s min(d(s, x), 1 + d(g, x)): the starts that are nearer go by themselves.
        nearer = np.searchsorted(alone, with_goal)
        costs[:, place] = (total[nearer] + (starts.size - nearer) * with_goal) / starts.size
    return costs


def alternated_goals(costs: MedianCosts, n_goals: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], float]:
    """Return goals by the alternation of Fast Average Options, begun at random, and their mean decisions.

    Every target joins its cheapest goal; every goal moves to the candidate that is cheapest for its targets; again,
    while that helps. Goals are places among the candidates.

    Paper: a part's goal moves to its center, the state with the least largest distance. Here: to its median.

    Examples
    --------
    >>> import farpoint as fp
    >>> rng = np.random.default_rng(0)
    >>> alternated_goals(median_costs(fp.grid((9,)), np.arange(9), 2, rng), 2, rng)[0]
    array([2, 7])
    """
    goals = np.sort(rng.choice(costs.candidates.size, size=n_goals, replace=False))
    value = float(costs.mean_steps(goals)[0])
    while True:
        part = costs.joined(goals)
        alone = np.setdiff1d(np.arange(n_goals), part)
        moved = _sums_of_parts(costs.per_goal, part, n_goals).argmin(axis=0)
        # A goal without targets, or one whose place another takes, stays where it is.
        moved[alone] = goals[alone]
        trial = np.unique(moved)
        trial = np.union1d(trial, np.setdiff1d(goals, trial)[: n_goals - trial.size])
        new = float(costs.mean_steps(trial)[0])
        if not new < value:
            return goals, value
        goals, value = trial, new
