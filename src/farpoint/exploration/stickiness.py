"""Where observations hide something that lasts for an episode: whether they do, and how options go on there.

Behind a door that a partial view does not show, outcomes repeat within an episode more often than chance explains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.exploration.memory import NONE, OUTCOMES, STATES, Memory, routes_by_tries

if TYPE_CHECKING:
    from farpoint.exploration.explorer import Explorer

# One-sided, p < 0.001 for all looks together: 0.001 / 20 for each.
_DEVIATIONS = 3.89
# Chances are only estimated for choices that were tried this often.
_LEAST_TRIED = 5
# Below this variance the normal approximation of the number of agreements is not good.
_LEAST_VARIANCE = 5.0
# The first look, and by what factor the number of repeats grows until the next: few looks, few false alarms.
_FIRST_LOOK, _NEXT_LOOK = 64, 2
# An option ends where its goal is farther than this many times what it was at the start, and a little more.
_DETOUR, _A_LITTLE = 2.0, 3.0


class Stickiness:
    """Counts how often a state and action, repeated within an episode, led to the same state as before.

    If a state is all that matters, what happened before in the episode does not: after outcome j of n trials, of which
    n_j gave j, the next trial gives j again with chance (n_j − 1) / (n − 1). If something is hidden that lasts for an
    episode, it gives j far more often.

    Examples
    --------
    >>> sticky = Stickiness()
    >>> for entry in (0, 0, 1, 1):
    ...     sticky.add(0, 5, entry)
    >>> sticky.n_repeats
    3
    """

    def __init__(self) -> None:
        self.n_repeats = 0
        # Of the last test: how many repeats had several outcomes, and what share of them agrees by chance.
        self.n_compared = 0
        self.by_chance = 0.0
        # By copy of the environment: the last outcome of each state and action in this episode.
        self._last: dict[int, dict[int, int]] = {}
        # By outcome: how often its state and action were tried again, and how often they gave it again.
        self._repeated: dict[int, int] = {}
        self._agreed: dict[int, int] = {}
        self._look_at = _FIRST_LOOK

    def begin(self, copy: int) -> None:
        """Forget the last episode of a copy."""
        self._last[copy] = {}

    def add(self, copy: int, choice: int, entry: int) -> None:
        """Count the outcome of a state and action, numbered as one choice."""
        last = self._last.setdefault(copy, {})
        before = last.get(choice)
        if before is not None:
            self.n_repeats += 1
            self._repeated[before] = self._repeated.get(before, 0) + 1
            if before == entry:
                self._agreed[before] = self._agreed.get(before, 0) + 1
        last[choice] = entry

    def episode(self, copy: int) -> dict[int, int]:
        """Return the last outcome of each choice in the present episode of a copy, which grows with it."""
        return self._last.setdefault(copy, {})

    def is_time(self) -> bool:
        """Return whether there are twice as many repeats as when this was last asked and true."""
        if self.n_repeats < self._look_at:
            return False
        self._look_at = _NEXT_LOOK * self.n_repeats
        return True

    def share(self, memory: Memory) -> float:
        """Return the share of repeats that agreed, if chance does not explain it; else 0.

        Only choices with several outcomes are counted, since the others always agree, and only those tried 5 times or
        more.
        """
        entries = np.array([*self._repeated], dtype=np.int64)
        repeats = np.array([*self._repeated.values()], dtype=np.float64)
        agreed = np.array([self._agreed.get(entry, 0) for entry in self._repeated], dtype=np.float64)
        n_j, n = self._counts(memory, entries)
        several = (n_j < n) & (n >= _LEAST_TRIED)
        repeats, agreed = repeats[several], agreed[several]
        # P(the next trial gives j again) = (n_j − 1) / (n − 1)
        chance = (n_j[several] - 1.0) / (n[several] - 1.0)
        expected, variance = float((repeats * chance).sum()), float((repeats * chance * (1.0 - chance)).sum())
        if variance < _LEAST_VARIANCE or agreed.sum() - expected < _DEVIATIONS * math.sqrt(variance):
            return 0.0
        self.n_compared, self.by_chance = int(repeats.sum()), expected / float(repeats.sum())
        return float(agreed.sum() / repeats.sum())

    def _counts(self, memory: Memory, entries: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how often each outcome was seen, and how often its state and action were tried."""
        n_outcomes = int(memory.sizes[OUTCOMES])
        tried = np.zeros(n_outcomes)
        heads = memory.first_outcome[memory.first_outcome >= 0]
        totals = memory.tried[memory.first_outcome >= 0]
        while heads.size:
            tried[heads] = totals
            heads = memory.next_outcome[heads]
            heads, totals = heads[heads >= 0], totals[heads >= 0]
        return memory.outcome_count[entries].astype(np.float64), tried[entries]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_state` makes this again."""
        entries = [*self._repeated]
        episodes = [(copy, *pair) for copy, last in self._last.items() for pair in last.items()]
        return {
            "entries": np.array(entries, dtype=np.int64),
            "repeated": np.array([self._repeated[entry] for entry in entries], dtype=np.int64),
            "agreed": np.array([self._agreed.get(entry, 0) for entry in entries], dtype=np.int64),
            "looks": np.array([self.n_repeats, self._look_at]),
            # Rows of a copy, a choice and its last outcome in the present episode.
            "episodes": np.array(episodes, dtype=np.int64).reshape(-1, 3),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]]) -> Stickiness:
        """Return the counts that `state` described."""
        counts = cls()
        entries = arrays["entries"].tolist()
        counts._repeated = dict(zip(entries, arrays["repeated"].tolist(), strict=True))
        counts._agreed = dict(zip(entries, arrays["agreed"].tolist(), strict=True))
        counts.n_repeats, counts._look_at = arrays["looks"].tolist()
        for copy, choice, entry in arrays["episodes"].tolist():
            counts.episode(copy)[choice] = entry
        return counts


class StickyWay:
    """One option on its way: what was seen in this episode counts as certain, and what it does again costs more.

    A route that takes a lasting outcome for chance tries one action again and again. Here action a in s costs

        1 + (how often this option took it)      if it was tried in s in this episode; it leads where it then led,
        n / n_j                                  otherwise, if outcome j of its n trials is hoped for.

    The cheapest way is found again whenever an action led elsewhere than the way did, or is to be taken once more. The
    option ends where no way is left, where the way has become much longer than it was at the start, and in a state that
    was first seen after it began.

    Parameters
    ----------
    explorer : Explorer
    goal : int
    copy : int
        The copy of the environment that the option is on its way in.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.worlds.state_index import StateIndex
    >>> explorer = fp.Explorer(StateIndex.exact(), 2)
    >>> for door in ("open", "open", "closed"):                    # action 0 looks at a door, action 1 walks
    ...     hall = explorer.begin(["hall"])
    ...     there = explorer.add(hall, [0], [door], [False])
    ...     ends = explorer.add(there, [1], ["room" if door == "open" else "hall"], [False])
    >>> room = int(explorer.find(["room"])[0])
    >>> hall, there = explorer.begin(["hall"], copies=[1])[0], there[0]
    >>> way = StickyWay(explorer, room, copy=1)
    >>> way.action(int(hall)), way.action(int(there))              # nobody ever came to the room from a closed door
    (0, -1)
    """

    def __init__(self, explorer: Explorer, goal: int, copy: int) -> None:
        self.goal = goal
        # Not its memory: that is replaced when it grows, as others step on.
        self._explorer = explorer
        memory = explorer.memory
        n_states, n_actions = int(memory.sizes[STATES]), explorer.n_actions
        self._certain = np.full((n_states, n_actions), NONE, dtype=np.int32)
        self._times = np.zeros((n_states, n_actions), dtype=np.int32)
        for choice, outcome in explorer.episode_of(copy).items():
            self._certain[divmod(choice, n_actions)] = memory.outcome_state[outcome]
        self._last: tuple[int, int] | None = None
        self._longest = np.inf
        self._find()

    def action(self, state: int) -> int:
        """Return the action to take in a state, -1 where the option ends."""
        known = 0 <= state < len(self._times)
        again = self._learn(state if known else NONE)
        if state == self.goal or not known:
            return NONE
        if self._last is None:
            self._longest = _DETOUR * self._length[state] + _A_LITTLE
        if again or (self._route[state] != NONE and self._times[state, self._route[state]] > 0):
            self._find()
        action = int(self._route[state])
        if action == NONE or self._length[state] > self._longest or self._explorer.memory.barred[state, action]:
            return NONE
        self._last = state, action
        return action

    def _learn(self, state: int) -> bool:
        """Note where the last action led; return whether the way must be found again."""
        if self._last is None:
            return False
        self._times[self._last] += 1
        if state == NONE:
            return False
        self._certain[self._last] = state
        return bool(self._length[self._last[0]] <= self._length[state])

    def _find(self) -> None:
        memory = self._explorer.memory
        n_states = int(memory.sizes[STATES])
        self._length, self._route = np.full(n_states, np.inf), np.empty(n_states, dtype=np.int16)
        routes_by_tries(memory, self.goal, self._certain, self._times, self._length, self._route)
