"""Worlds and options as flat arrays, in the layout that compiled simulations read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.domain import Domain
from farpoint.errors import InvalidInput, check_integer, listed
from farpoint.options.option_set import OptionSet

_MOST_ENTRIES = 2**28


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
    """Options: those that can start in state s are ``startable[start_ptr[s]:start_ptr[s + 1]]``; option k takes in
    state s, uniformly, one of ``best[best_ptr[k * n + s]:best_ptr[k * n + s + 1]]`` and ends where there is none.
    ``goals`` are the states that the options lead to, or the highest states of what they climb.
    """

    goals: NDArray[np.int64]
    start_ptr: NDArray[np.int64]
    startable: NDArray[np.int64]
    best_ptr: NDArray[np.int64]
    best: NDArray[np.int64]


def world_table(domain: Domain, *, episodic: bool = False) -> WorldTable:
    """Return a world as flat arrays; fail if some state has no choice, unless episodes may end there."""
    stuck = np.flatnonzero(np.diff(domain.choice_ptr) == 0)
    if stuck.size and not episodic:
        raise InvalidInput(f"every state must have a choice for an agent to be simulated; got none in {listed(stuck)}.")
    matrix = domain.transitions
    sums = np.cumsum(matrix.data)
    before = np.concatenate([[0.0], sums])[matrix.indptr[:-1]]
    cdf = sums - np.repeat(before, np.diff(matrix.indptr))
    # The last entry of a row takes whatever rounding has left.
    cdf[matrix.indptr[1:] - 1] = np.inf
    return WorldTable(
        domain.choice_ptr.astype(np.int64), matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), cdf
    )


def option_table(domain: Domain, options: OptionSet | None) -> OptionTable:
    """Return options as flat arrays; None is an empty set."""
    n_states = domain.n_states
    n_options = 0 if options is None else len(options)
    if n_options * n_states > _MOST_ENTRIES:
        raise InvalidInput(
            f"options × states must be at most {_MOST_ENTRIES:,} to be simulated; got {n_options} × {n_states}. "
            "Ask for fewer options."
        )
    starts = np.zeros((n_states, n_options), dtype=bool)
    counts = np.zeros(n_options * n_states + 1, dtype=np.int64)
    best = []
    for k in range(n_options):
        assert options is not None
        option = options[k]
        starts[:, k] = option.initiation
        taken = np.flatnonzero(option.choice_probabilities() > 0)
        states = domain.choice_states[taken]
        counts[1 + k * n_states : 1 + (k + 1) * n_states] = np.bincount(states, minlength=n_states)
        best.append(taken)
    rows, columns = np.nonzero(starts)
    return OptionTable(
        np.empty(0, dtype=np.int64) if options is None else np.array(options.goals),
        np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_states))]),
        columns.astype(np.int64),
        np.cumsum(counts),
        np.concatenate(best) if best else np.empty(0, dtype=np.int64),
    )


def streams(seed: int, count: int) -> NDArray[np.uint64]:
    """Return the beginnings of ``count`` independent random streams, one a simulated run, drawn from the seed."""
    return np.random.SeedSequence(check_integer("seed", seed, 0)).generate_state(count, np.uint64).astype(np.uint64)
