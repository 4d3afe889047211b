"""Worlds from samples of continuous states: representatives, the graph between them, the nearest state of a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, diags_array, issparse

from farpoint.errors import InvalidInput, check_fraction, check_integer, check_memory, check_word
from farpoint.worlds.arrays import array_size, real_numbers
from farpoint.worlds.graphs import connected_states, places_of_points, world_from_weights
from farpoint.worlds.logs import is_log, read_actions, read_log
from farpoint.worlds.state_index import StateIndex, sklearn

if TYPE_CHECKING:
    from farpoint.worlds.world import World

NEIGHBORS = ("temporal", "kernel", "both")
REPRESENTATIVES = ("farthest", "kmeans++")
_DEFAULT_STATES = 1000
# Representatives are chosen among at most this many observations, drawn at random.
_POOL = 100_000
# Two representatives at one place are a step apart all the same.
_SHORTEST = 1e-12


@dataclass(frozen=True)
class SampleGraph:
    """How the graph of a sampled space is made; see `World.from_samples`."""

    n_states: int | None
    neighbors: str
    alpha: float
    n_neighbors: int
    representatives: str
    seed: int

    def __post_init__(self) -> None:
        if self.n_states is not None:
            check_integer("n_states", self.n_states, 2)
        check_word("neighbors", self.neighbors, NEIGHBORS)
        check_word("representatives", self.representatives, REPRESENTATIVES)
        check_fraction("alpha", self.alpha)
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_integer("seed", self.seed, 0)


def world_from_samples(
    observations: Any, next_observations: Any, graph: SampleGraph, *, actions: Any, largest_component: bool, name: str
) -> World:
    """Return the graph of a continuous space as a world; see `World.from_samples`."""
    notes: tuple[str, ...] = ()
    if is_log(observations):
        if next_observations is not None:
            raise InvalidInput(f"next_observations must be left out with a log; got {type(observations).__name__}.")
        log = read_log(observations)
        observations, next_observations, notes = log.observations, log.next_observations, log.notes
        actions = log.actions if actions is None else actions
    elif next_observations is None and actions is not None:
        raise InvalidInput("actions must go with next_observations; got none of these.")
    before, after = read_rows(observations, next_observations)
    if after is None and graph.neighbors == "temporal":
        raise InvalidInput("next_observations must be given for neighbors='temporal'; got None. Use 'kernel'.")
    taken = None if actions is None else read_actions(actions, len(before))
    states = _choose_states(before if after is None else np.concatenate([before, after]), graph)
    weights = csr_array((len(states), len(states)))
    if graph.neighbors != "temporal":
        weights = weights + _unit(kernel_graph(states, graph.n_neighbors))
    if after is not None and graph.neighbors != "kernel":
        index = StateIndex.nearest(states)
        weights = weights + _unit(temporal_graph(index.find_all(before), index.find_all(after), len(states)))
    weights = normalized(csr_array(weights), graph.alpha)
    if weights.nnz == 0:
        raise InvalidInput(
            "observations must connect at least two states; got none connected. Take fewer states, or "
            "neighbors='kernel'."
        )
    keep = connected_states(weights, largest_component, "graph of the samples")
    if keep is not None:
        notes = (*notes, f"kept {keep.size} of {len(states)} states: the largest component")
        weights, states = csr_array(weights[keep][:, keep]), states[keep]
    edges = weights.tocoo()
    moves = None
    # Rows of floats have no number that could stand for them.
    if taken is not None and taken.ndim == 1 and after is not None:
        index = StateIndex.nearest(states)
        steps = SampleSteps(index.find_all(before), index.find_all(after), taken, after - before)
        moves = actions_of_moves(states, edges.row, edges.col, steps)
    lengths = np.maximum(np.linalg.norm(states[edges.row] - states[edges.col], axis=1), _SHORTEST)
    positions = places_of_points(states) if states.shape[1] == 2 else None
    return world_from_weights(
        weights, positions=positions, observations=states, lengths=lengths, actions=moves, notes=notes, name=name
    )


def read_rows(
    observations: Any, next_observations: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the observations as rows of floats, and those one step later where they are known.

    >>> read_rows([[1, 2]])
    (array([[1., 2.]]), None)
    """
    before = _rows("observations", observations)
    if next_observations is None:
        return before, None
    after = _rows("next_observations", next_observations)
    if after.shape != before.shape:
        raise InvalidInput(f"next_observations must have the shape of observations {before.shape}; got {after.shape}.")
    return before, after


