"""Tabular Q-learning with options on any wrapped Gymnasium environment, step by step in Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.agents.tabular_learner import Decision, Learner
from farpoint.display import Framed
from farpoint.display.progress import shows_progress
from farpoint.envs.wrapper import OptionsWrapper
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer, check_word
from farpoint.simulation.tables import ACTIONS

TABULAR_ALGORITHMS = ("smdp", "intra-option")


@dataclass(eq=False, repr=False)
class TabularAgent(Framed):
    """Values of every action, options among them, in every state that was met.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> env = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2))
    >>> agent = fp.train_tabular(env, 3000, seed=0)
    >>> agent.n_steps >= 3000, {len(values) for values in agent.values.values()}            # 4 actions and 2 options
    (True, {6})
    """

    env: OptionsWrapper
    values: dict[Hashable, NDArray[np.float64]]
    episode_rewards: list[float] = field(default_factory=list)
    n_steps: int = 0

    def act(self, key: Hashable, mask: NDArray[Any]) -> int:
        """Return the best action that can be taken, the first of equals."""
        return int(np.where(mask, self.values[key], -np.inf).argmax())

    def columns(self) -> dict[str, Any]:
        """Return one row per episode: its number and the sum of its rewards."""
        return {"episode": np.arange(1, len(self.episode_rewards) + 1), "reward": np.array(self.episode_rewards)}

    def forget(self, options: Iterable[int]) -> None:
        """Forget the values of options that lead elsewhere now (`DiscoveringWrapper`)."""
        columns = [self.env.n_actions + option for option in options]
        if columns:
            for values in self.values.values():
                # No better than any action, whatever the sign of rewards: what they are worth is learned anew.
                values[columns] = values[: self.env.n_actions].min()

    def __repr__(self) -> str:
        return f"TabularAgent({len(self.values)} states, {self.n_steps} steps, {len(self.episode_rewards)} episodes)"


@shows_progress("learning")
def train_tabular(
    env: OptionsWrapper,
    n_steps: int,
    *,
    algorithm: str = "smdp",
    alpha: float = 0.2,
    epsilon: float = 0.1,
    option_probability: float | None = None,
    actions: str = "least tried",
    replay: int = 1,
    exploring_episodes: float = 0.0,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    callback: Callable[[TabularAgent], bool | None] | None = None,
) -> TabularAgent:
    """Return an agent that has learned with options in an environment, by its own rewards.

    Parameters
    ----------
    env : OptionsWrapper
        Whose options read something hashable: the key of a state.
    n_steps : int
        Primitive steps, those inside options included.
    algorithm : {"smdp", "intra-option"}
        ``"smdp"``: Q(s, o) ← Q + α (r + γᵏ max Q(s′, ·) − Q), r the discounted reward of the option's k steps.
        ``"intra-option"``: each primitive step, also inside options, updates the value of its action and of every
        option whose policy could have taken that action, as in `learn`.
    alpha, epsilon : float
        Step size; share of the decisions that are random.
    option_probability : float, optional
        Probability that a random decision, or one between equal values, is an option; default: that of the
        wrapper. See `OptionsWrapper.sample_action`.
    actions : {"least tried", "uniform"}
        Which primitive action is taken where the decision is random or between equal values: one of those tried
        least often in this state, or any.
    replay : int
        How many of the last episodes are learned from once more, backwards, whenever an episode ends; 0: none.
    exploring_episodes : float
        Share of the episodes in which every decision is random, so that the agent does not keep to the first way that
        it found.
    seed : int
        The same seed gives the same agent.
    progress : function of (int, int), optional
    callback : function of TabularAgent, optional
        Called after every decision; training stops where it returns False.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("CliffWalking-v1")
    >>> env = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env)))
    >>> fp.train_tabular(env, 2000, algorithm="intra-option")
    TabularAgent(... states, ... steps, ... episodes)
    """
    if not isinstance(env, OptionsWrapper):
        raise InvalidInput(f"env must be an OptionsWrapper; got {type(env).__name__}. Wrap it first.")
    check_word("algorithm", algorithm, TABULAR_ALGORITHMS)
    n_steps = check_integer("n_steps", n_steps, 1)
    alpha, epsilon = check_fraction("alpha", alpha), check_fraction("epsilon", epsilon)
    if option_probability is not None:
        option_probability = check_fraction("option_probability", option_probability)
    check_function("progress", progress)
    check_function("callback", callback)
    check_word("actions", actions, ACTIONS)
    replay = check_integer("replay", replay, 0, 10**6)
    exploring_episodes = check_fraction("exploring_episodes", exploring_episodes)
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    n_actions = env.n_actions + len(env.options)
    agent = TabularAgent(env, defaultdict(lambda: np.zeros(n_actions)))
    intra, least_tried = algorithm == "intra-option", actions == "least tried"
    learner = Learner(agent, intra=intra, alpha=alpha, least_tried=least_tried, replay=replay)
    env.on_step = learner.step
    try:
        _, info = env.reset(seed=seed)
        rewards, exploring = 0.0, rng.random() < exploring_episodes
        while agent.n_steps < n_steps:
            key, random_share = env.current_key, 1.0 if exploring else epsilon
            action = learner.choose(info["action_mask"].astype(bool), random_share, option_probability, rng)
            _, reward, terminated, truncated, info = env.step(action)
            learner.decided(Decision(key, action, reward, info["discount"], env.current_key, terminated))
            learner.forget(info.get("changed_options", ()))
            agent.n_steps += info["duration"]
            rewards += info["reward_sum"]
            if terminated or truncated:
                agent.episode_rewards.append(rewards)
                rewards, exploring = 0.0, rng.random() < exploring_episodes
                learner.end_episode()
                _, info = env.reset()
            if progress is not None:
                progress(agent.n_steps, n_steps)
            if callback is not None and callback(agent) is False:
                break
    finally:
        env.on_step = None
    return agent
