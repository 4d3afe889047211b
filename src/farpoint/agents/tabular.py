"""Tabular Q-learning with options on any wrapped Gymnasium environment, step by step in Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.display import Framed
from farpoint.display.progress import shows_progress
from farpoint.envs.wrapper import OptionsWrapper, Transition
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer, check_word

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
    >>> agent.episode_rewards[-1]
    1.0
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
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    n_actions = env.n_actions + len(env.options)
    agent = TabularAgent(env, defaultdict(lambda: np.zeros(n_actions)))
    intra = algorithm == "intra-option"
    env.on_step = (lambda step: _learn_from(agent, step, alpha)) if intra else None
    try:
        _, info = env.reset(seed=seed)
        rewards = 0.0
        while agent.n_steps < n_steps:
            key, mask = env.current_key, info["action_mask"].astype(bool)
            among = mask if rng.random() < epsilon else _best_actions(agent, key, mask)
            action = env.sample_action(option_probability, among=among, rng=rng)
            _, reward, terminated, truncated, info = env.step(action)
            if not intra:
                best = 0.0 if terminated else _best_value(agent, env.current_key, env.mask_at(env.current_key))
                agent.values[key][action] += alpha * (reward + info["discount"] * best - agent.values[key][action])
            agent.forget(info.get("changed_options", ()))
            agent.n_steps += info["duration"]
            rewards += info["reward_sum"]
            if terminated or truncated:
                agent.episode_rewards.append(rewards)
                rewards = 0.0
                _, info = env.reset()
            if progress is not None:
                progress(agent.n_steps, n_steps)
            if callback is not None and callback(agent) is False:
                break
    finally:
        env.on_step = None
    return agent


def _best_actions(agent: TabularAgent, key: Hashable, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    values = np.where(mask, agent.values[key], -np.inf)
    return np.asarray(values == values.max())


def _best_value(agent: TabularAgent, key: Hashable, mask: NDArray[Any]) -> float:
    return float(agent.values[key][mask.astype(bool)].max())


def _learn_from(agent: TabularAgent, step: Transition, alpha: float) -> None:
    """Update the value of the action, and of every option whose policy could have taken it."""
    env, options = agent.env, agent.env.options
    here = agent.values[step.observation]
    best = 0.0
    if not step.terminated:
        best = _best_value(agent, step.next_observation, env.mask_at(step.next_observation))
    here[step.action] += alpha * (step.reward + env.gamma * best - here[step.action])
    takes = options.takes(step.observation, step.action)
    if not takes.any():
        return
    takers = env.n_actions + takes.nonzero()[0]
    # In the next state an option continues, with its own value there, or it ends and the best decision follows.
    after = np.full(takers.size, best)
    if not step.terminated:
        going = ~options.ended(step.next_observation)[takers - env.n_actions]
        after[going] = agent.values[step.next_observation][takers[going]]
    here[takers] += alpha * (step.reward + env.gamma * after - here[takers])
