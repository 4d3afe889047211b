"""A learned controller of continuous actions; running, saving and loading it needs only numpy.

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
from farpoint.worlds.arrays import real_numbers

KIND = "farpoint-learned-actor"


@dataclass(frozen=True, eq=False, repr=False)
class LearnedActor:
    """A controller for `GraphOptions` that is one network: the continuous action here, for a target nearby.

    An action is low + (high − low) (tanh x + 1) / 2, where x is what the network returns.

    Made by `farpoint.deep.learn_controller`, or read by `LearnedActor.load`.

    Parameters
    ----------
    network : GoalNetwork
        Of the observation, and of the target less the observation (of which a target may have only the first numbers).
    low, high : arrays of float, shape (n_action_dimensions,)
        Bounds of the actions.
    record : mapping
        The settings of the training.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> from farpoint.options.learned_options import GoalNetwork
    >>> weights = np.array([[0.0, 100.0]])
    >>> network = GoalNetwork(np.zeros(2), np.ones(2), np.empty((0, 2)), (weights,), (np.zeros(1),))
    >>> control = fp.options.LearnedActor(network, low=[-1.0], high=[3.0])
    >>> control([3.0], [5.0]), control([3.0], [3.0]), control([3.0], [2.0])
    (array([3.]), array([1.]), array([-1.]))
    """

    network: GoalNetwork
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    record: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.network, GoalNetwork):
            raise InvalidInput(f"network must be a GoalNetwork; got {self.network!r}.")
        n_outputs = len(self.network.biases[-1])
        for name in ("low", "high"):
            bound = real_numbers(name, getattr(self, name))
            if bound.shape != (n_outputs,) or not np.isfinite(bound).all():
                raise InvalidInput(
                    f"{name} must be one finite number per output of the network, {n_outputs}; got {bound}."
                )
            object.__setattr__(self, name, bound)
        if (self.low > self.high).any():
            raise InvalidInput(f"low must be at most high; got {self.low} and {self.high}.")

    def __call__(self, observation: ArrayLike, target: ArrayLike) -> NDArray[np.float64]:
        """Return the action to take."""
        return self.action(self.scaled(observation, target))

    def scaled(self, observation: ArrayLike, target: ArrayLike) -> NDArray[np.float32]:
        """Return the action to take in numbers from -1 to 1."""
        here, there = flat(observation), flat(target)
        return np.tanh(self.network(here, there - here[: there.size]))

    def action(self, scaled: NDArray[Any]) -> NDArray[np.float64]:
        """Return an action, given in numbers from -1 to 1, as the environment takes it."""
        action = self.low + (self.high - self.low) * (0.5 * (np.asarray(scaled, dtype=np.float64) + 1.0))
        # Rounding may lead a last digit beyond a bound, which some environments refuse.
        return np.clip(action, self.low, self.high)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the controller to one ``.npz`` file; see `load`."""
        facts = {"n_layers": len(self.network.weights), "record": dict(self.record)}
        write_arrays(path, KIND, facts, {"low": self.low, "high": self.high, **self.network.arrays()})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> LearnedActor:
        """Return the controller that `save` wrote; nothing in the file is executed.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, of another kind or of another version.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.options.LearnedActor.load("missing.npz")
        Traceback (most recent call last):
        farpoint.errors.InvalidFile: missing.npz must be a file of farpoint-learned-actor; got no file of that name...
        """
        facts, arrays = read_arrays(path, KIND)
        try:
            network = GoalNetwork.from_arrays(arrays, int(facts["n_layers"]))
            return cls(network, arrays["low"], arrays["high"], dict(facts["record"]))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidFile(f"{path} must hold a complete controller; it is damaged ({error}).") from error

    def __repr__(self) -> str:
        return f"LearnedActor(actions of shape {self.low.shape}, {self.network.center.size} numbers as input)"
