"""What an explorer has seen: a graph with counts in arrays that grow, the compiled loops that fill it, and its routes.

States are numbered from 1 in the order in which they were first seen; number 0 is `RESET`, a virtual state that every
first state of an episode is joined to. A reset leads from any start to any other, so the graph is always connected. An
arrival that ends the episode is kept as a state of its own, without actions: the place may be passed through at other
times.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import allocation_free, compiled
from farpoint.simulation.kernels import Stream, below, uniform

_FIRST_ROOM = 64
NONE = -1
# The virtual state between the end of one episode and the start of the next.
RESET = 0
# Places in `Memory.sizes`.
STATES, OUTCOMES, NEIGHBORS, SURPRISES, TAKEN, BARRED = 0, 1, 2, 3, 4, 5
# Expected steps that change by a smaller share than this are final.
_EXPECTED_RTOL = 1e-3


class Memory(NamedTuple):
    """The graph of what was seen, with counts.

    State s has the actions ``0 … n_actions[s] - 1``, of which ``barred[s]`` are forbidden by the environment. ``tried``
    counts how often each was chosen, ``pending`` how many of these have no known outcome yet. The outcomes of action a
    in s form a chain that begins at ``first_outcome[s, a]``; ``likeliest[s, a]`` is the one seen most often. The
    neighbors of s, states one seen move away in either direction, form a chain that begins at ``first_neighbor[s]``.
    ``changed`` marks states with a new neighbor since the score was last computed. ``sizes`` holds the numbers of
    states, of outcomes, of entries of neighbors, of outcomes beyond the first of their action, of steps taken, and
    whether any action is barred.
    """

    visits: NDArray[np.int64]
    n_actions: NDArray[np.int32]
    tried: NDArray[np.int32]
    pending: NDArray[np.int16]
    barred: NDArray[np.bool_]
    first_outcome: NDArray[np.int32]
    likeliest: NDArray[np.int32]
    first_neighbor: NDArray[np.int32]
    changed: NDArray[np.bool_]
    first_seen: NDArray[np.int64]
    outcome_state: NDArray[np.int32]
    outcome_count: NDArray[np.int32]
    next_outcome: NDArray[np.int32]
    neighbor: NDArray[np.int32]
    next_neighbor: NDArray[np.int32]
    sizes: NDArray[np.int64]


_PER_STATE = (
    *("visits", "n_actions", "tried", "pending", "barred", "first_outcome", "likeliest", "first_neighbor"),
    *("changed", "first_seen"),
)
_PER_OUTCOME = ("outcome_state", "outcome_count", "next_outcome")
_PER_NEIGHBOR = ("neighbor", "next_neighbor")


def new_memory(most_actions: int) -> Memory:
    """Return the memory of an agent that has seen nothing but the virtual state `RESET`.

    >>> new_memory(4).sizes
    array([1, 0, 0, 0, 0, 0])
    """
    states, entries = _FIRST_ROOM, 4 * _FIRST_ROOM
    return Memory(
        visits=np.zeros(states, dtype=np.int64),
        n_actions=np.zeros(states, dtype=np.int32),
        tried=np.zeros((states, most_actions), dtype=np.int32),
        pending=np.zeros((states, most_actions), dtype=np.int16),
        barred=np.zeros((states, most_actions), dtype=np.bool_),
        first_outcome=np.full((states, most_actions), NONE, dtype=np.int32),
        likeliest=np.full((states, most_actions), NONE, dtype=np.int32),
        first_neighbor=np.full(states, NONE, dtype=np.int32),
        changed=np.zeros(states, dtype=np.bool_),
        first_seen=np.zeros(states, dtype=np.int64),
        outcome_state=np.zeros(entries, dtype=np.int32),
        outcome_count=np.zeros(entries, dtype=np.int32),
        next_outcome=np.full(entries, NONE, dtype=np.int32),
        neighbor=np.zeros(entries, dtype=np.int32),
        next_neighbor=np.full(entries, NONE, dtype=np.int32),
        sizes=np.array([1, 0, 0, 0, 0, 0]),
    )


def with_room(memory: Memory) -> Memory:
    """Return the memory with room for one more step: the same arrays, or copies twice as long."""
    n_states, n_outcomes, n_neighbors, *_ = memory.sizes.tolist()
    # One step sees at most two new states (after a reset), one outcome, and four entries of neighbors.
    states, outcomes, neighbors = n_states + 2, n_outcomes + 1, n_neighbors + 4
    # Asked before every step of a real environment, so the usual answer comes first.
    if states <= len(memory.visits) and outcomes <= len(memory.outcome_state) and neighbors <= len(memory.neighbor):
        return memory
    fields = memory._asdict()
    for used, names in ((states, _PER_STATE), (outcomes, _PER_OUTCOME), (neighbors, _PER_NEIGHBOR)):
        if used > len(fields[names[0]]):
            for name in names:
                fields[name] = _with_length(fields[name], 2 * len(fields[name]))
    return Memory(**fields)


def _with_length(array: NDArray[np.generic], length: int) -> NDArray[np.generic]:
    longer = np.empty((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    # Chains end with -1; counts and marks begin with 0.
    longer[len(array) :] = NONE if array.dtype == np.int32 else 0
    return longer


def memory_state(memory: Memory) -> dict[str, NDArray[Any]]:
    """Return copies of the parts of the arrays that are in use, for files."""
    sizes = memory.sizes
    used = {**dict.fromkeys(_PER_STATE, STATES), **dict.fromkeys(_PER_OUTCOME, OUTCOMES)}
    used |= dict.fromkeys(_PER_NEIGHBOR, NEIGHBORS)
    arrays = {name: getattr(memory, name)[: sizes[place]].copy() for name, place in used.items()}
    return {**arrays, "sizes": sizes.copy()}


def memory_from(arrays: dict[str, NDArray[Any]]) -> Memory:
    """Return the memory that `memory_state` described.

    >>> memory_from(memory_state(new_memory(4))).tried.shape
    (64, 4)
    """
    fields = dict(zip(Memory._fields, (arrays[name].copy() for name in Memory._fields), strict=True))
    for names, least in ((_PER_STATE, _FIRST_ROOM), (_PER_OUTCOME, 4 * _FIRST_ROOM), (_PER_NEIGHBOR, 4 * _FIRST_ROOM)):
        for name in names:
            if len(fields[name]) < least:
                fields[name] = _with_length(fields[name], least)
    return with_room(Memory(**fields))


# --- Filling ----------------------------------------------------------------------------------------------------------


@allocation_free(nogil=True, inline="always")
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
    """Return the number of a new state."""
    state = memory.sizes[STATES]
    memory.sizes[STATES] += 1
    memory.visits[state] = 0
    memory.n_actions[state] = n_actions
    memory.tried[state] = 0
    memory.first_seen[state] = step
    return int(state)


@allocation_free(nogil=True, inline="always")
def remember(memory: Memory, before: int, action: int, after: int) -> int:
    """Count one step; return its entry among the outcomes."""
    if memory.pending[before, action] > 0:
        memory.pending[before, action] -= 1
    else:
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
    return int(entry)


@allocation_free(nogil=True)
def join(memory: Memory, one: int, other: int) -> None:
    """Make two states neighbors, if they are not."""
    if one == other:
        return
    # The chain of a start is short; that of RESET may be as long as there are starts.
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


# --- Choosing actions -------------------------------------------------------------------------------------------------


@allocation_free(nogil=True, inline="always")
def random_action(memory: Memory, state: int, least_tried: bool, stream: Stream) -> int:
    """Return a random action of those that are not barred: any of them, or one of those tried least often."""
    masked = memory.sizes[BARRED] > 0
    least, count, found = -1, 0, 0
    for action in range(memory.n_actions[state]):
        if masked and memory.barred[state, action]:
            continue
        times = memory.tried[state, action] if least_tried else 0
        if least < 0 or times < least:
            least, count, found = times, 1, action
        elif times == least:
            count += 1
    # Uniform draws always take a number from the stream, also where there is no choice.
    skip = below(stream, count) if count > 1 or not least_tried else 0
    for action in range(found, memory.n_actions[state]):
        if (masked and memory.barred[state, action]) or (least_tried and memory.tried[state, action] != least):
            continue
        if skip == 0:
            return action
        skip -= 1
    return 0


@allocation_free(nogil=True, inline="always")
def decide(
    memory: Memory,
    routes: NDArray[np.int16],
    running: NDArray[np.int64],
    state: int,
    option: int,
    option_probability: float,
    least_tried: bool,
    stream: Stream,
) -> Any:
    """Return the next action and the option that it belongs to, or -1.

    ``routes[k, s]`` is the action of option k in state s, or -1 where it has ended or knows no way. ``option`` is the
    one that the agent follows on arrival, or -1. Options that the fewest other agents follow, by ``running``, come
    first.
    """
    n_options, n_known = routes.shape
    if option >= 0 and state < n_known:
        action = routes[option, state]
        if action >= 0 and not memory.barred[state, action]:
            return action, option
    if n_options > 0 and state < n_known and uniform(stream) < option_probability:
        count, fewest = 0, 0
        for k in range(n_options):
            if routes[k, state] >= 0 and not memory.barred[state, routes[k, state]]:
                if count == 0 or running[k] < fewest:
                    count, fewest = 1, running[k]
                elif running[k] == fewest:
                    count += 1
        if count > 0:
            skip = below(stream, count)
            for k in range(n_options):
                action = routes[k, state]
                if action >= 0 and not memory.barred[state, action] and running[k] == fewest:
                    if skip == 0:
                        return action, k
                    skip -= 1
    return random_action(memory, state, least_tried, stream), NONE


# --- The graph, and routes on it --------------------------------------------------------------------------------------


def neighbor_graph(memory: Memory) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the neighbors of all states, one row per state, as pointers and states."""
    n_states = int(memory.sizes[STATES])
    indptr = np.empty(n_states + 1, dtype=np.int32)
    indices = np.empty(memory.sizes[NEIGHBORS], dtype=np.int32)
    _fill_graph(memory, indptr, np.empty(n_states, dtype=np.int32), indices)
    return indptr, indices


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


