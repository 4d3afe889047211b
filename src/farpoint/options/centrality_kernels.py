"""Compiled betweenness: one search from each source, then its dependencies back to it (Brandes, 2001)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled


@compiled(nogil=True)
def dependencies(
    indptr: NDArray[Any], indices: NDArray[Any], sources: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Σ_s δ_s(v) and Σ_s δ_s(v)² over the sources, for every state v.

    δ_s(v) = Σ_t σ_st(v) / σ_st, over targets t: the share of the shortest routes from s to t that pass v. With
    σ the number of routes from s, δ_s(v) = σ(v) Σ_w (1 + δ_s(w)) / σ(w) over the neighbors w one move farther.
    """
    n_states = indptr.size - 1
    total, squares = np.zeros(n_states), np.zeros(n_states)
    moves = np.full(n_states, -1, dtype=np.int32)
    queue = np.empty(n_states, dtype=np.int32)
    n_routes = np.zeros(n_states)
    onward = np.zeros(n_states)  # (1 + δ(w)) / σ(w)
    for source in sources:
        queue[0] = source
        moves[source] = 0
        n_routes[source] = 1.0
        first, last = 0, 1
        while first < last:
            u = queue[first]
            first += 1
            farther = moves[u] + 1
            routes = n_routes[u]
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry]
                if moves[v] < 0:
                    moves[v] = farther
                    n_routes[v] = routes
                    queue[last] = v
                    last += 1
                elif moves[v] == farther:
                    n_routes[v] += routes
        for place in range(last - 1, 0, -1):
            u = queue[place]
            farther = moves[u] + 1
            passing = 0.0
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry]
                if moves[v] == farther:
                    passing += onward[v]
            dependency = n_routes[u] * passing
            onward[u] = (1.0 + dependency) / n_routes[u]
            total[u] += dependency
            squares[u] += dependency * dependency
        for place in range(last):
            moves[queue[place]] = -1
    return total, squares
