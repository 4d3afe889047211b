"""Routes: the least expected length of the way from every state to a goal.

In a deterministic world that is breadth-first search, or Dijkstra's where choices have lengths. Elsewhere it is a
stochastic shortest path, V(s) = min_c (length(c) + Σ p(s′ | c) V(s′)), V(goal) = 0, solved exactly by policy iteration
over the states from which some policy reaches the goal with certainty; from all others no expectation is finite.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu

from farpoint.compiling import compiled
from farpoint.errors import InvalidInput
from farpoint.options.map_routes import LARGE_MAP, MapDistances
from farpoint.worlds import World
from farpoint.worlds.arrays import read_only

# An improvement smaller than this, relatively, is rounding of the linear solver.
_IMPROVEMENT = 1e-10
# Potentials are kept while they fit here (at least two, at most 256), so that K options never cost K × n_states.
_CACHE_BYTES = 256 * 2**20


def choice_costs(world: World, choices: range | None = None) -> NDArray[np.float64] | float:
    """Return the lengths of some choices, by default of all; 1 in a world without lengths."""
    if world.lengths is None:
        return 1.0
    return world.lengths if choices is None else world.lengths[choices.start : choices.stop]


def steps_to(world: World, goal: int) -> NDArray[np.float64]:
    """Return the least expected number of steps from every state to ``goal``; inf where it is not reached for certain.

    In a world whose choices have lengths, the least expected length.

    Examples
    --------
    >>> import farpoint as fp
    >>> steps_to(fp.grid((4,)), 3)
    array([3., 2., 1., 0.])
    """
    if not world.deterministic:
        return _expected_lengths(world, goal)
    if world.lengths is None and world.n_states > LARGE_MAP and world.floor is not None:
        distances = MapDistances(world.floor)
        distances.come_nearer(np.array([goal]))
        return distances.of_all()
    if world.lengths is None:
        return moves_to_any(world.incoming, [goal])
    return _shortest_lengths(world, goal)


def _shortest_lengths(world: World, goal: int) -> NDArray[np.float64]:
    before, after = world.choice_states, world.transitions.indices
    assert world.lengths is not None
    # Of several choices between two states the shortest: sorted by pair and length, the first of each pair.
    order = np.lexsort((world.lengths, before, after))
    pairs = np.stack([after[order], before[order]])
    first = np.append(True, (np.diff(pairs, axis=1) != 0).any(axis=0))
    kept = (world.lengths[order][first], (pairs[0][first], pairs[1][first]))
    reverse = csr_array(kept, shape=(world.n_states, world.n_states))
    return np.asarray(dijkstra(reverse, indices=goal))


def moves_up_to(world: World, start: int, goal: int) -> NDArray[np.float64]:
    """Return the number of moves to ``goal`` from the states nearer to it than ``start``, and from that; inf elsewhere.

    For one route in a deterministic world: the search from the goal ends where the route begins.

    Examples
    --------
    >>> import farpoint as fp
    >>> moves_up_to(fp.grid((6,)), 1, 3)
    array([inf,  2.,  1.,  0.,  1.,  2.])
    """
    return moves_to_any(world.incoming, [goal], start)


def least_over_choices(world: World, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every state the least of the values of its choices; inf where it has no choice."""
    least = np.full(world.n_states, np.inf)
    able = np.diff(world.choice_ptr) > 0
    least[able] = np.minimum.reduceat(values, world.choice_ptr[:-1][able])
    return least


def moves_to_any(graph: csr_array, goals: Iterable[int], last_state: int = -1) -> NDArray[np.float64]:
    """Return the least number of moves from every state to one of the goals, inf where there is no way.

    Row s of the graph lists the states that have a move into s. With ``last_state``, a search ends where it comes to
    that state.

    Examples
    --------
    >>> import farpoint as fp
    >>> moves_to_any(fp.grid((6,)).incoming, [0, 4])
    array([0., 1., 2., 1., 0., 1.])
    """
    moves = np.full(graph.shape[0], np.inf)
    for goal in goals:
        lower_distances(graph.indptr, graph.indices, goal, moves, last_state)
    return moves


@compiled(interpret_up_to=5_000)
def lower_distances(
    indptr: NDArray[Any], indices: NDArray[Any], source: int, moves: NDArray[np.float64], last_state: int = -1
) -> None:
    """Lower ``moves`` to the number of moves from ``source`` wherever that is less; search only where it is.

    The search ends when it comes to ``last_state``: what lies farther stays as it was.
    """
    queue = np.empty(indptr.size - 1, dtype=np.int32)
    queue[0] = source
    moves[source] = 0.0
    first, last = 0, 1
    while first < last:
        u = queue[first]
        first += 1
        if u == last_state:
            return
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            if moves[u] + 1.0 < moves[v]:
                moves[v] = moves[u] + 1.0
                queue[last] = v
                last += 1


