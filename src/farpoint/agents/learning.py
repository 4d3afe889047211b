"""Q-learning with options on a world, over many runs and targets at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.agents.task import Task
from farpoint.display import Drawn, Framed
from farpoint.display.frames import data_array
from farpoint.engines import each
from farpoint.errors import InvalidInput, check_fraction, check_integer, check_memory, check_word
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.probability import PAPER_OPTION_PROBABILITY
from farpoint.options.tables import option_table
from farpoint.simulation.tables import check_option_probability, streams, world_table
from farpoint.worlds import World, WorldLike, as_world

if TYPE_CHECKING:
    import xarray

ALGORITHMS = ("paper", "smdp", "intra-option")
COUNTINGS = ("published", "moves")
# Of one run, which cannot be interrupted; seconds.
_MOST_STEPS = 10**9


@dataclass(frozen=True, eq=False, repr=False)
class LearningResult(Drawn, Framed):
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

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.learn(fp.four_rooms(), None, n_runs=2, n_episodes=20)
    LearningResult(2 runs × 30 targets × 20 episodes, mean ... steps)
    """

    curves: NDArray[np.float64]
    visits: NDArray[np.float64]
    targets: NDArray[np.int64]

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
            f"LearningResult({n_runs} runs × {n_targets} targets × {n_episodes} episodes, mean {self.mean:.1f} steps)"
        )


def learn(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    start: int | None = None,
    targets: ArrayLike | None = None,
    n_runs: int = 30,
    n_episodes: int = 400,
    max_steps: int = 100,
    option_probability: float = PAPER_OPTION_PROBABILITY,
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
    option_probability : float
        Probability that a random decision is an option; the paper's protocol has ½.
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
    check_same_world(world, options)
    task = Task(
        first,
        check_integer("n_episodes", n_episodes, 1),
        check_integer("max_steps", max_steps, 1),
        check_fraction("alpha", alpha),
        check_fraction("gamma", gamma),
        check_option_probability(option_probability),
    )
    check_run_length(task.n_episodes, task.max_steps)
    check_memory("n_runs × n_episodes", f"{n_runs} × {task.n_episodes}", 16 * n_runs * ends.size * task.n_episodes)
    shared = (world_table(world), option_table(world, options), task, algorithm, counting)
    seeds = streams(seed, n_runs * ends.size).reshape(n_runs, ends.size)
    trials = [(int(target), seeds[:, index]) for index, target in enumerate(ends)]
    curves = np.empty((n_runs, ends.size, task.n_episodes))
    visits = np.zeros(world.n_states)
    runs = each(_learn_target, shared, trials, n_jobs=n_jobs, label="learning")
    for index, (of_target, seen) in enumerate(runs):
        curves[:, index] = of_target
        visits += seen
    return LearningResult(curves, visits / (n_runs * ends.size), ends)


def _learn_target(
    shared: tuple[Any, ...], trial: tuple[int, NDArray[np.uint64]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the curves of all runs towards one target, and how often each state was visited in them."""
    world, options, task, algorithm, counting = shared
    target, seeds = trial
    kernel, flag = _kernel(algorithm, counting)
    curves = np.empty((seeds.size, task.n_episodes))
    visits = np.zeros(world.choice_ptr.size - 1, dtype=np.int64)
    for run, stream in enumerate(seeds):
        curves[run] = kernel(world, options, task, target, flag, stream, visits)
    return curves, visits


def _kernel(algorithm: str, counting: str) -> tuple[Any, Any]:
    if algorithm == "paper":
        from farpoint.agents.learning_kernels import paper_trial

        return paper_trial, 1 if counting == "published" else 0
    from farpoint.agents.option_value_kernels import option_value_trial

    return option_value_trial, algorithm == "intra-option"


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
