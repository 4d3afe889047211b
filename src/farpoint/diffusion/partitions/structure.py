"""Checks of a graph that is read once, edge by edge: whether it is symmetric, and whether it is connected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

_MULTIPLIERS = tuple(np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class EdgeBalance:
    """Whether every edge came in both directions with the same weight, from one sum.

    An edge from the smaller to the larger state adds a 64-bit hash of (smaller, larger, weight), an edge back takes it
    away, so that the sum of a symmetric graph is 0; that of another is 0 only if hashes collide (once in 2⁶⁴).

    Examples
    --------
    >>> balance = EdgeBalance()
    >>> balance.add(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1.0]))
    >>> balance.balanced
    False
    >>> balance.add(np.array([1, 2]), np.array([0, 1]), np.array([1.0, 1.0]))
    >>> balance.balanced
    True
    """

    def __init__(self) -> None:
        self._sum = np.uint64(0)

    def add(self, source: NDArray[np.int64], target: NDArray[np.int64], weight: NDArray[np.float64]) -> None:
        """Add some edges."""
        low, high = np.minimum(source, target), np.maximum(source, target)
        with np.errstate(over="ignore"):
            hashes = np.zeros(source.size, dtype=np.uint64)
            for column in (low, high, np.ascontiguousarray(weight, dtype=np.float64)):
                hashes = _mixed(hashes ^ _mixed(column.view(np.uint64) + _MULTIPLIERS[0]))
            self._sum += hashes[source < target].sum(dtype=np.uint64) - hashes[source > target].sum(dtype=np.uint64)

    @property
    def balanced(self) -> bool:
        """Whether the edges so far come in pairs."""
        return bool(self._sum == 0)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return values mixed so that every bit depends on every bit (SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * _MULTIPLIERS[1]
    values = (values ^ (values >> np.uint64(27))) * _MULTIPLIERS[2]
    return values ^ (values >> np.uint64(31))


class StreamedComponents:
    """The number of components of a symmetric graph that comes partition by partition.

    Each partition is split into its own components; edges that leave it are kept until both of their ends are known.

    Examples
    --------
    >>> components = StreamedComponents()
    >>> components.add(0, 2, np.array([0, 1, 1]), np.array([1, 0, 2]))
    >>> components.add(2, 4, np.array([2, 3]), np.array([1, 3]))
    >>> components.count()
    2
    """

    def __init__(self) -> None:
        self._count = 0
        self._crossing: list[NDArray[np.int64]] = []

    def add(self, first: int, last: int, source: NDArray[np.int64], target: NDArray[np.int64]) -> None:
        """Add the edges that leave the states ``first … last − 1``."""
        inside = (target >= first) & (target < last)
        size = last - first
        ends = (source[inside] - first, target[inside] - first)
        graph = csr_array((np.ones(ends[0].size), ends), shape=(size, size))
        count, component = connected_components(graph, directed=False)
        begins, others = source[~inside], target[~inside]
        own = self._count + component[begins - first]
        self._crossing.append(np.stack([np.minimum(begins, others), np.maximum(begins, others), own], axis=1))
        self._count += count

    def count(self) -> int:
        """Return the number of components of all that was added."""
        low, high, component = np.concatenate([np.empty((0, 3), dtype=np.int64), *self._crossing]).T
        order = np.lexsort((high, low))
        low, high, component = low[order], high[order], component[order]
        # Both directions of an edge lie next to each other now, each with the component of its own end.
        same = np.flatnonzero((low[1:] == low[:-1]) & (high[1:] == high[:-1]))
        ends = (component[same], component[same + 1])
        graph = csr_array((np.ones(same.size), ends), shape=(self._count, self._count))
        return int(connected_components(graph, directed=False)[0])