def _expected_lengths(world: World, goal: int) -> NDArray[np.float64]:
    allowed, levels = _certain(world, goal)
    inside = np.isfinite(levels)
    steps = np.where(inside, 0.0, np.inf)
    solved = np.flatnonzero(inside & (np.arange(world.n_states) != goal))
    if solved.size == 0:
        return steps
    # Begin with the policy that most probably goes down the levels: it reaches the goal with certainty, so each
    # evaluation below is a regular system, and policy iteration keeps it so. (Any chance of going down would do in
    # exact arithmetic, but hoping for rare gusts makes expectations that grow exponentially, and a system that is
    # singular to rounding.)
    matrix = world.transitions
    lower = levels[matrix.indices] < np.repeat(levels[world.choice_states], np.diff(matrix.indptr))
    chance_of_lower = np.add.reduceat(np.where(lower, matrix.data, 0.0), matrix.indptr[:-1])
    policy = _first_best(world, np.where(allowed, -chance_of_lower, np.inf))
    costs = np.broadcast_to(np.asarray(choice_costs(world)), (world.n_choices,))
    while True:
        moves = csr_array(world.transitions[policy[solved]])
        system = csc_array(eye_array(solved.size, format="csc") - moves[:, solved])
        try:
            steps[solved] = splu(system).solve(costs[policy[solved]])
        except RuntimeError as error:
            raise InvalidInput(
                f"goal must be within reach in a number of steps that fits a double; got state {goal}, which the "
                f"chances of {world.name} make nearly unreachable."
            ) from error
        values = np.where(allowed, costs + world.transitions @ np.where(inside, steps, 0.0), np.inf)
        best = _first_best(world, values)
        gain = steps[solved] - values[best[solved]]
        better = gain > _IMPROVEMENT * steps[solved]
        if not better.any():
            return steps
        policy[solved[better]] = best[solved[better]]


def _certain(world: World, goal: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the choices that keep the goal certain, and each state's least number of lucky moves to it (inf: never).

    Starting from all states, drop those that cannot reach the goal by choices that surely stay among the kept ones,
    until nothing more drops.
    """
    kept = np.ones(world.n_states, dtype=bool)
    owners = world.choice_states
    while True:
        allowed = np.asarray(world.transitions @ (~kept).astype(np.float64) == 0.0) & kept[owners]
        rows = np.flatnonzero(allowed)
        select = csr_array((np.ones(rows.size), (owners[rows], rows)), shape=(world.n_states, world.n_choices))
        levels = moves_to_any(_as_int32(csr_array((select @ world.transitions).T.tocsr())), [goal])
        reached = np.isfinite(levels)
        if (reached == kept).all():
            return allowed, levels
        kept = reached


def _as_int32(matrix: csr_array) -> csr_array:
    matrix.indices = matrix.indices.astype(np.int32, copy=False)
    matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def _first_best(world: World, values: NDArray[np.float64]) -> NDArray[Any]:
    """Return for every state the first of its choices that has the least value (0 where it has no choice)."""
    least = least_over_choices(world, values)
    owners = world.choice_states
    hits = np.flatnonzero(values == least[owners])
    best = np.zeros(world.n_states, dtype=np.int64)
    # Written backwards, the first hit of a state stays.
    best[owners[hits[::-1]]] = hits[::-1]
    return best


class Potentials:
    """The length of the routes to each goal from everywhere: computed when needed, kept while they fit."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._room = int(np.clip(_CACHE_BYTES // (8 * world.n_states), 2, 256))
        self._kept: OrderedDict[int, NDArray[np.float64]] = OrderedDict()
        self._lock = Lock()

    def of(self, goal: int) -> NDArray[np.float64] | Callable[[], NDArray[np.float64]]:
        """Return the potential of a goal if it is there, or a function that computes it."""
        with self._lock:
            if goal in self._kept:
                self._kept.move_to_end(goal)
                return self._kept[goal]
        return partial(self._compute, goal)

    def _compute(self, goal: int) -> NDArray[np.float64]:
        with self._lock:
            if goal in self._kept:
                return self._kept[goal]
        potential = read_only(steps_to(self._world, goal))
        # Threads that simulate or solve share the set of options.
        with self._lock:
            self._kept[goal] = potential
            while len(self._kept) > self._room:
                self._kept.popitem(last=False)
        return potential


def primitive_moves(world: World) -> csr_array:
    """Return the row-stochastic matrix of a random primitive choice, rows "from".

    A choice is taken with probability proportional to its weight: uniformly in worlds without weights.

    Examples
    --------
    >>> import farpoint as fp
    >>> primitive_moves(fp.grid((3,))).toarray()
    array([[0. , 1. , 0. ],
           [0.5, 0. , 0.5],
           [0. , 1. , 0. ]])
    """
    owners = world.choice_states
    weights = np.ones(world.n_choices) if world.weights is None else world.weights
    return move_matrix(world, weights / np.bincount(owners, weights=weights, minlength=world.n_states)[owners])


def move_matrix(world: World, chances: NDArray[np.float64]) -> csr_array:
    """Return the matrix of moves, rows "from", when each choice is taken with the given chance in its own state.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> move_matrix(fp.grid((3,)), np.array([0.0, 1.0, 0.0, 1.0])).toarray()
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    pick = csr_array((chances, np.arange(world.n_choices), world.choice_ptr), shape=(world.n_states, world.n_choices))
    return csr_array(pick @ world.transitions)
