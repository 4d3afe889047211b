"""Options whose policies are one goal-conditioned network; running, saving and loading them needs only numpy.

`farpoint.deep.learn_options` trains them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidFile, InvalidInput, listed
from farpoint.files import read_arrays, write_arrays
from farpoint.options.protocol import Options

KIND = "farpoint-learned-options"
_ARRAYS = ("goals", "success", "dropped_goals", "dropped_success")
_INPUT = ("center", "scale", "frequencies")

# Returns the features of an observation that are compared with a goal.
GoalOf = Callable[[Any], ArrayLike]


def flat(observation: Any) -> NDArray[np.float32]:
    """Return an observation as a float32 vector.

    >>> flat([[1, 2], [3, 4]])
    array([1., 2., 3., 4.], dtype=float32)
    """
    try:
        return np.asarray(observation, dtype=np.float32).ravel()
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise InvalidInput(f"observation must be numbers; got {type(observation).__name__} ({error}).") from error


def goal_features(observation: Any, goal_of: GoalOf | None) -> NDArray[np.float32]:
    """Return the features of an observation that are compared with a goal; without ``goal_of``, all of them.

    >>> goal_features([3.0, 0.5], lambda observation: observation[:1])
    array([3.], dtype=float32)
    """
    return flat(observation if goal_of is None else goal_of(observation))


def within_radius(features: ArrayLike, goals: ArrayLike, radius: float) -> NDArray[np.bool_]:
    """Return whether features and goals are at most ``radius`` apart, over the last axis.

    >>> within_radius([0.0, 0.0], [[0.0, 0.2], [0.0, 2.0]], radius=0.5)
    array([ True, False])
    """
    if np.shape(features)[-1:] != np.shape(goals)[-1:]:
        raise InvalidInput(
            f"observation must have the {np.shape(goals)[-1:]} features of a goal; got {np.shape(features)[-1:]}."
        )
    away = np.asarray(features) - np.asarray(goals)
    return np.asarray((away * away).sum(axis=-1) <= radius**2)


@dataclass(frozen=True, eq=False, repr=False)
class GoalNetwork:
    """A network that gives the value of every action for an observation and a goal.

    The input x is the scaled observation and goal. With ``frequencies`` B it is followed by sin(Bx) and cos(Bx): values
    are discontinuous at walls, which a small network learns slowly from coordinates alone. Then come ReLU layers.
    """

    center: NDArray[np.float32]
    scale: NDArray[np.float32]
    frequencies: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]

    def __call__(self, observation: NDArray[np.float32], goal: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the value of each action."""
        if observation.size + goal.size != self.center.size:
            raise InvalidInput(f"observation must have {self.center.size - goal.size} numbers; got {observation.size}.")
        x = (np.concatenate([observation, goal]) - self.center) * self.scale
        if len(self.frequencies):
            waves = self.frequencies @ x
            x = np.concatenate([x, np.sin(waves), np.cos(waves)])
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = np.maximum(weight @ x + bias, 0.0)
        return self.weights[-1] @ x + self.biases[-1]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the numbers of the network, for a file."""
        return {
            **{name: getattr(self, name) for name in _INPUT},
            **{f"weight.{layer}": weight for layer, weight in enumerate(self.weights)},
            **{f"bias.{layer}": bias for layer, bias in enumerate(self.biases)},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_layers: int) -> GoalNetwork:
        """Return the network of these numbers; a KeyError says what is missing."""
        return cls(
            **{name: arrays[name] for name in _INPUT},
            weights=tuple(arrays[f"weight.{layer}"] for layer in range(n_layers)),
            biases=tuple(arrays[f"bias.{layer}"] for layer in range(n_layers)),
        )


@dataclass(frozen=True, eq=False, repr=False)
class LearnedOption:
    """One option of `LearnedOptions`: it leads to ``goal`` and ends within ``radius`` of it.

    ``success`` is the share of trials in which it reached the goal.

    Examples
    --------
    >>> stay = GoalNetwork(np.zeros(2), np.ones(2), np.empty((0, 2)), (np.zeros((3, 2)),), (np.array([0, 1, 0]),))
    >>> option = LearnedOption(np.array([5.0]), success=0.9, radius=0.5, network=stay)
    >>> option.act([3.0]), option.can_start([4.8])
    (1, False)
    """

    goal: NDArray[np.float32]
    success: float
    radius: float
    network: GoalNetwork
    goal_of: GoalOf | None = None

    def can_start(self, observation: Any) -> bool:
        """Return whether the option can start here: everywhere except at its goal."""
        return not self.ended(observation)

    def act(self, observation: Any) -> int | None:
        """Return the action to take, or None where the option ends."""
        if self.ended(observation):
            return None
        return int(self.network(flat(observation), self.goal).argmax())

    def ended(self, observation: Any) -> bool:
        """Return whether the goal is reached."""
        return bool(within_radius(goal_features(observation, self.goal_of), self.goal, self.radius))

    def __repr__(self) -> str:
        return f"LearnedOption(goal={np.round(self.goal, 2).tolist()}, success={self.success:.2f})"


@dataclass(frozen=True, eq=False, repr=False)
class LearnedOptions(Options[LearnedOption]):
    """Options that share one goal-conditioned network, with the measured success of each.

    Made by `learn_options`, or read by `LearnedOptions.load`.

    Attributes
    ----------
    goals : array, shape (n_options, n_features)
    success : array of float, shape (n_options,)
        Share of trials in which each option reached its goal.
    radius : float
        Distance to the goal at which an option ends.
    network : GoalNetwork
    goal_of : function of an observation, optional
        Returns the features that are compared with goals; default: all.
    dropped_goals, dropped_success : arrays
        The goals that were reached too rarely to be kept, and the success of each.
    record : dict
        The settings of the training.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> from farpoint.options.learned_options import GoalNetwork
    >>> ahead = GoalNetwork(np.zeros(2), np.ones(2), np.empty((0, 2)), (np.array([[1, -1], [-1, 1]]),), (np.zeros(2),))
    >>> options = fp.LearnedOptions(np.array([[5.0], [9.0]]), np.array([1.0, 0.8]), radius=0.5, network=ahead)
    >>> options
    LearnedOptions(2 goals, success 0.80 … 1.00)
    >>> options[0].act([3.0]), options[0].act([7.0]), options[0].act([5.2])
    (1, 0, None)
    >>> options.can_start([5.2]), options[1:].can_start([5.2])
    (array([False,  True]), array([ True]))
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

    def option(self, number: int) -> LearnedOption:
        """Return one option."""
        number = self.check_number(number)
        return LearnedOption(self.goals[number], float(self.success[number]), self.radius, self.network, self.goal_of)

    def subset(self, numbers: range) -> LearnedOptions:
        """Return the options of these numbers; what is known about the training is kept."""
        kept = self.check_numbers(numbers)
        return replace(self, goals=self.goals[kept], success=self.success[kept])

    def can_start(self, observation: Any) -> NDArray[np.bool_]:
        """Return which options can start here: all whose goal is not reached."""
        return ~self.ended(observation)

    def ended(self, observation: Any) -> NDArray[np.bool_]:
        """Return which options end here: those whose goal is reached."""
        return within_radius(goal_features(observation, self.goal_of), self.goals, self.radius)

    def __repr__(self) -> str:
        shares = [f"{share:.2f}" for share in sorted(self.success)]
        shown = f", success {shares[0]} … {shares[-1]}" if len(self) > 1 else f", success {listed(shares)}"
        return f"LearnedOptions({len(self)} goals{shown if shares else ''})"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the options to one ``.npz`` file; see `load`."""
        facts = {
            "radius": self.radius,
            "goal_of": self.goal_of is not None,
            "n_layers": len(self.network.weights),
            "record": self.record,
        }
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in _ARRAYS}
        write_arrays(path, KIND, facts, arrays | self.network.arrays())

    @classmethod
    def load(cls, path: str | PathLike[str], *, goal_of: GoalOf | None = None) -> LearnedOptions:
        """Return the options that `save` wrote.

        Parameters
        ----------
        path : path
        goal_of : function of an observation, optional
            The function that the options were learned with; a file cannot hold it.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, of another kind or of another version.
        InvalidInput
            If ``goal_of`` is missing, or given for options that were learned without.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.LearnedOptions.load("missing.npz")
        Traceback (most recent call last):
        farpoint.errors.InvalidFile: missing.npz must be a file of farpoint-learned-options; got no file ...
        """
        facts, arrays = read_arrays(path, KIND)
        if bool(facts.get("goal_of")) != (goal_of is not None):
            rule = "given, because the options were learned with one" if facts.get("goal_of") else "left out"
            raise InvalidInput(f"goal_of must be {rule}; got {goal_of!r}.")
        try:
            network = GoalNetwork.from_arrays(arrays, int(facts["n_layers"]))
            kept = {name: arrays[name] for name in _ARRAYS}
            return cls(
                radius=float(facts["radius"]), network=network, goal_of=goal_of, record=dict(facts["record"]), **kept
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path} must hold complete options; it is damaged ({error}).") from error
