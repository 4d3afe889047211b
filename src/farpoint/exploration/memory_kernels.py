"""Compiled loops that remember a step, choose an action and find ways, on what was seen so far."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import allocation_free, compiled
from farpoint.exploration.memory import NEIGHBORS, NONE, OUTCOMES, STATES, SURPRISES, TAKEN, Memory
from farpoint.simulation.kernels import Stream, below, uniform


@allocation_free(nogil=True)
def has_room(memory: Memory) -> bool:
    """Return whether one more step surely fits."""
    sizes = memory.sizes
    return bool(
        sizes[STATES] + 2 <= memory.visits.size
        and sizes[OUTCOMES] + 1 <= memory.outcome_state.size
        and sizes[NEIGHBORS] + 4 <= memory.neighbor.size
    )


@allocation_free(nogil=True)
def add_state(memory: Memory, n_actions: int, step: int) -> int:
    """Return the number of a state that was not seen before."""
    state = memory.sizes[STATES]
    memory.sizes[STATES] += 1
    memory.visits[state] = 0
    memory.n_actions[state] = n_actions
    memory.tried[state] = 0
    memory.first_seen[state] = step
    return int(state)


@allocation_free(nogil=True)
def remember(memory: Memory, before: int, action: int, after: int) -> None:
    """Count one step."""
    memory.tried[before, action] += 1
    entry = memory.first_outcome[before, action]
    while entry != NONE and memory.outcome_state[entry] != after:
        entry = memory.next_outcome[entry]
    if entry == NONE:
        entry = memory.sizes[OUTCOMES]
        memory.sizes[OUTCOMES] += 1
        memory.sizes[SURPRISES] += memory.first_outcome[before, action] != NONE
        memory.outcome_state[entry] = after
        memory.outcome_count[entry] = 0
        memory.next_outcome[entry] = memory.first_outcome[before, action]
        memory.first_outcome[before, action] = entry
        join(memory, before, after)
    memory.outcome_count[entry] += 1
    memory.sizes[TAKEN] += 1
    best = memory.likeliest[before, action]
    if best == NONE or memory.outcome_count[entry] > memory.outcome_count[best]:
        memory.likeliest[before, action] = entry


@allocation_free(nogil=True)
def join(memory: Memory, one: int, other: int) -> None:
    """Make two states neighbors, if they are not."""
    if one == other:
        return
    entry = memory.first_neighbor[one]
    while entry != NONE:
        if memory.neighbor[entry] == other:
            return
        entry = memory.next_neighbor[entry]
    _add_neighbor(memory, one, other)
    _add_neighbor(memory, other, one)


@allocation_free(nogil=True)
def _add_neighbor(memory: Memory, state: int, other: int) -> None:
    entry = memory.sizes[NEIGHBORS]
    memory.sizes[NEIGHBORS] += 1
    memory.neighbor[entry] = other
    memory.next_neighbor[entry] = memory.first_neighbor[state]
    memory.first_neighbor[state] = entry
    memory.changed[state] = True


@allocation_free(nogil=True)
def least_tried(memory: Memory, state: int, stream: Stream) -> int:
    """Return the action that was tried least often in a state, of several a random one."""
    least, count, found = -1, 0, 0
    for action in range(memory.n_actions[state]):
        times = memory.tried[state, action]
        if least < 0 or times < least:
            least, count, found = times, 1, action
        elif times == least:
            count += 1
    if count > 1:
        skip = below(stream, count)
        for action in range(found, memory.n_actions[state]):
            if memory.tried[state, action] == least:
                if skip == 0:
                    return action
                skip -= 1
    return found


@allocation_free(nogil=True)
def decide(
    memory: Memory,
    routes: NDArray[np.int16],
    state: int,
    option: int,
    option_probability: float,
    uniform_actions: bool,
    stream: Stream,
) -> Any:
    """Return the next action and the option that it belongs to, or -1.

    ``routes[k, s]`` is the action of option k in state s, or -1 where it has ended or knows no way. ``option`` is the
    one that the agent follows on arrival, or -1.
    """
    n_options, n_known = routes.shape
    if option >= 0 and state < n_known and routes[option, state] >= 0:
        return routes[option, state], option
    if n_options > 0 and state < n_known and uniform(stream) < option_probability:
        count = 0
        for k in range(n_options):
            count += routes[k, state] >= 0
        if count > 0:
            skip = below(stream, count)
            for k in range(n_options):
                if routes[k, state] >= 0:
                    if skip == 0:
                        return routes[k, state], k
                    skip -= 1
    if uniform_actions:
        return below(stream, memory.n_actions[state]), NONE
    return least_tried(memory, state, stream), NONE


@allocation_free(nogil=True)
def _fill_graph(
    memory: Memory, indptr: NDArray[np.int32], places: NDArray[np.int32], indices: NDArray[np.int32]
) -> None:
    n_states = indptr.size - 1
    filled = 0
    for state in range(n_states):
        indptr[state] = places[state] = filled
        entry = memory.first_neighbor[state]
        while entry != NONE:
            filled += 1
            entry = memory.next_neighbor[entry]
    indptr[n_states] = filled
    # Each state is put into the rows of its neighbors, so that rows are in order without being sorted.
    for state in range(n_states):
        entry = memory.first_neighbor[state]
        while entry != NONE:
            other = memory.neighbor[entry]
            indices[places[other]] = state
            places[other] += 1
            entry = memory.next_neighbor[entry]


@compiled(nogil=True)
def neighbor_graph(memory: Memory) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the neighbors of all states, one row per state, as pointers and states."""
    n_states = memory.sizes[STATES]
    indptr = np.empty(n_states + 1, dtype=np.int32)
    indices = np.empty(memory.sizes[NEIGHBORS], dtype=np.int32)
    _fill_graph(memory, indptr, np.empty(n_states, dtype=np.int32), indices)
    return indptr, indices


