"""How often options reach their goals in an environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.envs.sampling import Sampler, uniform_sampler
from farpoint.errors import check_integer
from farpoint.options.protocol import OptionLike, OptionList, Options
from farpoint.worlds.environments import check_env


def option_success(
    env: gym.Env[Any, Any],
    options: Sequence[OptionLike],
    *,
    n_trials: int = 50,
    max_steps: int = 100,
    wander: int = 0,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the share of trials in which each option reaches its goal.

    A trial begins with a reset and up to ``wander`` random steps, the same for every option. It fails after
    ``max_steps`` steps, when the environment's episode ends, or when the option ends, unless the goal is reached there.
    A trial that begins at the goal does not count.

    Parameters
    ----------
    env : gymnasium.Env
        With actions that are discrete or in a Box with bounds.
    options : Options, or another sequence of options
    n_trials : int
        Trials per option.
    max_steps : int
        Steps per trial, not counting the random ones.
    wander : int
        Largest number of random steps before a trial.
    seed : int

    Returns
    -------
    array of float, shape (n_options,)
        nan for an option without a trial that counts.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze(".....")
    >>> before, after = env.random_walk(2000)
    >>> corridor = fp.World.from_samples(before, after, n_states=20)
    >>> control = fp.options.direction_controller(env.displacements)
    >>> options = fp.GraphOptions(fp.discover(corridor, n_options=2), control, radius=0.3)
    >>> fp.envs.option_success(env, options, n_trials=20)
    array([1., 1.])
    """
    n_trials, max_steps = check_integer("n_trials", n_trials, 1), check_integer("max_steps", max_steps, 1)
    wander, seed = check_integer("wander", wander, 0), check_integer("seed", seed, 0)
    check_env(env)
    draw = uniform_sampler(env.action_space)
    every = options if isinstance(options, Options) else OptionList(options)
    starts = [int(start) for start in np.random.SeedSequence([seed, 2]).generate_state(n_trials)]
    success = np.full(len(every), np.nan)
    for number in range(len(every)):
        results = [_reaches_goal(env, every, number, start, max_steps, wander, draw) for start in starts]
        counted = [result for result in results if result is not None]
        if counted:
            success[number] = np.mean(counted)
    return success


def _reaches_goal(
    env: gym.Env[Any, Any],
    options: Options[OptionLike],
    number: int,
    seed: int,
    max_steps: int,
    wander: int,
    draw: Sampler,
) -> bool | None:
    """Return whether one trial succeeds; None if it begins at the goal."""
    rng = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    for _ in range(int(rng.integers(wander + 1))):
        observation, _, terminated, truncated, _ = env.step(draw(rng))
        if terminated or truncated:
            observation, _ = env.reset()
    here = options.observe(env, observation)
    if options.reached(number, here):
        return None
    for _ in range(max_steps):
        action = options.act(number, here, rng)
        if action is None:
            break
        observation, _, terminated, truncated, _ = env.step(action)
        here = options.observe(env, observation)
        if terminated or truncated or options.reached(number, here):
            break
    return options.reached(number, here)
