"""Where states are drawn: at the world's positions, at places that are given, or at a layout of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist

from farpoint.errors import InvalidInput
from farpoint.worlds import World
from farpoint.worlds.arrays import real_numbers

# How far a step in depth of a three-dimensional grid goes to the right, and upwards.
_DEPTH = (0.42, 0.28)
# Up to this many cells, a map may be nearly empty; a larger one has at least one state in 64 cells.
_SMALL_MAP, _SPARSEST = 10**6, 64
# Up to this many states all pairs are kept apart; of more states, neighbors and pairs with one of these pivots.
_PAIRS = 500
_PIVOTS = 60
_ROUNDS = 80
_SPARSE_ROUNDS = 50
# Beyond this many states, dots lie on each other in any layout.
_MOST_MAJORIZED = 20_000
Pos = Any


def places_of(world: World, pos: Pos = None) -> NDArray[Any]:
    """Return row (counted downwards) and column of every state: integers for the cells of a map, else floats.

    A world is a map if its positions are whole numbers and most of its moves join cells that touch. Anything else is
    drawn as dots and edges.

    Parameters
    ----------
    world : World
    pos : mapping from label to (x, y), or array of shape (n_states, 2), optional
        As in networkx: x to the right, y upwards; never a map. Default: the positions of the world; without them its
        observations, or a layout of the graph in which distances are about as long as routes.

    Raises
    ------
    InvalidInput
        If ``pos`` lacks a state or has another shape.

    Examples
    --------
    >>> import farpoint as fp
    >>> places_of(fp.open_room(1, 2))
    array([[0, 0],
           [0, 1]])
    >>> places_of(fp.grid((2,)), {0: (0.5, 2), 1: (1, 3)})
    array([[-2. ,  0.5],
           [-3. ,  1. ]])
    """
    if pos is not None:
        x, y = _given(world, pos).T
        # Adding 0 turns −0 into 0.
        return np.stack([-y + 0.0, x], axis=1)
    if world.positions is not None and world.positions.shape[1] <= 3:
        places = _flat(np.asarray(world.positions, dtype=np.float64))
        return places.astype(np.int64) if _is_grid(world, places) else places
    return graph_layout(world)


def is_map(places: NDArray[Any]) -> bool:
    """Return whether places are cells of a map, which `places_of` gives as integers."""
    return np.issubdtype(places.dtype, np.integer)


def _is_grid(world: World, places: NDArray[np.float64]) -> bool:
    if world.floor is not None:
        return True
    assert world.positions is not None
    if not np.issubdtype(world.positions.dtype, np.integer) or (places != np.round(places)).any():
        return False
    # An image has all cells of the rectangle around the states.
    if np.prod(np.ptp(places, axis=0) + 1) > max(_SMALL_MAP, _SPARSEST * world.n_states):
        return False
    moves = world.neighbors.tocoo()
    lengths = np.abs(places[moves.row] - places[moves.col]).max(axis=1)
    return not lengths.size or float(np.median(lengths)) <= 1.0


def _given(world: World, pos: Pos) -> NDArray[np.float64]:
    if isinstance(pos, Mapping):
        labels = range(world.n_states) if world.labels is None else world.labels
        missing = [label for label in labels if label not in pos]
        if missing:
            raise InvalidInput(f"pos must have a place for every state; got none for {missing[0]!r}.")
        pos = [pos[label] for label in labels]
    places = real_numbers("pos", pos)
    if places.shape != (world.n_states, 2) or not np.isfinite(places).all():
        raise InvalidInput(
            f"pos must be x and y of every state, finite and of shape ({world.n_states}, 2); got shape {places.shape}."
        )
    return places


def _flat(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positions in the plane: a line as one row, a solid seen from the side and above."""
    if positions.shape[1] == 1:
        return np.concatenate([np.zeros_like(positions), positions], axis=1)
    if positions.shape[1] == 2:
        return positions
    depth, row, column = positions.T
    return np.stack([row - _DEPTH[1] * depth, column + _DEPTH[0] * depth], axis=1)


