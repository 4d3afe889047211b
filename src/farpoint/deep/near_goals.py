"""Learning a controller that brings an agent from where it is to places nearby."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.deep.near_actor import ActorTraining, scaled_actions
from farpoint.deep.near_training import BLOCK, STATE, NearSettings, NearTraining, Stretches
from farpoint.deep.near_values import ValueTraining
from farpoint.deep.tensors import check_widths, one_thread
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer, check_positive
from farpoint.files import PieceFolder
from farpoint.options.learned_actor import LearnedActor
from farpoint.options.learned_controller import LearnedController
from farpoint.worlds.environments import check_env
from farpoint.worlds.sample_log import SampleLog, read_sample_log
from farpoint.worlds.samples import NearestStates

# The tries come in so many rounds, each followed by updates; the log alone has the first half of the updates.
_ROUNDS = 4
# How many steps a try may take, in times the horizon.
_PATIENCE = 2


def learn_controller(
    log: Any,
    *,
    env: Any = None,
    n_updates: int = 10_000,
    n_tries: int = 10_000,
    horizon: int = 20,
    reach: float | None = None,
    goal_dimensions: int | None = None,
    n_actions: int | None = None,
    gamma: float = 0.95,
    hidden: Sequence[int] = (128, 128),
    n_waves: int = 64,
    learning_rate: float = 1e-3,
    batch_size: int = 256,
    seed: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LearnedController | LearnedActor:
    """Return a controller for near goals, learned from a log and, where there is an environment, improved by trying.

    A network gives the value of an action for an observation and a goal: −(1 + γ + γ² + …) until the goal is within
    ``reach``. It learns with hindsight: the goal of a logged step is what was observed at most ``horizon`` steps later.
    Discrete actions have a value each (double DQN). Continuous ones are chosen by a network of their own, whose actions
    the values improve (TD3: two networks for values, of which the lower counts); half of its goals in the log were
    observed nearby at another time. With ``env`` the second half of the updates alternates with tries to reach such
    places, which are learned from as well. Give it to `GraphOptions.learn`, which finds the routes from neighbor to
    neighbor.

    Parameters
    ----------
    log : SampleLog, or anything that has ``observations``, ``actions`` and ``next_observations``
        Or these three arrays, in the order in which the steps were taken. Distances are Euclidean.
    env : gymnasium.Env, optional
        Where to try; its observations are those of the log.
    n_updates : int
        Gradient steps.
    n_tries : int
        Steps in ``env``.
    horizon : int
        How many steps a goal lies ahead at most.
    reach : float, optional
        Distance at which a goal is reached. Default: half the median length of a logged step that moved.
    goal_dimensions : int, optional
        How many of the first numbers of an observation a goal has; the others are only looked at. Default: all.
    n_actions : int, optional
        For continuous actions: so many of the logged actions, as different as possible, stand for all and are treated
        as discrete ones. That suits actions of two or three numbers. Default: any action within the logged bounds.
    gamma, learning_rate : float
    hidden : sequence of int
        Widths of the hidden layers.
    n_waves : int
        Number of random Fourier features of the input; 0 for none.
    batch_size : int
    seed : int
        The same seed gives the same controller for any number of cores: one thread is used.
    checkpoint : path of a folder, optional
        Keeps the state of the training. An interrupted training continues from it and ends with exactly the same
        controller as an uninterrupted one (with ``env``: if the same seed of a reset makes it do the same again).
    progress : function of (int, int), optional
        Called after each block of updates with the number done and in total.

    Returns
    -------
    LearnedController, or LearnedActor for continuous actions without ``n_actions``

    Raises
    ------
    MissingExtra
        If torch is not installed.
    WrongCheckpoint
        If the folder belongs to another training.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> env = fp.ContinuousMaze("....", start="random", noise=0.0)
    >>> log = fp.envs.record_samples(env, 2000, seed=0)
    >>> control = fp.deep.learn_controller(log, n_updates=500, hidden=[32], n_waves=0)
    >>> control(np.array([0.5, 0.5]), np.array([2.0, 0.5])) in (0, 1, 7)          # 0 is right
    True
    >>> env = fp.ContinuousMaze("....", start="random", noise=0.0, actions="box")
    >>> log = fp.envs.record_samples(env, 2000, seed=0)
    >>> control = fp.deep.learn_controller(log, n_updates=500, hidden=[32], n_waves=0)
    >>> bool(control(np.array([0.5, 0.5]), np.array([2.0, 0.5]))[0] > 0.5)         # and so is (1, 0)
    True
    """
    steps = read_sample_log(log)
    check_function("progress", progress)
    if env is not None:
        check_env(env)
    n_seen = steps.observations.shape[1]
    width = n_seen if goal_dimensions is None else check_integer("goal_dimensions", goal_dimensions, 1, n_seen)
    moved = np.linalg.norm((steps.next_observations - steps.observations)[:, :width], axis=1)
    if not moved.any():
        raise InvalidInput("log must hold steps that lead somewhere; got none.")
    settings = NearSettings(
        n_updates=check_integer("n_updates", n_updates, 1),
        n_tries=0 if env is None else check_integer("n_tries", n_tries, 1),
        horizon=check_integer("horizon", horizon, 1),
        reach=0.5 * float(np.median(moved[moved > 0])) if reach is None else check_positive("reach", reach),
        goal_dimensions=width,
        gamma=check_fraction("gamma", gamma),
        hidden=check_widths(hidden),
        n_waves=check_integer("n_waves", n_waves, 0, 2**16),
        learning_rate=check_positive("learning_rate", learning_rate),
        batch_size=check_integer("batch_size", batch_size, 2, 2**20),
        seed=check_integer("seed", seed, 0),
    )
    some = None if n_actions is None else check_integer("n_actions", n_actions, 2, 2**16)
    about = {**asdict(settings), "hidden": list(settings.hidden), "log": _digest(steps)}
    if not steps.discrete:
        about["n_actions"] = some
    folder = PieceFolder(checkpoint, "training", about)
    with one_thread():
        training = _training(steps, some, settings)
        training.restore(folder)
        for until in _ends_of_blocks(settings):
            if until <= training.done:
                continue
            if training.done in _rounds(settings):
                training.add(_try(env, training, _rounds(settings).index(training.done)))
            training.run(until - training.done)
            if checkpoint is not None:
                folder.save(STATE, training.arrays())
            if progress is not None:
                progress(training.done, settings.n_updates)
        return training.controller(about)


def _training(log: SampleLog, n_actions: int | None, settings: NearSettings) -> NearTraining:
    """Return a training that has not begun, of the kind that the actions ask for."""
    if log.discrete or n_actions is not None:
        actions, numbers = _numbered(log, n_actions)
        return ValueTraining(Stretches.of(log.observations, numbers, log.next_observations), actions, settings)
    low, high = log.actions.min(axis=0), log.actions.max(axis=0)
    scaled = scaled_actions(log.actions, low, high)
    return ActorTraining(Stretches.of(log.observations, scaled, log.next_observations), low, high, settings)


def _rounds(settings: NearSettings) -> list[int]:
    """Return after how many updates each round of tries begins."""
    if not settings.n_tries:
        return []
    first = settings.n_updates // 2
    return [first + turn * (settings.n_updates - first) // _ROUNDS for turn in range(_ROUNDS)]


def _ends_of_blocks(settings: NearSettings) -> list[int]:
    """Return after how many updates the training is saved: after each block, and before each round of tries."""
    ends = {*range(BLOCK, settings.n_updates, BLOCK), *_rounds(settings), settings.n_updates}
    return sorted(ends - {0})


def _numbered(log: SampleLog, n_actions: int | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the actions that can be chosen, and the number of the one that each step took, or came nearest to."""
    different, numbers = np.unique(log.actions, axis=0, return_inverse=True)
    if log.discrete or n_actions is None or len(different) <= n_actions:
        return different, numbers.ravel().astype(np.int64)
    chosen = np.empty(n_actions, dtype=np.int64)
    distance = np.linalg.norm(different - different.mean(axis=0), axis=1)
    for number in range(n_actions):
        chosen[number] = distance.argmax()
        away = np.linalg.norm(different - different[chosen[number]], axis=1)
        distance = away if number == 0 else np.minimum(distance, away)
    kept = different[chosen]
    return kept, NearestStates(kept).states(log.actions)


