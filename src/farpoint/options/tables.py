"""All options of a set as flat arrays: one look-up answers for all of them, and compiled simulations read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.worlds import World

if TYPE_CHECKING:
    from farpoint.options.option_set import OptionSet

_MOST_BYTES = 4 * 2**30


class OptionTable(NamedTuple):
    """Options as arrays.

    Those that can start in state s are ``startable[start_ptr[g]:start_ptr[g + 1]]`` with ``g = group[s]``
    (most worlds have one group, so this is not options × states). Bit ``c & 7`` of ``best[k, c >> 3]`` says whether
    option k takes choice c in its state, uniformly among those it takes; it ends where it takes none. ``goals`` are
    the states that the options lead to, or the highest states of what they climb.
    """

    goals: NDArray[np.int64]
    group: NDArray[np.int32]
    start_ptr: NDArray[np.int64]
    startable: NDArray[np.int64]
    best: NDArray[np.uint8]

    def initiation(self, state: int) -> NDArray[np.bool_]:
        """Return which options have a state in their initiation set."""
        inside = np.zeros(len(self.best), dtype=bool)
        group = self.group[state]
        inside[self.startable[self.start_ptr[group] : self.start_ptr[group + 1]]] = True
        return inside

    def taken(self, choices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some choices each option takes: one row per option."""
        return np.asarray((self.best[:, choices >> 3] >> (choices & 7)) & 1, dtype=bool)


def option_table(world: World, options: OptionSet | None) -> OptionTable:
    """Return options as flat arrays; None is an empty set. One bit per option and choice."""
    n_options = 0 if options is None else len(options)
    n_bytes = (world.n_choices + 7) // 8
    if n_options * n_bytes > _MOST_BYTES:
        raise InvalidInput(
            f"options × choices must fit in {_MOST_BYTES >> 30} GiB of bits to be simulated; got {n_options} × "
            f"{world.n_choices}. Ask for fewer options."
        )
    best = np.empty((n_options, n_bytes), dtype=np.uint8)
    # States in which the same options can start are one group; each option in turn splits the groups so far.
    group = np.zeros(world.n_states, dtype=np.int32)
    members: list[list[int]] = [[]]
    for k in range(n_options):
        assert options is not None
        option = options[k]
        best[k] = np.packbits(option.choice_probabilities() > 0, bitorder="little")
        split = 2 * group + option.initiation
        kept, numbers = np.unique(split, return_inverse=True)
        group = numbers.astype(np.int32)
        members = [members[number // 2] + [k] * int(number % 2) for number in kept]
    return OptionTable(
        np.empty(0, dtype=np.int64) if options is None else np.array(options.goals),
        group,
        np.cumsum([0, *map(len, members)]),
        np.array([k for group_members in members for k in group_members], dtype=np.int64),
        best,
    )
