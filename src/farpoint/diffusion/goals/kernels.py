"""Compiled loops that find the peaks of a function on a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

Numbers = NDArray[Any]
Values = NDArray[np.float64]


@compiled()
def _root(parent: NDArray[np.int32], state: int) -> int:
    while parent[state] != state:
        parent[state] = parent[parent[state]]
        state = parent[state]
    return state


@compiled()
def _equal(a: float, b: float, tolerance: float) -> bool:
    return bool(abs(a - b) <= tolerance * max(abs(a), abs(b)))


@compiled()
def plateaus(indptr: Numbers, indices: Numbers, values: Values, tolerance: float) -> NDArray[np.int32]:
    """Return for every state the first state of the connected plateau of equal value that it lies on."""
    n_states = indptr.size - 1
    parent = np.arange(n_states, dtype=np.int32)
    for u in range(n_states):
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            if v < u and _equal(values[u], values[v], tolerance):
                a, b = _root(parent, u), _root(parent, v)
                # The smaller number is the root, so the root is the plateau's first state.
                parent[max(a, b)] = min(a, b)
    for u in range(n_states):
        parent[u] = _root(parent, u)
    return parent


@compiled()
def peaks(indptr: Numbers, indices: Numbers, values: Values, plateau: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which states are the first of a plateau that has no higher neighbor."""
    n_states = indptr.size - 1
    is_peak = np.ones(n_states, dtype=np.bool_)
    for u in range(n_states):
        if plateau[u] != u:
            is_peak[u] = False
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            if plateau[v] != plateau[u] and values[v] > values[u]:
                is_peak[plateau[u]] = False
    return is_peak


@compiled()
def basins(indptr: Numbers, indices: Numbers, level: Values, plateau: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return for every state the peak that is reached by always going to the highest neighbor.

    ``level`` is equal on a plateau, which is left from any of its states. A peak is named by the first state of its
    plateau.
    """
    n_states = indptr.size - 1
    up = np.arange(n_states, dtype=np.int32)
    for u in range(n_states):
        own = plateau[u]
        for entry in range(indptr[u], indptr[u + 1]):
            other = plateau[indices[entry]]
            if level[other] > level[own] and (up[own] == own or level[other] > level[up[own]]):
                up[own] = other
    for u in range(n_states):
        up[u] = _root(up, plateau[u])
    return up


@compiled()
def saddles(indptr: Numbers, indices: Numbers, level: Values, basin: NDArray[np.int32]) -> Any:
    """Return where two basins meet: the states on either side, and the lower of their two levels."""
    n_states = indptr.size - 1
    count = 0
    for u in range(n_states):
        for entry in range(indptr[u], indptr[u + 1]):
            count += indices[entry] < u and basin[u] != basin[indices[entry]]
    one, other, height = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32), np.empty(count)
    count = 0
    for u in range(n_states):
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            if v < u and basin[u] != basin[v]:
                one[count], other[count], height[count] = basin[u], basin[v], min(level[u], level[v])
                count += 1
    return one, other, height


@compiled()
def prominences(
    one: Numbers, other: Numbers, height: Values, descending: Numbers, level: Values, basin: Numbers, tolerance: float
) -> Values:
    """Return how far each peak's level must fall on the way to a higher peak; 0 for states that are no peak.

    Basins are joined over their saddles, the highest first; where two meet, the one with the lower peak ends. Of
    equally high peaks the one with the first state survives.
    """
    n_states = level.size
    parent = np.arange(n_states, dtype=np.int32)
    peak = np.arange(n_states, dtype=np.int32)
    fall = np.zeros(n_states)
    for k in range(descending.size):
        saddle = descending[k]
        a, b = _root(parent, one[saddle]), _root(parent, other[saddle])
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
    lowest = np.full(n_states, np.inf)
    for u in range(n_states):
        part = _root(parent, basin[u])
        lowest[part] = min(lowest[part], level[u])
    for u in range(n_states):
        if parent[u] == u and basin[u] == u:
            fall[peak[u]] = level[peak[u]] - lowest[u]
    return fall