@allocation_free(nogil=True)
def routes_to(
    memory: Memory, goal: int, queue: NDArray[np.int64], done: NDArray[np.bool_], route: NDArray[np.int16]
) -> None:
    """Fill the action of every state on a shortest way to the goal by likeliest outcomes, where one is known.

    ``queue`` and ``done`` are room to work in, ``done`` False everywhere.
    """
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
def routes_by_tries(
    memory: Memory,
    goal: int,
    certain: NDArray[np.int32],
    times: NDArray[np.int32],
    length: NDArray[np.float64],
    route: NDArray[np.int16],
) -> None:
    """Fill the action of every state on a way to the goal of least expected tries, Σ 1 / p; -1 where no way is known.

    For worlds where actions have several outcomes: 1 / p is how often an action is tried until this outcome, if the
    others do no harm. Where ``certain[s, a]`` is not -1, the action leads there and costs 1 + ``times[s, a]``; states
    beyond these arrays have no such actions. ``length``, inf at first, takes the sums. Dijkstra's search with a heap of
    (length, state).
    """
    n_states = memory.sizes[STATES]
    route[:] = NONE
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
                if v < certain.shape[0] and certain[v, action] != NONE:
                    through = so_far + 1.0 + times[v, action] if certain[v, action] == u else np.inf
                else:
                    outcome = memory.first_outcome[v, action]
                    while outcome != NONE and memory.outcome_state[outcome] != u:
                        outcome = memory.next_outcome[outcome]
                    if outcome == NONE:
                        continue
                    through = so_far + memory.tried[v, action] / memory.outcome_count[outcome]
                if through < length[v]:
                    length[v] = through
                    route[v] = action
                    heapq.heappush(heap, (through, np.int64(v)))


@allocation_free(nogil=True)
def routes_by_steps(
    memory: Memory,
    goal: int,
    limit: float,
    n_sweeps: int,
    order: NDArray[np.int64],
    done: NDArray[np.bool_],
    values: NDArray[np.float64],
    route: NDArray[np.int16],
) -> None:
    """Fill the action of every state that reaches the goal in the fewest expected steps, where a way is known.

    V(s) = min_a (1 + Σ p(s′ | s, a) V(s′)), V(goal) = 0, by the frequencies seen, and at most ``limit`` everywhere: a
    state from which the goal is farther than that has no route. ``values`` hold the first guess, and the result; each
    of at most ``n_sweeps`` sweeps goes outward from the goal. ``order`` and ``done`` are as in `routes_to`.
    """
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
        if largest < _EXPECTED_RTOL:
            break
