"""Successor options: options to landmarks, the centers of clusters of the successor representation (Ramesh et al.,
2019).
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.sparse import csc_array, eye_array

from farpoint.diffusion import Walk
from farpoint.options.following import factored
from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.request import DiscoveryRequest, check_memory, goal_states
from farpoint.options.option_set import OptionSet
from farpoint.options.routes import primitive_moves
from farpoint.worlds import World

GAMMA = 0.95
# Beyond so many states the representation is projected onto so many random directions, which keeps distances to about
# a tenth (Johnson and Lindenstrauss).
_WHOLE = 1_500
_DIRECTIONS = 256
_ITERATIONS, _TRIALS = 100, 5


def successor_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return options to the landmarks: of each cluster of states the one nearest to its center.

    States are clustered by k-means of the successor representation of a random walk, (I − γ P)⁻¹. An option starts
    wherever its landmark can be reached, and ends there. Paper: the policy climbs the landmark's successor
    representation. Here: it takes a shortest route, so that it cannot end in another local maximum.
    """
    n_options = count_options(world, request)
    allowed = goal_states(world)
    features = successor_features(world, seed=request.seed)[allowed]
    rng = np.random.default_rng(request.seed)
    centers, members = _clustered(features, n_options, rng)
    goals: list[int] = []
    for number in range(n_options):
        inside = np.flatnonzero(members == number)
        # A cluster that lost its last state has no landmark of its own; one is drawn below.
        if inside.size == 0:
            continue
        distances = np.square(features[inside] - centers[number]).sum(axis=1)
        goals.append(int(allowed[inside[distances.argmin()]]))
    missing = n_options - len(goals)
    if missing:
        goals += rng.choice(np.setdiff1d(allowed, goals), size=missing, replace=False).tolist()
    return OptionSet(world, np.sort(goals), "successor", {"gamma": GAMMA, "seed": request.seed})


def _clustered(
    features: NDArray[np.float64], n_clusters: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the centers and the cluster of each state: of several k-means the one with the least distances."""
    best, least = None, np.inf
    for _ in range(_TRIALS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a cluster without states has no landmark, which is dealt with
            centers, members = kmeans2(features, n_clusters, iter=_ITERATIONS, minit="++", missing="warn", rng=rng)
        total = float(np.square(features - centers[members]).sum())
        if total < least:
            best, least = (centers, members), total
    assert best is not None
    return best


def successor_features(world: World, *, seed: int = 0) -> NDArray[np.float64]:
    """Return the successor representation (I − γ P)⁻¹ of every state, or, of a large world, a random projection of it.

    Examples
    --------
    >>> import farpoint as fp
    >>> successor_features(fp.grid((3,))).sum(axis=1).round(6)          # 1 / (1 − γ)
    array([20., 20., 20.])
    """
    Walk.of(world)
    moves = primitive_moves(world)
    if world.restart is not None and world.starts is not None:
        # An episode that ends is worth nothing more: the walk of a row stops with its restart.
        moves = csc_array(moves.multiply((1.0 - world.restart)[:, None]))
    system = csc_array(eye_array(world.n_states) - GAMMA * moves)
    if world.n_states <= _WHOLE:
        return np.asarray(factored(system).solve(np.eye(world.n_states)))
    check_memory(world, _DIRECTIONS, 2 * _DIRECTIONS)
    directions = np.random.default_rng(seed).standard_normal((world.n_states, _DIRECTIONS)) / np.sqrt(_DIRECTIONS)
    return np.asarray(factored(system).solve(directions))
