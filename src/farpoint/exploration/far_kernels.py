"""Compiled loops for the score of what was seen, computed anew only around what changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled
from farpoint.diffusion.scores.walk_kernels import advance

Vector = NDArray[np.float64]


@compiled(nogil=True)
def within_reach(indptr: NDArray[Any], indices: NDArray[Any], sources: NDArray[Any], steps: int) -> NDArray[np.int64]:
    """Return the states within so many moves of some states."""
    n_states = indptr.size - 1
    done = np.zeros(n_states, dtype=np.bool_)
    queue = np.empty(n_states, dtype=np.int64)
    last = 0
    for state in sources:
        if not done[state]:
            done[state] = True
            queue[last] = state
            last += 1
    first = 0
    for _ in range(steps):
        end = last
        while first < end:
            u = queue[first]
            first += 1
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry]
                if not done[v]:
                    done[v] = True
                    queue[last] = v
                    last += 1
    return queue[:last].copy()


@compiled(nogil=True)
def local_parts(
    indptr: NDArray[Any], indices: NDArray[Any], sources: NDArray[np.int64], t: int, squares: Vector, degrees: Vector
) -> None:
    """Fill ‖Wᵗe_s‖² and d · Wᵗe_s of the sources: the parts of f_t that depend on what lies within t moves only.

    With π₀ = d / Σd, f_t(s) = ‖Wᵗe_s‖² − 2 (d · Wᵗe_s) / Σd + Σd² / (Σd)².
    """
    n_states = indptr.size - 1
    now, then = np.zeros(n_states), np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    weights = np.ones(indices.size)
    stay, leave = np.empty(n_states), np.empty(n_states)
    for u in range(n_states):
        degree = indptr[u + 1] - indptr[u]
        stay[u] = 0.5 if degree > 0 else 1.0
        leave[u] = 0.5 / max(degree, 1)
    for number in range(sources.size):
        s = sources[number]
        states[0], mark[s], now[s] = s, number + 1, 1.0
        size = 1
        for _ in range(t):
            size, _ = advance(indptr, indices, weights, stay, leave, 0.0, states, size, mark, number + 1, now, then)
            now, then = then, now
        square, degree_sum = 0.0, 0.0
        for i in range(size):
            u = states[i]
            square += now[u] * now[u]
            degree_sum += now[u] * (indptr[u + 1] - indptr[u])
            now[u] = 0.0
        squares[s], degrees[s] = square, degree_sum
