"""The moves between adjacent cells of a floor in any number of dimensions, written out as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from farpoint.worlds.arrays import read_only


def grid_choices(floor: NDArray[np.bool_], wind: float) -> tuple[csr_array, NDArray[Any], NDArray[np.int32]]:
    """Return the transitions, row groups and actions of the moves between adjacent cells of a floor.

    Of d dimensions, actions 0 … d − 1 step back along axis 0 … d − 1 and actions d … 2d − 1 step forward along
    axis d − 1 … 0; in two dimensions that is up, left, right, down. In this order the next states of a state
    ascend, so the adjacency needs no sorting. Wind blows forward along axis 0.
    """
    n_states = int(floor.sum())
    number = np.full(floor.shape, -1, dtype=np.int32 if floor.size < 2**31 else np.int64)
    number[floor] = np.arange(n_states, dtype=number.dtype)
    n_axes = floor.ndim

    next_state = np.empty((n_states, 2 * n_axes), dtype=number.dtype)
    for axis in range(n_axes):
        all_but_first = (slice(None),) * axis + (slice(1, None),)
        all_but_last = (slice(None),) * axis + (slice(None, -1),)
        for action, to, source in (
            (axis, all_but_first, all_but_last),
            (2 * n_axes - 1 - axis, all_but_last, all_but_first),
        ):
            neighbor = np.full_like(number, -1)
            neighbor[to] = number[source]
            next_state[:, action] = neighbor[floor]

    del number, neighbor
    open_move = next_state >= 0
    targets = next_state[open_move]
    n_choices = targets.size
    choice_ptr = np.zeros(n_states + 1, dtype=np.int32 if n_choices < 2**31 else np.int64)
    np.cumsum(open_move.sum(axis=1), out=choice_ptr[1:])
    actions = np.broadcast_to(np.arange(2 * n_axes, dtype=np.int32), open_move.shape)[open_move]
    # Read-only, so that the world need not copy them.
    choice_ptr, actions = read_only(choice_ptr), read_only(actions)
    if wind == 0.0:
        del next_state, open_move
        indptr = np.arange(n_choices + 1, dtype=choice_ptr.dtype)
        entries = (read_only(np.ones(n_choices)), read_only(targets), read_only(indptr))
        return csr_array(entries, shape=(n_choices, n_states)), choice_ptr, actions

    blown_to = np.repeat(next_state[:, -1], np.diff(choice_ptr))
    windy = np.flatnonzero(blown_to >= 0)
    kept = np.ones(n_choices)
    kept[windy] = 1.0 - wind
    rows = np.concatenate([np.arange(n_choices), windy])
    columns = np.concatenate([targets, blown_to[windy]])
    chances = np.concatenate([kept, np.full(windy.size, wind)])
    transitions = coo_array((chances, (rows, columns)), shape=(n_choices, n_states)).tocsr()
    transitions.eliminate_zeros()
    return transitions, choice_ptr, actions
