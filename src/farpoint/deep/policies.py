"""Learned option policies: one network that knows the way to every goal.

What is learned runs, is saved and is loaded with numpy alone; only the training needs the extra ``farpoint[deep]``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, overload

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.deep.array_files import read_arrays, write_arrays
from farpoint.deep.goal_env import GoalOf, flat
from farpoint.envs.success import option_success
from farpoint.errors import InvalidFile, InvalidInput, MissingExtra, check_fraction, check_integer, listed

FORMAT = "farpoint-option-policies"
VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class GoalNetwork:
    """Q-values of every action for an observation and a goal: a scaled input and a few ReLU layers.

    With ``frequencies`` B the input is x, sin(Bx) and cos(Bx), x being the scaled observation and goal: values jump at
    walls, which a small network of plain coordinates is slow to learn.
    """

    center: NDArray[np.float32]
    scale: NDArray[np.float32]
    frequencies: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]

    def __call__(self, observation: NDArray[np.float32], goal: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the value of each action."""
        x = (np.concatenate([observation, goal]) - self.center) * self.scale
        if len(self.frequencies):
            waves = self.frequencies @ x
            x = np.concatenate([x, np.sin(waves), np.cos(waves)])
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = np.maximum(weight @ x + bias, 0.0)
        return self.weights[-1] @ x + self.biases[-1]


@dataclass(frozen=True, eq=False, repr=False)
class LearnedOption:
    """One option: towards ``goal`` until within ``radius``; ``success`` is how often it got there when measured."""

    goal: NDArray[np.float32]
    success: float
    radius: float
    network: GoalNetwork
    goal_of: GoalOf | None = None

    def ended(self, observation: Any) -> bool:
        """Return whether the goal is reached."""
        away = flat(observation if self.goal_of is None else self.goal_of(observation)) - self.goal
        return bool(away @ away <= self.radius**2)

    def initiation(self, observation: Any) -> bool:
        """Return whether the option can start here: everywhere but at its goal."""
        return not self.ended(observation)

    def act(self, observation: Any) -> int | None:
        """Return the action to take, or None where the option ends."""
        if self.ended(observation):
            return None
        return int(self.network(flat(observation), self.goal).argmax())

    def __repr__(self) -> str:
        return f"LearnedOption(goal={np.round(self.goal, 2).tolist()}, success={self.success:.2f})"


