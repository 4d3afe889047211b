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
def prominences(indptr: Numbers, indices: Numbers, values: Values, descending: Numbers, tolerance: float) -> Values:
    """Return how far each peak's value must fall on the way to a higher peak.

    States are added in descending order of value, and where two components meet, the one with the lower peak ends.
    ``values`` are equal on a plateau. Of equally high peaks the one with the first state survives.
    """
    n_states = indptr.size - 1
    parent = np.full(n_states, -1, dtype=np.int32)
    peak = np.arange(n_states, dtype=np.int32)
    fall = np.zeros(n_states)
    for k in range(n_states):
        u = descending[k]
        parent[u] = u
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            if parent[v] == -1:
                continue
            a, b = _root(parent, u), _root(parent, v)
            if a == b:
                continue
            high, low = peak[a], peak[b]
            level = _equal(values[high], values[low], tolerance)
            if (level and low < high) or (not level and values[low] > values[high]):
                high, low = low, high
            fall[low] = values[low] - values[u]
            parent[b] = a
            peak[a] = high
    # The highest peak of each part falls to the lowest state of its part.
    lowest = np.full(n_states, np.inf)
    for u in range(n_states):
        part = _root(parent, u)
        lowest[part] = min(lowest[part], values[u])
    for u in range(n_states):
        if parent[u] == u:
            fall[peak[u]] = values[peak[u]] - lowest[u]
    return fall
