"""Compiled loops that follow the lazy walk state by state."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, parallel=True)
def local_scores(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[np.float64],
    stay: NDArray[np.float64],
    leave: NDArray[np.float64],
    pi: NDArray[np.float64],
    t: int,
    mass: NDArray[np.float64],
    seen: NDArray[np.int32],
    ball: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Return ‖Wᵗe_s − π₀‖² of every state, exactly.

    The walker stays with probability ``stay[u]`` and takes a move of weight w with probability ``leave[u]`` w. It is
    lazy, so the states it may be in only ever grow by the neighbours of those it may be in: ``ball`` lists them.
    ``mass`` (threads, 2, n), ``seen`` (threads, n) and ``ball`` (threads, n + 1) are work space, one slice a thread,
    the first two zeroed.
    """
    n_states = indptr.size - 1
    scores = np.empty(n_states)
    pi_squared = 0.0
    for s in range(n_states):
        pi_squared += pi[s] * pi[s]
    for s in numba.prange(n_states):
        thread = numba.get_thread_id()
        now = mass[thread, 0]
        then = mass[thread, 1]
        mark = seen[thread]
        states = ball[thread]
        states[0] = s
        mark[s] = s + 1
        now[s] = 1.0
        size = 1
        for _ in range(t):
            for i in range(size):
                u = states[i]
                p = now[u]
                now[u] = 0.0
                then[u] += stay[u] * p
                share = leave[u] * p
                for entry in range(indptr[u], indptr[u + 1]):
                    v = indices[entry]
                    # Written always, counted only when new: no branch for the processor to guess wrongly.
                    states[size] = v
                    size += mark[v] != s + 1
                    mark[v] = s + 1
                    then[v] += share * weights[entry]
            now, then = then, now
        # Σ over the ball of (p − π)², plus what π holds outside it. When the ball is the whole world the second part
        # is exactly zero, so a score near zero keeps its digits.
        inside = 0.0
        pi_inside = 0.0
        for i in range(size):
            u = states[i]
            difference = now[u] - pi[u]
            inside += difference * difference
            pi_inside += pi[u] * pi[u]
            now[u] = 0.0
        scores[s] = inside if size == n_states else inside + (pi_squared - pi_inside)
    return scores


@numba.njit(cache=True)
def moves_per_state(indptr: NDArray[Any], indices: NDArray[Any], samples: NDArray[np.int64], t: int) -> float:
    """Return how many edge updates `local_scores` makes for a state, averaged over the sampled states."""
    seen = np.zeros(indptr.size - 1, dtype=np.int32)
    ball = np.empty(indptr.size - 1, dtype=np.int32)
    total = 0.0
    for k in range(samples.size):
        ball[0] = samples[k]
        seen[samples[k]] = k + 1
        size = 1
        spread = 0
        edges = 0
        for step in range(t):
            end = size
            for i in range(spread, end):
                u = ball[i]
                edges += indptr[u + 1] - indptr[u]
                for entry in range(indptr[u], indptr[u + 1]):
                    v = indices[entry]
                    if seen[v] != k + 1:
                        seen[v] = k + 1
                        ball[size] = v
                        size += 1
            spread = end
            if size == end:
                total += float(edges) * (t - step)
                break
            total += edges
    return total / samples.size
