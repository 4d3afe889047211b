"""Small graphs on which rounding is likely to go wrong, as matrices of weights from each state (rows) to each other."""

from __future__ import annotations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]


def two_cliques(weight: float, size: int = 12) -> Weights:
    """Two cliques joined by one edge: nearly in two parts."""
    weights = np.asarray(np.kron(np.eye(2), np.ones((size, size)) - np.eye(size)), dtype=np.float64)
    weights[0, size] = weights[size, 0] = weight
    return weights


def one_way_cliques(weight: float, size: int = 12) -> Weights:
    """The same, with other weights in one direction than in the other."""
    weights = two_cliques(weight, size)
    weights[size, 0] *= 0.3
    weights[1, 0] = 2.0
    return weights


def spread_out(n: int, seed: int, *, orders: float = 24.0, symmetric: bool = True) -> Weights:
    """A random tree and some more edges, with weights over so many orders of magnitude."""
    rng = np.random.default_rng(seed)
    pattern = np.zeros((n, n), dtype=bool)
    for node in range(1, n):
        pattern[rng.integers(node), node] = True
    pattern[rng.integers(n, size=2 * n), rng.integers(n, size=2 * n)] = True
    pattern = np.triu(pattern | pattern.T, 1)
    weights = np.where(pattern | pattern.T, 10.0 ** rng.uniform(-orders / 2, orders / 2, (n, n)), 0.0)
    return np.triu(weights) + np.triu(weights).T if symmetric else weights


def growing_path(n: int = 25) -> Weights:
    """A path on which each edge weighs ten times the one before."""
    edges = 10.0 ** (np.arange(n - 1) - (n - 2) / 2)
    return np.diag(edges, 1) + np.diag(edges, -1)


def drift(n: int = 12, back: float = 1e-2) -> Weights:
    """A path that is far easier to walk in one direction."""
    return np.diag(np.ones(n - 1), 1) + np.diag(np.full(n - 1, back), -1)


def one_way_circle(n: int = 10) -> Weights:
    """A circle with two shortcuts, one of them nearly never taken."""
    weights = np.roll(np.eye(n), 1, axis=1)
    weights[3, 7], weights[8, 2] = 0.5, 1e-9
    return weights


def looped() -> Weights:
    """A circle with two self-loops, one very heavy; the walk has no loops."""
    weights: Weights = nx.to_numpy_array(nx.cycle_graph(9))
    weights[0, 0], weights[3, 3] = 5.0, 1e6
    return weights


SYMMETRIC = {
    "cliques 1e-12": two_cliques(1e-12),
    "cliques 1e-8": two_cliques(1e-8),
    "cliques 1e-4": two_cliques(1e-4),
    "24 orders": spread_out(16, 0),
    "24 orders again": spread_out(20, 1),
    "6 orders": spread_out(16, 2, orders=6.0),
    "growing path": growing_path(),
    "long path": nx.to_numpy_array(nx.path_graph(40)),
    "star": nx.to_numpy_array(nx.star_graph(20)),
    "cube": nx.to_numpy_array(nx.hypercube_graph(4)),
    "complete": nx.to_numpy_array(nx.complete_graph(10)),
    "cycle": nx.to_numpy_array(nx.cycle_graph(12)),
    "bipartite": nx.to_numpy_array(nx.complete_bipartite_graph(3, 5)),
    "loops": looped(),
}
DIRECTED = {
    "one-way cliques 1e-12": one_way_cliques(1e-12),
    "one-way cliques 1e-8": one_way_cliques(1e-8),
    "one-way cliques 1e-4": one_way_cliques(1e-4),
    "24 orders": spread_out(12, 2, symmetric=False),
    "12 orders": spread_out(12, 3, orders=12.0, symmetric=False),
    "circle": one_way_circle(),
    "drift": drift(),
    "strong drift": drift(back=1e-3),
}
