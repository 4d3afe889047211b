"""Q-learning with options on a world, over many runs and goals at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.engines import each
from farpoint.errors import InvalidInput, check_fraction, check_integer, check_word
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.simulation.tables import option_table, streams, world_table
from farpoint.worlds import World

ALGORITHMS = ("paper", "smdp", "intra-option")
COUNTINGS = ("published", "moves")


@dataclass(frozen=True, eq=False, repr=False)
class LearningResult:
    """Steps to the goal after every episode of every run, and where the agent has been.

    Attributes
    ----------
    curves : array, shape (runs, n_goals, episodes)
        Steps in which the greedy policy reaches the goal after each episode; ``max_steps + 1`` where it does not.
    curve : array, shape (episodes,)
        Their mean over runs and goals.
    spread : array, shape (episodes,)
        Standard deviation over goals of the mean over runs (0 where there is one goal).
    visits : array, shape (n_states,)
        How often the agent was in each state while learning, averaged over runs and goals.
    goals : array of int

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.learn(fp.four_rooms(), None, runs=2, episodes=20)
    LearningResult(2 runs × 30 goals × 20 episodes, mean ... steps)
    """

    curves: NDArray[np.float64]
    visits: NDArray[np.float64]
    goals: NDArray[np.int64]

    @property
    def curve(self) -> NDArray[np.float64]:
        """Mean steps to the goal after each episode."""
        return np.asarray(self.curves.mean(axis=(0, 1)))

    @property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation over goals after each episode."""
        if self.goals.size == 1:
            return np.zeros(self.curves.shape[2])
        return np.asarray(self.curves.mean(axis=0).std(axis=0, ddof=1))

    @property
    def run_means(self) -> NDArray[np.float64]:
        """The mean of each run over goals and episodes: what runs are compared by."""
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

    def __repr__(self) -> str:
        runs, goals, episodes = self.curves.shape
        return f"LearningResult({runs} runs × {goals} goals × {episodes} episodes, mean {self.mean:.1f} steps)"


def learn(
    world: World,
    options: OptionSet | None = None,
    *,
    start: int | None = None,
    goals: ArrayLike | None = None,
    runs: int = 30,
    episodes: int = 400,
    max_steps: int = 100,
    alpha: float = 0.1,
    gamma: float = 0.9,
    algorithm: str = "paper",
    counting: str = "published",
    seed: int = 0,
    n_jobs: int = -1,
) -> LearningResult:
    """Return how fast an agent learns to reach each goal, with the help of options.

    Every goal is a trial of its own. After each learning episode the greedy policy, without learning, runs from the
    start: the number of steps it takes is the point of the curve.

    Parameters
    ----------
    world : World
    options : OptionSet or None
        None, or an empty set: primitive choices only.
    start, goals : int, array of int, optional
        Default: those of the world.
    runs, episodes, max_steps : int
        Runs for each goal; episodes a run; primitive steps an episode, those inside options included.
    alpha, gamma : float
        Learning rate and discount.
    algorithm : {"paper", "smdp", "intra-option"}
        ``"paper"``: values for primitive choices only, learned at every step, also inside options; where the best
        choice is unique it is taken, elsewhere a random choice or a random option. ``"smdp"``: an option is one
        decision with a value of its own, discounted by γᵏ for its k steps. ``"intra-option"``: each step teaches
        every option that might have taken it (of equally good moves, the one that was taken). In these two the policy
        that is measured may use options; in the paper's it may not.
    counting : {"published", "moves"}
        Only for ``"paper"``. ``"moves"`` counts what the text says, the primitive steps. ``"published"`` counts as
        the published program does: one step more for each option begun, and one more where an option ends short of
        its goal.
    seed, n_jobs : int
        The same seed gives the same result whatever the number of workers.

    Paper: the text does not say when an episode ends.
    Here: ``"paper"`` follows the published program, in which only a random primitive move into the goal ends it; in
    the others reaching the goal ends it.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> helped = fp.learn(world, fp.discover(world), runs=4, episodes=100, seed=1)
    >>> alone = fp.learn(world, None, runs=4, episodes=100, seed=1)
    >>> helped.mean < alone.mean
    True
    """
    check_word("algorithm", algorithm, ALGORITHMS)
    check_word("counting", counting, COUNTINGS)
    runs, episodes = check_integer("runs", runs, 1), check_integer("episodes", episodes, 1)
    max_steps = check_integer("max_steps", max_steps, 1)
    alpha, gamma = check_fraction("alpha", alpha), check_fraction("gamma", gamma)
    begin, ends = _check_task(world, start, goals)
    check_same_world(world, options)
    moves, table = world_table(world), option_table(world, options)
    begins = streams(seed, runs * ends.size).reshape(runs, ends.size)
    shared = (moves, table, begin, episodes, max_steps, alpha, gamma, algorithm, counting)
    tasks = [(int(goal), begins[:, index]) for index, goal in enumerate(ends)]
    curves = np.empty((runs, ends.size, episodes))
    visits = np.zeros(world.n_states)
    for index, (of_goal, seen) in enumerate(each(_learn_goal, shared, tasks, n_jobs=n_jobs)):
        curves[:, index] = of_goal
        visits += seen
    return LearningResult(curves, visits / (runs * ends.size), ends)


def _learn_goal(
    shared: tuple[Any, ...], task: tuple[int, NDArray[np.uint64]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the curves of all runs towards one goal, and how often each state was visited in them."""
    moves, table, begin, episodes, max_steps, alpha, gamma, algorithm, counting = shared
    goal, begins = task
    trial, flag = _kernel(algorithm, counting)
    curves = np.empty((begins.size, episodes))
    visits = np.zeros(moves.choice_ptr.size - 1, dtype=np.int64)
    for curve, stream in zip(curves, begins, strict=True):
        trial(moves, table, begin, goal, episodes, max_steps, alpha, gamma, flag, stream, curve, visits)
    return curves, visits


def _kernel(algorithm: str, counting: str) -> tuple[Any, Any]:
    if algorithm == "paper":
        from farpoint.agents.learning_kernels import paper_trial

        return paper_trial, 1 if counting == "published" else 0
    from farpoint.agents.smdp_kernels import smdp_trial

    return smdp_trial, algorithm == "intra-option"


def _check_task(world: World, start: int | None, goals: ArrayLike | None) -> tuple[int, NDArray[np.int64]]:
    if start is None:
        start = world.start
    if goals is None:
        goals = world.goals
    if start is None or goals is None or np.size(goals) == 0:
        raise InvalidInput(
            f"start and goals must be given, for {world.name} has none of its own; got {start}, {goals}."
        )
    begin, ends = check_integer("start", start, 0, world.n_states - 1), world.check_states("goals", goals)
    if begin in ends:
        raise InvalidInput(f"goals must not contain the start; got {begin} in both.")
    return begin, ends
