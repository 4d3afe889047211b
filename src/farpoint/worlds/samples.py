"""Worlds from samples of continuous states: representatives, the graph between them, the nearest state of a point."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, diags_array, issparse
from scipy.spatial import cKDTree

from farpoint.errors import InvalidInput, MissingExtra, check_fraction, check_integer, check_memory, check_word
from farpoint.worlds.arrays import array_size, real_numbers
from farpoint.worlds.graphs import connected_states, world_from_weights
from farpoint.worlds.logs import Log
from farpoint.worlds.sample_actions import SampleSteps, actions_of_moves, read_actions

if TYPE_CHECKING:
    from farpoint.worlds.world import World

NEIGHBORS = ("temporal", "kernel", "both")
REPRESENTATIVES = ("farthest", "kmeans++")
_DEFAULT_STATES = 1000
# Representatives are chosen among so many observations, drawn at random where there are more.
_POOL = 100_000
# So many observations are looked up at once, exactly: the memory of a block, whatever the number of observations.
_BLOCK = 100_000
# Up to here trees beat comparing with every state.
TREE_DIMENSIONS = 15
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
    observations: Any, next_observations: Any, graph: SampleGraph, *, actions: Any = None, name: str
) -> World:
    """Return the graph of a continuous space as a world; see `World.from_samples`."""
    before, after = read_samples(observations, next_observations)
    if after is None and graph.neighbors == "temporal":
        raise InvalidInput("next_observations must be given for neighbors='temporal'; got None. Use 'kernel'.")
    taken = _read_actions(observations, actions, after, len(before))
    states = _choose_states(before if after is None else np.concatenate([before, after]), graph)
    weights = csr_array((len(states), len(states)))
    if graph.neighbors != "temporal":
        weights = weights + _unit(kernel_graph(states, graph.n_neighbors))
    if after is not None and graph.neighbors != "kernel":
        nearest = NearestStates(states)
        weights = weights + _unit(temporal_graph(nearest.states(before), nearest.states(after), len(states)))
    weights = normalized(csr_array(weights), graph.alpha)
    keep = connected_states(weights, largest_component=True)
    if keep is not None:
        weights, states = csr_array(weights[keep][:, keep]), states[keep]
    if len(states) < 2:
        raise InvalidInput(
            "observations must connect at least two states; got none connected. Take fewer states, or "
            "neighbors='kernel'."
        )
    edges = weights.tocoo()
    moves = None
    if taken is not None and after is not None:
        nearest = NearestStates(states)
        steps = SampleSteps(nearest.states(before), nearest.states(after), taken, after - before)
        moves = actions_of_moves(states, edges.row, edges.col, steps)
    lengths = np.maximum(np.linalg.norm(states[edges.row] - states[edges.col], axis=1), _SHORTEST)
    # Two coordinates are x and y: a row is y, a column x.
    positions = states[:, ::-1] if states.shape[1] == 2 else None
    return world_from_weights(
        weights, positions=positions, observations=states, lengths=lengths, actions=moves, name=name
    )


def _read_actions(
    observations: Any, actions: Any, after: NDArray[np.float64] | None, n_steps: int
) -> NDArray[np.int64] | None:
    """Return the actions that are whole numbers, given or of a log; None where there are none."""
    if actions is None:
        actions = getattr(observations, "actions", None)
    elif after is None:
        raise InvalidInput("actions must go with next_observations; got none of these.")
    return None if actions is None or after is None else read_actions(actions, n_steps)


def read_samples(
    observations: Any, next_observations: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the observations as rows of floats, and those one step later where they are known."""
    if isinstance(observations, Log):
        observations, next_observations = observations.states, observations.next_states
    elif hasattr(observations, "observations") and hasattr(observations, "next_observations"):
        observations, next_observations = observations.observations, observations.next_observations
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
        values = list(values) if not isinstance(values, np.ndarray) else values
    except TypeError as error:
        raise InvalidInput(f"{what} must be rows of numbers; got {values!r}.") from error
    # A list has a length, an array of one number has none.
    if getattr(values, "ndim", 1) and len(values) and isinstance(values[0], (bytes, str)):
        raise InvalidInput(
            f"{what} must be numbers; got {type(values[0]).__name__}. Record with state=lambda env, observation: "
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
        _, chosen = _sklearn("cluster").kmeans_plusplus(
            pool, n_states, random_state=int(rng.integers(2**31)), n_local_trials=None
        )
        return np.asarray(pool[np.sort(np.asarray(chosen, dtype=np.int64))])
    return np.asarray(pool[np.sort(_farthest_points(pool, n_states, int(rng.integers(len(pool)))))])


def _farthest_points(pool: NDArray[np.float64], n_points: int, first: int) -> NDArray[np.int64]:
    """Return points each of which is as far as possible from those before it."""
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
    distances, others = NearestStates(states).query(states, count + 1)
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


class NearestStates:
    """An index that finds the nearest states of points, exactly.

    >>> NearestStates(np.array([[0.0], [1.0], [5.0]])).states(np.array([[4.0], [0.1]]))
    array([2, 0])
    """

    def __init__(self, states: NDArray[np.float64]) -> None:
        # Centered: far from 0 the squares of a search by products lose their digits.
        self._center = states.mean(axis=0)
        self._tree = self._brute = None
        if states.shape[1] <= TREE_DIMENSIONS:
            self._tree = cKDTree(states - self._center)
        else:
            self._brute = _sklearn("neighbors").NearestNeighbors(algorithm="brute").fit(states - self._center)

    def query(self, points: NDArray[np.float64], count: int = 1) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return distances and numbers of the ``count`` nearest states, one row per point."""
        if self._tree is not None:
            distances, numbers = self._tree.query(points - self._center, k=[*range(1, count + 1)])
        else:
            assert self._brute is not None
            distances, numbers = self._brute.kneighbors(points - self._center, n_neighbors=count)
        return np.asarray(distances), np.asarray(numbers, dtype=np.int64)

    def states(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the nearest state of each point, block by block."""
        found = np.empty(len(points), dtype=np.int64)
        for first in range(0, len(points), _BLOCK):
            block = slice(first, first + _BLOCK)
            found[block] = self.query(points[block])[1][:, 0]
        return found


def _sklearn(module: str) -> Any:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError as error:
        raise MissingExtra(
            f"scikit-learn must be installed for these samples; got {error}. Run: pip install 'farpoint[samples]'."
        ) from error


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