@dataclass(frozen=True, eq=False, repr=False)
class LearnedOptions(Sequence[LearnedOption]):
    """Options that share one goal-conditioned network, each with the success it was measured at.

    Made by `learn_option_policies`, or read by `load_option_policies`.

    Attributes
    ----------
    goals : array, shape (n_options, n_features)
    success : array of float, shape (n_options,)
        Share of the measured trials in which each option reached its goal.
    dropped_goals, dropped_success : arrays
        The goals that were given up because they were reached too seldom, and how often they were reached.
    record : dict
        How they were learned.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> from farpoint.deep.policies import GoalNetwork
    >>> ahead = GoalNetwork(np.zeros(2), np.ones(2), np.empty((0, 2)), (np.array([[1, -1], [-1, 1]]),), (np.zeros(2),))
    >>> options = fp.LearnedOptions(np.array([[5.0]]), np.array([1.0]), radius=0.5, network=ahead)
    >>> options
    LearnedOptions(1 goals, success 1.00)
    >>> options[0].act([3.0]), options[0].act([7.0]), options[0].act([5.2])
    (1, 0, None)
    """

    goals: NDArray[np.float32]
    success: NDArray[np.float64]
    radius: float
    network: GoalNetwork
    goal_of: GoalOf | None = None
    dropped_goals: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    dropped_success: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    record: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.goals)

    @overload
    def __getitem__(self, number: int) -> LearnedOption: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[LearnedOption]: ...
    def __getitem__(self, number: int | slice) -> LearnedOption | Sequence[LearnedOption]:
        if isinstance(number, slice):
            return [self[item] for item in range(len(self))[number]]
        number = range(len(self))[number]
        return LearnedOption(self.goals[number], float(self.success[number]), self.radius, self.network, self.goal_of)

    def __repr__(self) -> str:
        share = f"{self.success.min():.2f} … {self.success.max():.2f}" if len(self) > 1 else ""
        return f"LearnedOptions({len(self)} goals, success {share or listed(f'{s:.2f}' for s in self.success)})"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the options to one ``.npz`` file, without pickle; see `load_option_policies`."""
        network = self.network
        header = {
            "format": FORMAT,
            "version": VERSION,
            "radius": self.radius,
            "goal_of": self.goal_of is not None,
            "n_layers": len(network.weights),
            "record": self.record,
        }
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {name: getattr(network, name) for name in _INPUT}
        arrays |= {f"weight.{layer}": weight for layer, weight in enumerate(network.weights)}
        arrays |= {f"bias.{layer}": bias for layer, bias in enumerate(network.biases)}
        write_arrays(Path(path), header, arrays)


_ARRAYS = ("goals", "success", "dropped_goals", "dropped_success")
_INPUT = ("center", "scale", "frequencies")


def load_option_policies(path: str | PathLike[str], *, goal_of: GoalOf | None = None) -> LearnedOptions:
    """Return the options that `LearnedOptions.save` wrote; numpy is enough to run them.

    Parameters
    ----------
    path : str
    goal_of : function of an observation, optional
        The one that they were learned with; a file holds no functions.

    Raises
    ------
    InvalidFile
        If the file is missing, damaged, not one of ours or of a newer version.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.load_option_policies("nowhere.npz")
    Traceback (most recent call last):
    farpoint.errors.InvalidFile: nowhere.npz must be a file of farpoint-option-policies; got no file of that name.
    """
    header, arrays = read_arrays(Path(path), FORMAT, VERSION)
    if bool(header.get("goal_of")) != (goal_of is not None):
        raise InvalidInput(
            f"goal_of must be {'given: the options were learned with one' if header.get('goal_of') else 'left out'}; "
            f"got {goal_of!r}."
        )
    try:
        layers = range(int(header["n_layers"]))
        network = GoalNetwork(
            **{name: arrays[name] for name in _INPUT},
            weights=tuple(arrays[f"weight.{layer}"] for layer in layers),
            biases=tuple(arrays[f"bias.{layer}"] for layer in layers),
        )
        kept = {name: arrays[name] for name in _ARRAYS}
        return LearnedOptions(
            radius=float(header["radius"]), network=network, goal_of=goal_of, record=dict(header["record"]), **kept
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFile(f"{path} must hold the options whole; it is damaged ({error}).") from error


def learn_option_policies(
    env: gym.Env[Any, Any] | Callable[[], gym.Env[Any, Any]],
    goals: ArrayLike,
    *,
    radius: float,
    steps: int = 200_000,
    seed: int = 0,
    max_length: int = 100,
    wander: int | None = None,
    goal_of: GoalOf | None = None,
    min_success: float = 0.5,
    trials: int = 50,
    hidden: Sequence[int] = (128, 128),
    n_waves: int = 64,
    gamma: float = 0.97,
    learning_rate: float = 1e-3,
    batch_size: int = 256,
    n_envs: int = 8,
    checkpoint: str | PathLike[str] | None = None,
    chunk: int = 20_000,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> LearnedOptions:
    """Return options whose policies were learned: from wherever the agent is to each goal.

    One goal-conditioned DQN with hindsight replay (Stable-Baselines3) learns all of them off-policy: −1 a step until
    the goal is within ``radius``, where an option ends. Then every option is tried out; one that reaches its goal in
    less than ``min_success`` of the trials is dropped, with a warning, and kept on record.

    Parameters
    ----------
    env : gymnasium.Env, or a function that makes one
        With discrete actions and observations in a Box. An environment is copied; rewards are ignored.
    goals : array, shape (n_goals, n_features)
        The observations to reach (what ``goal_of`` makes of them, if that is given).
    radius : float
        How near, in the units of the goals.
    steps, seed : int
        Steps to train on. The same seed gives the same options on the same machine.
    max_length : int
        The longest trial.
    wander : int, optional
        A reset is followed by up to so many random steps, in training and in trials. Default: ``max_length``.
    goal_of : function of an observation, optional
        What of an observation is compared with goals; default: all of it.
    min_success : float
    trials : int
        Trials of each option, from a reset followed by random steps; see `option_success`.
    hidden : sequence of int
        Widths of the layers.
    n_waves : int
        Random Fourier features of the input; 0 for none.
    gamma, learning_rate, batch_size, n_envs
        As in Stable-Baselines3. Each step of all ``n_envs`` copies is followed by one update.
    checkpoint : str, optional
        A file that keeps the training after every ``chunk`` steps. If it is there the training goes on from it, and
        ends as it would have ended without the interruption.
    chunk : int
    progress : function of (int, int)
        Called after each chunk with the steps done and their number.

    Raises
    ------
    MissingExtra
        Without torch and Stable-Baselines3.
    InvalidFile
        A damaged checkpoint, or one of another training.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze("....", noise=0.0)
    >>> options = fp.learn_option_policies(
    ...     env, [[0.5, 0.5], [3.5, 0.5]], radius=0.5, steps=1000, max_length=20, hidden=[32], min_success=0.0
    ... )
    >>> len(options), options.success.shape
    (2, (2,))
    """
    wanted = np.array(goals, dtype=np.float32)
    if wanted.ndim != 2 or not wanted.size or not np.isfinite(wanted).all():
        raise InvalidInput(f"goals must be finite, one row a goal; got shape {wanted.shape}.")
    if not np.isfinite(radius) or radius <= 0:
        raise InvalidInput(f"radius must be a finite number above 0; got {radius!r}.")
    settings: dict[str, Any] = {
        "goals": wanted.tolist(),
        "radius": float(radius),
        "steps": check_integer("steps", steps, 1),
        "seed": check_integer("seed", seed, 0),
        "max_length": check_integer("max_length", max_length, 1),
        "wander": check_integer("wander", max_length if wander is None else wander, 0),
        "hidden": [check_integer("hidden", width, 1) for width in hidden],
        "n_waves": check_integer("n_waves", n_waves, 0),
        "gamma": check_fraction("gamma", gamma),
        "learning_rate": float(learning_rate),
        "batch_size": check_integer("batch_size", batch_size, 2),
        "n_envs": check_integer("n_envs", n_envs, 1),
        "chunk": check_integer("chunk", chunk, 1),
    }
    check_fraction("min_success", min_success)
    trials = check_integer("trials", trials, 1)
    try:
        from farpoint.deep.goal_training import make_envs, train
    except ImportError as error:
        raise MissingExtra(
            "torch and stable-baselines3 must be installed to learn option policies. Run: pip install 'farpoint[deep]'"
        ) from error
    envs = make_envs(env, wanted, settings, goal_of)
    network = train(envs, settings, None if checkpoint is None else Path(os.fspath(checkpoint)), progress)
    tried = LearnedOptions(wanted, np.zeros(len(wanted)), float(radius), network, goal_of)
    success = option_success(
        envs[0].env, tried, trials=trials, max_length=max_length, wander=settings["wander"], seed=seed
    )
    # A goal at which every trial begins was never put to the test: not kept either.
    kept = success >= min_success
    if not kept.all():
        warnings.warn(
            f"{int((~kept).sum())} of {len(wanted)} options were dropped: their success is "
            f"{listed(f'{share:.2f}' for share in success[~kept])}, below min_success={min_success:g}. "
            "See dropped_goals; train for more steps, or give goals that can be reached.",
            stacklevel=2,
        )
    record = {**{name: value for name, value in settings.items() if name != "goals"}, "trials": trials}
    return LearnedOptions(
        wanted[kept], success[kept], float(radius), network, goal_of, wanted[~kept], success[~kept], record
    )
