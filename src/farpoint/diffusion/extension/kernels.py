"""Compiled loops of the out-of-sample extension: where walks from landmarks end, and landmarks far from each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled
from farpoint.diffusion.scores.walk_kernels import advance

# Entries of a world's columns that are reserved at first.
_FIRST_ROOM = 1 << 16


@compiled(nogil=True)
def walk_ends(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[np.float64],
    stay: NDArray[np.float64],
    leave: NDArray[np.float64],
    sources: NDArray[np.int64],
    t: int,
    cutoff: float,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the columns Wᵗe_s of the sources as one compressed matrix: pointers, states, probabilities.

    Mass below ``cutoff`` is dropped where it stands.
    """
    n_states = indptr.size - 1
    now, then = np.zeros(n_states), np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    pointers = np.zeros(sources.size + 1, dtype=np.int64)
    ends, values = np.empty(_FIRST_ROOM, dtype=np.int32), np.empty(_FIRST_ROOM)
    filled = 0
    for number in range(sources.size):
        begin = sources[number]
        states[0], mark[begin], now[begin] = begin, number + 1, 1.0
        size = 1
        for _ in range(t):
            size, _ = advance(indptr, indices, weights, stay, leave, cutoff, states, size, mark, number + 1, now, then)
            now, then = then, now
        if filled + size > ends.size:
            room = max(2 * ends.size, filled + size)
            more_ends, more_values = np.empty(room, dtype=np.int32), np.empty(room)
            more_ends[:filled], more_values[:filled] = ends[:filled], values[:filled]
            ends, values = more_ends, more_values
        for i in range(size):
            u = states[i]
            if now[u] > cutoff:
                ends[filled], values[filled] = u, now[u]
                filled += 1
            now[u] = 0.0
        pointers[number + 1] = filled
    return pointers, ends[:filled].copy(), values[:filled].copy()


@compiled()
def farthest_states(indptr: NDArray[Any], indices: NDArray[Any], first: int, n_points: int) -> NDArray[np.int64]:
    """Return states each of which is as many moves as possible from those before it.

    A search from a new state stops where an earlier one is nearer, so all of them together visit each state a few
    times only.
    """
    n_states = indptr.size - 1
    distance = np.full(n_states, n_states, dtype=np.int64)
    queue = np.empty(n_states, dtype=np.int64)
    chosen = np.empty(n_points, dtype=np.int64)
    state = first
    for number in range(n_points):
        chosen[number] = state
        distance[state] = 0
        queue[0] = state
        begin, end = 0, 1
        while begin < end:
            u = queue[begin]
            begin += 1
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry]
                if distance[v] > distance[u] + 1:
                    distance[v] = distance[u] + 1
                    queue[end] = v
                    end += 1
        state = int(distance.argmax())
    return chosen
