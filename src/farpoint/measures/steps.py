"""How many steps it takes to get from any state to any other, exactly.

The agent of the paper's Table 1: at each decision it takes, with probability p (the paper has ½), a uniformly random
option of those that can start here, which it follows to its end, and otherwise a random primitive choice; every
primitive step counts, and reaching the target ends it, also in the middle of an option. Where no option can start it
takes a primitive choice. Primitive choices are drawn by their weights, as the random walk of the score is: uniformly in
worlds without weights.

The expectation is a linear system: `dense_steps` writes it out, `sparse_steps` solves it on large worlds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from farpoint.blas import one_blas_thread
from farpoint.display import Plottable, Tabular, data_array
from farpoint.errors import InvalidInput, NotConnected, check_integer, check_jobs, listed
from farpoint.measures.dense_steps import expected_steps, most_targets
from farpoint.measures.sparse_steps import mean_steps
from farpoint.measures.statistics import Estimate, estimate
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.probability import probability_text, resolve_option_probability
from farpoint.worlds import World, WorldLike, as_world

if TYPE_CHECKING:
    import xarray

# Larger worlds go the sparse way.
MOST_DENSE_STATES = 6_000
# With more multiplications than these, steps to all states take longer than some seconds, and targets are sampled.
MOST_WORK = 3e10
_SAMPLED_TARGETS = 100
# Stands for inf, of which neither differences nor quantiles can be taken; its square is still a double.
_BEYOND_ALL = 1e150
# The mean is looked at here first, because it need not have a single minimum; then around the best of these.
_FIRST_LOOK = (1e-5, 1e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99)
_DIGITS = 0.01


@one_blas_thread()
def steps_between_states(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    targets: ArrayLike | None = None,
    n_targets: int | None = None,
    option_probability: float | None = None,
    seed: int = 0,
    n_jobs: int = -1,
) -> StepsBetweenStates:
    """Return the exact expected number of steps from every state to every target, for an agent that acts at random.

    Where all states as targets would take longer than some seconds (n³ (K + 1) multiplications of n states and K
    options), targets are sampled. Worlds of more than 6 000 states are solved with sparse factors: exactly too, but the
    table of starts is not kept.

    Parameters
    ----------
    world : World
        A world in which every state can be reached from every other.
    options : OptionSet or None
        None, or an empty set: primitive choices only.
    targets : array of int, optional
        Default: every state, or 100 sampled ones where n³ (K + 1) > 3e10.
    n_targets : int, optional
        How many states to draw as targets, uniformly without replacement, instead of naming them; all of them if there
        are no more.
    option_probability : float, optional
        Probability that a decision is an option, where one can start; the paper's agent has ½. Default: that of the
        options, `OptionSet.option_probability`.
    seed : int
        For that draw.
    n_jobs : int
        Workers; -1 is one for each core.

    Returns
    -------
    StepsBetweenStates
        Its ``mean_estimate`` and ``median_estimate`` have the sampling error of the targets.
        Rounding grows with the steps: a relative 1e-15 times the longest way to a target, 1e-5 where it takes 1e10.
        With inf for a target that options make so hard to reach that a double cannot tell how hard (beyond about 1e13
        steps); its ``out_of_reach`` and its repr name them.

    Raises
    ------
    NotConnected
        If some state cannot be reached from some other: the expectation would be infinite.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> options = fp.discover(world, t=4)
    >>> alone, paper = fp.steps_between_states(world), fp.steps_between_states(world, options, option_probability=0.5)
    >>> round(alone.median), round(paper.median)
    (487, 149)
    >>> fp.steps_between_states(world, options)
    StepsBetweenStates(median=173.59, iqr=123.70, mean=172.50, std=74.43 over 104 targets, option_probability=0.142)
    >>> fp.steps_between_states(fp.random_maze(100, 100), n_targets=20, seed=1)
    StepsBetweenStates(...over 20 sampled of 7404 targets)

    One option, back to the beginning of a path, puts its end out of reach of an agent that takes it too often:

    >>> path = fp.grid((60,))
    >>> fp.steps_between_states(path, fp.OptionSet(path, [0]), targets=[5, 59], option_probability=0.5)
    StepsBetweenStates(median=inf, iqr=inf, mean=inf, std=inf over 2 targets, out of reach: 59, option_probability=0.5)
    """
    world = as_world(world)
    check_crossable(world)
    check_same_world(world, options)
    n_jobs = check_jobs(n_jobs)
    chance = resolve_option_probability(option_probability, options, may_be_one=True)
    n_options = 0 if options is None else len(options)
    chosen, sampled = _chosen_targets(world, n_options, targets, n_targets, seed)
    if world.n_states > MOST_DENSE_STATES:
        means = mean_steps(world, options, chosen, chance, n_jobs)
        return StepsBetweenStates(None, chosen, means, world.n_states, sampled, chance)
    times = expected_steps(world, options, chosen, chance, n_jobs)
    return StepsBetweenStates(times, chosen, None, world.n_states, sampled, chance)


def _chosen_targets(
    world: World, n_options: int, targets: ArrayLike | None, n_targets: int | None, seed: int
) -> tuple[NDArray[np.int64], bool]:
    """Return the targets, named or drawn or all, and whether they were drawn."""
    seed = check_integer("seed", seed, 0)
    if targets is not None:
        if n_targets is not None:
            raise InvalidInput("targets must be named or drawn; got both targets and n_targets. Drop one of them.")
        return check_targets(world, targets), False
    n_targets = usual_n_targets(world, n_options) if n_targets is None else check_integer("n_targets", n_targets, 1)
    if n_targets >= world.n_states:
        return check_targets(world, None), False
    drawn = np.random.default_rng(seed).choice(world.n_states, size=n_targets, replace=False)
    return np.sort(drawn).astype(np.int64), True


def usual_n_targets(world: World, n_options: int) -> int:
    """Return to how many targets steps are measured: to all states, unless that takes longer than some seconds.

    >>> import farpoint as fp
    >>> [usual_n_targets(fp.grid((n,)), n_options=20) for n in (50, 1_000, 2_000)]
    [50, 1000, 100]
    """
    n_states = world.n_states
    work = n_states**3 * (n_options + 1)
    if n_states > MOST_DENSE_STATES or work > MOST_WORK or n_states > most_targets(n_states, n_options):
        return min(_SAMPLED_TARGETS, n_states)
    return n_states


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
        raise NotConnected(f"every state must be reachable from every other; got {_gap(world, part)}. {_remedy(world)}")


def _gap(world: World, part: NDArray[np.int32]) -> str:
    """Say how many states cannot be reached from one of the largest part, or else how many do not lead to it."""
    first = int(np.flatnonzero(part == np.bincount(part).argmax())[0])
    reached, words = _reached(world.adjacency, first), "that cannot be reached from"
    if reached.size == world.n_states:
        reached, words = _reached(world.incoming, first), "without a way to"
    others = np.setdiff1d(np.arange(world.n_states), reached)
    states = "state" if others.size == 1 else "states"
    return f"{others.size:,} {states} of {world.n_states:,} {words} state {first}, such as {others[0]}"


def _reached(moves: csr_array, state: int) -> NDArray[np.int32]:
    return np.asarray(breadth_first_order(moves, state, return_predecessors=False))


def _remedy(world: World) -> str:
    if world.restart is not None:
        return "In a world with episodes use measures.first_visits or learn_episodes, which begin anew where one ends."
    if len(world.component_sizes) > 1:
        return "Build the world with largest_component=True to keep its largest part."
    return "Some moves cannot be undone: use measures.first_visits, or World.from_log with largest_component=True."


@dataclass(frozen=True, eq=False, repr=False)
class StepsBetweenStates(Plottable, Tabular):
    """Expected numbers of steps between states, and their summary over targets.

    Attributes
    ----------
    matrix : array, shape (n_states, n_targets), or None
        Expected steps from each state to each target; None for worlds so large that it is not kept.
    targets : array of int
    means : array, shape (n_targets,), optional
        What ``per_target`` is where there is no matrix.
    n_states : int, optional
        How many states the world has. Default: every state is a target.
    sampled : bool
        Whether the targets were drawn at random.
    option_probability : float
        Probability that a decision is an option; 0 without options.
    per_target : array, shape (n_targets,)
        The mean over all start states, the target itself among them as 0.
    median, iqr, mean, std, worst : float
        Of ``per_target``: quantiles by Hazen's rule, standard deviation with n − 1, and the largest.
    out_of_reach : array of int
        The targets whose steps are inf.
    mean_estimate, median_estimate : Estimate
        Mean and median with their 95 % intervals, for what they would be over all states.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.steps_between_states(fp.grid((3,)), None)
    StepsBetweenStates(median=2.33, iqr=1.25, mean=1.78, std=0.96 over 3 targets)
    >>> fp.steps_between_states(fp.grid((50,)), None, n_targets=20)
    StepsBetweenStates(median=850.00 [603.07, 1087.72], iqr=758.34, mean=881.88 [752.86, 1025.90], std=409.54
        over 20 sampled of 50 targets)
    """

    matrix: Any
    targets: NDArray[np.int64]
    means: NDArray[np.float64] | None = None
    n_states: int | None = None
    sampled: bool = False
    option_probability: float = 0.0

    @property
    def per_target(self) -> NDArray[np.float64]:
        """Mean expected steps to each target, over all starts."""
        if self.means is not None:
            return self.means
        return np.asarray(self.matrix.mean(axis=0))

    @property
    def median(self) -> float:
        """Median over targets."""
        return float(self._quantiles([0.5])[0])

    @property
    def worst(self) -> float:
        """The largest mean over starts of one target."""
        return float(self.per_target.max())

    @property
    def out_of_reach(self) -> NDArray[np.int64]:
        """The targets that take more steps than a double can tell (beyond about 1e13)."""
        return self.targets[np.isinf(self.per_target)]

    @property
    def iqr(self) -> float:
        """Interquartile range over targets, by Hazen's rule."""
        low, high = self._quantiles([0.25, 0.75])
        return float(high - low) if np.isfinite(high) else float("inf")

    @property
    def mean(self) -> float:
        """Mean over targets."""
        return float(self.per_target.mean())

    @property
    def std(self) -> float:
        """Standard deviation over targets, with n − 1."""
        if self.targets.size < 2 or not np.isfinite(self.per_target).all():
            return float("nan") if self.targets.size < 2 else float("inf")
        return float(self.per_target.std(ddof=1))

    @property
    def mean_estimate(self) -> Estimate:
        """The mean with its 95 % interval for the mean over all states: bootstrap over targets.

        The targets count as drawn uniformly without replacement; when they are all states there is no sampling error.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.four_rooms()
        >>> print(fp.steps_between_states(world, n_targets=30).mean_estimate)
        502 [479, 525]
        >>> print(fp.steps_between_states(world).mean_estimate)
        497 [497, 497]
        """
        return self._narrowed("mean")

    @property
    def median_estimate(self) -> Estimate:
        """The median with its 95 % interval for the median over all states, as in `mean_estimate`."""
        return self._narrowed("median")

    def columns(self) -> dict[str, Any]:
        """Return one row per target: the mean expected steps to it, over all starts."""
        return {"target": self.targets, "steps": self.per_target}

    def to_xarray(self) -> xarray.DataArray:
        """Return the expected steps with named dimensions, from each start to each target (``farpoint[data]``).

        Raises
        ------
        InvalidInput
            If the matrix was not kept.

        Examples
        --------
        >>> import farpoint as fp
        >>> steps = fp.steps_between_states(fp.grid((3,))).to_xarray()
        >>> float(steps.sel(start=0, target=2))
        4.0
        """
        if self.matrix is None:
            raise InvalidInput("matrix must be kept for an array of every start; got None, as in all large worlds.")
        starts = np.arange(self.matrix.shape[0])
        return data_array(self.matrix, ("start", "target"), {"start": starts, "target": self.targets}, "steps")

    def _quantiles(self, shares: list[float]) -> NDArray[np.float64]:
        return _or_inf(np.quantile(np.minimum(self.per_target, _BEYOND_ALL), shares, method="hazen"))

    def _narrowed(self, statistic: str) -> Estimate:
        """Return an estimate with its interval as narrow as sampling without replacement makes it."""
        found = estimate(np.minimum(self.per_target, _BEYOND_ALL), statistic)
        drawn = np.unique(self.targets).size
        left = 0.0 if self.n_states is None else np.sqrt(1.0 - drawn / self.n_states)
        if left == 0.0:
            low = high = found.value
        else:
            low, high = found.value - left * (found.value - found.low), found.value + left * (found.high - found.value)
        return Estimate(*_or_inf(np.array([found.value, low, high])).tolist())

    def __repr__(self) -> str:
        beyond = f", out of reach: {listed(self.out_of_reach)}" if self.out_of_reach.size else ""
        used = f"{beyond}{probability_text(self.option_probability)}"
        if not self.sampled:
            summary = ", ".join(f"{name}={getattr(self, name):.2f}" for name in ("median", "iqr", "mean", "std"))
            return f"StepsBetweenStates({summary} over {self.targets.size} targets{used})"
        median, mean = (
            f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
            for found in (self.median_estimate, self.mean_estimate)
        )
        return (
            f"StepsBetweenStates(median={median}, iqr={self.iqr:.2f}, mean={mean}, std={self.std:.2f} over "
            f"{self.targets.size} sampled of {self.n_states} targets{used})"
        )