def graph_layout(world: World) -> NDArray[np.float64]:
    """Return row and column of every state, so that places are about as far apart as states are in moves.

    Observations of another number of dimensions than two are projected on their two principal axes. Without them, a
    layout of the graph: pivot multidimensional scaling (Brandes and Pich, 2006), then less of the stress
    Σ (|x_i − x_j| − d_ij)² / d_ij². It is summed over all pairs of up to 500 states (Gansner, Koren and North, 2004);
    of up to 20,000 states over neighbors and pairs with a pivot (Ortmann, Klimenta and Brandes, 2017). The same world
    always has the same layout.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.World.from_graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> places = graph_layout(world)
    >>> steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    >>> np.round(steps / steps[0], 3)
    array([1., 1.])
    """
    if world.observations is not None:
        return _principal_axes(np.asarray(world.observations / (1.0 if world.scale is None else world.scale)))
    n_states = world.n_states
    if n_states < 3:
        return np.stack([np.zeros(n_states), np.arange(n_states)], axis=1)
    pivots = np.unique(np.linspace(0, n_states - 1, min(n_states, _PIVOTS)).astype(np.int64))
    distances = _distances(world, np.arange(n_states) if n_states <= _PAIRS else pivots)
    if n_states <= _PAIRS:
        return _majorized(_scaled(distances[pivots]), distances)
    places = _scaled(distances)
    return places if n_states > _MOST_MAJORIZED else _majorized_sparsely(places, distances, pivots, world)


def _principal_axes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    centered = points - points.mean(axis=0)
    if centered.shape[1] == 1:
        return np.stack([np.zeros(len(points)), points[:, 0]], axis=1)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    # Singular vectors have no sign of their own.
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    x, y = (centered @ axes[:2].T).T
    return np.stack([-y, x], axis=1)


def _distances(world: World, sources: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the number of moves, in either direction, from each source to every state."""
    distances = dijkstra(world.neighbors, directed=False, indices=sources, unweighted=True)
    beyond = ~np.isfinite(distances)
    if beyond.any():
        distances[beyond] = distances[~beyond].max() + 1.0
    return np.asarray(distances)


def _scaled(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places whose distances to the pivots are about those given: classical scaling on some of the columns."""
    squares = distances**2
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    _, _, axes = np.linalg.svd(-centered / 2.0, full_matrices=False)
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    places = axes[:2].T
    # Symmetric graphs place several states at one point; the smallest push apart lets majorization untangle them.
    places = places + 1e-3 * np.abs(places).max() * np.random.default_rng(0).standard_normal(places.shape)
    # As far apart, in the mean, as the pivots say.
    spread = np.linalg.norm(places[:, None] - places[None, :50], axis=2).mean()
    return np.asarray(places * (distances.mean() / spread))


def _majorized(places: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places of less stress: in each round the minimum of a quadratic function that lies above it."""
    n_states = len(places)
    away = distances + np.eye(n_states)
    weights = away**-2.0
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    # Places may be moved together: one more equation keeps their mean.
    inverse = np.linalg.inv(laplacian + 1.0 / n_states)
    for _ in range(_ROUNDS):
        pull = weights * distances / np.maximum(cdist(places, places), 1e-9)
        places = inverse @ (pull.sum(axis=1)[:, None] * places - pull @ places)
    return places


def _majorized_sparsely(
    places: NDArray[np.float64], distances: NDArray[np.float64], pivots: NDArray[np.int64], world: World
) -> NDArray[np.float64]:
    """Return places of less stress: in each round every state moves to the mean of where each of its pairs wants it."""
    first, second, lengths = _near_pairs(world)
    apart = distances.T
    weights = np.where(apart > 0, np.maximum(apart, 1.0) ** -2.0, 0.0)
    n_states, shares = len(places), lengths**-2.0
    total = np.bincount(first, shares, n_states) + weights.sum(axis=1)
    for _ in range(_SPARSE_ROUNDS):
        # A pair wants x_i at x_j + d_ij (x_i − x_j) / |x_i − x_j|.
        pull = weights * apart / np.maximum(cdist(places, places[pivots]), 1e-9)
        far = (weights - pull) @ places[pivots] + pull.sum(axis=1)[:, None] * places
        step = places[first] - places[second]
        wanted = places[second] + step * (lengths / np.maximum(np.linalg.norm(step, axis=1), 1e-9))[:, None]
        near = np.stack([np.bincount(first, shares * axis, n_states) for axis in wanted.T], axis=1)
        places = (near + far) / total[:, None]
    return places


def _near_pairs(world: World) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return pairs of neighbors, and pairs that follow each other among the neighbors of a state; their distances.

    Without the latter all leaves of a branch would lie on one point.
    """
    graph = world.neighbors
    owners = np.repeat(np.arange(world.n_states), np.diff(graph.indptr))
    one, other = graph.indices[:-1], graph.indices[1:]
    follow = (owners[:-1] == owners[1:]) & (np.asarray(graph[one, other]).ravel() == 0)
    one, other = one[follow], other[follow]
    first, second = np.concatenate([owners, one, other]), np.concatenate([graph.indices, other, one])
    lengths = np.repeat([1.0, 2.0], [owners.size, 2 * one.size])
    return first[first != second], second[first != second], lengths[first != second]
