"""What every option and every set of options offers, whatever it is made of.

An *observation* is what identifies where the agent is: the key of a state for options on the states of a world, the
environment's own observation for options on a sampled graph or in a network.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from farpoint.errors import InvalidInput
from farpoint.options.probability import EXPLORING_OPTION_PROBABILITY
from farpoint.worlds.arrays import whole_numbers


class OptionLike(Protocol):
    """One option, in the sense of Sutton, Precup and Singh: initiation set, policy, termination.

    Examples
    --------
    >>> class Ahead:
    ...     def can_start(self, observation): return observation < 3
    ...     def act(self, observation): return 1 if observation < 3 else None
    ...     def ended(self, observation): return observation >= 3
    >>> ahead: OptionLike = Ahead()
    >>> ahead.act(0)
    1
    """

    def can_start(self, observation: Any) -> bool:
        """Return whether the option can start here; never where it would end at once."""

    def act(self, observation: Any) -> Any | None:
        """Return the action to take here, or None where the option ends."""

    def ended(self, observation: Any) -> bool:
        """Return whether the option ends here."""


Member = TypeVar("Member", bound=OptionLike, covariant=True)


class Options(Sequence[Member]):
    """A read-only sequence of options; `OptionsWrapper` makes actions of any such sequence.

    The methods answer for all options at once, with one look-up of where the agent is. A slice is a set of the same
    kind. A subclass defines ``__len__``, ``option`` and ``subset``, and the other methods where it can answer faster
    than by asking each option in turn.

    Examples
    --------
    >>> import farpoint as fp
    >>> options = OptionList([fp.OptionSet(fp.grid((5,)), [0])[0], fp.OptionSet(fp.grid((3,)), [2])[0]])
    >>> options.can_start(0), options.ended(2), options.act(1, 1)
    (array([False,  True]), array([False,  True]), 1)
    """

    @property
    def option_probability(self) -> float:
        """How often a random decision should be one of these options: 0.05 where no distances are known, 0 of none."""
        return EXPLORING_OPTION_PROBABILITY if len(self) else 0.0

    @abstractmethod
    def option(self, number: int) -> Member:
        """Return one option; ``number`` is from 0 to ``len(self) - 1``."""

    @abstractmethod
    def subset(self, numbers: range) -> Self:
        """Return the options of these numbers as a set of the same kind."""

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Member | Self:
        numbers = range(len(self))[index]
        return self.subset(numbers) if isinstance(numbers, range) else self.option(numbers)

    def check_number(self, number: int) -> int:
        """Return the number of an option that there is.

        >>> OptionList([]).check_number(0)
        Traceback (most recent call last):
        farpoint.errors.InvalidInput: number must be that of one of 0 options; got 0.
        """
        try:
            return range(len(self))[operator.index(number)]
        except (TypeError, IndexError) as error:
            raise InvalidInput(f"number must be that of one of {len(self)} options; got {number!r}.") from error

    def check_numbers(self, numbers: range) -> NDArray[np.int64]:
        """Return the numbers of options that there are."""
        checked = whole_numbers("numbers", numbers, np.int64)
        if checked.ndim != 1 or (checked.size and not 0 <= checked.min() <= checked.max() < len(self)):
            raise InvalidInput(f"numbers must be those of some of {len(self)} options; got {numbers!r}.")
        return checked

    def observe(self, env: Any, observation: Any) -> Any:
        """Return what these options read where the environment gives ``observation``; default: the same."""
        return observation

    def can_start(self, observation: Any) -> NDArray[np.bool_]:
        """Return which options can start here, one entry per option."""
        return np.array([option.can_start(observation) for option in self], dtype=bool)

    def ended(self, observation: Any) -> NDArray[np.bool_]:
        """Return which options end here, one entry per option."""
        return np.array([option.ended(observation) for option in self], dtype=bool)

    def act(self, number: int, observation: Any, rng: np.random.Generator | None = None) -> Any | None:
        """Return the action that an option takes here, or None where it ends.

        ``rng`` draws among equally good actions; without it the first of them is taken.
        """
        return self.option(self.check_number(number)).act(observation)

    def way(self, number: int, copy: int) -> Callable[[Any], Any] | None:
        """Return how an option goes on its way in the present episode of a copy: an action of what it reads, or None.

        None where it depends on nothing but what the option reads now, as `act` does: the default.
        """
        return None

    def reached(self, number: int, observation: Any) -> bool:
        """Return whether an option has reached its goal here; default: wherever it ends."""
        return bool(self.option(self.check_number(number)).ended(observation))

    def takes(self, observation: Any, action: Any) -> NDArray[np.bool_]:
        """Return which options could take this action here, one entry per option."""
        if issparse(action):
            raise InvalidInput(f"action must be one action; got {action!r}.")
        taken = (self.act(number, observation) for number in range(len(self)))
        return np.array([one is not None and np.array_equal(one, action) for one in taken], dtype=bool)


class NumberedOption:
    """One option of a set that answers for all of them at once.

    >>> ahead = NumberedOption(OptionList([]), 0)
    >>> ahead.number
    0
    """

    def __init__(self, options: Options[Any], number: int) -> None:
        self.options = options
        self.number = number

    def can_start(self, observation: Any) -> bool:
        """Return whether the option can start here."""
        return bool(self.options.can_start(observation)[self.number])

    def act(self, observation: Any, rng: np.random.Generator | None = None) -> Any | None:
        """Return the action to take here, or None where the option ends."""
        return self.options.act(self.number, observation, rng)

    def ended(self, observation: Any) -> bool:
        """Return whether the option ends here."""
        return bool(self.options.ended(observation)[self.number])


class OptionList(Options[OptionLike]):
    """A set of options of any kinds.

    >>> len(OptionList([]))
    0
    """

    def __init__(self, options: Sequence[OptionLike]) -> None:
        if not isinstance(options, Sequence) or not all(callable(getattr(one, "act", None)) for one in options):
            raise InvalidInput(
                f"options must be a sequence of options; got {options!r}. Make them with farpoint.discover(world)."
            )
        self._options = tuple(options)

    def __len__(self) -> int:
        return len(self._options)

    def option(self, number: int) -> OptionLike:
        """Return one option."""
        return self._options[self.check_number(number)]

    def subset(self, numbers: range) -> OptionList:
        """Return some of the options."""
        return OptionList([self._options[number] for number in self.check_numbers(numbers)])
