"""How many steps it takes to get from anywhere to anywhere, exactly.

The agent of the paper's Table 1: at each decision it takes, with probability ½ each, a uniformly random primitive
choice or a uniformly random option of those that can start here, which it follows to its end; every primitive step
counts, and reaching the target ends it, also in the middle of an option. Where no option can start it takes a
primitive choice.

The expectation is a linear system. While an option is followed the agent moves by a matrix P_k that is zero in the
rows where the option ends; E_k = (I − P_k)⁻¹ counts the visits, so E_k[s, j] at the states j where it ends is where
it ends, and with F_k[s, g] = E_k[s, g] / E_k[g, g], the chance of passing g, a target g on the way changes visits and
ends by a term of rank one. That is written out here with dense matrices; `sparse_steps` does the same for worlds that
are too large for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu
from threadpoolctl import threadpool_limits

from farpoint.engines import each
from farpoint.errors import InvalidInput, NotConnected, check_integer, check_jobs
from farpoint.measures.moves import move_matrix, primitive_moves
from farpoint.measures.statistics import Estimate, mean_of_runs, median_of_runs
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.worlds import World

# K × n × targets doubles are held at once, and a few n × n arrays.
_MOST_BYTES = 4 * 2**30
# Larger worlds go the sparse way, to sampled targets.
_MOST_STATES = 6_000
_SAMPLED_TARGETS = 100
# Below this reciprocal condition the rounding of a system is as large as its solution: the state is out of reach.
_SINGULAR = 1e-13
# Stands for inf, of which neither differences nor quantiles can be taken; its square is still a double.
_BEYOND_ALL = 1e150


@dataclass(frozen=True, eq=False, repr=False)
class StepsBetweenStates:
    """Expected numbers of steps between states, and their summary over targets.

    Attributes
    ----------
    matrix : array, shape (n_states, n_targets), or None
        Expected steps from each state to each target; None for worlds so large that it is not kept.
    targets : array of int
    means : array, shape (n_targets,), optional
        What ``per_goal`` is where there is no matrix.
    n_states : int, optional
        How many states the world has. Default: every state is a target.
    sampled : bool
        Whether the targets were drawn at random.
    per_goal : array, shape (n_targets,)
        The mean over all start states, the target itself among them as 0.
    median, iqr, mean, std : float
        Of ``per_goal``: quantiles by Hazen's rule, standard deviation with n − 1.
    mean_estimate, median_estimate : Estimate
        Mean and median with their 95 % intervals, for what they would be over all states.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.steps_between_states(fp.grid((3,)), None)
    StepsBetweenStates(median=2.33, iqr=1.25, mean=1.78, std=0.96 over 3 targets)
    >>> fp.steps_between_states(fp.grid((40,)), None, n_targets=20)
    StepsBetweenStates(median=499.92 [363.06, 621.42], iqr=477.95, mean=547.32 [470.52, 634.20], std=270.46
        over 20 sampled of 40 targets)
    """

    matrix: Any
    targets: NDArray[np.int64]
    means: NDArray[np.float64] | None = None
    n_states: int | None = None
    sampled: bool = False

    @property
    def per_goal(self) -> NDArray[np.float64]:
        """Mean expected steps to each target, over all starts."""
        if self.means is not None:
            return self.means
        return np.asarray(self.matrix.mean(axis=0))

    @property
    def median(self) -> float:
        """Median over targets."""
        return float(self._quantiles([0.5])[0])

    @property
    def iqr(self) -> float:
        """Interquartile range over targets, by Hazen's rule."""
        low, high = self._quantiles([0.25, 0.75])
        return float(high - low) if np.isfinite(high) else float("inf")

    @property
    def mean(self) -> float:
        """Mean over targets."""
        return float(self.per_goal.mean())

    @property
    def std(self) -> float:
        """Standard deviation over targets, with n − 1."""
        if self.targets.size < 2 or not np.isfinite(self.per_goal).all():
            return float("nan") if self.targets.size < 2 else float("inf")
        return float(self.per_goal.std(ddof=1))

    @property
    def mean_estimate(self) -> Estimate:
        """The mean with its 95 % interval for the mean over all states: bootstrap over targets.

        The targets count as drawn uniformly without replacement; when they are all states there is no sampling error.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.four_rooms()
        >>> print(fp.steps_between_states(world, n_targets=30).mean_estimate)
        501.8 [479.2, 525.5]
        >>> print(fp.steps_between_states(world).mean_estimate)
        496.6 [496.6, 496.6]
        """
        return self._narrowed(mean_of_runs)

    @property
    def median_estimate(self) -> Estimate:
        """The median with its 95 % interval for the median over all states, as in `mean_estimate`."""
        return self._narrowed(median_of_runs)

    def _quantiles(self, shares: list[float]) -> NDArray[np.float64]:
        return _or_inf(np.quantile(np.minimum(self.per_goal, _BEYOND_ALL), shares, method="hazen"))

    def _narrowed(self, estimate_of: Callable[[NDArray[np.float64]], Estimate]) -> Estimate:
        """Return an estimate with its interval as narrow as sampling without replacement makes it."""
        found = estimate_of(np.minimum(self.per_goal, _BEYOND_ALL))
        drawn = np.unique(self.targets).size
        left = 0.0 if self.n_states is None else np.sqrt(1.0 - drawn / self.n_states)
        if left == 0.0:
            low = high = found.value
        else:
            low, high = found.value - left * (found.value - found.low), found.value + left * (found.high - found.value)
        return Estimate(*_or_inf(np.array([found.value, low, high])).tolist())

    def __repr__(self) -> str:
        if not self.sampled:
            summary = ", ".join(f"{name}={getattr(self, name):.2f}" for name in ("median", "iqr", "mean", "std"))
            return f"StepsBetweenStates({summary} over {self.targets.size} targets)"
        median, mean = (
            f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"
            for estimate in (self.median_estimate, self.mean_estimate)
        )
        return (
            f"StepsBetweenStates(median={median}, iqr={self.iqr:.2f}, mean={mean}, std={self.std:.2f} over "
            f"{self.targets.size} sampled of {self.n_states} targets)"
        )


