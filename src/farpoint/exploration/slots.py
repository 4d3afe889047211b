"""The options of an explorer: a fixed number of slots, whose goals change as more is seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.exploration.memory import NONE, Memory
from farpoint.exploration.stickiness import StickyWay
from farpoint.options.protocol import NumberedOption, OptionList, Options
from farpoint.options.running import MaskRows
from farpoint.worlds.environments import StateKey
from farpoint.worlds.state_index import StateIndex, state_key

if TYPE_CHECKING:
    from farpoint.exploration.explorer import Explorer


class SlotVersion(NamedTuple):
    """What the slots of an explorer meant between two rebuilds.

    ``generation`` says which numbers of states ``routes`` and ``goals`` are in.
    """

    routes: NDArray[np.int16]
    goals: NDArray[np.int64]
    generation: int


class Numbering(NamedTuple):
    """Which numbers an explorer gave to states in one generation."""

    points: StateIndex
    passed: list[int]
    first_key: int
    memory: Memory


class SlotOptions(Options[NumberedOption]):
    """The options of an explorer, live: when it rebuilds them, they lead elsewhere. Those of `now` stay as they are.

    They read a key: that of the observation or, of continuous observations, the number of the nearest point. A slot
    keeps its goal while that is among the best. An option ends at its goal and where no way is known.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), n_options=4)
    >>> env.options
    SlotOptions(4 slots, 0 filled, of 0 states)
    """

    def __init__(self, explorer: Explorer, state: StateKey | None = None, version: SlotVersion | None = None) -> None:
        self.explorer = explorer
        self._state_of, self._version = state, version
        # The actions of all slots in states that were asked about, of the routes they were read from; not of unknown
        # observations, of which there is no end.
        self._columns: dict[Hashable, tuple[NDArray[np.int16], NDArray[np.bool_]]] = {}
        self._routes: NDArray[np.int16] | None = None
        # Rows of the mask, for `OptionRun`: what can start in a state does not change in one version.
        self.rows: MaskRows = {}

    @property
    def version(self) -> SlotVersion:
        """The routes and goals that are followed."""
        return self.explorer.version if self._version is None else self._version

    def now(self) -> SlotOptions:
        """Return the options as the explorer has them now, which stay so: these ones if they still are."""
        version = self.explorer.version
        return self if self._version is version else SlotOptions(self.explorer, self._state_of, version)

    def changed_since(self, before: SlotOptions) -> list[int]:
        """Return the slots whose goal is another one than before.

        Where states have other numbers now, all slots that are or were filled.
        """
        if self is before:
            return []
        now, then = self.version, before.version
        if now.generation == then.generation:
            return np.flatnonzero(now.goals != then.goals).tolist()
        return np.flatnonzero((now.goals != NONE) | (then.goals != NONE)).tolist()

    @property
    def generation(self) -> int:
        """How often the explorer had numbered the states again."""
        return self.version.generation

    @property
    def option_probability(self) -> float:
        """How often a random decision should be one of these options: as often as the explorer takes one."""
        return self.explorer.settings.option_probability

    @property
    def goals(self) -> NDArray[np.int64]:
        """The explorer's number of the state that each slot leads to, -1 while it is empty."""
        return self.version.goals

    def observe(self, env: Any, observation: Any) -> Hashable:
        """Return the key of an observation; nothing is remembered."""
        observed = observation if self._state_of is None else self._state_of(env, observation)
        if self.explorer.index.scale is None:
            return state_key(observed, fractions=True)
        numbers = self.explorer.numbering(self.generation)
        if numbers is None:
            return NONE
        place = numbers.points.find(observed)
        return numbers.first_key + (place if place >= 0 else len(numbers.points))

    def _state(self, key: Hashable) -> int:
        explorer = self.explorer
        if explorer.index.scale is None:
            return explorer.state_at(explorer.index.find(key))
        numbers = explorer.numbering(self.generation)
        if numbers is None or not isinstance(key, (int, np.integer)):
            return NONE
        place = int(key) - numbers.first_key
        return numbers.passed[place] if 0 <= place < len(numbers.passed) else NONE

    def _column(self, key: Hashable) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
        """Return the action of every slot, -1 where it ends, and whether it goes on."""
        routes = self.version.routes
        if routes is not self._routes:
            self._routes = routes
            self._columns.clear()
        try:
            kept = self._columns.get(key)
        except TypeError:
            key = state_key(key, fractions=True)
            kept = self._columns.get(key)
        if kept is not None:
            return kept
        state = self._state(key)
        column = np.full(len(self), NONE, dtype=np.int16)
        numbers = self.explorer.numbering(self.generation)
        if numbers is not None and 0 <= state < routes.shape[1]:
            column = routes[:, state].copy()
            # Ways through actions that the environment forbids here cannot be taken.
            column[numbers.memory.barred[state][np.maximum(column, 0)]] = NONE
        column.flags.writeable = False
        found = column, column >= 0
        if state != NONE:
            self._columns[key] = found
        return found

    def __len__(self) -> int:
        return int(self.goals.size)

    def option(self, number: int) -> NumberedOption:
        """Return one slot."""
        return NumberedOption(self, self.check_number(number))

    def subset(self, numbers: range) -> Any:
        """Return some of the slots."""
        return OptionList([self.option(number) for number in numbers])

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

    def way(self, number: int, copy: int) -> Callable[[Any], int | None] | None:
        """Return how a slot's option goes where observations hide something; see `StickyWay`."""
        if not self.explorer.is_sticky:
            return None
        # Not a function made here: options on their way are pickled.
        return partial(self._act_on, StickyWay(self.explorer, int(self.goals[number]), copy))

    def _act_on(self, way: StickyWay, observation: Hashable) -> int | None:
        action = way.action(self._state(observation))
        return None if action < 0 else action

    def reached(self, number: int, observation: Hashable) -> bool:
        """Return whether this is the goal of a slot."""
        return bool(self.goals[number] != NONE and self._state(observation) == self.goals[number])

    def takes(self, observation: Hashable, action: Any) -> NDArray[np.bool_]:
        """Return which slots take this action here."""
        return np.asarray(self._column(observation)[0] == action)

    def __repr__(self) -> str:
        filled = np.count_nonzero(self.goals != NONE)
        return f"SlotOptions({len(self)} slots, {filled} filled, of {self.explorer.n_states} states)"
