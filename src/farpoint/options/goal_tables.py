"""Mean steps to each target for any set of goals, from tables that are computed once.

The agent of `steps_between_states` takes with probability p one of K options, each to its goal from everywhere. With
A = I − (1 − p) P, P its primitive moves, the expected steps h to a target x solve, for all states but x, where h is 0,

    A h = (1 − p) 1 + p / K Σ_g [ V_g − F_g V_g(x) + (1 − F_g) h(g) ],

V_g the length of the routes to g and F_g the chance of passing x on them. The right side is a sum over goals, so what
one goal adds can be tabled before it is known which others there are:

    h(s) = B(s) + p / K Σ_g [ C(s, g) + U(s, g) h(g) ],    C(·, g) = A⁻¹ (V_g − F_g V_g(x)),    U(·, g) = A⁻¹ (1 − F_g)

with A⁻¹ on the states other than x, which follows from that on all states by a term of rank one. Any K goals are then
judged by one K × K system per target, and one more goal by a term of rank one (`with_one_more`), as is one goal in
place of another (`with_one_replaced`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array, eye_array
from scipy.sparse.csgraph import connected_components

from farpoint.options.following import Following, factored
from farpoint.options.option import Option
from farpoint.options.probability import moves_to_nearest
from farpoint.options.routes import primitive_moves, steps_to
from farpoint.parallel import parallel_map
from farpoint.worlds import World

# So many right sides are solved at a time, so many goals are followed by one task, so many targets judged by one.
_COLUMNS = 64
_GOALS_PER_TASK = 8
_TARGETS_PER_TASK = 16
# A target that is harder to reach than this is out of reach: a double cannot tell how hard.
_BEYOND = 1e13
_ROUNDING = 1e-15
# In a mean, a target out of reach counts as this many steps, so that one such target is better than two.
_OUT_OF_REACH = 1e14
# An exchange must gain this share, or it is rounding.
_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class GoalSteps:
    """Tables for some candidates for goals, some targets and one option probability.

    Attributes
    ----------
    candidates, targets : array of int
    option_probability : float
    alone : array, shape (n_targets, n_candidates + 1)
        B: at each candidate, and last its mean over all states.
    lengths, passing : array, shape (n_targets, n_candidates + 1, n_candidates)
        C and U: rows as in ``alone``, one column per goal.
    weights : array, shape (n_targets,), optional
        What each target counts for in a mean over targets; they sum to 1. Default: all the same.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> world = fp.four_rooms()
    >>> tables = goal_steps(world, np.arange(104), np.array([3, 50]), 0.5)
    >>> goals = fp.discover(world, t=4).goals
    >>> options = fp.OptionSet(world, goals)
    >>> exact = fp.steps_between_states(world, options, targets=[3, 50], option_probability=0.5)
    >>> np.allclose(tables.mean_steps(goals), exact.per_target, rtol=1e-9)
    True
    """

    candidates: NDArray[np.int64]
    targets: NDArray[np.int64]
    option_probability: float
    alone: NDArray[np.float64]
    lengths: NDArray[np.float64]
    passing: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None

    def mean_steps(self, goals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean steps to each target with these goals, given by their places among the candidates."""
        weight = self.option_probability / goals.size
        rows = np.append(goals, self.candidates.size)
        passing = weight * self.passing[:, rows[:, None], goals]
        right = self.alone[:, rows] + weight * self.lengths[:, rows[:, None], goals].sum(axis=2)
        system = np.eye(goals.size) - passing[:, :-1]
        at_goals = _regular_solve(system, right[:, :-1, None])[:, :, 0]
        return _within_reach(right[:, -1] + np.einsum("xg,xg->x", passing[:, -1], at_goals))

    def with_one_more(self, goals: NDArray[np.int64], n_jobs: int = -1) -> NDArray[np.float64]:
        """Return the mean steps to each target (rows) with these goals and each candidate (columns) as one more."""
        return np.concatenate(list(parallel_map(_with_one_more, (self, goals), self._tasks, n_jobs=n_jobs)))

    def with_one_replaced(self, goals: NDArray[np.int64], n_jobs: int = -1) -> NDArray[np.float64]:
        """Return the mean steps to each target with each of these goals replaced by each candidate.

        The shape is (n_targets, n_goals, n_candidates).
        """
        return np.concatenate(list(parallel_map(_with_one_replaced, (self, goals), self._tasks, n_jobs=n_jobs)))

    @property
    def _tasks(self) -> list[slice]:
        return [slice(first, first + _TARGETS_PER_TASK) for first in range(0, self.targets.size, _TARGETS_PER_TASK)]


