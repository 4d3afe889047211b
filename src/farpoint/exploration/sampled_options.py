"""Options on representatives of continuous observations, for an agent in the continuous space itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput
from farpoint.exploration.representatives import Representatives
from farpoint.options import Options, OptionSet
from farpoint.options.protocol import NumberedOption
from farpoint.worlds.arrays import real_numbers


@dataclass(frozen=True, eq=False, repr=False)
class SampledOptions(Options[NumberedOption]):
    """The options of an `OptionSet` whose states are representatives of continuous observations.

    They read the observation itself, and go on from wherever a step has led: a state reaches so far that a log never
    holds all that can happen there.

    Parameters
    ----------
    options : OptionSet
        On a world whose labels are observations, as `explore` makes it of an environment with continuous ones.
    scale : array of float
        How far a state reaches in each number of an observation.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze("S........", max_steps=100)
    >>> found = fp.explore(env, 2000)
    >>> wrapped = fp.OptionsWrapper(env, found.continuous_options)
    >>> wrapped.action_space.n > 8
    np.True_
    """

    options: OptionSet
    scale: NDArray[np.float64]

    def __post_init__(self) -> None:
        scale = real_numbers("scale", self.scale)
        labels = self.options.world.labels if isinstance(self.options, OptionSet) else None
        if labels is None or not all(isinstance(label, tuple) and len(label) == scale.size for label in labels):
            raise InvalidInput(
                f"options must be an OptionSet on states that are observations of {scale.size} numbers; got "
                f"{self.options!r}."
            )
        object.__setattr__(self, "scale", scale)

    @cached_property
    def _places(self) -> Representatives:
        places = Representatives(self.scale)
        for label in self.options.world.labels or ():
            places.add(np.array(label, dtype=np.float64))
        return places

    @cached_property
    def goals(self) -> NDArray[np.float64]:
        """The observation of each goal, one row per option."""
        return self._places.observations[self.options.goals]

    def __len__(self) -> int:
        return len(self.options)

    def option(self, number: int) -> NumberedOption:
        """Return one option."""
        return NumberedOption(self, self.check_number(number))

    def subset(self, numbers: range) -> SampledOptions:
        """Return some of the options."""
        return SampledOptions(self.options.subset(numbers), self.scale)

    def label(self, observation: ArrayLike) -> Any:
        """Return the label of the state that an observation belongs to: the nearest."""
        point = real_numbers("observation", observation).ravel()
        if point.size != self.scale.size or not np.isfinite(point).all():
            raise InvalidInput(f"observation must be {self.scale.size} finite numbers; got {observation!r}.")
        labels = self.options.world.labels
        assert labels is not None
        return labels[self._places.nearest(point)]

    def can_start(self, observation: ArrayLike) -> NDArray[np.bool_]:
        """Return which options can start here."""
        return self.options.can_start(self.label(observation))

    def ended(self, observation: ArrayLike) -> NDArray[np.bool_]:
        """Return which options end here."""
        return self.options.ended(self.label(observation))

    def act(self, number: int, observation: ArrayLike, rng: np.random.Generator | None = None) -> int | None:
        """Return the action to take, or None where the option ends."""
        return self.options.act(number, self.label(observation), rng)

    def reached(self, number: int, observation: ArrayLike) -> bool:
        """Return whether the state of an option's goal is reached."""
        return self.options.reached(number, self.label(observation))

    def takes(self, observation: ArrayLike, action: int) -> NDArray[np.bool_]:
        """Return which options could take this action here."""
        return self.options.takes(self.label(observation), action)

    def __repr__(self) -> str:
        return f"SampledOptions({len(self)} goals, {self.options.world.n_states} states)"
