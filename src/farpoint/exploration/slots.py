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
from farpoint.worlds.keys import StateKey, state_key

EMPTY = -1


@dataclass(eq=False)
class SlotOptions(Options["SlotOption"]):
    """The options of an explorer in slots that keep their goal while it is among the best.

    Attributes
    ----------
    explorer : Explorer
    n_slots : int
    number : dict
        The explorer's number of each key that was seen.
    goals : array of int, shape (n_slots,)
        The state that each slot leads to, -1 while it is empty.
    """

    explorer: Explorer
    n_slots: int
    key_of: StateKey = state_key
    number: dict[Hashable, int] = field(default_factory=dict)
    goals: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.goals = np.full(self.n_slots, EMPTY)
        self._routes = np.empty((self.n_slots, 0), dtype=np.int16)

    def refill(self) -> list[int]:
        """Let the explorer choose goals anew; return the slots whose goal changed.

        A slot keeps its goal while the explorer still wants it; what it wants besides goes into the other slots, the
        most wanted first. So values that were learned for a slot stay useful for as long as they can.
        """
        self.explorer.remake()
        wanted = self.explorer.goals
        new = [int(goal) for goal in wanted if goal not in self.goals]
        free = [slot for slot in range(self.n_slots) if self.goals[slot] not in wanted]
        changed = []
        # Empty slots first: a goal that is no longer among the best is better than none.
        for slot in sorted(free, key=lambda slot: self.goals[slot] != EMPTY)[: len(new)]:
            self.goals[slot] = new.pop(0)
            changed.append(slot)
        filled = np.flatnonzero(self.goals != EMPTY)
        self._routes = np.full((self.n_slots, self.explorer.n_states), NONE, dtype=np.int16)
        self._routes[filled] = self.explorer.routes_to(self.goals[filled])
        return sorted(changed)

    def _column(self, key: Hashable) -> NDArray[np.int16]:
        state = self.number.get(key)
        if state is None or state >= self._routes.shape[1]:
            return np.full(self.n_slots, NONE, dtype=np.int16)
        return np.asarray(self._routes[:, state])

    def __len__(self) -> int:
        return self.n_slots

    def option(self, number: int) -> SlotOption:
        """Return one slot."""
        return SlotOption(self, number)

    def subset(self, numbers: range) -> Any:
        """Return some of the slots."""
        from farpoint.options import OptionList

        return OptionList([self.option(number) for number in numbers])

    def observe(self, env: Any, observation: Any) -> Hashable:
        """Return the key of the state."""
        return self.key_of(env, observation)

    def can_start(self, observation: Hashable) -> NDArray[np.bool_]:
        """Return which slots know a way from here."""
        return np.asarray(self._column(observation) >= 0)

    def ended(self, observation: Hashable) -> NDArray[np.bool_]:
        """Return which slots end here: at their goal, and where they know no way."""
        return ~self.can_start(observation)

    def act(self, number: int, observation: Hashable, rng: np.random.Generator | None = None) -> int | None:
        """Return the action of a slot, or None where it ends."""
        action = int(self._column(observation)[number])
        return None if action < 0 else action

    def reached(self, number: int, observation: Hashable) -> bool:
        """Return whether this is the goal of a slot."""
        return bool(self.goals[number] != EMPTY and self.number.get(observation) == self.goals[number])

    def takes(self, observation: Hashable, action: Any) -> NDArray[np.bool_]:
        """Return which slots take this action here."""
        return np.asarray(self._column(observation) == action)


@dataclass(frozen=True, eq=False)
class SlotOption:
    """One slot: an option whose goal may change."""

    slots: SlotOptions
    number: int

    def can_start(self, observation: Hashable) -> bool:
        """Return whether the option can start here."""
        return bool(self.slots.can_start(observation)[self.number])

    def act(self, observation: Hashable) -> int | None:
        """Return the action to take here, or None where the option ends."""
        return self.slots.act(self.number, observation)

    def ended(self, observation: Hashable) -> bool:
        """Return whether the option ends here."""
        return bool(self.slots.ended(observation)[self.number])
