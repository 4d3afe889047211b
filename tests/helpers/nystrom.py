"""The extension of a score from a sample, with dense matrices, apart from the package."""

from __future__ import annotations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import farpoint as fp

Array = NDArray[np.float64]


def dense_walk(world: fp.World) -> tuple[Array, Array]:
    """L = ½ (I + D^-½ M D^-½) and the degrees, filled."""
    weights = world.adjacency.toarray()
    degrees = weights.sum(axis=1)
    return 0.5 * (np.eye(len(weights)) + weights / np.sqrt(np.outer(degrees, degrees))), degrees


def dense_nystrom(world: fp.World, sample: NDArray[np.int64], t: float, tau: int, rank: int | None = None) -> Array:
    """The eigenvectors of the n × n matrix K_xS K_SS⁺ K_Sx by a dense solver, put into Eq. 1."""
    walk, degrees = dense_walk(world)
    first = np.sqrt(degrees / degrees.sum())
    kernel = np.linalg.matrix_power(walk, tau) - np.outer(first, first)
    columns = kernel[:, sample]
    low = columns @ np.linalg.pinv(columns[sample], rcond=1e-12, hermitian=True) @ columns.T
    mu, psi = np.linalg.eigh((low + low.T) / 2)
    keep = np.argsort(-mu)[: rank or int((mu > 1e-12 * mu.max()).sum())]
    a = psi[:, keep] * mu[keep] ** (t / tau) / np.sqrt(degrees)[:, None]
    return np.asarray(((a @ (psi[:, keep] * np.sqrt(degrees)[:, None]).T) ** 2).sum(axis=1))


def random_sample(world: fp.World, share: float, seed: int) -> NDArray[np.int64]:
    return fp.diffusion.choose_landmarks(world, round(share * world.n_states), "random", seed=seed)


def weighted_graph(seed: int) -> fp.World:
    graph = nx.connected_watts_strogatz_graph(60, 4, 0.2, seed=seed)
    rng = np.random.default_rng(seed)
    for u, v in graph.edges:
        graph.edges[u, v]["weight"] = rng.uniform(0.2, 3.0)
    return fp.World.from_graph(graph)
