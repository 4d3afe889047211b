"""Compiled breadth-first search from both ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled


@compiled()
def _next_level(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    moves: NDArray[np.int32],
    queue: NDArray[np.int32],
    first: int,
    last: int,
    others: NDArray[np.int32],
    best: int,
) -> tuple[int, int]:
    """Search one level further; return the new end of the queue and the length of the shortest way met so far."""
    end = last
    for place in range(first, last):
        u = queue[place]
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            if moves[v] < 0:
                moves[v] = moves[u] + 1
                queue[end] = v
                end += 1
                if others[v] >= 0:
                    best = min(best, moves[v] + others[v])
    return end, best


@compiled()
def moves_near_routes(
    out_ptr: NDArray[Any], out: NDArray[Any], in_ptr: NDArray[Any], into: NDArray[Any], start: int, goal: int
) -> NDArray[np.float64]:
    """Return the number of moves to ``goal`` of the states on shortest routes from ``start``; inf where unknown.

    Breadth-first from both ends, the smaller front first, until the two have met for good.
    """
    n_states = out_ptr.size - 1
    left = np.full(n_states, np.inf)
    ahead = np.full(n_states, -1, dtype=np.int32)
    back = np.full(n_states, -1, dtype=np.int32)
    front, rear = np.empty(n_states, dtype=np.int32), np.empty(n_states, dtype=np.int32)
    front[0], rear[0] = start, goal
    ahead[start], back[goal] = 0, 0
    front_first, front_last, rear_first, rear_last = 0, 1, 0, 1
    depth_ahead, depth_back = 0, 0
    best = 0 if start == goal else n_states + 1
    while depth_ahead + depth_back < best:
        # With one side searched out and no meeting there is no way.
        if front_first == front_last or rear_first == rear_last:
            return left
        if front_last - front_first <= rear_last - rear_first:
            end, best = _next_level(out_ptr, out, ahead, front, front_first, front_last, back, best)
            front_first, front_last = front_last, end
            depth_ahead += 1
        else:
            end, best = _next_level(in_ptr, into, back, rear, rear_first, rear_last, ahead, best)
            rear_first, rear_last = rear_last, end
            depth_back += 1
    # Behind the meeting the moves left are known; before it, those states count that a move leads on from.
    for place in range(rear_last):
        left[rear[place]] = back[rear[place]]
    for place in range(front_last - 1, -1, -1):
        u = front[place]
        if back[u] < 0:
            for entry in range(out_ptr[u], out_ptr[u + 1]):
                if left[out[entry]] == best - ahead[u] - 1:
                    left[u] = best - ahead[u]
    return left
