"""Learning a task in an unknown world or environment by interaction only, with options that appear on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.agents.task import Evaluation, targets_of
from farpoint.blas import one_blas_thread
from farpoint.display import Plottable, Tabular, progress_bar
from farpoint.errors import check_fraction, check_function, check_integer
from farpoint.exploration.exploring import SIMULATORS, Exploration, exploration_of
from farpoint.exploration.loops import EnvironmentLoop, WorldLoop, begin_loop
from farpoint.exploration.values import Rates
from farpoint.options.probability import probability_text
from farpoint.simulation.tables import streams
from farpoint.worlds import World, as_world

# Steps before an agent is evaluated for the first time.
_FIRST_EVALUATION = 100


@dataclass(frozen=True, eq=False, repr=False)
class ScratchLearning(Plottable, Tabular):
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
    ScratchLearning(first reward after ... steps, near-optimal after ..., option_probability=0.05)
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
        used = probability_text(self.exploration.option_probability)
        source = ", states of the simulator" if self.exploration.keyed_by in SIMULATORS else ""
        if np.isinf(self.first_reward):
            return f"ScratchLearning(no reward seen{used}{source})"
        near = "" if np.isnan(self.near_optimal) else f", near-optimal after {self.near_optimal:,.0f}"
        return f"ScratchLearning(first reward after {self.first_reward:,.0f} steps{near}{used}{source})"


@one_blas_thread()
def learn_from_scratch(
    env: Any,
    n_steps: int,
    method: str = "diffusion",
    *,
    targets: ArrayLike | None = None,
    n_options: int = 5,
    option_probability: float | None = None,
    t: int = 4,
    remake_every: int = 100,
    actions: str = "least tried",
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
    """Learn a task by model-based replay, with every step counted from the first.

    The agent explores as `explore` does, with options that are rebuilt as more is seen. It remembers how often each
    action led where, and the mean reward. Whenever the options are rebuilt (every ``remake_every`` steps or more), it
    runs value iteration on all that it remembers, so a reward soon reaches every state from which a way to it is known.
    An agent without such a memory, as `train_tabular`, learns more slowly from the same steps.

    The best action is taken where it is known, except for a share ``epsilon`` of the time; elsewhere the agent
    explores. An option is interrupted where a best action is known.

    Parameters
    ----------
    env : gymnasium.Env or World
        An environment, with its own rewards; or a world, where reaching a target gives reward 1 and ends the episode.
    n_steps : int
    method, n_options, option_probability, t, remake_every, actions
        As in `explore`.
    targets : array of int, optional
        Of a world; default: its own.
    gamma, epsilon : float
        Discount; share of the decisions that explore whatever is known.
    exploring_episodes : float
        Share of the episodes in which the agent only explores, so that it does not keep to the first way that it found.
    near : float
        Share of the optimal discounted reward at which the greedy policy is near-optimal, by ``n_evaluations`` episodes
        at each of 200 moments, denser at the beginning. The first of two moments in a row at which it is near-optimal
        counts: the mean of a few episodes may be high by chance. These episodes are not counted, and nothing is learned
        there. Learning in a world stops when it is near-optimal.
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
    >>> alone = fp.learn_from_scratch(fp.maze(), 100_000, "none", max_episode_steps=300)
    >>> helped.near_optimal < alone.near_optimal
    True
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> fp.learn_from_scratch(env, 2_000)
    ScratchLearning(first reward after ... steps, option_probability=0.05)
    """
    n_steps, seed = check_integer("n_steps", n_steps, 1), check_integer("seed", seed, 0)
    check_function("progress", progress)
    limit = None if max_episode_steps is None else check_integer("max_episode_steps", max_episode_steps, 1)
    rates = Rates(
        True,
        check_fraction("gamma", gamma),
        check_fraction("epsilon", epsilon),
        check_fraction("exploring_episodes", exploring_episodes),
    )
    n_evaluations = check_integer("n_evaluations", n_evaluations, 1)
    ends = None
    if isinstance(env, World) or not hasattr(env, "step"):
        env = as_world(env)
        ends = targets_of(env, targets)
    loop = begin_loop(
        env, n_steps, seed, rates=rates, max_episode_steps=limit, state=state, layout=layout, targets=ends, scale=scale,
        n_options=n_options, method=method, option_probability=option_probability, t=t, remake_every=remake_every,
        actions=actions,
    )  # fmt: skip
    check_fraction("near", near)
    # An environment does not say what can be had; in a world it is known, and what an agent does must not depend on
    # how it is evaluated.
    evaluation, stream = None, streams(seed, 2)[1:].copy()
    if isinstance(loop, WorldLoop):
        evaluation = Evaluation(n_steps, _FIRST_EVALUATION, near, loop.best_return)
    explorer = loop.explorer
    with progress_bar("learning", n_steps, progress) as tell:
        while explorer.n_steps < n_steps and (evaluation is None or evaluation.near_optimal == np.inf):
            if explorer.due:
                loop.remake()
                loop.replay()
            moment = n_steps if evaluation is None else int(min(evaluation.next, n_steps))
            loop.advance(min(n_steps, explorer.remake_at, moment))
            if isinstance(loop, WorldLoop) and evaluation is not None and explorer.n_steps >= evaluation.next:
                evaluation.judge(loop.greedy_return(n_evaluations, stream))
            tell(explorer.n_steps)
    loop.replay()
    found = exploration_of(loop)
    near_optimal = float("nan") if evaluation is None else evaluation.near_optimal
    return ScratchLearning(found.steps.first_reward, near_optimal, found, _values_of_places(loop))


def _values_of_places(loop: WorldLoop | EnvironmentLoop) -> NDArray[np.float64]:
    """Return the value of every action in each place; 0 where episodes only ended."""
    places, n_actions = loop.places, loop.explorer.memory.n_actions
    passed = np.flatnonzero(n_actions[: places.size] > 0)
    values = np.zeros((int(places.max(initial=-1)) + 1, loop.explorer.n_actions))
    values[places[passed]] = loop.values.actions[passed]
    return values
