"""How soon an agent reaches the target of an environment, and how soon its greedy policy is near-optimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.display import Drawn, Framed
from farpoint.engines import each
from farpoint.errors import InvalidInput, check_fraction, check_integer
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.routes import least_over_choices
from farpoint.options.tables import option_table
from farpoint.simulation.tables import episodes_of, streams, usual_or, world_table
from farpoint.worlds import World, WorldLike, as_world

_N_CHECKPOINTS = 200


@dataclass(frozen=True, eq=False, repr=False)
class EpisodicResult(Drawn, Framed):
    """Steps until a target was first reached, and until the greedy policy was near-optimal, in each run.

    Attributes
    ----------
    first_target, near_optimal : array of float, shape (n_runs,)
        Environment steps; inf where ``n_steps`` did not suffice.
    optimal_value : float
        The best mean discounted reward from where episodes start.

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

    def columns(self) -> dict[str, Any]:
        """Return one row per run: its number, and the two numbers of steps; inf where they did not suffice."""
        runs = np.arange(self.first_target.size)
        return {"run": runs, "first_target": self.first_target, "near_optimal": self.near_optimal}

    def __repr__(self) -> str:
        first, near = np.median(self.first_target), np.median(self.near_optimal)
        n_runs = self.first_target.size
        return f"EpisodicResult({n_runs} runs: target after {first:,.0f} steps, near-optimal after {near:,.0f})"


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

    The world is an environment's (`World.from_env`): episodes begin where it begins them, end in its terminal states
    or at its time limit, and reaching a target gives reward 1. Where the best decision is unique it is taken, except
    for a share ``epsilon`` of the time; elsewhere a random option with probability ``option_probability``, or a random
    action.

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
        at each of 200 checkpoints.
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
    from farpoint.agents.episodic_kernels import EpisodicTask

    check_same_world(world, options)
    if world.restart is None or world.starts is None:
        raise InvalidInput(f"world must have episodes; got {world!r}. Make it with World.from_env, or use learn.")
    ends = world.targets if targets is None else world.check_states("targets", targets)
    if ends is None or ends.size == 0:
        raise InvalidInput(f"targets must be given, for {world.name} has none of its own.")
    n_runs, n_steps = check_integer("n_runs", n_runs, 1), check_integer("n_steps", n_steps, _N_CHECKPOINTS)
    gamma = check_fraction("gamma", gamma)
    is_target = np.isin(np.arange(world.n_states), ends)
    best = optimal_value(world, is_target, world.starts, gamma)
    episodes = episodes_of(world, n_steps)
    task = EpisodicTask(
        is_target,
        episodes.start_cdf,
        episodes.max_steps,
        check_fraction("alpha", alpha),
        gamma,
        check_fraction("epsilon", epsilon),
        usual_or(option_probability, options),
        # Denser at the beginning, where the fast ones arrive.
        np.unique(np.geomspace(_N_CHECKPOINTS, n_steps, _N_CHECKPOINTS).astype(np.int64)),
        check_fraction("near", near) * best,
        check_integer("n_evaluations", n_evaluations, 1),
    )
    shared = (world_table(world, episodic=True), option_table(world, options), task)
    results = list(each(_one_run, shared, streams(seed, n_runs), n_jobs=n_jobs, label="learning"))
    first, near_optimal = np.array(results, dtype=np.float64).T
    return EpisodicResult(np.where(first < 0, np.inf, first), np.where(near_optimal < 0, np.inf, near_optimal), best)


def _one_run(shared: tuple[Any, ...], stream: np.uint64) -> tuple[int, int]:
    from farpoint.agents.episodic_kernels import episodic_trial

    world, options, task = shared
    return episodic_trial(world, options, task, stream)


def optimal_value(world: World, is_target: NDArray[np.bool_], starts: NDArray[np.float64], gamma: float) -> float:
    """Return the best mean discounted reward from the starts, by value iteration; a target ends the episode.

    >>> import farpoint as fp
    >>> optimal_value(fp.grid((4,)), np.arange(4) == 3, np.array([1.0, 0, 0, 0]), 0.5)
    0.25
    """
    value = np.zeros(world.n_states)
    while True:
        # V(s) = max_c Σ p(s′ | c) (1 if s′ is a target, else γ V(s′))
        after = world.transitions @ np.where(is_target, 1.0, gamma * value)
        new = -least_over_choices(world, -after)
        new[np.diff(world.choice_ptr) == 0] = 0.0
        if np.abs(new - value).max() < 1e-12:
            return float(new @ starts)
        value = new
