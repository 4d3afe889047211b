"""Worlds as flat arrays, in the layout that compiled simulations read, and random streams."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_fraction, check_integer, check_memory, listed
from farpoint.options import OptionSet
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
    """Where episodes begin, as running sums of the chances of the states, and after how many steps one is cut off."""

    start_cdf: NDArray[np.float64]
    max_steps: int


def episodes_of(world: World, longest: int) -> Episodes:
    """Return the episodes of a world that has them; without a time limit of its own one may last ``longest`` steps."""
    assert world.restart is not None
    assert world.starts is not None
    check_starts(world, np.flatnonzero(world.starts))
    inner = world.restart[world.restart < 1.0]
    limit = max(1, round(1.0 / inner.max())) if inner.size and inner.max() > 0 else longest
    cdf = np.cumsum(world.starts)
    # The last start takes whatever rounding has left.
    cdf[np.flatnonzero(world.starts)[-1] :] = np.inf
    return Episodes(cdf, limit)


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


def check_option_probability(value: object) -> float:
    """Return the probability that a random decision is an option.

    It must be below 1: where every option that can start ends at once, only a primitive choice leads on.
    """
    chance = check_fraction("option_probability", value)
    if chance == 1.0:
        raise InvalidInput("option_probability must be below 1 for an agent to be simulated; got 1.")
    return chance


def usual_or(value: object, options: OptionSet | None) -> float:
    """Return the probability asked for or, of None, that of the options themselves."""
    if value is None:
        return 0.0 if options is None else options.option_probability
    return check_option_probability(value)


def streams(seed: int, count: int) -> NDArray[np.uint64]:
    """Return the starting points of ``count`` independent random streams, one per simulated run, from the seed."""
    check_memory("number of runs", count, 200 * count)
    return np.random.SeedSequence(check_integer("seed", seed, 0)).generate_state(count, np.uint64).astype(np.uint64)
