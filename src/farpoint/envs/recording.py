"""Recording what a random walk does in an environment: a log of states, or arrays of observations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.display.progress import shows_progress
from farpoint.errors import InvalidInput, check_function, check_integer, check_memory
from farpoint.worlds import Log, SampleLog
from farpoint.worlds.environments import check_env, count_actions
from farpoint.worlds.keys import StateKey, check_key, state_key


@shows_progress("recording")
def record_log(
    env: Any,
    n_steps: int,
    *,
    seed: int = 0,
    state: StateKey | None = None,
    layout: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Log:
    """Return the log of a walk that takes uniformly random actions in an environment, reset whenever an episode ends.

    Parameters
    ----------
    env : gymnasium.Env
        With discrete actions.
    n_steps, seed : int
    state : function of (env, observation), optional
        What identifies a state, as in `World.from_env`.
    layout : int, optional
        Seed of every reset, for environments whose layout depends on it; default: a new one each time.
    progress : function of (int, int), optional
        Called now and then with the steps done and their number.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> log = fp.record_log(gym.make("FrozenLake-v1", is_slippery=False), 5000, seed=1)
    >>> fp.World.from_log(log).n_states
    16
    """
    n_steps = check_integer("n_steps", n_steps, 1)
    n_actions = count_actions(env)
    check_memory("n_steps", n_steps, 25 * n_steps)
    check_function("state", state)
    check_function("progress", progress)
    layout = None if layout is None else check_integer("layout", layout, 0)
    key_of = state or state_key
    seed = check_integer("seed", seed, 0)
    rng = np.random.default_rng(seed)
    actions = rng.integers(n_actions, size=n_steps)
    before, after = [], []
    terminated = np.zeros(n_steps, dtype=bool)
    observation, _ = env.reset(seed=seed if layout is None else layout)
    here = check_key(key_of(env, observation))
    first_states, n_truncated = [here], 0
    for step in range(n_steps):
        observation, _, ended, truncated, _ = env.step(int(actions[step]))
        there = check_key(key_of(env, observation))
        before.append(here)
        after.append(there)
        terminated[step] = ended
        if ended or truncated:
            observation, _ = env.reset(seed=layout)
            there = check_key(key_of(env, observation))
            first_states.append(there)
            n_truncated += not ended
        here = there
        if progress is not None and step % 1000 == 0:
            progress(step, n_steps)
    if progress is not None:
        progress(n_steps, n_steps)
    return Log(before, after, actions, terminated, first_states, n_truncated)


def record_samples(
    env: gym.Env[Any, Any],
    n_steps: int,
    *,
    sample: Callable[[np.random.Generator], Any] | None = None,
    seed: int = 0,
) -> SampleLog:
    """Return the log of a walk that takes random actions in an environment with observations in a Box.

    Actions may be discrete or in a Box. The environment is reset whenever an episode ends.

    Parameters
    ----------
    env : gymnasium.Env
    n_steps : int
    sample : function of a numpy Generator, optional
        Draws an action; default: uniform in the environment's action space.
    seed : int

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> log = fp.envs.record_samples(gym.make("Pendulum-v1"), 100, seed=0)
    >>> log.observations.shape, log.actions.shape
    ((100, 3), (100, 1))
    >>> fp.envs.record_samples(gym.make("MountainCar-v0"), 100).actions.dtype
    dtype('int64')
    """
    n_steps, seed = check_integer("n_steps", n_steps, 1), check_integer("seed", seed, 0)
    check_function("sample", sample)
    check_env(env)
    space, choices = env.observation_space, env.action_space
    if not isinstance(space, gym.spaces.Box):
        raise InvalidInput(f"environment must have observations in a Box; got {space}.")
    if not isinstance(choices, (gym.spaces.Box, gym.spaces.Discrete)):
        raise InvalidInput(f"environment must have actions that are discrete or in a Box; got {choices}.")
    discrete = isinstance(choices, gym.spaces.Discrete)
    width = 1 if discrete else math.prod(choices.shape or ())
    check_memory("n_steps", n_steps, 8 * n_steps * (2 * math.prod(space.shape) + width))
    before, after = (np.empty((n_steps, math.prod(space.shape))) for _ in range(2))
    actions = np.empty(n_steps, dtype=np.int64) if discrete else np.empty((n_steps, width))
    choices.seed(seed)
    rng = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    for step in range(n_steps):
        action = choices.sample() if sample is None else sample(rng)
        before[step] = np.ravel(observation)
        actions[step] = action if discrete else np.ravel(action)
        observation, _, terminated, truncated, _ = env.step(action)
        after[step] = np.ravel(observation)
        if terminated or truncated:
            observation, _ = env.reset()
    return SampleLog(before, actions, after)


def record_observations(env: gym.Env[Any, Any], n_steps: int, *, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what is observed before and after each step of a walk that takes random actions.

    For environments with observations in a Box, images included; actions of any kind. The environment is reset
    whenever an episode ends.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> before, after = fp.envs.record_observations(gym.make("Pendulum-v1"), 100, seed=0)
    >>> before.shape, after.shape
    ((100, 3), (100, 3))
    """
    n_steps = check_integer("n_steps", n_steps, 1)
    seed = check_integer("seed", seed, 0)
    check_env(env)
    space = env.observation_space
    if not isinstance(space, gym.spaces.Box):
        raise InvalidInput(f"environment must have observations in a Box; got {space}.")
    check_memory("n_steps", n_steps, 2 * n_steps * math.prod(space.shape) * space.dtype.itemsize)
    before = np.empty((n_steps, *space.shape), dtype=space.dtype)
    after = np.empty_like(before)
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed)
    for step in range(n_steps):
        before[step] = observation
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        after[step] = observation
        if terminated or truncated:
            observation, _ = env.reset()
    return before, after
