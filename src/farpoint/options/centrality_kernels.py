"""Compiled betweenness: one search from each source, then its dependencies back to it (Brandes, 2001)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

# Numbers of routes grow exponentially with the distance. Where a level has more than this, all of it is divided by its
# largest; what is then below the least number counts as that.
_MANY = 1e200
_FEWEST = 1e-200


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
    # What the numbers of routes of each level were divided by, and how many moves away it is.
    divisors = np.ones(n_states + 1)
    for source in sources:
        queue[0] = source
        moves[source] = 0
        n_routes[source] = 1.0
        first, last, level = 0, 1, 0
        while first < last:
            u = queue[first]
            if moves[u] > level:
                # All routes to the states at this distance have been counted by now.
                level = moves[u]
                most = 0.0
                for place in range(first, last):
                    most = max(most, n_routes[queue[place]])
                divisors[level] = 1.0
                if most > _MANY:
                    divisors[level] = most
                    for place in range(first, last):
                        n_routes[queue[place]] = max(n_routes[queue[place]] / most, _FEWEST)
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
            dependency = n_routes[u] * passing / divisors[min(farther, n_states)]
            onward[u] = (1.0 + dependency) / n_routes[u]
            total[u] += dependency
            squares[u] += dependency * dependency
        for place in range(last):
            moves[queue[place]] = -1
    return total, squares
