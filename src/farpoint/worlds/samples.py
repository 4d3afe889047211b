"""Worlds from samples of continuous states: representatives, the graph between them, the state nearest to a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, diags_array

from farpoint.errors import InvalidInput, MissingExtra, check_fraction, check_integer, check_word
from farpoint.worlds import graphs
from farpoint.worlds.logs import Log

if TYPE_CHECKING:
    from farpoint.worlds.world import World

NEIGHBORS = ("temporal", "kernel", "both")
REPRESENTATIVES = ("farthest", "kmeans++")
_DEFAULT_STATES = 1000
# Representatives are chosen among so many observations, drawn at random where there are more.
_POOL = 100_000
# So many observations are looked up at once, exactly: the memory of a block, whatever the number of observations.
_BLOCK = 100_000
# Where trees beat comparing with every state.
_TREE_DIMENSIONS = 15


def build(
    observations: Any,
    next_observations: Any,
    *,
    n_states: int | None,
    neighbors: str,
    alpha: float,
    n_neighbors: int,
    representatives: str,
    seed: int,
) -> tuple[csr_array, NDArray[np.float64]]:
    """Return the weights between representatives, and the observation of each: see `World.from_samples`."""
    neighbors = check_word("neighbors", neighbors, NEIGHBORS)
    representatives = check_word("representatives", representatives, REPRESENTATIVES)
    alpha = check_fraction("alpha", alpha)
    n_neighbors = check_integer("n_neighbors", n_neighbors, 1)
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    before, after = read_samples(observations, next_observations)
    if after is None and neighbors == "temporal":
        raise InvalidInput("next_observations must be given for neighbors='temporal'; got None. Use 'kernel'.")
    pool = before if after is None else np.concatenate([before, after])
    if len(pool) > _POOL:
        pool = pool[np.sort(rng.choice(len(pool), _POOL, replace=False))]
    pool = np.unique(pool, axis=0)
    if len(pool) < 2:
        raise InvalidInput(f"observations must hold at least 2 different points; got {len(pool)}.")
    n_states = min(_DEFAULT_STATES, len(pool)) if n_states is None else check_integer("n_states", n_states, 2)
    if n_states > len(pool):
        raise InvalidInput(f"n_states must be at most the number of different points ({len(pool)}); got {n_states}.")
    states = pool[_chosen(pool, n_states, representatives, rng)]
    weights = csr_array((n_states, n_states))
    if neighbors != "temporal":
        weights = weights + _unit(kernel_graph(states, n_neighbors))
    if after is not None and neighbors != "kernel":
        weights = weights + _unit(temporal_graph(nearest(states, before), nearest(states, after), n_states))
    weights = normalized(csr_array(weights), alpha)
    keep = graphs.connected_part(weights, largest_component=True)
    if keep is not None:
        weights, states = csr_array(weights[keep][:, keep]), states[keep]
    if len(states) < 2:
        raise InvalidInput(
            f"observations must join at least two of {n_states} states; got none joined. Take fewer states, or "
            "neighbors='kernel'."
        )
    return weights, states


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
    try:
        values = list(values) if not isinstance(values, np.ndarray) else values
    except TypeError as error:
        raise InvalidInput(f"{what} must be rows of numbers; got {values!r}.") from error
    if len(values) and isinstance(values[0], (bytes, str)):
        raise InvalidInput(
            f"{what} must be numbers; got {type(values[0]).__name__}. Explore with state=lambda env, observation: "
            "tuple(observation)."
        )
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} must be rows of numbers, all equally long; got {error}.") from error
    if array.ndim < 2 or not array.size:
        raise InvalidInput(f"{what} must have one row an observation; got shape {array.shape}. Use values[:, None].")
    array = array.reshape(len(array), -1)
    if not np.isfinite(array).all():
        raise InvalidInput(f"{what} must be finite; got {(~np.isfinite(array)).any(axis=1).sum()} rows that are not.")
    return array


def _chosen(
    pool: NDArray[np.float64], n_states: int, representatives: str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return which points of the pool stand for all, in ascending order."""
    if n_states == len(pool):
        return np.arange(n_states)
    if representatives == "kmeans++":
        _, chosen = _sklearn("cluster").kmeans_plusplus(
            pool, n_states, random_state=int(rng.integers(2**31)), n_local_trials=None
        )
        return np.sort(np.asarray(chosen, dtype=np.int64))
    chosen = np.empty(n_states, dtype=np.int64)
    away = np.full(len(pool), np.inf)
    point = int(rng.integers(len(pool)))
    for number in range(n_states):
        chosen[number] = point
        away = np.minimum(away, ((pool - pool[point]) ** 2).sum(axis=1))
        point = int(away.argmax())
    return np.sort(chosen)


