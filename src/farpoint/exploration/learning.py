"""Learning a task in a world of which nothing is known beforehand, with options that appear on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.blas import one_blas_thread
from farpoint.display import Drawn, Framed
from farpoint.display.progress import shows_progress
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer
from farpoint.exploration.env_runs import EnvRun
from farpoint.exploration.explorer import ExploreSettings
from farpoint.exploration.exploring import Exploration, exploration_of
from farpoint.exploration.runs import begin_run
from farpoint.exploration.values import Rates
from farpoint.exploration.world_runs import WorldRun
from farpoint.simulation.tables import streams
from farpoint.worlds import World, as_world

_N_EVALUATIONS = 200
_FIRST_EVALUATION = 100


@dataclass(frozen=True, eq=False, repr=False)
class ScratchLearning(Drawn, Framed):
    """What an agent has learned that knew nothing at first, and after how many steps.

    Attributes
    ----------
    first_reward : float
        Steps until the first positive reward; inf if there was none.
    near_optimal : float
        Steps until the best decisions were nearly as good as can be; inf if they never were. NaN in an environment,
        where nobody knows what can be.
    exploration : Exploration
        Every step, what was seen and how often.
    values : array of float, shape (n_states, n_actions)
        The value of every action in every state that was seen, in the order of ``exploration.labels``.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.learn_from_scratch(fp.maze(), 20_000, max_episode_steps=300, seed=1)
    ScratchLearning(first reward after ... steps, near-optimal after ...)
    """

    first_reward: float
    near_optimal: float
    exploration: Exploration
    values: NDArray[np.float64]

    def columns(self) -> dict[str, Any]:
        """Return one row per state that was seen, as in `Exploration`, with the value of every action there."""
        values = {f"value{action}": column for action, column in enumerate(self.values.T)}
        return {**self.exploration.columns(), **values}

    def __repr__(self) -> str:
        if np.isinf(self.first_reward):
            return "ScratchLearning(no reward seen)"
        near = "" if np.isnan(self.near_optimal) else f", near-optimal after {self.near_optimal:,.0f}"
        return f"ScratchLearning(first reward after {self.first_reward:,.0f} steps{near})"


@one_blas_thread()
@shows_progress("learning")
def learn_from_scratch(
    env: Any,
    n_steps: int,
    method: str = "diffusion",
    *,
    targets: ArrayLike | None = None,
    n_options: int = 5,
    option_probability: float = 0.05,
    t: int = 4,
    remake_every: int = 100,
    actions: str = "least tried",
    alpha: float = 0.1,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    exploring_episodes: float = 0.2,
    near: float = 0.9,
    n_evaluations: int = 20,
    max_episode_steps: int | None = None,
    state: Callable[[Any, Any], Any] | None = None,
    scale: ArrayLike | None = None,
    layout: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    seed: int = 0,
) -> ScratchLearning:
    """Learn a task by intra-option Q-learning, with every step counted from the first.

    The agent explores as `explore` does, with options that are made anew as more is seen, and learns from each step the
    value of its action and of every option that would have taken it. The best action is taken where it is known, except
    for a share ``epsilon`` of the time; where it is not, the best option, if one is known to be worth something;
    elsewhere the agent explores. An option is left where a best action is known. Whenever the options are made anew,
    the agent also learns once more from all that it remembers, so that a reward soon reaches every state from which a
    way to it is known.

    Parameters
    ----------
    env : gymnasium.Env or World
        An environment, with its own rewards; or a world, where reaching a target gives reward 1 and ends the episode.
    n_steps : int
    method, n_options, option_probability, t, remake_every, actions
        As in `explore`.
    targets : array of int, optional
        Of a world; default: its own.
    alpha, gamma, epsilon : float
    exploring_episodes : float
        Share of the episodes in which the agent only explores, so that it does not keep to the first way that it found.
    near : float
        Share of the optimal discounted reward at which the greedy policy is near-optimal, by ``n_evaluations`` episodes
        at each of 200 moments, denser at the beginning. These episodes are not counted, and nothing is learned there.
        Learning in a world stops when it is near-optimal.
    n_evaluations : int
    max_episode_steps, state, scale, layout, progress, seed
        As in `explore`.

    Returns
    -------
    ScratchLearning
        With ``first_reward``, ``near_optimal``, ``exploration`` and ``values``.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> helped = fp.learn_from_scratch(fp.maze(), 100_000, max_episode_steps=300)
    >>> alone = fp.learn_from_scratch(fp.maze(), 100_000, "none", actions="uniform", max_episode_steps=300)
    >>> helped.near_optimal < alone.near_optimal
    True
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> fp.learn_from_scratch(env, 2_000)
    ScratchLearning(first reward after ... steps)
    """
    n_steps, seed = check_integer("n_steps", n_steps, 1), check_integer("seed", seed, 0)
    check_function("progress", progress)
    settings = ExploreSettings(method, n_options, option_probability, t, remake_every, actions)
    limit = None if max_episode_steps is None else check_integer("max_episode_steps", max_episode_steps, 1)
    rates = Rates.checked(alpha, gamma, epsilon, exploring_episodes)
    if rates.alpha == 0.0:
        raise InvalidInput("alpha must be above 0 for anything to be learned; got 0.")
    wanted = check_fraction("near", near)
    if wanted == 0.0:
        raise InvalidInput("near must be above 0, for everything is near-optimal otherwise; got 0.")
    ends = None
    if isinstance(env, World) or not hasattr(env, "step"):
        env = as_world(env)
        ends = _check_targets(env, targets)
    run = begin_run(env, n_steps, settings, rates, seed, limit, state, layout, ends, scale)
    moments = _Moments(run, wanted, check_integer("n_evaluations", n_evaluations, 1), n_steps, seed)
    explorer, remake_at = run.explorer, 0
    while explorer.n_steps < n_steps and not moments.near_optimal < np.inf:
        if explorer.n_steps >= remake_at:
            run.remake()
            explorer.replay()
            remake_at = explorer.n_steps + explorer.interval
        run.advance(min(n_steps, remake_at, moments.next))
        moments.evaluate(explorer.n_steps)
        if progress is not None:
            progress(explorer.n_steps, n_steps)
    found = exploration_of(run)
    return ScratchLearning(
        found.steps.first_reward, moments.near_optimal, found, explorer.values.actions[: found.n_states].copy()
    )


class _Moments:
    """When the best decisions are evaluated in a world, and since when they are near-optimal."""

    def __init__(self, run: WorldRun | EnvRun, near: float, n_episodes: int, n_steps: int, seed: int) -> None:
        self.next, self.near_optimal = n_steps, float("nan")
        if not isinstance(run, WorldRun):
            return
        self._run, self._n_episodes = run, n_episodes
        self._steps = iter(np.unique(np.geomspace(_FIRST_EVALUATION, n_steps, _N_EVALUATIONS).astype(np.int64)))
        self.next, self.near_optimal = int(next(self._steps)), float("inf")
        self._good_enough = near * run.best_return
        if self._good_enough <= 0.0:
            raise InvalidInput("targets must be within reach of a start, and gamma above 0; got a task without reward.")
        # A stream of its own: what the agent does must not depend on how it is evaluated.
        self._stream = streams(seed, 2)[1:].copy()

    def evaluate(self, n_steps: int) -> None:
        """Evaluate if it is time."""
        if np.isnan(self.near_optimal) or n_steps < self.next:
            return
        self.next = int(next(self._steps, np.iinfo(np.int64).max))
        if self._run.greedy_return(self._n_episodes, self._stream) >= self._good_enough:
            self.near_optimal = float(n_steps)


def _check_targets(world: World, targets: ArrayLike | None) -> NDArray[np.int64]:
    ends = world.targets if targets is None else world.check_states("targets", targets)
    if ends is None or ends.size == 0:
        raise InvalidInput(f"targets must be given, for {world.name} has none of its own.")
    return ends
