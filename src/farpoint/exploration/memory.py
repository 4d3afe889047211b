"""What an agent has seen: states, how often, which actions were tried there and where they led.

Everything lies in flat arrays that grow by doubling, so that compiled loops can read and write them and one more state
costs the same at any size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_FIRST_ROOM = 64
NONE = -1
# Places in `Memory.sizes`.
STATES, OUTCOMES, NEIGHBORS, SURPRISES, TAKEN = 0, 1, 2, 3, 4


class Memory(NamedTuple):
    """The graph of what was seen, with counts.

    State s has the actions ``0 … n_actions[s] - 1``. The outcomes of action a in s form a chain that begins at
    ``first_outcome[s, a]``; ``likeliest[s, a]`` is the one seen most often. The neighbors of s, states one seen move
    away in either direction, form a chain that begins at ``first_neighbor[s]``. ``changed`` marks states with a new
    neighbor since the score was last computed; ``terminal`` marks those in which an episode has ended. ``sizes`` holds
    the numbers of states, of outcomes, of entries of neighbors, of outcomes beyond the first of their action, and of
    steps taken.
    """

    visits: NDArray[np.int64]
    n_actions: NDArray[np.int32]
    tried: NDArray[np.int32]
    first_outcome: NDArray[np.int32]
    likeliest: NDArray[np.int32]
    first_neighbor: NDArray[np.int32]
    changed: NDArray[np.bool_]
    terminal: NDArray[np.bool_]
    first_seen: NDArray[np.int64]
    outcome_state: NDArray[np.int32]
    outcome_count: NDArray[np.int32]
    next_outcome: NDArray[np.int32]
    neighbor: NDArray[np.int32]
    next_neighbor: NDArray[np.int32]
    sizes: NDArray[np.int64]


def new_memory(most_actions: int) -> Memory:
    """Return the memory of an agent that has seen nothing.

    >>> new_memory(4).sizes
    array([0, 0, 0, 0, 0])
    """
    states, entries = _FIRST_ROOM, 4 * _FIRST_ROOM
    return Memory(
        visits=np.zeros(states, dtype=np.int64),
        n_actions=np.zeros(states, dtype=np.int32),
        tried=np.zeros((states, most_actions), dtype=np.int32),
        first_outcome=np.full((states, most_actions), NONE, dtype=np.int32),
        likeliest=np.full((states, most_actions), NONE, dtype=np.int32),
        first_neighbor=np.full(states, NONE, dtype=np.int32),
        changed=np.zeros(states, dtype=np.bool_),
        terminal=np.zeros(states, dtype=np.bool_),
        first_seen=np.zeros(states, dtype=np.int64),
        outcome_state=np.zeros(entries, dtype=np.int32),
        outcome_count=np.zeros(entries, dtype=np.int32),
        next_outcome=np.full(entries, NONE, dtype=np.int32),
        neighbor=np.zeros(entries, dtype=np.int32),
        next_neighbor=np.full(entries, NONE, dtype=np.int32),
        sizes=np.zeros(5, dtype=np.int64),
    )


def with_room(memory: Memory) -> Memory:
    """Return the memory with room for one more step: the same arrays, or copies twice as long."""
    n_states, n_outcomes, n_neighbors, *_ = memory.sizes.tolist()
    # One step sees at most two new states (after a reset), one outcome, and four entries of neighbors.
    states, outcomes, neighbors = n_states + 2, n_outcomes + 1, n_neighbors + 4
    # Asked before every step of a real environment, so the usual answer comes first.
    if states <= len(memory.visits) and outcomes <= len(memory.outcome_state) and neighbors <= len(memory.neighbor):
        return memory
    fields = memory._asdict()
    for used, names in (
        (states, ("visits", "n_actions", "tried", "first_outcome", "likeliest", "first_neighbor", "changed",
                        "terminal", "first_seen")),
        (outcomes, ("outcome_state", "outcome_count", "next_outcome")),
        (neighbors, ("neighbor", "next_neighbor")),
    ):  # fmt: skip
        if used > len(fields[names[0]]):
            for name in names:
                fields[name] = _doubled(fields[name])
    return Memory(**fields)


def _doubled(array: NDArray[np.generic]) -> NDArray[np.generic]:
    longer = np.empty((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    # Chains end with -1; counts and marks begin with 0.
    longer[len(array) :] = NONE if array.dtype == np.int32 else 0
    return longer