def _within_reach(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means, inf where rounding has made them impossible."""
    return np.where((means >= 0.0) & (means <= _BEYOND), means, np.inf)


def _regular_solve(systems: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the solutions; of systems that are singular to rounding, solutions beyond all reach."""
    try:
        return np.asarray(np.linalg.solve(systems, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        regular = systems + _ROUNDING * np.eye(systems.shape[-1])
        return np.asarray(np.linalg.solve(regular, right), dtype=np.float64)


def _with_one_more(shared: tuple[GoalSteps, NDArray[np.int64]], some: slice) -> NDArray[np.float64]:
    tables, goals = shared
    passing, lengths, alone = tables.passing[some], tables.lengths[some], tables.alone[some]
    weight = tables.option_probability / (goals.size + 1)
    last = tables.candidates.size  # the row of the mean
    own_passing = np.einsum("xgg->xg", passing[:, :last])
    own_lengths = np.einsum("xgg->xg", lengths[:, :last])
    right = alone + weight * lengths[:, :, goals].sum(axis=2)
    if goals.size == 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            at_new = (right[:, :last] + weight * own_lengths) / (1.0 - weight * own_passing)
            return _within_reach(right[:, last:] + weight * (lengths[:, last] + passing[:, last] * at_new))
    to_goals = weight * passing[:, :, goals]
    system = np.eye(goals.size) - to_goals[:, goals]
    # h at the goals is first + more h(new), for each new goal.
    columns = np.concatenate([right[:, goals, None] + weight * lengths[:, goals], weight * passing[:, goals]], axis=2)
    first, more = np.split(_regular_solve(system, columns), 2, axis=2)
    from_new = to_goals[:, :last].transpose(0, 2, 1)
    above = right[:, :last] + weight * own_lengths + (from_new * first).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_new = above / (1.0 - weight * own_passing - (from_new * more).sum(axis=1))
        at_goals = first + more * at_new[:, None, :]
        means = (
            right[:, last:]
            + weight * (lengths[:, last] + passing[:, last] * at_new)
            + (to_goals[:, last, :, None] * at_goals).sum(axis=1)
        )
    return _within_reach(means)


def _with_one_replaced(shared: tuple[GoalSteps, NDArray[np.int64]], some: slice) -> NDArray[np.float64]:
    """Return the mean steps with goal j replaced by candidate g, for all j and g.

    With I the inverse of the system of all goals, that of the system without goal j makes of any right side v

        (I v) − i_j (I v)(j),    i_j = I(·, j) / I(j, j),

    a term of rank one, so all n_goals × n_candidates replacements cost little more than one solve.
    """
    tables, goals = shared
    weight = tables.option_probability / goals.size
    last = tables.candidates.size  # the row of the mean
    passing, lengths = weight * tables.passing[some], weight * tables.lengths[some]
    own_passing = np.einsum("xgg->xg", passing[:, :last])
    own_lengths = np.einsum("xgg->xg", lengths[:, :last])
    to_goals = passing[:, :, goals]
    right = tables.alone[some] + lengths[:, :, goals].sum(axis=2)
    unit = np.broadcast_to(np.eye(goals.size), (len(right), goals.size, goals.size))
    inverse = _regular_solve(unit - to_goals[:, goals], unit)
    more, longer = inverse @ passing[:, goals], inverse @ lengths[:, goals]
    values = (inverse @ right[:, goals, None])[:, :, 0]
    without = inverse / np.einsum("xjj->xj", inverse)[:, None, :]  # i_j
    # Of each row (candidates, mean) and each j: what its way to the goals loses with j, by one unit at j …
    lost = (to_goals @ without).transpose(0, 2, 1)
    # … the value at the goals that j's own lengths make, and that of all goals, with one more.
    of_j = (to_goals @ longer[:, :, goals]).transpose(0, 2, 1)
    of_all = to_goals @ values[:, :, None]
    at_j = (values - np.einsum("xjj->xj", longer[:, :, goals]))[:, :, None] + longer
    to_candidates = to_goals[:, :last].transpose(0, 2, 1)
    first = (of_all[:, :last, 0] + (to_candidates * longer).sum(axis=1))[:, None, :] - of_j[:, :, :last]
    first -= lost[:, :, :last] * at_j
    again = (own_passing + (to_candidates * more).sum(axis=1))[:, None, :] - lost[:, :, :last] * more
    first += (right[:, :last] + own_lengths)[:, None, :] - lengths[:, :last, goals].transpose(0, 2, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_new = first / (1.0 - again)
        mean_row = to_goals[:, last:, :]
        fixed = right[:, last:, None] + of_all[:, last:] - of_j[:, :, last:] - lengths[:, last, goals][:, :, None]
        varying = lengths[:, last:] + mean_row @ longer
        means = fixed + varying - lost[:, :, last:] * at_j
        means += (passing[:, last:] + mean_row @ more - lost[:, :, last:] * more) * at_new
    return _within_reach(means)


def goal_steps(
    world: World,
    candidates: NDArray[np.int64],
    targets: NDArray[np.int64],
    option_probability: float,
    n_jobs: int = -1,
    *,
    weights: NDArray[np.float64] | None = None,
) -> GoalSteps:
    """Return the tables of a world in which every state can be reached from every other; 0 < p ≤ 1.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> tables = goal_steps(fp.grid((3,)), np.array([0, 2]), np.array([0, 1, 2]), 1.0)
    >>> tables.mean_steps(np.array([0, 1]))          # always an option: half of them, to either end
    array([1.33333333, 0.66666667, 1.33333333])
    """
    n_states, p = world.n_states, option_probability
    moves = primitive_moves(world)
    factors = factored(csc_array(eye_array(n_states) - (1.0 - p) * moves))
    rows = np.concatenate([candidates, targets])
    # Rows of A⁻¹, as columns: of the candidates, of the mean over all states, of the targets.
    columns = np.zeros((n_states, rows.size + 1))
    columns[:, candidates.size] = _solved(factors, np.full((n_states, 1), 1.0 / n_states))[:, 0]
    places = np.delete(np.arange(rows.size + 1), candidates.size)
    for first in range(0, rows.size, _COLUMNS):
        some = slice(first, first + _COLUMNS)
        unit = np.zeros((n_states, rows[some].size))
        unit[rows[some], np.arange(rows[some].size)] = 1.0
        columns[:, places[some]] = _solved(factors, unit)
    n_rows, own = candidates.size + 1, np.arange(targets.size)
    # The chance of coming to the target from each row before an option is taken.
    meeting = columns[targets, :n_rows] / columns[targets, n_rows + own][:, None]
    alone = (1.0 - p) / p * (1.0 - meeting)
    tasks = [
        range(first, min(first + _GOALS_PER_TASK, candidates.size))
        for first in range(0, candidates.size, _GOALS_PER_TASK)
    ]
    shared = (world, candidates, targets, columns, meeting, p)
    parts = list(parallel_map(_tables_of_goals, shared, tasks, n_jobs=n_jobs))
    lengths, passing = (np.concatenate([part[which] for part in parts], axis=2) for which in (0, 1))
    return GoalSteps(candidates, targets, p, alone, lengths, passing, weights)


def _solved(factors: object, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(factors.solve(columns, "T"))  # type: ignore[attr-defined]


def _tables_of_goals(
    shared: tuple[World, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], float],
    numbers: Sequence[int],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return C and U of some goals."""
    world, candidates, targets, columns, meeting, p = shared
    n_rows, own = candidates.size + 1, np.arange(targets.size)
    lengths = np.empty((targets.size, n_rows, len(numbers)))
    passing = np.empty((targets.size, n_rows, len(numbers)))
    for place, number in enumerate(numbers):
        goal = int(candidates[number])
        route = steps_to(world, goal)
        following = Following(Option(world, route, goal))
        visits = following.visits(columns)
        if world.deterministic:
            passed = visits[targets]
        else:
            unit = np.zeros((world.n_states, targets.size))
            unit[targets, own] = 1.0
            passed = visits[targets] / following.visits(unit)[targets, own][:, None]
        all_the_way = route @ columns
        without = np.ones(targets.size)
        for table, whole, beyond in ((lengths, all_the_way, route[targets]), (passing, 1.0 / p, without)):
            values = whole - passed * beyond[:, None]
            # The term of rank one: what lies beyond the target, for those that come to it before.
            table[:, :, place] = values[:, :n_rows] - meeting * values[own, n_rows + own][:, None]
    return lengths, passing


# --- Choosing goals ---------------------------------------------------------------------------------------------------


class GoalTables(Protocol):
    """What judges sets of goals, given by their places among candidates: `GoalSteps`, or the costs of medians.

    Everything is per target, along the first axis; ``weights`` is what each target counts for.
    """

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """What each target counts for in a mean; None: all the same."""

    def mean_steps(self, goals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean steps with these goals."""

    def with_one_more(self, goals: NDArray[np.int64], n_jobs: int = -1) -> NDArray[np.float64]:
        """Return the mean steps with each candidate as one more goal."""

    def with_one_replaced(self, goals: NDArray[np.int64], n_jobs: int = -1) -> NDArray[np.float64]:
        """Return the mean steps with each goal replaced by each candidate."""


def mean_objective(steps: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return what is minimized: the mean over targets, along the first axis; ``weights`` of the targets sum to 1.

    Examples
    --------
    >>> float(mean_objective(np.array([10.0, 20.0, 60.0])))
    30.0
    """
    weights = np.full(len(steps), 1.0 / len(steps)) if weights is None else weights
    return np.tensordot(weights, np.where(np.isfinite(steps), steps, _OUT_OF_REACH), axes=1)


def greedy_goals(tables: GoalTables, n_goals: int, n_jobs: int = -1) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return goals taken one by one, each the best with those before it, and the mean steps after each.

    Goals are places among the candidates of the tables.

    Examples
    --------
    >>> import farpoint as fp
    >>> everywhere = np.arange(9)
    >>> greedy_goals(goal_steps(fp.grid((9,)), everywhere, everywhere, 0.1), 2)[0]        # no match for an exchange
    array([4, 5])
    """
    goals: list[int] = []
    values = []
    while len(goals) < n_goals:
        chosen = np.array(goals, dtype=np.int64)
        value = mean_objective(tables.with_one_more(chosen, n_jobs), tables.weights)
        value[chosen] = np.inf
        goals.append(int(value.argmin()))
        values.append(float(value.min()))
    return np.array(goals, dtype=np.int64), np.array(values)


def exchanged_goals(
    tables: GoalTables, goals: NDArray[np.int64], n_jobs: int = -1, *, min_gain: float = _GAIN
) -> tuple[NDArray[np.int64], float]:
    """Return the goals after exchanging one for a candidate, again and again, until none helps; and the mean steps.

    In each round all exchanges are judged at once; then the best one of every goal is made, the most helpful first, if
    it still helps after those before it. A round that gains a smaller share than ``min_gain`` is the last.

    Examples
    --------
    >>> import farpoint as fp
    >>> everywhere = np.arange(9)
    >>> exchanged_goals(goal_steps(fp.grid((9,)), everywhere, everywhere, 0.3), np.array([3, 4]))[0]
    array([0, 8])
    """
    goals = goals.copy()
    value = float(mean_objective(tables.mean_steps(goals), tables.weights))
    while True:
        values = mean_objective(tables.with_one_replaced(goals, n_jobs), tables.weights)
        values[:, goals] = np.inf
        best = values.argmin(axis=1)
        gains = values[np.arange(goals.size), best]
        before = value
        for place in np.argsort(gains, kind="stable"):
            if not gains[place] < value * (1.0 - _GAIN) or best[place] in goals:
                continue
            trial = goals.copy()
            trial[place] = best[place]
            new = float(mean_objective(tables.mean_steps(trial), tables.weights))
            if new < value * (1.0 - _GAIN):
                goals, value = trial, new
        if value > before * (1.0 - min_gain):
            return goals, value


# --- Targets ----------------------------------------------------------------------------------------------------------


class Targets(NamedTuple):
    """The states that steps are measured to, and what each counts for in a mean over all states."""

    states: NDArray[np.int64]
    weights: NDArray[np.float64]


def all_targets(world: World) -> Targets:
    """Return every state.

    >>> import farpoint as fp
    >>> all_targets(fp.grid((4,))).weights
    array([0.25, 0.25, 0.25, 0.25])
    """
    return Targets(np.arange(world.n_states), np.full(world.n_states, 1.0 / world.n_states))


def drawn_targets(world: World, goals: NDArray[np.int64], n_targets: int, rng: np.random.Generator) -> Targets:
    """Return a sample of the states, weighted so that its mean is that of all of them.

    The mean of the steps to all states is often that to the few that are far from every goal, so states are drawn by
    their distance from the nearest goal: a third of the sample among the farthest tenth, of it a quarter among the
    farthest hundredth. Within these they are at equal distances in their order: on a map, spread over it.

    Examples
    --------
    >>> import farpoint as fp
    >>> targets = drawn_targets(fp.grid((1000,)), np.array([0]), 60, np.random.default_rng(0))
    >>> targets.states.size, round(float(targets.weights.sum()), 9), int((targets.states >= 900).sum())
    (60, 1.0, 20)
    """
    n_states = world.n_states
    if n_targets >= n_states:
        return all_targets(world)
    order = np.argsort(moves_to_nearest(world, goals), kind="stable")
    bounds = [0, int(0.9 * n_states), int(0.99 * n_states), n_states]
    counts = [n_targets - n_targets // 3, n_targets // 3 - n_targets // 12, n_targets // 12]
    states, weights = [], []
    for low, high, count in zip(bounds[:-1], bounds[1:], counts, strict=True):
        stratum = np.sort(order[low:high])
        size = min(max(count, 1), stratum.size)
        states.append(stratum[np.floor((rng.random() + np.arange(size)) * (stratum.size / size)).astype(np.int64)])
        weights.append(np.full(size, stratum.size / size / n_states))
    return Targets(np.concatenate(states), np.concatenate(weights))


def is_crossable(world: World) -> bool:
    """Return whether there are no episodes and every state can be reached from every other.

    >>> import farpoint as fp
    >>> is_crossable(fp.ring())
    True
    """
    if world.restart is not None:
        return False
    return bool(world.symmetric or connected_components(world.adjacency, connection="strong")[0] == 1)


def both_ways(world: World) -> World:
    """Return the graph of a world's moves taken in both directions; parts without a move between are joined at a start.

    >>> import farpoint as fp
    >>> both_ways(fp.World.from_graph([[0, 1], [0, 0]])).adjacency.toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    graph = csr_array(world.adjacency + world.adjacency.T)
    n_parts, part = connected_components(graph, directed=False)
    if n_parts > 1:
        start = 0 if world.starts is None else int(np.argmax(world.starts))
        firsts = np.unique(part, return_index=True)[1]
        firsts = firsts[part[firsts] != part[start]]
        edges = coo_array((np.ones(firsts.size), (np.full(firsts.size, start), firsts)), shape=graph.shape)
        graph = csr_array(graph + edges + edges.T)
    return World.from_graph(graph)
