"""Betweenness: how many of the shortest routes pass each state, exactly or from some sources with a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.engines import each
from farpoint.errors import check_integer, check_jobs
from farpoint.worlds import WorldLike, as_world

# The same tasks whatever the number of workers, so that the sums are the same.
_TASKS = 64
# The bound holds for all states at once with this probability.
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Betweenness:
    """The betweenness of every state.

    Attributes
    ----------
    values : array of float, shape (n_states,)
        Between 0 and 1.
    bound : array of float, shape (n_states,)
        How far each may be off, for all states at once with probability 0.95; 0 if every state was a source.
    n_sources : int

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.options.betweenness(fp.grid((3,))).values
    array([0., 1., 0.])
    """

    values: NDArray[np.float64]
    bound: NDArray[np.float64]
    n_sources: int

    def __repr__(self) -> str:
        return f"Betweenness({self.values.size} states, {self.n_sources} sources, bound {self.bound.max():.3g})"


def betweenness(world: WorldLike, *, n_sources: int | None = None, seed: int = 0, n_jobs: int = -1) -> Betweenness:
    """Return for every state the mean share of the shortest routes between two other states that pass it.

    Σ_st σ_st(v) / σ_st over all ordered pairs of states other than v, divided by (n − 1)(n − 2): Freeman's betweenness
    centrality, of moves of length 1 in the directions that the world has, by the algorithm of Brandes. A sample of
    sources gives the mean of as many independent numbers between 0 and 1; ``bound`` is the smaller of the bounds of
    Hoeffding and of Maurer and Pontil (empirical Bernstein), for all states together.

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
    >>> world = fp.four_rooms()
    >>> exact = fp.options.betweenness(world)
    >>> sampled = fp.options.betweenness(world, n_sources=50)
    >>> bool((abs(sampled.values - exact.values) <= sampled.bound).all())
    True
    """
    world = as_world(world)
    seed, n_jobs, n_states = check_integer("seed", seed, 0), check_jobs(n_jobs), world.n_states
    sources = np.arange(n_states)
    if n_sources is not None and check_integer("n_sources", n_sources, 2) < n_states:
        sources = np.sort(np.random.default_rng(seed).choice(n_states, size=int(n_sources), replace=False))
    graph = world.adjacency
    tasks = np.array_split(sources, min(_TASKS, sources.size))
    total, squares = np.zeros(n_states), np.zeros(n_states)
    for part_total, part_squares in each(_dependencies, (graph.indptr, graph.indices), tasks, n_jobs=n_jobs):
        total += part_total
        squares += part_squares
    pairs = max(n_states - 2, 1)
    # As a source, a state passes nothing on: each is a source for the n − 1 others.
    values = total / sources.size * (n_states / max(n_states - 1, 1)) / pairs
    if sources.size == n_states:
        return Betweenness(values, np.zeros(n_states), n_states)
    return Betweenness(values, _bound(total / pairs, squares / pairs**2, sources.size, n_states), sources.size)


def _dependencies(
    graph: tuple[NDArray[Any], NDArray[Any]], sources: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from farpoint.options.centrality_kernels import dependencies

    return dependencies(*graph, sources)


def _bound(total: NDArray[np.float64], squares: NDArray[np.float64], count: int, n_states: int) -> NDArray[np.float64]:
    """Return how far a mean of ``count`` numbers in 0 … 1 may be off, for all states at once.

    Draws without replacement are at least as near as draws with it (Hoeffding, 1963), for which both bounds hold. Each
    has half of the remaining probability.
    """
    failing = (1.0 - CONFIDENCE) / 2.0 / n_states
    variance = np.maximum(squares - total**2 / count, 0.0) / (count - 1)
    chance = np.log(4.0 / failing)
    bernstein = np.sqrt(2.0 * variance * chance / count) + 7.0 * chance / (3.0 * (count - 1))
    hoeffding = np.sqrt(np.log(2.0 / failing) / (2.0 * count))
    return np.asarray(np.minimum(bernstein, hoeffding) * n_states / (n_states - 1))
