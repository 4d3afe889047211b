"""A place in the plane for every state of a graph that has none, so that it can be drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from farpoint.worlds import World

# Up to so many states every pair is looked at; beyond, distances to so many pivots.
_PAIRS = 500
_PIVOTS = 60
_ROUNDS = 80


def graph_layout(world: World) -> NDArray[np.float64]:
    """Return row and column of every state, so that places are about as far apart as states are in moves.

    Observations of another number of dimensions than two are projected on their two principal axes. Without them, a
    layout of the graph: pivot multidimensional scaling (Brandes and Pich, 2006) and, for up to 500 states, majorization
    of the stress Σ (|x_i − x_j| − d_ij)² / d_ij² (Gansner, Koren and North, 2004). The same world always has the same
    layout.

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
        return _principal_axes(np.asarray(world.observations))
    n_states = world.n_states
    if n_states < 3:
        return np.stack([np.zeros(n_states), np.arange(n_states)], axis=1)
    pivots = np.unique(np.linspace(0, n_states - 1, min(n_states, _PIVOTS)).astype(np.int64))
    distances = _distances(world, np.arange(n_states) if n_states <= _PAIRS else pivots)
    places = _scaled(distances[pivots] if n_states <= _PAIRS else distances)
    return _majorized(places, distances) if n_states <= _PAIRS else places


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
        between = np.linalg.norm(places[:, None] - places[None], axis=2)
        pull = weights * distances / np.maximum(between, 1e-9)
        np.fill_diagonal(pull, 0.0)
        places = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ places
    return places