@allocation_free(nogil=True)
def _search(
    memory: Memory, goal: int, queue: NDArray[np.int32], done: NDArray[np.bool_], route: NDArray[np.int16]
) -> None:
    queue[0], done[goal] = goal, True
    first, last = 0, 1
    while first < last:
        u = queue[first]
        first += 1
        entry = memory.first_neighbor[u]
        while entry != NONE:
            v = memory.neighbor[entry]
            entry = memory.next_neighbor[entry]
            if done[v]:
                continue
            for action in range(memory.n_actions[v]):
                best = memory.likeliest[v, action]
                if best != NONE and memory.outcome_state[best] == u:
                    route[v], done[v] = action, True
                    queue[last] = v
                    last += 1
                    break


@compiled(nogil=True)
def routes_to(memory: Memory, goal: int, route: NDArray[np.int16]) -> None:
    """Fill the action of every state on a shortest way to the goal by likeliest outcomes; -1 where there is none."""
    n_states = memory.sizes[STATES]
    route[:] = NONE
    _search(memory, goal, np.empty(n_states, dtype=np.int32), np.zeros(n_states, dtype=np.bool_), route)


@compiled(nogil=True)
def routes_by_chance(memory: Memory, goal: int, route: NDArray[np.int16]) -> None:
    """Fill the action of every state on a way to the goal of least expected tries, Σ 1 / p; -1 where there is none.

    For worlds where actions have several outcomes: 1 / p is how often an action is tried until this outcome, were the
    others harmless. Dijkstra's search with a heap of (length, state).
    """
    n_states = memory.sizes[STATES]
    route[:] = NONE
    length = np.full(n_states, np.inf)
    done = np.zeros(n_states, dtype=np.bool_)
    heap = [(0.0, np.int64(goal))]
    length[goal] = 0.0
    while len(heap) > 0:
        so_far, u = heapq.heappop(heap)
        if done[u]:
            continue
        done[u] = True
        entry = memory.first_neighbor[u]
        while entry != NONE:
            v = memory.neighbor[entry]
            entry = memory.next_neighbor[entry]
            if done[v]:
                continue
            for action in range(memory.n_actions[v]):
                outcome = memory.first_outcome[v, action]
                while outcome != NONE and memory.outcome_state[outcome] != u:
                    outcome = memory.next_outcome[outcome]
                if outcome != NONE:
                    through = so_far + memory.tried[v, action] / memory.outcome_count[outcome]
                    if through < length[v]:
                        length[v] = through
                        route[v] = action
                        heapq.heappush(heap, (through, np.int64(v)))
