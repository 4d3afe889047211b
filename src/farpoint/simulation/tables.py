"""Worlds and options as flat arrays, in the layout that compiled simulations read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_integer, listed
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World

_MOST_BYTES = 4 * 2**30


class WorldTable(NamedTuple):
    """A world: the choices of state s are ``choice_ptr[s] … choice_ptr[s + 1] - 1``; choice c leads to
    ``next_state[e]`` with ``e`` the first entry of ``next_ptr[c] … next_ptr[c + 1] - 1`` whose ``next_cdf`` exceeds a
    uniform number.
    """

    choice_ptr: NDArray[np.int64]
    next_ptr: NDArray[np.int64]
    next_state: NDArray[np.int64]
    next_cdf: NDArray[np.float64]


class OptionTable(NamedTuple):
    """Options: those that can start in state s are ``startable[start_ptr[g]:start_ptr[g + 1]]`` with ``g = group[s]``
    (most worlds have one group, so this is not options × states). Bit ``c & 7`` of ``best[k, c >> 3]`` says whether
    option k takes choice c in its state, uniformly among those it takes; it ends where it takes none. ``goals`` are
    the states that the options lead to, or the highest states of what they climb.
    """

    goals: NDArray[np.int64]
    group: NDArray[np.int32]
    start_ptr: NDArray[np.int64]
    startable: NDArray[np.int64]
    best: NDArray[np.uint8]


def world_table(world: World, *, episodic: bool = False) -> WorldTable:
    """Return a world as flat arrays; fail if some state has no choice, unless episodes may end there."""
    stuck = np.flatnonzero(np.diff(world.choice_ptr) == 0)
    if stuck.size and not episodic:
        raise InvalidInput(f"every state must have a choice for an agent to be simulated; got none in {listed(stuck)}.")
    matrix = world.transitions
    sums = np.cumsum(matrix.data)
    before = np.concatenate([[0.0], sums])[matrix.indptr[:-1]]
    cdf = sums - np.repeat(before, np.diff(matrix.indptr))
    # The last entry of a row takes whatever rounding has left.
    cdf[matrix.indptr[1:] - 1] = np.inf
    return WorldTable(
        world.choice_ptr.astype(np.int64), matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), cdf
    )


def option_table(world: World, options: OptionSet | None) -> OptionTable:
    """Return options as flat arrays; None is an empty set. One bit an option and choice: half a byte a grid state."""
    n_states = world.n_states
    n_options = 0 if options is None else len(options)
    n_bytes = (world.n_choices + 7) // 8
    if n_options * n_bytes > _MOST_BYTES:
        raise InvalidInput(
            f"options × choices must fit in {_MOST_BYTES >> 30} GiB of bits to be simulated; got {n_options} × "
            f"{world.n_choices}. Ask for fewer options."
        )
    best = np.empty((n_options, n_bytes), dtype=np.uint8)
    # States in which the same options can start are one group; each option in turn splits the groups so far.
    group = np.zeros(n_states, dtype=np.int32)
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


def streams(seed: int, count: int) -> NDArray[np.uint64]:
    """Return the beginnings of ``count`` independent random streams, one a simulated run, drawn from the seed."""
    return np.random.SeedSequence(check_integer("seed", seed, 0)).generate_state(count, np.uint64).astype(np.uint64)
