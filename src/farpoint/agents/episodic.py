"""How soon an agent finds the goal of an environment, and how soon it knows the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.engines import each
from farpoint.errors import InvalidInput, check_fraction, check_integer
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.routes import least_over_choices
from farpoint.simulation.tables import option_table, streams, world_table
from farpoint.worlds import World


@dataclass(frozen=True, eq=False, repr=False)
class EpisodicResult:
    """Steps until the goal was first reached, and until the greedy policy was near optimal, in each run.

    Attributes
    ----------
    first_goal, near_optimal : array of float, shape (runs,)
        Environment steps; inf where ``steps`` did not suffice.
    optimal_value : float
        The best mean discounted reward from where episodes start.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
    >>> fp.learn_episodes(world, None, steps=20_000, runs=4)
    EpisodicResult(4 runs: goal after ... steps, near optimal after ...)
    """

    first_goal: NDArray[np.float64]
    near_optimal: NDArray[np.float64]
    optimal_value: float

    def __repr__(self) -> str:
        first, near = np.median(self.first_goal), np.median(self.near_optimal)
        runs = self.first_goal.size
        return f"EpisodicResult({runs} runs: goal after {first:,.0f} steps, near optimal after {near:,.0f})"


def learn_episodes(
    world: World,
    options: OptionSet | None = None,
    *,
    goals: ArrayLike | None = None,
    steps: int = 1_000_000,
    runs: int = 20,
    near: float = 0.9,
    alpha: float = 0.1,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    evaluations: int = 20,
    seed: int = 0,
    n_jobs: int = -1,
) -> EpisodicResult:
    """Return how soon intra-option Q-learning reaches the goal of a world with episodes, and learns the way.

    The world is an environment's (`World.from_env`): episodes begin where it begins them, end in its terminal states
    or at its time limit, and reaching a goal gives reward 1. Where the best decision is unique it is taken, but for a
    share ``epsilon`` of the time; elsewhere, with probability ½ each, a random action or a random option.

    Parameters
    ----------
    world : World
    options : OptionSet or None
    goals : array of int, optional
        Default: the world's.
    steps, runs : int
        Environment steps a run; runs.
    near : float
        Share of the optimal discounted reward at which the greedy policy is near optimal, by ``evaluations`` episodes
        at each of 200 checkpoints.
    alpha, gamma, epsilon : float
    seed, n_jobs : int

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> world = fp.World.from_env(gym.make("CliffWalking-v1"))
    >>> alone = fp.learn_episodes(world, None, runs=6)
    >>> helped = fp.learn_episodes(world, fp.discover(world), runs=6)
    >>> alone.optimal_value == helped.optimal_value
    True
    """
    check_same_world(world, options)
    if world.restart is None or world.starts is None:
        raise InvalidInput(f"world must have episodes; got {world!r}. Make it with World.from_env, or use learn.")
    targets = world.goals if goals is None else world.check_states("goals", goals)
    if targets is None or targets.size == 0:
        raise InvalidInput(f"goals must be given, for {world.name} has none of its own.")
    alpha, gamma, epsilon = (
        check_fraction("alpha", alpha),
        check_fraction("gamma", gamma),
        check_fraction("epsilon", epsilon),
    )
    runs, steps = check_integer("runs", runs, 1), check_integer("steps", steps, 200)
    is_goal = np.isin(np.arange(world.n_states), targets)
    best = _optimal_value(world, is_goal, world.starts, gamma)
    inner = world.restart[world.restart < 1.0]
    limit = max(1, round(1.0 / inner.max())) if inner.size and inner.max() > 0 else steps
    cdf = np.cumsum(world.starts)
    cdf[np.flatnonzero(world.starts)[-1] :] = np.inf
    # Denser at the beginning, where the fast ones arrive.
    checkpoints = np.unique(np.geomspace(200, steps, 200).astype(np.int64))
    moves, table = world_table(world, episodic=True), option_table(world, options)
    shared = (moves, table, is_goal, cdf, limit, alpha, gamma, epsilon, checkpoints, near * best, evaluations)
    found = list(each(_one_run, shared, streams(seed, runs), n_jobs=n_jobs))
    first, near_optimal = np.array(found, dtype=np.float64).T
    return EpisodicResult(np.where(first < 0, np.inf, first), np.where(near_optimal < 0, np.inf, near_optimal), best)


def _one_run(shared: tuple[Any, ...], stream: np.uint64) -> tuple[int, int]:
    from farpoint.agents.episodic_kernels import episodic_trial

    first, near_optimal = episodic_trial(*shared, stream)
    return first, near_optimal


def _optimal_value(world: World, is_goal: NDArray[np.bool_], starts: NDArray[np.float64], gamma: float) -> float:
    """Return the best mean discounted reward from the starts, by value iteration."""
    value = np.zeros(world.n_states)
    reward = is_goal.astype(np.float64)
    while True:
        # V(s) = max_c Σ p(s′ | c) (1 if s′ is a goal, else γ V(s′))
        after = world.transitions @ np.where(is_goal, reward, gamma * value)
        new = -least_over_choices(world, -after)
        new[np.diff(world.choice_ptr) == 0] = 0.0
        if np.abs(new - value).max() < 1e-12:
            return float(new @ starts)
        value = new
