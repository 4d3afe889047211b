"""Betweenness: how many of the shortest routes pass each state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled
from farpoint.errors import check_integer, check_jobs
from farpoint.parallel import parallel_map
from farpoint.worlds import WorldLike, as_world

# The same tasks whatever the number of workers, so that the sums are the same.
_TASKS = 64
# Numbers of routes grow exponentially with the distance. Where a level has more than this, all of it is divided by its
# largest; what is then below the least number counts as that.
_MANY = 1e200
_FEWEST = 1e-200


def betweenness(
    world: WorldLike, *, n_sources: int | None = None, seed: int = 0, n_jobs: int = -1
) -> NDArray[np.float64]:
    """Return for every state the mean share of the shortest routes between two other states that pass it.

    Σ_st σ_st(v) / σ_st over all ordered pairs of states other than v, divided by (n − 1)(n − 2): Freeman's betweenness
    centrality, of moves of length 1 in the directions that the world has, by the algorithm of Brandes. With a sample of
    sources it is an estimate.

    Parameters
    ----------
    world : World
    n_sources : int, optional
        From how many states, drawn with ``seed``, routes are searched. Default: all, which is exact.
    seed : int
    n_jobs : int
        Workers; -1 is one per core. The numbers do not depend on it.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.options.betweenness(fp.grid((3,)))
    array([0., 1., 0.])
    """
    world = as_world(world)
    seed, n_jobs, n_states = check_integer("seed", seed, 0), check_jobs(n_jobs), world.n_states
    sources = np.arange(n_states)
    if n_sources is not None and check_integer("n_sources", n_sources, 2) < n_states:
        sources = np.sort(np.random.default_rng(seed).choice(n_states, size=int(n_sources), replace=False))
    graph = world.adjacency
    tasks = np.array_split(sources, min(_TASKS, sources.size))
    total = np.zeros(n_states)
    for part in parallel_map(_dependencies, (graph.indptr, graph.indices), tasks, n_jobs=n_jobs):
        total += part
    # As a source, a state passes nothing on: each is a source for the n − 1 others.
    return np.asarray(total / sources.size * (n_states / max(n_states - 1, 1)) / max(n_states - 2, 1))


def _dependencies(graph: tuple[NDArray[Any], NDArray[Any]], sources: NDArray[np.int64]) -> NDArray[np.float64]:
    return dependencies(*graph, sources)


@compiled(nogil=True)
def dependencies(indptr: NDArray[Any], indices: NDArray[Any], sources: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return Σ_s δ_s(v) over the sources, for every state v (Brandes, 2001).

    δ_s(v) = Σ_t σ_st(v) / σ_st, over targets t: the share of the shortest routes from s to t that pass v. With
    σ the number of routes from s, δ_s(v) = σ(v) Σ_w (1 + δ_s(w)) / σ(w) over the neighbors w one move farther.
    """
    n_states = indptr.size - 1
    total = np.zeros(n_states)
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
        for place in range(last):
            moves[queue[place]] = -1
    return total
