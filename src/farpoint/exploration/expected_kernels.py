"""Compiled routes of least expected steps, where an action has several outcomes and none of them is harmless."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import allocation_free, compiled
from farpoint.exploration.memory import NONE, STATES, Memory

# Expectations that change by a smaller share than this are final.
_SAME = 1e-3


@allocation_free(nogil=True)
def _sweep(
    memory: Memory,
    goal: int,
    limit: float,
    n_sweeps: int,
    order: NDArray[np.int64],
    done: NDArray[np.bool_],
    values: NDArray[np.float64],
    route: NDArray[np.int16],
) -> None:
    order[0], done[goal] = goal, True
    first, last = 0, 1
    while first < last:
        entry = memory.first_neighbor[order[first]]
        first += 1
        while entry != NONE:
            v = memory.neighbor[entry]
            entry = memory.next_neighbor[entry]
            if not done[v]:
                done[v] = True
                order[last] = v
                last += 1
    values[goal] = 0.0
    for _ in range(n_sweeps):
        largest = 0.0
        for place in range(1, last):
            s = order[place]
            best, taken = limit, NONE
            for action in range(memory.n_actions[s]):
                tried = memory.tried[s, action]
                if tried == 0:
                    continue
                stays, total = 0, 0.0
                entry = memory.first_outcome[s, action]
                while entry != NONE:
                    after = memory.outcome_state[entry]
                    if after == s:
                        stays += memory.outcome_count[entry]
                    else:
                        total += memory.outcome_count[entry] * values[after]
                    entry = memory.next_outcome[entry]
                if stays < tried:
                    # Staying is solved for: V = (n + Σ n′ V′) / (n − n_stay), with counts n.
                    value = (tried + total) / (tried - stays)
                    if value < best:
                        best, taken = value, action
            largest = max(largest, abs(values[s] - best) / max(best, 1.0))
            values[s] = best
            route[s] = taken
        if largest < _SAME:
            break


@compiled(nogil=True)
def routes_by_steps(
    memory: Memory, goal: int, limit: float, n_sweeps: int, values: NDArray[np.float64], route: NDArray[np.int16]
) -> None:
    """Fill the action of every state that reaches the goal in the fewest expected steps; -1 where there is none.

    V(s) = min_a (1 + Σ p(s′ | s, a) V(s′)), V(goal) = 0, by the frequencies seen, and at most ``limit`` everywhere: a
    state from which the goal is farther than that has no route. ``values`` are where the sweeps begin, and what they
    end with; each sweep goes outwards from the goal, and there are ``n_sweeps`` at most.
    """
    n_states = memory.sizes[STATES]
    route[:] = NONE
    order, done = np.empty(n_states, dtype=np.int64), np.zeros(n_states, dtype=np.bool_)
    _sweep(memory, goal, limit, n_sweeps, order, done, values, route)
