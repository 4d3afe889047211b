"""Compiled loops of the out-of-sample extension: where walks from landmarks end, and landmarks far from each other."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)
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
    now = np.zeros(n_states)
    then = np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    pointers = np.zeros(sources.size + 1, dtype=np.int64)
    ends = np.empty(n_states, dtype=np.int32)
    values = np.empty(n_states)
    filled = 0
    for number in range(sources.size):
        stamp = number + 1
        states[0] = sources[number]
        mark[sources[number]] = stamp
        now[sources[number]] = 1.0
        size = 1
        for _ in range(t):
            for i in range(size):
                u = states[i]
                p = now[u]
                now[u] = 0.0
                if p <= cutoff:
                    continue
                then[u] += stay[u] * p
                share = leave[u] * p
                for entry in range(indptr[u], indptr[u + 1]):
                    v = indices[entry]
                    states[size] = v
                    size += mark[v] != stamp
                    mark[v] = stamp
                    then[v] += share * weights[entry]
            now, then = then, now
        if filled + size > ends.size:
            room = max(2 * ends.size, filled + size)
            more_ends = np.empty(room, dtype=np.int32)
            more_values = np.empty(room)
            more_ends[:filled] = ends[:filled]
            more_values[:filled] = values[:filled]
            ends, values = more_ends, more_values
        for i in range(size):
            u = states[i]
            if now[u] > cutoff:
                ends[filled] = u
                values[filled] = now[u]
                filled += 1
            now[u] = 0.0
        pointers[number + 1] = filled
    return pointers, ends[:filled].copy(), values[:filled].copy()


@numba.njit(cache=True)
def farthest_points(indptr: NDArray[Any], indices: NDArray[Any], first: int, n_points: int) -> NDArray[np.int64]:
    """Return states each of which is as many moves as possible from those before it.

    A search from a new point stops where an earlier point is nearer, so all of them together visit each state a few
    times only.
    """
    n_states = indptr.size - 1
    away = np.full(n_states, n_states, dtype=np.int64)
    queue = np.empty(n_states, dtype=np.int64)
    points = np.empty(n_points, dtype=np.int64)
    point = first
    for number in range(n_points):
        points[number] = point
        away[point] = 0
        queue[0] = point
        begin, end = 0, 1
        while begin < end:
            u = queue[begin]
            begin += 1
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry]
                if away[v] > away[u] + 1:
                    away[v] = away[u] + 1
                    queue[end] = v
                    end += 1
        point = int(away.argmax())
    return points
