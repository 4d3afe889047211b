"""Compiled loops that follow the lazy walk state by state, on any graph."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)
def neighborhood_scores(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[np.float64],
    stay: NDArray[np.float64],
    leave: NDArray[np.float64],
    pi: NDArray[np.float64],
    pi_squared: float,
    sources: NDArray[np.int64],
    t: int,
    cutoff: float,
    scores: NDArray[np.float64],
    lost: NDArray[np.float64],
    peaks: NDArray[np.float64],
) -> None:
    """Fill ‖p̂ − π₀‖² of every source, where p̂ is Wᵗe_s but for what was dropped.

    The walker stays with probability ``stay[u]`` and takes a move of weight w with probability ``leave[u]`` w. It is
    lazy, so the states it may be in only ever grow by the neighbors of those it may be in: ``states`` lists them.
    Mass below ``cutoff`` is dropped where it stands: ``lost`` is how much, ``peaks`` the largest entry of p̂.
    """
    n_states = indptr.size - 1
    now = np.zeros(n_states)
    then = np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    for number in range(sources.size):
        s = sources[number]
        stamp = number + 1
        states[0] = s
        mark[s] = stamp
        now[s] = 1.0
        size = 1
        dropped = 0.0
        for _ in range(t):
            for i in range(size):
                u = states[i]
                p = now[u]
                now[u] = 0.0
                if p < cutoff:
                    dropped += p
                    continue
                then[u] += stay[u] * p
                share = leave[u] * p
                for entry in range(indptr[u], indptr[u + 1]):
                    v = indices[entry]
                    # Written always, counted only when new: no branch for the processor to guess wrongly.
                    states[size] = v
                    size += mark[v] != stamp
                    mark[v] = stamp
                    then[v] += share * weights[entry]
            now, then = then, now
        # Σ over the ball of (p − π)², plus what π holds outside it. When the ball is the whole world the second part
        # is exactly zero, so a score near zero keeps its digits.
        inside = 0.0
        pi_inside = 0.0
        peak = 0.0
        for i in range(size):
            u = states[i]
            difference = now[u] - pi[u]
            inside += difference * difference
            pi_inside += pi[u] * pi[u]
            peak = max(peak, now[u])
            now[u] = 0.0
        scores[number] = inside if size == n_states else inside + (pi_squared - pi_inside)
        lost[number] = dropped
        peaks[number] = peak


@numba.njit(cache=True)
def moves_per_state(indptr: NDArray[Any], indices: NDArray[Any], samples: NDArray[np.int64], t: int) -> float:
    """Return how many edge updates `neighborhood_scores` makes for a state, averaged over the sampled states."""
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


@numba.njit(cache=True, nogil=True)
def probe_walks(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[np.float64],
    stay: NDArray[np.float64],
    leave: NDArray[np.float64],
    probes: NDArray[np.float64],
    t: int,
) -> NDArray[np.float64]:
    """Return (Wᵀ)ᵗ of the probes, one a column: their mean where a walk of t steps from each state ends.

    The probes are overwritten.
    """
    now = probes
    then = np.empty_like(now)
    n_probes = now.shape[1]
    for _ in range(t):
        for u in range(indptr.size - 1):
            for j in range(n_probes):
                then[u, j] = stay[u] * now[u, j]
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry]
                chance = leave[u] * weights[entry]
                for j in range(n_probes):
                    then[u, j] += chance * now[v, j]
        now, then = then, now
    return now