def _or_inf(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers, inf where `_BEYOND_ALL` has a part in them."""
    return np.where(numbers > 1e-9 * _BEYOND_ALL, np.inf, numbers)


@one_blas_thread()
def best_option_probability(
    world: World,
    options: OptionSet,
    *,
    targets: ArrayLike | None = None,
    n_targets: int | None = None,
    seed: int = 0,
    n_jobs: int = -1,
) -> float:
    """Return the ``option_probability`` that minimizes the exact mean number of steps between states.

    The paper's agent takes an option with probability ½ at every decision and hardly looks around where it was brought;
    with few options, or goals that are not far points, much less is better. 0 means that no options are best.

    Parameters
    ----------
    world : World
    options : OptionSet
    targets, n_targets, seed, n_jobs
        As in `steps_between_states`.

    Returns
    -------
    float
        To about one percent of itself.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.maze()
    >>> options = fp.discover(world, n_options=6)
    >>> p = fp.best_option_probability(world, options)
    >>> 0.01 < p < 0.03
    True
    >>> best, half = (fp.steps_between_states(world, options, option_probability=chance).mean for chance in (p, 0.5))
    >>> best < 1000 < 1e9 < half
    True
    """

    def mean_steps(log_p: float, chosen: OptionSet | None = options) -> float:
        steps = steps_between_states(
            world, chosen, targets=targets, n_targets=n_targets, option_probability=float(np.exp(log_p)), seed=seed,
            n_jobs=n_jobs,
        )  # fmt: skip
        return steps.mean

    looks = np.log(_FIRST_LOOK)
    means = [mean_steps(log_p) for log_p in looks]
    best = int(np.argmin(means))
    low, high = looks[max(best - 1, 0)], looks[min(best + 1, looks.size - 1)]
    # Imported here: it takes longer than all that a small world needs.
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(mean_steps, bounds=(low, high), method="bounded", options={"xatol": _DIGITS})
    log_p, mean = min((looks[best], means[best]), (found.x, found.fun), key=lambda pair: pair[1])
    return float(np.exp(log_p)) if mean < mean_steps(0.0, None) else 0.0
