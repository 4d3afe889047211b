"""Learning option policies that lead to goals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from os import PathLike
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike

from farpoint.deep.goal_training import GoalSettings, make_envs, train
from farpoint.deep.tensors import check_widths
from farpoint.display.progress import shows_progress
from farpoint.envs.success import option_success
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer, check_positive, listed
from farpoint.options.learned_options import GoalOf, LearnedOptions
from farpoint.worlds.arrays import real_numbers


@shows_progress("learning options")
def learn_options(
    env: gym.Env[Any, Any] | Callable[[], gym.Env[Any, Any]],
    goals: ArrayLike,
    *,
    radius: float,
    n_steps: int = 200_000,
    seed: int = 0,
    max_steps: int = 100,
    wander: int | None = None,
    goal_of: GoalOf | None = None,
    min_success: float = 0.5,
    n_trials: int = 50,
    hidden: Sequence[int] = (128, 128),
    n_waves: int = 64,
    gamma: float = 0.97,
    learning_rate: float = 1e-3,
    batch_size: int = 256,
    n_envs: int = 8,
    checkpoint: str | PathLike[str] | None = None,
    chunk_steps: int = 20_000,
    progress: Callable[[int, int], None] | None = None,
) -> LearnedOptions:
    """Return options with learned policies that lead from anywhere to each goal.

    One goal-conditioned DQN with hindsight replay (Stable-Baselines3) learns all policies off-policy, with reward −1
    per step until the goal is within ``radius``, where the option ends. Then the success of every option is measured.
    An option that reaches its goal in less than ``min_success`` of the trials is dropped with a warning; its goal and
    success are kept in ``dropped_goals`` and ``dropped_success``.

    Parameters
    ----------
    env : gymnasium.Env, or a function that makes one
        With discrete actions and observations in a Box. An environment is copied; its rewards are ignored.
    goals : array, shape (n_goals, n_features)
        The observations to reach, or their features if ``goal_of`` is given.
    radius : float
        Distance to the goal at which an option ends.
    n_steps : int
        Environment steps of the training.
    seed : int
        The same seed gives the same options on the same machine.
    max_steps : int
        Steps per trial.
    wander : int, optional
        Largest number of random steps after a reset, in training and in trials. Default: ``max_steps``.
    goal_of : function of an observation, optional
        Returns the features that are compared with goals; default: all.
    min_success : float
    n_trials : int
        Trials per option; see `option_success`.
    hidden : sequence of int
        Widths of the hidden layers.
    n_waves : int
        Number of random Fourier features of the input; 0 for none.
    gamma, learning_rate, batch_size, n_envs
        As in Stable-Baselines3. Each step of all ``n_envs`` copies is followed by one update.
    checkpoint : path of a folder, optional
        Keeps the state of the training. An interrupted training continues from it and ends with exactly the same
        options as an uninterrupted one.
    chunk_steps : int
        Steps between two checkpoints.
    progress : function of (int, int), optional
        Called after each chunk with the number of steps done and in total.

    Returns
    -------
    LearnedOptions

    Raises
    ------
    MissingExtra
        If torch or Stable-Baselines3 is not installed.
    WrongCheckpoint
        If the folder belongs to another training.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze("....", noise=0.0)
    >>> options = fp.learn_options(
    ...     env, [[0.5, 0.5], [3.5, 0.5]], radius=0.5, n_steps=1000, max_steps=20, hidden=[32], min_success=0.0
    ... )
    >>> len(options), options.success.shape
    (2, (2,))
    """
    array = real_numbers("goals", goals).astype(np.float32)
    if array.ndim != 2 or not array.size or not np.isfinite(array).all():
        raise InvalidInput(f"goals must be finite numbers with one row per goal; got shape {array.shape}.")
    check_function("progress", progress)
    check_function("goal_of", goal_of)
    settings = GoalSettings(
        radius=check_positive("radius", radius),
        n_steps=check_integer("n_steps", n_steps, 1),
        seed=check_integer("seed", seed, 0),
        max_steps=check_integer("max_steps", max_steps, 1),
        wander=check_integer("wander", max_steps if wander is None else wander, 0),
        hidden=check_widths(hidden),
        n_waves=check_integer("n_waves", n_waves, 0, 2**16),
        gamma=check_fraction("gamma", gamma),
        learning_rate=check_positive("learning_rate", learning_rate),
        batch_size=check_integer("batch_size", batch_size, 2, 2**20),
        n_envs=check_integer("n_envs", n_envs, 1, 2**12),
        chunk_steps=check_integer("chunk_steps", chunk_steps, 1),
    )
    min_success = check_fraction("min_success", min_success)
    n_trials = check_integer("n_trials", n_trials, 1)
    envs = make_envs(env, array, settings, goal_of)
    network = train(envs, settings, checkpoint, progress)
    untested = LearnedOptions(array, np.zeros(len(array)), settings.radius, network, goal_of)
    success = option_success(
        envs[0].env, untested, n_trials=n_trials, max_steps=settings.max_steps, wander=settings.wander, seed=seed
    )
    # False also for nan: a goal at which every trial begins was never tested.
    kept = success >= min_success
    if not kept.all():
        warnings.warn(
            f"{int((~kept).sum())} of {len(array)} options were dropped: their success is "
            f"{listed(f'{share:.2f}' for share in success[~kept])}, below min_success={min_success:g}. "
            "See dropped_goals; train for more steps, or give goals that can be reached.",
            stacklevel=2,
        )
    record = {**asdict(settings), "hidden": list(settings.hidden), "n_trials": n_trials}
    return LearnedOptions(
        array[kept], success[kept], settings.radius, network, goal_of, array[~kept], success[~kept], record
    )
