"""A learned controller between neighbors; running, saving and loading it needs only numpy.

`farpoint.deep.learn_controller` trains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays
from farpoint.options.learned_options import GoalNetwork, flat

KIND = "farpoint-learned-controller"


@dataclass(frozen=True, eq=False, repr=False)
class LearnedController:
    """A controller for `GraphOptions` that is one network: the value of each action here, for a target nearby.

    Made by `farpoint.deep.learn_controller`, or read by `LearnedController.load`.

    Parameters
    ----------
    network : GoalNetwork
        Of the observation, and of the target less the observation (of which a target may have only the first numbers).
    actions : array of int, shape (n_actions,), or of float, shape (n_actions, n_action_dimensions)
        The action of each value.
    record : mapping
        The settings of the training.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> from farpoint.options.learned_options import GoalNetwork
    >>> weights = np.array([[0.0, -1.0], [0.0, 1.0]])
    >>> network = GoalNetwork(np.zeros(2), np.ones(2), np.empty((0, 2)), (weights,), (np.zeros(2),))
    >>> control = fp.options.LearnedController(network, np.array([0, 1]))
    >>> control([3.0], [5.0]), control([3.0], [2.0])
    (1, 0)
    """

    network: GoalNetwork
    actions: NDArray[Any]
    record: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.network, GoalNetwork):
            raise InvalidInput(f"network must be a GoalNetwork; got {self.network!r}.")
        actions = np.asarray(self.actions)
        if actions.dtype.kind not in "iuf" or actions.ndim not in (1, 2):
            raise InvalidInput(f"actions must be whole numbers, or rows of floats; got {self.actions!r}.")
        if len(actions) != len(self.network.biases[-1]):
            raise InvalidInput(
                f"actions must be one per value of the network, {len(self.network.biases[-1])}; got {len(actions)}."
            )
        object.__setattr__(self, "actions", actions)

    def __call__(self, observation: ArrayLike, target: ArrayLike) -> Any:
        """Return the action of the highest value."""
        return self.action(self.choice(observation, target))

    def choice(self, observation: ArrayLike, target: ArrayLike) -> int:
        """Return the number of the action of the highest value."""
        here, there = flat(observation), flat(target)
        return int(self.network(here, there - here[: there.size]).argmax())

    def action(self, number: int) -> Any:
        """Return the action of a number, as the environment takes it."""
        return int(self.actions[number]) if self.actions.ndim == 1 else self.actions[number].copy()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the controller to one ``.npz`` file; see `load`."""
        facts = {"n_layers": len(self.network.weights), "record": dict(self.record)}
        write_arrays(path, KIND, facts, {"actions": self.actions, **self.network.arrays()})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> LearnedController:
        """Return the controller that `save` wrote; nothing in the file is executed.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, of another kind or of another version.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.options.LearnedController.load("missing.npz")
        Traceback (most recent call last):
        farpoint.errors.InvalidFile: missing.npz must be a file of farpoint-learned-controller; got no file of that ...
        """
        facts, arrays = read_arrays(path, KIND)
        try:
            network = GoalNetwork.from_arrays(arrays, int(facts["n_layers"]))
            return cls(network, arrays["actions"], dict(facts["record"]))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidFile(f"{path} must hold a complete controller; it is damaged ({error}).") from error

    def __repr__(self) -> str:
        return f"LearnedController({len(self.actions)} actions, {self.network.center.size} numbers as input)"