def kernel_graph(states: NDArray[np.float64], n_neighbors: int) -> csr_array:
    """Return exp(−|x − y|² / (σ_x σ_y)) between nearest neighbors, σ the distance to the last of them; symmetric."""
    n_states = len(states)
    count = min(n_neighbors, n_states - 1)
    distances, others = _Searcher(states, count + 1).kneighbors(states)
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
    """Return W(x, y) / (q(x) q(y))^α with q the row sums: α = 1 forgets how densely the samples lie.

    Paper: Coifman and Lafon, Diffusion maps (2006), section 3.
    """
    density = np.asarray(weights.sum(axis=1))
    scale = diags_array(np.where(density > 0, density, 1.0) ** -alpha)
    divided = csr_array(scale @ weights @ scale)
    # The same digits there and back.
    return _unit(csr_array((divided + divided.T) / 2))


def nearest(states: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the state nearest to each point: exact, block by block."""
    return _look_up(_Searcher(states, 1), points)[0]


def _look_up(searcher: _Searcher, points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    found = np.empty(len(points), dtype=np.int64)
    away = np.empty(len(points))
    for first in range(0, len(points), _BLOCK):
        block = slice(first, first + _BLOCK)
        distances, numbers = searcher.kneighbors(points[block])
        found[block], away[block] = numbers[:, 0], distances[:, 0]
    return found, away


class _Searcher:
    """The nearest states of points. All are centerd first: far from 0 the squares of brute search lose their digits."""

    def __init__(self, states: NDArray[np.float64], count: int) -> None:
        algorithm = "kd_tree" if states.shape[1] <= _TREE_DIMENSIONS else "brute"
        self._middle = states.mean(axis=0)
        neighbors = _sklearn("neighbors").NearestNeighbors(n_neighbors=count, algorithm=algorithm)
        self._fitted = neighbors.fit(states - self._middle)

    def kneighbors(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return distances and numbers of the nearest states, one row a point."""
        distances, numbers = self._fitted.kneighbors(points - self._middle)
        return distances, numbers


def _sklearn(part: str) -> Any:
    import importlib

    try:
        return importlib.import_module(f"sklearn.{part}")
    except ImportError as error:
        raise MissingExtra(
            f"worlds from samples must have scikit-learn installed; got {error}. Install it: "
            "pip install 'farpoint[samples]'."
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


def nearest_state(world: World, observations: ArrayLike) -> NDArray[np.int64]:
    """Return the state whose observation is nearest to each of the given ones.

    Parameters
    ----------
    world : World
        Whose states carry observations, as `World.from_samples` makes them.
    observations : array, shape (n, dimensions) or (dimensions,)
        One row each; a single observation may come as it is.

    Returns
    -------
    array of int, shape (n,)

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> world = fp.World.from_samples(np.arange(5.0)[:, None], n_neighbors=2)
    >>> fp.nearest_state(world, [[0.2], [3.9]])
    array([0, 4])
    """
    points = check_observations(world, observations)
    assert world.observations is not None
    # Built once a world: agents ask at every step.
    kept = world.__dict__
    if "_searcher" not in kept:
        kept["_searcher"] = _Searcher(world.observations, 1)
    return _look_up(kept["_searcher"], points)[0]
