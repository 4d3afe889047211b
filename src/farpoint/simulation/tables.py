"""Worlds, options and episodes as flat arrays, in the layout that compiled simulations read, and random streams."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_integer, check_memory, listed
from farpoint.worlds import World

# How an agent that explores chooses a primitive action: one of those tried least often in its state, or any.
ACTIONS = ("least tried", "uniform")


class WorldTable(NamedTuple):
    """A world as arrays.

    The choices of state s are ``choice_ptr[s] … choice_ptr[s + 1] - 1``; choice c leads to ``next_state[e]`` with ``e``
    the first entry of ``next_ptr[c] … next_ptr[c + 1] - 1`` whose ``next_cdf`` exceeds a uniform number. A random
    choice of a state is the first whose ``choice_cdf`` exceeds one, or uniform where ``choice_cdf`` is empty.
    """

    choice_ptr: NDArray[np.int64]
    next_ptr: NDArray[np.int64]
    next_state: NDArray[np.int64]
    next_cdf: NDArray[np.float64]
    choice_cdf: NDArray[np.float64]


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


def world_table(world: World, *, episodic: bool = False) -> WorldTable:
    """Return a world as flat arrays; fail if some state has no choice, unless episodes may end there."""
    stuck = np.flatnonzero(np.diff(world.choice_ptr) == 0)
    if stuck.size and not episodic:
        raise InvalidInput(f"every state must have a choice for an agent to be simulated; got none in {listed(stuck)}.")
    matrix = world.transitions
    choice_cdf = np.empty(0)
    if world.weights is not None:
        totals = np.bincount(world.choice_states, weights=world.weights, minlength=world.n_states)
        choice_cdf = _group_sums(world.weights / totals[world.choice_states], world.choice_ptr)
    return WorldTable(
        world.choice_ptr.astype(np.int64),
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        _group_sums(matrix.data, matrix.indptr),
        choice_cdf,
    )


class Episodes(NamedTuple):
    """Where episodes begin, with the running sums of the chances of these states, and after how many steps they end."""

    starts: NDArray[np.int64]
    start_cdf: NDArray[np.float64]
    max_steps: int


def episodes_of(world: World, longest: int) -> Episodes:
    """Return the episodes of a world; without a time limit of its own they last at most ``longest`` steps."""
    if world.starts is not None:
        starts = np.flatnonzero(world.starts)
        cdf = np.cumsum(world.starts[starts])
    elif world.start is not None:
        starts, cdf = np.array([world.start]), np.ones(1)
    else:
        raise InvalidInput(
            "world must have a start state for an agent to begin in; got none. Set it: dataclasses.replace(world, "
            "start=0)."
        )
    check_starts(world, starts)
    # The last start takes whatever rounding has left.
    cdf[-1] = np.inf
    rate = world.truncation_rate
    return Episodes(starts, cdf, round(1.0 / rate) if rate > 0.0 else longest)


def check_starts(world: World, starts: NDArray[np.int64]) -> None:
    """Refuse to begin an episode where it would be over before its first step."""
    over = starts[np.diff(world.choice_ptr)[starts] == 0]
    if over.size:
        raise InvalidInput(f"start must be a state with choices; got {int(over[0])}, which has none.")


def _group_sums(chances: NDArray[np.float64], indptr: NDArray[Any]) -> NDArray[np.float64]:
    """Return the running sums of chances within each group; the last of a group is inf."""
    sums = np.cumsum(chances)
    before = np.concatenate([[0.0], sums])[indptr[:-1]]
    cdf: NDArray[np.float64] = sums - np.repeat(before, np.diff(indptr))
    # The last entry of a group takes whatever rounding has left.
    filled = np.diff(indptr) > 0
    cdf[indptr[1:][filled] - 1] = np.inf
    return cdf


def streams(seed: int, count: int) -> NDArray[np.uint64]:
    """Return the starting points of ``count`` independent random streams, one per simulated run, from the seed."""
    check_memory("number of runs", count, 200 * count)
    return np.random.SeedSequence(check_integer("seed", seed, 0)).generate_state(count, np.uint64).astype(np.uint64)
