"""Compiled loops that find the peaks of a function on a graph, band of states by band of states.

A band gives the neighbors of states ``first``, ``first + 1``, … as ``indptr`` and ``indices``; see `worlds.bands`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

Numbers = NDArray[Any]
Values = NDArray[np.float64]


@compiled(nogil=True)
def _root(parent: Numbers, state: int) -> int:
    while parent[state] != state:
        parent[state] = parent[parent[state]]
        state = parent[state]
    return state


@compiled(nogil=True)
def _equal(a: float, b: float, tolerance: float) -> bool:
    return bool(abs(a - b) <= tolerance * max(abs(a), abs(b)))


@compiled(nogil=True)
def _join(parent: Numbers, one: int, other: int) -> None:
    # The smaller number is the root, so the root is the plateau's first state.
    a, b = _root(parent, one), _root(parent, other)
    parent[max(a, b)] = min(a, b)


@compiled(nogil=True)
def _put(pairs: Numbers, count: int, one: int, other: int) -> Numbers:
    if count == len(pairs):
        pairs = np.concatenate((pairs, np.empty_like(pairs)))
    pairs[count, 0], pairs[count, 1] = one, other
    return pairs


@compiled(nogil=True)
def look_around(
    first: int, indptr: Numbers, indices: Numbers, values: Values, tolerance: float, parent: Numbers, peak: Numbers
) -> Any:
    """Join the equal neighbors of a band, and say which of its states may be peaks.

    ``peak`` is settled of states without equal neighbors. Returned are the pairs of equal neighbors of which the second
    lies before the band, and the pairs of a state on a plateau and a neighbor that is higher: whether that is on the
    same plateau, by way of others, is known only when all are joined.
    """
    links, n_links = np.empty((16, 2), dtype=parent.dtype), 0
    rises, n_rises = np.empty((16, 2), dtype=parent.dtype), 0
    n_states = indptr.size - 1
    for u in range(first, first + n_states):
        parent[u] = u
    for place in range(n_states):
        u = first + place
        linked, higher = False, False
        for entry in range(indptr[place], indptr[place + 1]):
            v = indices[entry]
            same = _equal(values[u], values[v], tolerance)
            higher |= (not same) & (values[v] > values[u])
            if same:
                linked = True
                if v < first:
                    links = _put(links, n_links, u, v)
                    n_links += 1
                elif v < u:
                    _join(parent, u, v)
        peak[u] = linked | (not higher)
        if linked and higher:
            for entry in range(indptr[place], indptr[place + 1]):
                v = indices[entry]
                if values[v] > values[u] and not _equal(values[u], values[v], tolerance):
                    rises = _put(rises, n_rises, u, v)
                    n_rises += 1
    return links[:n_links].copy(), rises[:n_rises].copy()


@compiled(nogil=True)
def join_pairs(parent: Numbers, pairs: Numbers) -> None:
    """Join pairs of states."""
    for k in range(len(pairs)):
        _join(parent, pairs[k, 0], pairs[k, 1])


@compiled(nogil=True)
def settle(first: int, last: int, parent: Numbers, peak: Numbers) -> None:
    """Make the parent of each state the first of its plateau, which alone may be the peak."""
    for u in range(first, last):
        if parent[u] != u:
            parent[u] = _root(parent, u)
            peak[u] = False


@compiled(nogil=True)
def drop_rising(plateau: Numbers, peak: Numbers, rises: Numbers) -> None:
    """Drop the peaks from which a pair leads higher, to another plateau."""
    for k in range(len(rises)):
        own = plateau[rises[k, 0]]
        if own != plateau[rises[k, 1]]:
            peak[own] = False


@compiled(nogil=True)
def climb(first: int, indptr: Numbers, indices: Numbers, values: Values, plateau: Numbers, up: Numbers) -> None:
    """Note of the plateaus of a band their highest neighbor, where that is higher; bands come in order.

    The level of a plateau is the value of its first state. A plateau is left from any of its states.
    """
    for place in range(indptr.size - 1):
        own = plateau[first + place]
        for entry in range(indptr[place], indptr[place + 1]):
            other = plateau[indices[entry]]
            if values[other] > values[own] and (up[own] == own or values[other] > values[up[own]]):
                up[own] = other


@compiled(nogil=True)
def number_basins(plateau: Numbers, up: Numbers) -> Numbers:
    """Turn ``up`` into the number of the basin that each state lies in; return the peak of every basin, ascending."""
    n_states = up.size
    for u in range(n_states):
        up[u] = _root(up, plateau[u])
    n_peaks = 0
    for u in range(n_states):
        n_peaks += up[u] == u
    peaks = np.empty(n_peaks, dtype=up.dtype)
    n_peaks = 0
    for u in range(n_states):
        if up[u] == u:
            peaks[n_peaks] = u
            n_peaks += 1
    # Numbers are written as −1 − number at first, to be told from states.
    for k in range(n_peaks):
        up[peaks[k]] = -1 - k
    for u in range(n_states):
        if up[u] >= 0:
            up[u] = up[up[u]]
    for u in range(n_states):
        up[u] = -1 - up[u]
    return peaks


@compiled(nogil=True)
def saddles(
    first: int, indptr: Numbers, indices: Numbers, values: Values, plateau: Numbers, basin: Numbers
) -> tuple[Numbers, Values]:
    """Return where two basins meet in a band: their numbers, and the lower level of the two states."""
    count = 0
    for place in range(indptr.size - 1):
        u = first + place
        for entry in range(indptr[place], indptr[place + 1]):
            count += indices[entry] < u and basin[u] != basin[indices[entry]]
    pairs, height = np.empty((count, 2), dtype=basin.dtype), np.empty(count)
    count = 0
    for place in range(indptr.size - 1):
        u = first + place
        for entry in range(indptr[place], indptr[place + 1]):
            v = indices[entry]
            if v < u and basin[u] != basin[v]:
                pairs[count, 0], pairs[count, 1] = basin[u], basin[v]
                height[count] = min(values[plateau[u]], values[plateau[v]])
                count += 1
    return pairs, height


@compiled(nogil=True)
def lowest_levels(values: Values, plateau: Numbers, basin: Numbers, n_basins: int) -> Values:
    """Return the lowest level in each basin."""
    lowest = np.full(n_basins, np.inf)
    for u in range(basin.size):
        lowest[basin[u]] = min(lowest[basin[u]], values[plateau[u]])
    return lowest


@compiled(nogil=True)
def prominences(
    pairs: Numbers, height: Values, descending: Numbers, level: Values, lowest: Values, tolerance: float
) -> Values:
    """Return how far the peak of each basin must fall on the way to a higher peak.

    ``level`` and ``lowest`` are the highest and lowest level of each basin. Basins are joined over their saddles, the
    highest first; where two meet, the one with the lower peak ends. Of equally high peaks the first survives.
    """
    n_basins = level.size
    parent = np.arange(n_basins).astype(pairs.dtype)
    peak = np.arange(n_basins).astype(pairs.dtype)
    fall = np.zeros(n_basins)
    for k in range(descending.size):
        saddle = descending[k]
        a, b = _root(parent, pairs[saddle, 0]), _root(parent, pairs[saddle, 1])
        if a == b:
            continue
        high, low = peak[a], peak[b]
        same = _equal(level[high], level[low], tolerance)
        if (same and low < high) or (not same and level[low] > level[high]):
            high, low = low, high
        fall[low] = level[low] - height[saddle]
        parent[b] = a
        peak[a] = high
    # The highest peak of each part falls to the lowest state of its part.
    least = np.full(n_basins, np.inf)
    for k in range(n_basins):
        part = _root(parent, k)
        least[part] = min(least[part], lowest[k])
    for k in range(n_basins):
        if parent[k] == k:
            fall[peak[k]] = level[peak[k]] - least[k]
    return fall