def _or_inf(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers, inf where `_BEYOND_ALL` has a part in them."""
    return np.where(numbers > 1e-9 * _BEYOND_ALL, np.inf, numbers)


def steps_between_states(
    world: World,
    options: OptionSet | None = None,
    *,
    targets: ArrayLike | None = None,
    n_targets: int | None = None,
    seed: int = 0,
    n_jobs: int = -1,
) -> StepsBetweenStates:
    """Return the exact expected number of steps from every state to every target, for an agent that acts at random.

    Worlds of more than 6 000 states are solved with sparse factors: exactly too, but the table of starts is not kept.

    Parameters
    ----------
    world : World
        A world in which every state can be reached from every other.
    options : OptionSet or None
        None, or an empty set: primitive choices only.
    targets : array of int, optional
        Default: every state, or, of more than 6 000, 100 sampled ones.
    n_targets : int, optional
        How many states to draw as targets, uniformly without replacement, instead of naming them; all of them if there
        are no more.
    seed : int
        For that draw.
    n_jobs : int
        Workers; -1 is one for each core.

    Returns
    -------
    StepsBetweenStates
        Its ``mean_estimate`` and ``median_estimate`` have the sampling error of the targets.
        With inf for a target that options make so hard to reach that a double cannot tell how hard (beyond about 1e13
        steps).

    Raises
    ------
    NotConnected
        If some state cannot be reached from some other: the expectation would be infinite.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> with_options = fp.steps_between_states(world, fp.discover(world, t=4))
    >>> alone = fp.steps_between_states(world, None)
    >>> round(with_options.median), round(alone.median)
    (149, 487)
    >>> fp.steps_between_states(fp.random_maze(100, 100), n_targets=20, seed=1)
    StepsBetweenStates(...over 20 sampled of 7404 targets)
    """
    check_crossable(world)
    check_same_world(world, options)
    n_jobs = check_jobs(n_jobs)
    chosen, sampled = _chosen_targets(world, targets, n_targets, seed)
    if world.n_states > _MOST_STATES:
        from farpoint.measures.sparse_steps import mean_steps

        with threadpool_limits(1):
            means = mean_steps(world, options, chosen, n_jobs)
        return StepsBetweenStates(None, chosen, means, world.n_states, sampled)
    _check_size(world, 0 if options is None else len(options), chosen.size)
    primitive = primitive_moves(world)
    # Many small systems: BLAS with threads of its own would wait for them longer than it computes.
    with threadpool_limits(1):
        if options is None or len(options) == 0:
            times = _Systems.without_options(primitive.toarray(), chosen).solve(n_jobs)
        else:
            times = _with_options(world, options, primitive, chosen, n_jobs)
    return StepsBetweenStates(times, chosen, None, world.n_states, sampled)


def _chosen_targets(
    world: World, targets: ArrayLike | None, n_targets: int | None, seed: int
) -> tuple[NDArray[np.int64], bool]:
    """Return the targets, named or drawn or all, and whether they were drawn."""
    seed = check_integer("seed", seed, 0)
    if targets is not None:
        if n_targets is not None:
            raise InvalidInput("targets must be named or drawn; got both targets and n_targets. Drop one of them.")
        return check_targets(world, targets), False
    if n_targets is None and world.n_states > _MOST_STATES:
        n_targets = _SAMPLED_TARGETS
    if n_targets is None or check_integer("n_targets", n_targets, 1) >= world.n_states:
        return check_targets(world, None), False
    drawn = np.random.default_rng(seed).choice(world.n_states, size=int(n_targets), replace=False)
    return np.sort(drawn).astype(np.int64), True


def check_targets(world: World, targets: ArrayLike | None) -> NDArray[np.int64]:
    """Return the targets asked for, at least one; all states by default."""
    chosen = np.arange(world.n_states) if targets is None else world.check_states("targets", targets)
    if chosen.size == 0:
        raise InvalidInput("targets must have at least one state; got none.")
    return chosen


def check_crossable(world: World) -> None:
    """Fail unless every state can be reached from every other."""
    n_parts, part = connected_components(world.adjacency, directed=True, connection="strong")
    if n_parts > 1:
        largest = int(np.bincount(part).max())
        raise NotConnected(
            f"every state must be reachable from every other; got {n_parts} parts, the largest of {largest} states."
        )


def _check_size(world: World, n_options: int, n_targets: int) -> None:
    if 8 * n_options * world.n_states * n_targets > _MOST_BYTES:
        fits = _MOST_BYTES // (8 * n_options * world.n_states)
        raise InvalidInput(
            f"the exact table must fit in {_MOST_BYTES >> 30} GiB; got {n_options} options × {world.n_states} states "
            f"× {n_targets} targets. Pass targets= or n_targets=, at most {fits} of them."
        )


@dataclass(frozen=True, eq=False)
class _Systems:
    """The systems of all targets: moves and costs of a decision, less what options do after passing the target."""

    moves: NDArray[np.float64]
    cost: NDArray[np.float64]
    targets: NDArray[np.int64]
    weight: NDArray[np.float64]
    passing: NDArray[np.float64]
    ends_from_target: NDArray[np.float64]
    steps_from_target: NDArray[np.float64]

    @classmethod
    def without_options(cls, moves: NDArray[np.float64], targets: NDArray[np.int64]) -> _Systems:
        """Return the systems of a chain of unit steps."""
        n_states = len(moves)
        none = (
            np.zeros((0, n_states, targets.size)),
            np.zeros((0, targets.size, n_states)),
            np.zeros((0, targets.size)),
        )
        return cls(moves, np.ones(n_states), targets, np.zeros(n_states), *none)

    def solve(self, n_jobs: int) -> NDArray[np.float64]:
        """Return the expected steps to each target, one a column."""
        return np.column_stack(list(each(_solve_column, self, range(self.targets.size), n_jobs=n_jobs)))


def _solve_column(systems: _Systems, column: int) -> NDArray[np.float64]:
    """Return the solution for one target of its system without the target's row and column."""
    caught = systems.weight[:, None] * systems.passing[:, :, column].T  # (n_states, n_options)
    system = np.eye(systems.cost.size) - systems.moves + caught @ systems.ends_from_target[:, column]
    right = systems.cost - caught @ systems.steps_from_target[:, column]
    others = np.delete(np.arange(right.size), systems.targets[column])
    times = np.zeros(right.size)
    times[others] = _solved(system[np.ix_(others, others)], right[others])
    return times


def _solved(system: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the solution, or inf where the system is singular to rounding."""
    if right.size == 0:
        return right
    norm = np.abs(system).sum(axis=0).max()
    factors, pivots, info = lapack.dgetrf(system)
    condition = lapack.dgecon(factors, norm)[0] if info == 0 else 0.0
    if condition < _SINGULAR:
        return np.full(right.size, np.inf)
    return np.asarray(lapack.dgetrs(factors, pivots, right)[0])


def _with_options(
    world: World, options: OptionSet, primitive: csr_array, targets: NDArray[np.int64], n_jobs: int
) -> NDArray[np.float64]:
    n_states, n_options = world.n_states, len(options)
    available = np.zeros(n_states)
    passing = np.empty((n_options, n_states, targets.size))  # F_k[s, g], 0 where option k cannot start
    ends_from_target = np.zeros((n_options, targets.size, n_states))  # where option k ends when followed from g
    steps_from_target = np.empty((n_options, targets.size))
    end = np.zeros((n_states, n_states))  # where a random option ends, summed over options
    steps = np.zeros(n_states)  # how long a random option takes, summed over options
    for k, option in enumerate(options):
        follow = move_matrix(world, option.choice_probabilities())
        stops = np.asarray(follow.sum(axis=1)) < 0.5
        starts = option.initiation.astype(np.float64)
        endings = np.flatnonzero(stops)
        visits = splu(csc_array(eye_array(n_states, format="csc") - follow))
        columns = np.zeros((n_states, targets.size))
        columns[targets, np.arange(targets.size)] = 1.0
        to_targets = visits.solve(columns)
        unit = np.zeros((n_states, endings.size))
        unit[endings, np.arange(endings.size)] = 1.0
        to_ends = visits.solve(unit)
        lasting = visits.solve((~stops).astype(np.float64))

        available += starts
        passing[k] = starts[:, None] * to_targets / to_targets[targets, np.arange(targets.size)]
        ends_from_target[k][:, endings] = to_ends[targets]
        steps_from_target[k] = lasting[targets]
        end[:, endings] += starts[:, None] * to_ends
        steps += starts * lasting

    some = available > 0
    weight = np.where(some, 0.5 / np.maximum(available, 1.0), 0.0)  # of each option that can start here
    primitive_share = np.where(some, 0.5, 1.0)
    moves = diags_array(primitive_share) @ primitive
    moves = moves.toarray() + weight[:, None] * end
    cost = primitive_share + weight * steps

    return _Systems(moves, cost, targets, weight, passing, ends_from_target, steps_from_target).solve(n_jobs)