def _rows(what: str, values: Any) -> NDArray[np.float64]:
    check_memory(what, f"{array_size(values)} numbers", 8 * array_size(values))
    if issparse(values):
        raise InvalidInput(f"{what} must be rows of numbers; got a sparse matrix. Use values.toarray().")
    try:
        if not isinstance(values, np.ndarray):
            # Data sets in files and tensors are read at once, not row by row.
            values = np.asarray(values) if hasattr(values, "__array__") else list(values)
    except TypeError as error:
        raise InvalidInput(f"{what} must be rows of numbers; got {values!r}.") from error
    # A list has a length, an array of one number has none.
    first = values[0] if getattr(values, "ndim", 1) and len(values) else None
    if isinstance(first, Mapping):
        raise InvalidInput(
            f"{what} must be rows of numbers; got {type(first).__name__}. Flatten them: "
            "gymnasium.spaces.flatten(space, observation)."
        )
    if isinstance(first, (bytes, str)):
        raise InvalidInput(
            f"{what} must be numbers; got {type(first).__name__}. Record with state=lambda env, observation: "
            "tuple(observation)."
        )
    try:
        array = real_numbers(what, values)
    except InvalidInput as error:
        raise InvalidInput(f"{what} must be rows of numbers, all equally long; got {error}.") from error
    if array.ndim < 2 or not array.size:
        raise InvalidInput(f"{what} must have one row per observation; got shape {array.shape}. Use values[:, None].")
    array = array.reshape(len(array), -1)
    if not np.isfinite(array).all():
        raise InvalidInput(f"{what} must be finite; got {(~np.isfinite(array)).any(axis=1).sum()} rows that are not.")
    return array


def _choose_states(pool: NDArray[np.float64], graph: SampleGraph) -> NDArray[np.float64]:
    """Return the representative observations, in ascending order of their first coordinates."""
    rng = np.random.default_rng(graph.seed)
    if len(pool) > _POOL:
        pool = pool[np.sort(rng.choice(len(pool), _POOL, replace=False))]
    pool = np.unique(pool, axis=0)
    if len(pool) < 2:
        raise InvalidInput(f"observations must hold at least 2 different points; got {len(pool)}.")
    n_states = min(_DEFAULT_STATES, len(pool)) if graph.n_states is None else int(graph.n_states)
    if n_states > len(pool):
        raise InvalidInput(f"n_states must be at most the number of different points ({len(pool)}); got {n_states}.")
    if n_states == len(pool):
        return pool
    if graph.representatives == "kmeans++":
        _, chosen = sklearn("cluster").kmeans_plusplus(
            pool, n_states, random_state=int(rng.integers(2**31)), n_local_trials=None
        )
        return np.asarray(pool[np.sort(np.asarray(chosen, dtype=np.int64))])
    return np.asarray(pool[np.sort(_farthest_points(pool, n_states, int(rng.integers(len(pool)))))])


def _farthest_points(pool: NDArray[np.float64], n_points: int, first: int) -> NDArray[np.int64]:
    """Return the numbers of points, each as far as possible from those before it."""
    chosen = np.empty(n_points, dtype=np.int64)
    distance = np.full(len(pool), np.inf)
    point = first
    for number in range(n_points):
        chosen[number] = point
        distance = np.minimum(distance, ((pool - pool[point]) ** 2).sum(axis=1))
        point = int(distance.argmax())
    return chosen


def kernel_graph(states: NDArray[np.float64], n_neighbors: int) -> csr_array:
    """Return exp(−|x − y|² / (σ_x σ_y)) between nearest neighbors, σ the distance to the last of them; symmetric."""
    n_states = len(states)
    count = min(n_neighbors, n_states - 1)
    distances, others = StateIndex.nearest(states).query(states, count + 1)
    # The nearest is the point itself.
    scale = np.maximum(distances[:, -1], np.finfo(np.float64).tiny)
    rows = np.repeat(np.arange(n_states), count)
    columns = others[:, 1:].ravel()
    weights = np.exp(-(distances[:, 1:].ravel() ** 2) / (scale[rows] * scale[columns]))
    one_way = csr_array(coo_array((weights, (rows, columns)), shape=(n_states, n_states)))
    return csr_array(one_way.maximum(one_way.T))


