"""Q-learning with options on a world, over many runs: towards each target, or in the episodes of an environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.agents.learning_kernels import FIRST, NEVER, Learner, fill_curve, greedy_return, learn_until
from farpoint.agents.paper_kernels import paper_trial
from farpoint.agents.task import Evaluation, Rates, Task, optimal_value, targets_of
from farpoint.display import Plottable, Tabular, data_array
from farpoint.errors import InvalidInput, check_fraction, check_integer, check_memory, check_word
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world, option_table
from farpoint.options.probability import PAPER_OPTION_PROBABILITY, probability_text, resolve_option_probability
from farpoint.parallel import parallel_map
from farpoint.simulation.tables import Episodes, episodes_of, streams, world_table
from farpoint.worlds import World, WorldLike, as_world

if TYPE_CHECKING:
    import xarray

ALGORITHMS = ("paper", "smdp", "intra-option")
COUNTINGS = ("published", "moves")
# Of one run, which cannot be interrupted.
_MOST_STEPS = 10**9
# Steps before an agent is evaluated for the first time.
_FIRST_EVALUATION = 200


@dataclass(frozen=True, eq=False, repr=False)
class LearningResult(Plottable, Tabular):
    """Steps to the target after every episode of every run, and how often each state was visited.

    Attributes
    ----------
    curves : array, shape (n_runs, n_targets, n_episodes)
        Steps in which the greedy policy reaches the target after each episode; ``max_steps + 1`` where it does not.
    curve : array, shape (n_episodes,)
        Their mean over runs and targets.
    spread : array, shape (n_episodes,)
        Standard deviation over targets of the mean over runs (0 where there is one target).
    visits : array, shape (n_states,)
        How often the agent was in each state while learning, averaged over runs and targets.
    targets : array of int
    option_probability : float
        Probability that a random decision was an option; 0 without options.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.learn(fp.four_rooms(), None, n_runs=2, n_episodes=20)
    LearningResult(2 runs × 30 targets × 20 episodes, mean ... steps)
    """

    curves: NDArray[np.float64]
    visits: NDArray[np.float64]
    targets: NDArray[np.int64]
    option_probability: float = 0.0

    @property
    def curve(self) -> NDArray[np.float64]:
        """Mean steps to the target after each episode."""
        return np.asarray(self.curves.mean(axis=(0, 1)))

    @property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation over targets after each episode."""
        if self.targets.size == 1:
            return np.zeros(self.curves.shape[2])
        return np.asarray(self.curves.mean(axis=0).std(axis=0, ddof=1))

    @property
    def run_means(self) -> NDArray[np.float64]:
        """The mean of each run over targets and episodes, by which runs are compared."""
        return np.asarray(self.curves.mean(axis=(1, 2)))

    @property
    def mean(self) -> float:
        """Mean over everything."""
        return float(self.curves.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of ``mean``, over runs."""
        means = self.run_means
        return float(means.std(ddof=1) / np.sqrt(means.size)) if means.size > 1 else float("nan")

    def columns(self) -> dict[str, Any]:
        """Return one row per run, target and episode: the steps of the greedy policy after it."""
        runs, targets, episodes = np.indices(self.curves.shape).reshape(3, -1)
        return {"run": runs, "target": self.targets[targets], "episode": episodes + 1, "steps": self.curves.ravel()}

    def to_xarray(self) -> xarray.DataArray:
        """Return the curves with named dimensions: run, target and episode (``farpoint[data]``).

        Examples
        --------
        >>> import farpoint as fp
        >>> result = fp.learn(fp.four_rooms(), n_runs=2, n_episodes=5)
        >>> result.to_xarray().mean(["run", "target"]).shape
        (5,)
        """
        n_runs, _, n_episodes = self.curves.shape
        places = {"run": np.arange(n_runs), "target": self.targets, "episode": np.arange(1, n_episodes + 1)}
        return data_array(self.curves, ("run", "target", "episode"), places, "steps")

    def __repr__(self) -> str:
        n_runs, n_targets, n_episodes = self.curves.shape
        return (
            f"LearningResult({n_runs} runs × {n_targets} targets × {n_episodes} episodes, mean {self.mean:.1f} steps"
            f"{probability_text(self.option_probability)})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class EpisodicResult(Plottable, Tabular):
    """Steps until a target was first reached, and until the greedy policy was near-optimal, in each run.

    Attributes
    ----------
    first_target, near_optimal : array of float, shape (n_runs,)
        Environment steps; inf where ``n_steps`` did not suffice.
    optimal_value : float
        The best mean discounted reward of an episode, within its time limit.
    option_probability : float
        Probability that a random decision was an option; 0 without options.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
    >>> fp.learn_episodes(world, None, n_steps=20_000, n_runs=4)
    EpisodicResult(4 runs: target after ... steps, near-optimal after ...)
    """

    first_target: NDArray[np.float64]
    near_optimal: NDArray[np.float64]
    optimal_value: float
    option_probability: float = 0.0

    def columns(self) -> dict[str, Any]:
        """Return one row per run: its number, and the two numbers of steps; inf where they did not suffice."""
        runs = np.arange(self.first_target.size)
        return {"run": runs, "first_target": self.first_target, "near_optimal": self.near_optimal}

    def __repr__(self) -> str:
        first, near = np.median(self.first_target), np.median(self.near_optimal)
        n_runs = self.first_target.size
        used = probability_text(self.option_probability)
        return f"EpisodicResult({n_runs} runs: target after {first:,.0f} steps, near-optimal after {near:,.0f}{used})"


def learn(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    start: int | None = None,
    targets: ArrayLike | None = None,
    n_runs: int = 30,
    n_episodes: int = 400,
    max_steps: int = 100,
    option_probability: float | None = None,
    alpha: float = 0.1,
    gamma: float = 0.9,
    algorithm: str = "paper",
    counting: str = "published",
    seed: int = 0,
    n_jobs: int = -1,
) -> LearningResult:
    """Return how fast an agent learns to reach each target, with the help of options.

    Every target is a trial of its own. After each learning episode the greedy policy, without learning, runs from the
    start: the number of steps it takes is the point of the curve.

    Parameters
    ----------
    world : World
    options : OptionSet or None
        None, or an empty set: primitive choices only.
    start, targets : int, array of int, optional
        Default: those of the world.
    n_runs, n_episodes, max_steps : int
        Runs per target; episodes per run; primitive steps per episode, those inside options included.
    option_probability : float, optional
        Probability that a random decision is an option. Default: ½ in the paper's protocol, in the others that of the
        options, `OptionSet.option_probability`.
    alpha, gamma : float
        Learning rate and discount.
    algorithm : {"paper", "smdp", "intra-option"}
        ``"paper"``: values for primitive choices only, learned at every step, also inside options; where the best
        choice is unique it is taken, elsewhere a random choice or a random option. ``"smdp"``: an option is one
        decision with a value of its own, discounted by γᵏ for its k steps. ``"intra-option"``: each transition updates
        the value of its choice and of every option whose policy could have taken that choice. In these two the policy
        that is measured may use options; in the paper's it may not.
    counting : {"published", "moves"}
        Only for ``"paper"``. ``"moves"`` counts the primitive steps, as the text says. ``"published"`` counts as
        the published program does: one step more for each option begun, and one more where an option ends short of
        its goal.
    seed, n_jobs : int
        The same seed gives the same result whatever the number of workers.

    Paper: the text does not say when an episode ends.
    Here: ``"paper"`` follows the published program, in which only a random primitive move into the target ends it; in
    the others reaching the target ends it.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> helped = fp.learn(world, fp.discover(world), n_runs=4, n_episodes=100, seed=1)
    >>> alone = fp.learn(world, None, n_runs=4, n_episodes=100, seed=1)
    >>> helped.mean < alone.mean
    True
    """
    world = as_world(world)
    check_word("algorithm", algorithm, ALGORITHMS)
    check_word("counting", counting, COUNTINGS)
    n_runs = check_integer("n_runs", n_runs, 1)
    first, ends = _check_task(world, start, targets)
    n_episodes, max_steps = check_integer("n_episodes", n_episodes, 1), check_integer("max_steps", max_steps, 1)
    check_same_world(world, options)
    default = PAPER_OPTION_PROBABILITY if algorithm == "paper" else None
    chance = resolve_option_probability(option_probability, options, default=default)
    rates = Rates(check_fraction("alpha", alpha), check_fraction("gamma", gamma), 0.0, chance)
    check_run_length(n_episodes, max_steps)
    check_memory("n_runs × n_episodes", f"{n_runs} × {n_episodes}", 16 * n_runs * ends.size * n_episodes)
    episodes = Episodes(np.array([first]), np.array([np.inf]), max_steps)
    shared = (world_table(world), option_table(world, options), episodes, rates, algorithm, counting, n_episodes)
    # What an agent does must not depend on how it is evaluated: each run has two streams.
    seeds = streams(seed, 2 * n_runs * ends.size).reshape(2, n_runs, ends.size)
    trials = [(int(target), seeds[:, :, index]) for index, target in enumerate(ends)]
    curves = np.empty((n_runs, ends.size, n_episodes))
    visits = np.zeros(world.n_states)
    runs = parallel_map(_learn_target, shared, trials, n_jobs=n_jobs, label="learning")
    for index, (of_target, seen) in enumerate(runs):
        curves[:, index] = of_target
        visits += seen
    return LearningResult(curves, visits / (n_runs * ends.size), ends, chance)


def _learn_target(
    shared: tuple[Any, ...], trial: tuple[int, NDArray[np.uint64]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the curves of all runs towards one target, and how often each state was visited in them."""
    world, options, episodes, rates, algorithm, counting, n_episodes = shared
    target, seeds = trial
    task = Task.towards(world, target, episodes)
    curves = np.empty((seeds.shape[1], n_episodes))
    visits = np.zeros(world.choice_ptr.size - 1, dtype=np.int64)
    for run, curve in enumerate(curves):
        stream, evaluation_stream = seeds[:, run, None].copy()
        if algorithm == "paper":
            decision_cost = 1 if counting == "published" else 0
            q = np.zeros(world.next_ptr.size - 1)
            q[world.choice_ptr[target] : world.choice_ptr[target + 1]] = 1.0
            paper_trial(world, options, task, rates, target, decision_cost, stream, visits, q, curve)
        else:
            learner = Learner.new(world, options)._replace(visits=visits)
            intra = algorithm == "intra-option"
            fill_curve(world, options, task, rates, intra, learner, stream, evaluation_stream, curve)
    return curves, visits


def check_run_length(n_episodes: int, max_steps: int) -> None:
    """Fail if one run of learning could take longer than anybody waits.

    >>> check_run_length(1_000, 100)
    """
    if n_episodes * max_steps > _MOST_STEPS:
        raise InvalidInput(f"n_episodes × max_steps must be at most {_MOST_STEPS:,}; got {n_episodes} × {max_steps}.")


def _check_task(world: World, start: int | None, targets: ArrayLike | None) -> tuple[int, NDArray[np.int64]]:
    start = world.start if start is None else start
    targets = world.targets if targets is None else world.check_states("targets", targets)
    if start is None or targets is None or targets.size == 0:
        raise InvalidInput(
            f"start and targets must be given, for {world.name} has none of its own; got {start}, {targets}."
        )
    first = check_integer("start", start, 0, world.n_states - 1)
    if first in targets:
        raise InvalidInput(f"targets must not contain the start; got {first} in both.")
    return first, targets


def learn_episodes(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    targets: ArrayLike | None = None,
    n_steps: int = 1_000_000,
    n_runs: int = 20,
    option_probability: float | None = None,
    near: float = 0.9,
    alpha: float = 0.1,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    n_evaluations: int = 20,
    seed: int = 0,
    n_jobs: int = -1,
) -> EpisodicResult:
    """Return how soon intra-option Q-learning reaches a target in a world with episodes, and is near-optimal.

    The world is an environment's (`World.from_env`): episodes begin where it begins them, and end in its terminal
    states or at its time limit. Reaching a target gives reward 1 and ends the episode, in training as in evaluation.
    Where the best decision is unique it is taken, except for a share ``epsilon`` of the time; elsewhere a random option
    with probability ``option_probability``, or a random action.

    Parameters
    ----------
    world : World
    options : OptionSet or None
    targets : array of int, optional
        Default: the world's.
    n_steps, n_runs : int
        Environment steps per run; runs.
    option_probability : float, optional
        Probability that a random decision is an option; default: that of the options, `OptionSet.option_probability`.
    near : float
        Share of the optimal discounted reward at which the greedy policy is near-optimal, by ``n_evaluations`` episodes
        at each of 200 checkpoints. The first of two checkpoints in a row at which it is near-optimal counts: the mean
        of a few episodes may be high by chance.
    alpha, gamma, epsilon : float
    n_evaluations : int
    seed, n_jobs : int

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> world = fp.World.from_env(gym.make("CliffWalking-v1"))
    >>> alone = fp.learn_episodes(world, None, n_runs=6)
    >>> helped = fp.learn_episodes(world, fp.discover(world), n_runs=6)
    >>> alone.optimal_value == helped.optimal_value
    True
    """
    world = as_world(world)
    check_same_world(world, options)
    if world.restart is None or world.starts is None:
        raise InvalidInput(f"world must have episodes; got {world!r}. Make it with World.from_env, or use learn.")
    ends = targets_of(world, targets)
    n_runs, n_steps = check_integer("n_runs", n_runs, 1), check_integer("n_steps", n_steps, _FIRST_EVALUATION)
    chance = resolve_option_probability(option_probability, options)
    rates = Rates(
        check_fraction("alpha", alpha), check_fraction("gamma", gamma), check_fraction("epsilon", epsilon), chance
    )
    task = Task.towards(world, ends, episodes_of(world, n_steps))
    best = optimal_value(world, task, rates.gamma)
    Evaluation(n_steps, _FIRST_EVALUATION, near, best)
    how = (n_steps, near, best, check_integer("n_evaluations", n_evaluations, 1))
    shared = (world_table(world, episodic=True), option_table(world, options), task, rates, how)
    # What an agent does must not depend on how it is evaluated: each run has two streams.
    of_runs = streams(seed, 2 * n_runs).reshape(2, n_runs).T
    results = list(parallel_map(_one_run, shared, of_runs, n_jobs=n_jobs, label="learning"))
    first, near_optimal = np.array(results, dtype=np.float64).T
    return EpisodicResult(np.where(first < 0, np.inf, first), near_optimal, best, chance)


def _one_run(shared: tuple[Any, ...], seeds: NDArray[np.uint64]) -> tuple[float, float]:
    """Return the step at which a target is first reached (-1: never), and when best decisions were near-optimal."""
    world, options, task, rates, (n_steps, near, best, n_evaluations) = shared
    stream, evaluation_stream = seeds[:1].copy(), seeds[1:].copy()
    learner, evaluation = Learner.new(world, options), Evaluation(n_steps, _FIRST_EVALUATION, near, best)
    while evaluation.next < np.inf:
        learn_until(world, options, task, rates, True, learner, stream, int(evaluation.next), NEVER)
        value = None
        if learner.now[FIRST] >= 0:
            value = greedy_return(world, options, task, rates.gamma, learner, n_evaluations, evaluation_stream)
        evaluation.judge(value)
    return float(learner.now[FIRST]), evaluation.near_optimal
