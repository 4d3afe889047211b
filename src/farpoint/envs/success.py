"""How often options get to where they should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_integer


class GoalOption(Protocol):
    """An option that knows whether it has reached its goal."""

    def ended(self, observation: Any) -> bool:
        """Return whether the goal is reached."""

    def act(self, observation: Any) -> Any | None:
        """Return the action to take, or None where the option ends."""


def option_success(
    env: gym.Env[Any, Any],
    options: Sequence[GoalOption],
    *,
    trials: int = 50,
    max_length: int = 100,
    wander: int = 0,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the share of trials in which each option reaches its goal.

    A trial begins with a reset and up to ``wander`` random steps, the same for every option; it fails after
    ``max_length`` steps, or when the environment's own episode or the option ends elsewhere. A trial that begins at the
    goal is not counted; an option without a trial that counts has success nan.

    Parameters
    ----------
    env : gymnasium.Env
        With discrete actions.
    options : LearnedOptions, GraphOptions, or other options on observations
    trials, max_length, wander, seed : int

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze(".....")
    >>> corridor = fp.World.from_map(".....")
    >>> control = fp.direction_controller(env.displacements)
    >>> options = fp.GraphOptions(corridor, corridor.positions[:, ::-1] + 0.5, [0, 4], control, radius=0.3)
    >>> fp.option_success(env, options, trials=20)
    array([1., 1.])
    """
    trials, max_length = check_integer("trials", trials, 1), check_integer("max_length", max_length, 1)
    wander, seed = check_integer("wander", wander, 0), check_integer("seed", seed, 0)
    space = env.action_space
    if not isinstance(space, gym.spaces.Discrete) or space.start != 0:
        raise InvalidInput(f"environment must have discrete actions from 0; got {space}.")
    starts = [int(start) for start in np.random.SeedSequence([seed, 2]).generate_state(trials)]
    success = np.full(len(options), np.nan)
    for number in range(len(options)):
        arrived = [_arrives(env, options[number], start, max_length, wander) for start in starts]
        counted = [one for one in arrived if one is not None]
        if counted:
            success[number] = np.mean(counted)
    return success


def _arrives(env: gym.Env[Any, Any], option: GoalOption, seed: int, max_length: int, wander: int) -> bool | None:
    """Return whether one trial succeeds; None if it begins at the goal."""
    rng = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    n_actions = int(env.action_space.n)  # type: ignore[attr-defined]
    for _ in range(int(rng.integers(wander + 1))):
        observation, _, terminated, truncated, _ = env.step(int(rng.integers(n_actions)))
        if terminated or truncated:
            observation, _ = env.reset()
    if option.ended(observation):
        return None
    for _ in range(max_length):
        action = option.act(observation)
        if action is None:
            break
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated or option.ended(observation):
            break
    return bool(option.ended(observation))
