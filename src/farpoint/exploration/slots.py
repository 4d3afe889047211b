"""Options whose goals change while an agent learns: a fixed number of slots, filled as more of the world is seen."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.exploration.explorer import Explorer
from farpoint.exploration.memory import NONE
from farpoint.options import Options
from farpoint.options.protocol import NumberedOption
from farpoint.worlds.keys import StateKey, state_key


@dataclass(eq=False)
class SlotOptions(Options[NumberedOption]):
    """The options of an explorer in slots that keep their goal while it is among the best.

    Attributes
    ----------
    explorer : Explorer
    number : dict
        The explorer's number of each key that was seen.
    """

    explorer: Explorer
    key_of: StateKey = state_key
    number: dict[Hashable, int] = field(default_factory=dict)
    # What slots do in each state that was asked about since they were made, and the routes that this was read from.
    _kept: dict[Hashable, tuple[NDArray[np.int16], NDArray[np.bool_]]] = field(default_factory=dict, init=False)
    _routes: NDArray[np.int16] | None = field(default=None, init=False)

    def __repr__(self) -> str:
        return (
            f"SlotOptions({len(self)} slots, {np.count_nonzero(self.goals >= 0)} filled, of {len(self.number)} states)"
        )

    @property
    def goals(self) -> NDArray[np.int64]:
        """The explorer's number of the state that each slot leads to, -1 while it is empty."""
        return self.explorer.goals

    def _column(self, key: Hashable) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
        """Return the action of every slot in a state, -1 where it ends, and whether it goes on."""
        routes = self.explorer.routes
        if routes is not self._routes:
            # Made anew.
            self._routes = routes
            self._kept.clear()
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        state = self.number.get(key)
        if state is None or state >= routes.shape[1]:
            column = np.full(len(self), NONE, dtype=np.int16)
        else:
            column = routes[:, state].copy()
            # In its goal an option tries what was never tried there: an agent that acts by itself may never do that.
            here = self.goals == state
            if here.any():
                column[here] = self.explorer.untried_action(state)
                return column, column >= 0
        self._kept[key] = column, column >= 0
        return self._kept[key]

    def __len__(self) -> int:
        return int(self.goals.size)

    def option(self, number: int) -> NumberedOption:
        """Return one slot."""
        return NumberedOption(self, number)

    def subset(self, numbers: range) -> Any:
        """Return some of the slots."""
        from farpoint.options import OptionList

        return OptionList([self.option(number) for number in numbers])

    def observe(self, env: Any, observation: Any) -> Hashable:
        """Return the key of the state."""
        return self.key_of(env, observation)

    def can_start(self, observation: Hashable) -> NDArray[np.bool_]:
        """Return which slots know a way from here."""
        return self._column(observation)[1].copy()

    def ended(self, observation: Hashable) -> NDArray[np.bool_]:
        """Return which slots end here: at their goal, and where they know no way."""
        return ~self._column(observation)[1]

    def act(self, number: int, observation: Hashable, rng: np.random.Generator | None = None) -> int | None:
        """Return the action of a slot, or None where it ends."""
        action = int(self._column(observation)[0][number])
        return None if action < 0 else action

    def reached(self, number: int, observation: Hashable) -> bool:
        """Return whether this is the goal of a slot."""
        return bool(self.goals[number] != NONE and self.number.get(observation) == self.goals[number])

    def takes(self, observation: Hashable, action: Any) -> NDArray[np.bool_]:
        """Return which slots take this action here."""
        return np.asarray(self._column(observation)[0] == action)
