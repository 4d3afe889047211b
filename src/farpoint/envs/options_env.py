"""A Gymnasium wrapper in which options of any kind, on any observations, are actions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_fraction, check_integer, check_word


class ObservedOption(Protocol):
    """What `GoalOptionsWrapper` asks of an option: both answers depend on the observation alone."""

    def can_start(self, observation: Any) -> bool:
        """Return whether the option can start here."""

    def act(self, observation: Any) -> Any | None:
        """Return the action to take, or None where the option ends."""


class GoalOptionsWrapper(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """An environment with the same observations and more actions: n … n + K − 1 are the options.

    As `OptionsWrapper`, for options that read observations instead of numbered states: `LearnedOptions`,
    `GraphOptions`, or any object with ``can_start(observation)`` and ``act(observation)``. A step with an option
    follows it until it ends, the episode ends, or ``max_length`` steps are over. The reward is the discounted sum of
    the rewards on the way, r₁ + γ r₂ + γ² r₃ + ….

    In ``info``: ``duration`` (primitive steps inside this step, k), ``gamma_k`` and ``discount`` (both γᵏ),
    ``reward_sum`` (not discounted), ``episode_steps``, ``option`` (its number, or -1), and ``action_mask`` (which
    actions can be taken now: 1 or 0).

    Parameters
    ----------
    env : gymnasium.Env
        With discrete actions; any observations.
    options : sequence of options
    gamma : float
    max_length : int
        The longest that one option may last.
    unavailable : {"refuse", "random"}
        What happens when an option is chosen where it cannot start: an error, or one random primitive action (for
        agents that know no masks).

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze("S....", noise=0.0)
    >>> corridor = fp.World.from_map(".....")
    >>> control = fp.direction_controller(env.displacements)
    >>> options = fp.GraphOptions(corridor, corridor.positions[:, ::-1] + 0.5, [4], control, radius=0.3)
    >>> wrapped = fp.GoalOptionsWrapper(env, options, gamma=0.9)
    >>> wrapped.action_space
    Discrete(9)
    >>> observation, info = wrapped.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = wrapped.step(8)
    >>> observation.round(2), info["duration"], round(info["gamma_k"], 4)
    (array([4.5, 0.5], dtype=float32), 10, 0.3487)
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        options: Sequence[ObservedOption],
        gamma: float = 0.99,
        *,
        max_length: int = 200,
        unavailable: str = "refuse",
    ) -> None:
        gym.utils.RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, options=options, gamma=gamma, max_length=max_length, unavailable=unavailable
        )
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.action_space, gym.spaces.Discrete) or env.action_space.start != 0:
            raise InvalidInput(f"environment must have discrete actions from 0; got {env.action_space}.")
        self.n_actions = int(env.action_space.n)
        self.options = options
        self.gamma = check_fraction("gamma", gamma)
        self.max_length = check_integer("max_length", max_length, 1)
        self.unavailable = check_word("unavailable", unavailable, ["refuse", "random"])
        self.action_space = gym.spaces.Discrete(self.n_actions + len(options))
        self.total_steps = 0
        self.episode_steps = 0
        self._observation: Any = None
        self._choices = np.random.default_rng()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self._observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._choices = np.random.default_rng(seed)
        self.episode_steps = 0
        return self._observation, {**info, "action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a primitive action, or follow an option to its end."""
        action = operator.index(action)
        if self._observation is None:
            raise InvalidInput("environment must be reset before its first step.")
        if not 0 <= action < self.n_actions + len(self.options):
            raise InvalidInput(f"action must lie in 0 … {self.n_actions + len(self.options) - 1}; got {action}.")
        number = max(action - self.n_actions, -1)
        primitive: Any = action if number < 0 else self._first(number)
        if primitive is None:
            primitive, number = int(self._choices.integers(self.n_actions)), -1

        total, plain, factor, duration = 0.0, 0.0, 1.0, 0
        while True:
            self._observation, reward, terminated, truncated, info = self.env.step(primitive)
            total += factor * float(reward)
            plain += float(reward)
            factor *= self.gamma
            duration += 1
            if number < 0 or terminated or truncated or duration >= self.max_length:
                break
            primitive = self.options[number].act(self._observation)
            if primitive is None:
                break
        self.total_steps += duration
        self.episode_steps += duration
        info = {
            **info,
            "duration": duration,
            "reward_sum": plain,
            "discount": self.gamma**duration,
            "gamma_k": self.gamma**duration,
            "episode_steps": self.episode_steps,
            "option": number,
            "action_mask": self.action_masks().astype(np.int8),
        }
        return self._observation, total, bool(terminated), bool(truncated), info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions can be taken now."""
        starts = [option.can_start(self._observation) for option in self.options]
        return np.concatenate([np.ones(self.n_actions, dtype=bool), np.array(starts, dtype=bool)])

    def _first(self, number: int) -> Any | None:
        """Return the first action of an option; None where it cannot start and that is no error."""
        option = self.options[number]
        action = option.act(self._observation) if option.can_start(self._observation) else None
        if action is None and self.unavailable == "refuse":
            raise InvalidInput(
                f"option {number} must be one that can start here; got an observation where it cannot. See "
                "info['action_mask'], or pass unavailable='random'."
            )
        return action
