"""Compiled loops that follow the lazy walk state by state, on any graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

Vector = NDArray[np.float64]


@compiled(nogil=True, inline="always")
def advance(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: Vector,
    stay: Vector,
    leave: Vector,
    cutoff: float,
    states: NDArray[np.int32],
    size: int,
    mark: NDArray[np.int32],
    stamp: int,
    now: Vector,
    then: Vector,
) -> Any:
    """Take one step: empty ``now`` into ``then``; return in how many states the walk may be, and the mass dropped.

    The walk stays with probability ``stay[u]`` and takes a move of weight w with probability ``leave[u]`` w. It is
    lazy, so the states it may be in only ever grow by the neighbors of those it may be in: ``states`` lists them, and
    ``mark`` holds ``stamp`` for them. Mass below ``cutoff`` is dropped where it stands.
    """
    dropped = 0.0
    reached = size
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
            states[reached] = v
            reached += mark[v] != stamp
            mark[v] = stamp
            then[v] += share * weights[entry]
    return reached, dropped


@compiled(nogil=True)
def neighborhood_scores(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: Vector,
    stay: Vector,
    leave: Vector,
    pi: Vector,
    pi_squared: float,
    sources: NDArray[np.int64],
    t: int,
    cutoff: float,
    scores: Vector,
    lost: Vector,
    peaks: Vector,
) -> None:
    """Fill ‖p̂ − π₀‖² of every source, where p̂ is Wᵗe_s but for what was dropped.

    ``lost`` is how much was dropped, ``peaks`` the largest entry of p̂.
    """
    n_states = indptr.size - 1
    now = np.zeros(n_states)
    then = np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    for number in range(sources.size):
        s = sources[number]
        states[0] = s
        mark[s] = number + 1
        now[s] = 1.0
        size = 1
        dropped = 0.0
        for _ in range(t):
            size, below = advance(
                indptr, indices, weights, stay, leave, cutoff, states, size, mark, number + 1, now, then
            )
            dropped += below
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


@compiled(nogil=True)
def jumping_scores(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: Vector,
    stay: Vector,
    leave: Vector,
    out: Vector,
    arrived: Vector,
    back: Vector,
    highest: Vector,
    gram: Vector,
    pi: Vector,
    sources: NDArray[np.int64],
    t: int,
    cutoff: float,
    scores: Vector,
    lost: Vector,
    peaks: Vector,
) -> None:
    """Fill ‖p̂ − π₀‖² of every source for a walk with jumps of low rank; see `local.JumpTables`.

    With L the walk without jumps, Wᵗe_s = Lᵗe_s + Σ_k Σ_j m_{k,j} L^{t−k} into_j, where m_{k,j} is the mass that jump j
    takes in step k. So only Lᵗe_s, inside its neighborhood, is followed for each source.

    ``out[j, s]`` is the probability of jump j from s, ``arrived[k, j]`` is L^k into_j, ``back[k, j, i]`` the mass that
    jump j takes of arrived[k, i], ``highest[k, j]`` the largest entry of arrived[k, j], and ``gram`` holds the inner
    products of all arrived[k, j], in this order, and last π₀.
    """
    n_states = indptr.size - 1
    rank = out.shape[0]
    now = np.zeros(n_states)
    then = np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    # The coefficient of arrived[k, j], and last that of π₀.
    mass = np.zeros(t * rank + 1)
    mass[t * rank] = -1.0
    for number in range(sources.size):
        s = sources[number]
        states[0] = s
        mark[s] = number + 1
        now[s] = 1.0
        size = 1
        dropped = 0.0
        for step in range(t):
            for j in range(rank):
                total = 0.0
                for i in range(size):
                    u = states[i]
                    if now[u] >= cutoff:
                        total += out[j, u] * now[u]
                # What jumped in step i is L^{step−1−i} into by now, and may jump again.
                for i in range(step):
                    for other in range(rank):
                        total += mass[(t - 1 - i) * rank + other] * back[step - 1 - i, j, other]
                mass[(t - 1 - step) * rank + j] = total
            size, below = advance(
                indptr, indices, weights, stay, leave, cutoff, states, size, mark, number + 1, now, then
            )
            dropped += below
            now, then = then, now
        inside = 0.0
        ball = 0.0
        peak = 0.0
        for i in range(size):
            u = states[i]
            around = 0.0
            for k in range(t):
                for j in range(rank):
                    around += mass[k * rank + j] * arrived[k, j, u]
            difference = now[u] + around - pi[u]
            inside += difference * difference
            ball += (around - pi[u]) ** 2
            peak = max(peak, now[u] + around)
            now[u] = 0.0
        whole = 0.0
        elsewhere = 0.0
        for a in range(mass.size):
            for b in range(mass.size):
                whole += mass[a] * gram[a, b] * mass[b]
        for k in range(t):
            for j in range(rank):
                elsewhere += mass[k * rank + j] * highest[k, j]
        scores[number] = inside if size == n_states else inside + max(0.0, whole - ball)
        lost[number] = dropped
        peaks[number] = max(peak, elsewhere)


@compiled()
def moves_per_state(indptr: NDArray[Any], indices: NDArray[Any], samples: NDArray[np.int64], t: int) -> float:
    """Return how many edge updates `neighborhood_scores` makes per state, averaged over the sampled states."""
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


@compiled(nogil=True)
def probe_walks(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: Vector,
    stay: Vector,
    leave: Vector,
    out: Vector,
    into: Vector,
    probes: Vector,
    t: int,
) -> Vector:
    """Return (Wᵀ)ᵗ of the probes, one per column: their expectation where a walk of t steps from each state ends.

    ``out[j, s]`` is the probability of jump j from s, ``into[j]`` where it leads. The probes are overwritten.
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
        for k in range(out.shape[0]):
            for j in range(n_probes):
                landed = 0.0
                for v in range(indptr.size - 1):
                    landed += into[k, v] * now[v, j]
                for u in range(indptr.size - 1):
                    then[u, j] += out[k, u] * landed
        now, then = then, now
    return now