def temporal_graph(before: NDArray[np.int64], after: NDArray[np.int64], n_states: int) -> csr_array:
    """Return how often the log steps between two cells, in either direction."""
    moved = before != after
    counts = coo_array((np.ones(int(moved.sum())), (before[moved], after[moved])), shape=(n_states, n_states))
    one_way = csr_array(counts)
    return csr_array(one_way + one_way.T)


def _unit(weights: csr_array) -> csr_array:
    """Return the weights with a mean of 1, so that kernels and counts can be added."""
    return csr_array(weights / weights.data.mean()) if weights.nnz else weights


def normalized(weights: csr_array, alpha: float) -> csr_array:
    """Return W(x, y) / (q(x) q(y))^α with q the row sums: α = 1 removes the density of the samples.

    Paper: Coifman and Lafon, Diffusion maps (2006), section 3.
    """
    density = np.asarray(weights.sum(axis=1))
    scale = diags_array(np.where(density > 0, density, 1.0) ** -alpha)
    divided = csr_array(scale @ weights @ scale)
    # The same digits in both directions.
    return _unit(csr_array((divided + divided.T) / 2))


def check_observations(world: World, observations: ArrayLike) -> NDArray[np.float64]:
    """Return observations as rows that can be compared with those of a world's states."""
    if world.observations is None:
        raise InvalidInput(f"world must have observations; got {world!r} without. Make it with World.from_samples.")
    single = isinstance(observations, np.ndarray) and observations.ndim == 1
    if isinstance(observations, (list, tuple)) and observations and np.isscalar(observations[0]):
        single = True
    points = _rows("observations", [observations] if single else observations)
    if points.shape[1] != world.observations.shape[1]:
        raise InvalidInput(f"observations must have {world.observations.shape[1]} numbers each; got {points.shape[1]}.")
    return points


class SampleSteps(NamedTuple):
    """The steps of a log on a graph: from and to which state, by which action, and how far."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    actions: NDArray[np.int64]
    displacements: NDArray[np.float64]


def actions_of_moves(
    states: NDArray[np.float64], rows: NDArray[Any], columns: NDArray[Any], steps: SampleSteps
) -> NDArray[np.int32]:
    """Return the action of each move from state ``rows[k]`` to ``columns[k]``.

    It is the one that made this move most often; where no step made it, the one whose mean displacement, in the steps
    from that state if there are any, ends nearest to where the move leads.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> right = SampleSteps(np.array([0, 1]), np.array([1, 0]), np.array([3, 5]), np.array([[1.0], [-1.0]]))
    >>> actions_of_moves(line, np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1]), right)
    array([3, 5, 3, 5], dtype=int32)
    """
    names, taken = np.unique(steps.actions, return_inverse=True)
    guessed = _by_displacement(states, rows, columns, steps, taken, names.size)
    n_states = len(states)
    # How often each action made each move: one row per pair of states.
    moves, place = np.unique(steps.before * n_states + steps.after, return_inverse=True)
    counts = coo_array((np.ones(taken.size), (place, taken)), shape=(moves.size, names.size)).toarray()
    wanted = rows.astype(np.int64) * n_states + columns
    at = np.minimum(np.searchsorted(moves, wanted), moves.size - 1)
    seen = moves[at] == wanted
    guessed[seen] = counts[at[seen]].argmax(axis=1)
    return names[guessed].astype(np.int32)


def _by_displacement(
    states: NDArray[np.float64],
    rows: NDArray[Any],
    columns: NDArray[Any],
    steps: SampleSteps,
    taken: NDArray[np.int64],
    n_actions: int,
) -> NDArray[np.int64]:
    best = np.zeros(rows.size, dtype=np.int64)
    nearest = np.full(rows.size, np.inf)
    for action in range(n_actions):
        of_it = taken == action
        count = np.bincount(steps.before[of_it], minlength=len(states))
        mean = np.tile(steps.displacements[of_it].mean(axis=0), (len(states), 1))
        here = count > 0
        for place in range(states.shape[1]):
            total = np.bincount(steps.before[of_it], steps.displacements[of_it, place], minlength=len(states))
            mean[here, place] = total[here] / count[here]
        distance = ((states[rows] + mean[rows] - states[columns]) ** 2).sum(axis=1)
        better = distance < nearest
        best[better], nearest[better] = action, distance[better]
    return best
