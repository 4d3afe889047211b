"""Where and to what steps are measured when goals are chosen by them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.options.probability import moves_to_nearest
from farpoint.worlds import World


class Targets(NamedTuple):
    """The states that steps are measured to, and what each counts for in a mean over all states."""

    states: NDArray[np.int64]
    weights: NDArray[np.float64]


def all_targets(world: World) -> Targets:
    """Return every state.

    >>> import farpoint as fp
    >>> all_targets(fp.grid((4,))).weights
    array([0.25, 0.25, 0.25, 0.25])
    """
    return Targets(np.arange(world.n_states), np.full(world.n_states, 1.0 / world.n_states))


def drawn_targets(world: World, goals: NDArray[np.int64], n_targets: int, rng: np.random.Generator) -> Targets:
    """Return a sample of the states, weighted so that its mean is that of all of them.

    The mean of the steps to all states is often that to the few that are far from every goal, so states are drawn by
    their distance from the nearest goal: a third of the sample among the farthest tenth, of it a quarter among the
    farthest hundredth. Within these they are at equal distances in their order: on a map, spread over it.

    Examples
    --------
    >>> import farpoint as fp
    >>> targets = drawn_targets(fp.grid((1000,)), np.array([0]), 60, np.random.default_rng(0))
    >>> targets.states.size, round(float(targets.weights.sum()), 9), int((targets.states >= 900).sum())
    (60, 1.0, 20)
    """
    n_states = world.n_states
    if n_targets >= n_states:
        return all_targets(world)
    order = np.argsort(moves_to_nearest(world, goals), kind="stable")
    bounds = [0, int(0.9 * n_states), int(0.99 * n_states), n_states]
    counts = [n_targets - n_targets // 3, n_targets // 3 - n_targets // 12, n_targets // 12]
    states, weights = [], []
    for low, high, count in zip(bounds[:-1], bounds[1:], counts, strict=True):
        stratum = np.sort(order[low:high])
        size = min(max(count, 1), stratum.size)
        states.append(stratum[np.floor((rng.random() + np.arange(size)) * (stratum.size / size)).astype(np.int64)])
        weights.append(np.full(size, stratum.size / size / n_states))
    return Targets(np.concatenate(states), np.concatenate(weights))


def is_crossable(world: World) -> bool:
    """Return whether there are no episodes and every state can be reached from every other.

    >>> import farpoint as fp
    >>> is_crossable(fp.ring())
    True
    """
    if world.restart is not None:
        return False
    return bool(world.symmetric or connected_components(world.adjacency, connection="strong")[0] == 1)


def both_ways(world: World) -> World:
    """Return the graph of a world's moves taken in both directions; parts without a move between are joined at a start.

    >>> import farpoint as fp
    >>> both_ways(fp.World.from_graph([[0, 1], [0, 0]])).adjacency.toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    graph = csr_array(world.adjacency + world.adjacency.T)
    n_parts, part = connected_components(graph, directed=False)
    if n_parts > 1:
        start = 0 if world.starts is None else int(np.argmax(world.starts))
        firsts = np.unique(part, return_index=True)[1]
        firsts = firsts[part[firsts] != part[start]]
        edges = coo_array((np.ones(firsts.size), (np.full(firsts.size, start), firsts)), shape=graph.shape)
        graph = csr_array(graph + edges + edges.T)
    return World.from_graph(graph)