def _digest(log: SampleLog) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in log:
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _try(env: Any, training: NearTraining, number: int) -> Stretches:
    """Return steps towards places near where the agent is; the environment begins anew, from a seed of its own."""
    settings, log = training.settings, training.log
    n_steps = -(-settings.n_tries // _ROUNDS)
    rng = np.random.default_rng([settings.seed, 3, number])
    explore = training.explorer()
    nearest = NearestStates(log.before.astype(np.float64))
    before, after = np.empty((n_steps, log.before.shape[1])), np.empty((n_steps, log.before.shape[1]))
    taken = np.empty((n_steps, *log.taken.shape[1:]), dtype=log.taken.dtype)
    observation = env.reset(seed=int(rng.integers(2**31)))[0]
    goal, left = None, 0
    for step in range(n_steps):
        here = np.asarray(observation, dtype=np.float64).ravel()
        if here.size != before.shape[1]:
            raise InvalidInput(f"env must observe {before.shape[1]} numbers, as the log; got {here.size}.")
        if goal is None or left == 0 or np.linalg.norm(here[: goal.size] - goal) <= settings.reach:
            row, ahead = nearest.states(here[None, :]), rng.integers(settings.horizon, size=1)
            goal, left = log.goals(row, ahead, settings.goal_dimensions)[0], _PATIENCE * settings.horizon
        before[step] = here
        taken[step], action = explore(here, goal, rng)
        observation, _, terminated, truncated, _ = env.step(action)
        after[step], left = np.asarray(observation, dtype=np.float64).ravel(), left - 1
        if terminated or truncated:
            observation, goal = env.reset()[0], None
    return Stretches.of(before, taken, after)
