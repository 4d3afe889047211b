"""Options on representatives of continuous observations, for an agent in the continuous space itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_function
from farpoint.exploration.representatives import Representatives, check_scale
from farpoint.options import Options, OptionSet, discover
from farpoint.options.protocol import NumberedOption
from farpoint.worlds import World
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.sample_log import read_sample_log


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
    features : function of an observation, optional
        Returns the numbers that observations are compared by, such as a metric of pictures,
        `farpoint.envs.learn_metric`; default: the observation itself.

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
    features: Callable[[Any], ArrayLike] | None = None

    def __post_init__(self) -> None:
        scale = real_numbers("scale", self.scale)
        labels = self.options.world.labels if isinstance(self.options, OptionSet) else None
        if labels is None or not all(isinstance(label, tuple) and len(label) == scale.size for label in labels):
            raise InvalidInput(
                f"options must be an OptionSet on states that are observations of {scale.size} numbers; got "
                f"{self.options!r}."
            )
        check_function("features", self.features)
        object.__setattr__(self, "scale", scale)

    @classmethod
    def learn(
        cls,
        log: Any,
        *,
        scale: ArrayLike | None = None,
        n_options: int | None = None,
        features: Callable[[Any], ArrayLike] | None = None,
    ) -> SampledOptions:
        """Return options to the far points of the world that a log shows.

        Representatives of what was observed are the states, and what the log's actions did between them are the moves,
        each in the direction in which it was seen: for spaces in which a move cannot be taken back at once, where
        `GraphOptions` does not help.

        Parameters
        ----------
        log : SampleLog, or anything that has ``observations``, ``actions`` and ``next_observations``
            With actions that are whole numbers.
        scale : float or array of float, optional
            How far a representative reaches in each number of an observation. Default: half the root mean square
            distance of a step.
        n_options : int, optional
            As in `discover`.
        features : function of an observation, optional
            What was made of the environment's observations to get those of the log.

        Examples
        --------
        >>> import farpoint as fp
        >>> env = fp.ContinuousMaze("S.....", start="random", max_steps=100)
        >>> log = fp.envs.record_samples(env, 4000, seed=0)
        >>> options = fp.exploration.SampledOptions.learn(log, scale=0.5, n_options=2)
        >>> len(options), float(fp.envs.option_success(env, options, n_trials=10).min()) > 0.8
        (2, True)
        """
        steps = read_sample_log(log)
        if not steps.discrete:
            raise InvalidInput("log must have actions that are whole numbers; got rows of numbers.")
        width = steps.observations.shape[1]
        away = np.sqrt(((steps.next_observations - steps.observations) ** 2).sum(axis=1).mean())
        if scale is None and away == 0:
            raise InvalidInput("log must hold steps that lead somewhere; got none.")
        reach = check_scale(0.5 * away if scale is None else scale, width)
        assert reach is not None
        places = Representatives(reach)
        rows, where = np.unique(
            np.concatenate([steps.observations, steps.next_observations]), axis=0, return_inverse=True
        )
        # In the order in which they were observed, as an explorer would meet them.
        where = where.ravel()
        numbers = np.full(len(rows), -1)
        for row in where.tolist():
            if numbers[row] < 0:
                numbers[row] = places.number(rows[row])
        before, after = np.split(numbers[where], 2)
        numbered = World.from_log(before, after, steps.actions, largest_component=True)
        assert numbered.labels is not None
        kept = places.observations[np.array(numbered.labels, dtype=np.int64)]
        world = replace(numbered, labels=tuple(tuple(row) for row in kept.tolist()))
        return cls(discover(world, n_options=n_options, form="symmetrized"), reach, features)

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
        return SampledOptions(self.options.subset(numbers), self.scale, self.features)

    def label(self, observation: ArrayLike) -> Any:
        """Return the label of the state that an observation belongs to: the nearest."""
        point = real_numbers(
            "observation", observation if self.features is None else self.features(observation)
        ).ravel()
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
