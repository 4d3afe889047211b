"""What ``solver="auto"`` saves where an exact score takes minutes: ``python -m research.automatic``.

Two networks at t = 100: a planar one of 15,000 nodes, where auto follows the part of the walk that matters, and twenty
clusters of 525 nodes, where it takes 50 components. Processor seconds of following walks are measured on a few states
and extrapolated to all.
"""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.spatial import Delaunay

import farpoint as fp
from farpoint.diffusion import Walk
from farpoint.diffusion.graphs import GraphPlan
from farpoint.diffusion.scoring import TOLERANCE

T = 100


def planar_network(n_nodes: int = 15_000) -> fp.World:
    points = np.random.default_rng(0).uniform(size=(n_nodes, 2))
    corners = Delaunay(points).simplices
    graph = nx.Graph(
        [(int(a), int(b)) for triangle in corners for a, b in zip(triangle, np.roll(triangle, 1), strict=True)]
    )
    return fp.World.from_graph(nx.to_scipy_sparse_array(graph, nodelist=range(n_nodes)), name="planar network")


def clusters(n_clusters: int = 20, size: int = 525) -> fp.World:
    graph = nx.disjoint_union_all([nx.random_regular_graph(6, size, seed=number) for number in range(n_clusters)])
    graph.add_edges_from((size * number, size * ((number + 1) % n_clusters) + 1) for number in range(n_clusters))
    return fp.World.from_graph(graph, name="clusters")


def following_seconds(
    walk: Walk, tolerance: float | None, states: NDArray[np.int64]
) -> tuple[float, NDArray[np.float64]]:
    """Processor seconds to follow the walk from every state, by those of some, and the scores of these."""
    plan = GraphPlan(walk, T, tolerance).following()
    plan.at(states[:1])
    began = time.process_time()
    scores = plan.at(states)[0]
    return (time.process_time() - began) * walk.n_states / states.size, scores


def main() -> None:
    network = planar_network()
    order = np.asarray(reverse_cuthill_mckee(network.adjacency, symmetric_mode=True))
    walk = Walk.of(fp.World.from_graph(network.adjacency[order][:, order]))
    some = np.arange(0, walk.n_states, 300)
    exact, _ = following_seconds(walk, None, some)
    rough, _ = following_seconds(walk, TOLERANCE, some)
    print(f"planar network: exact {exact:,.0f} s, to {TOLERANCE:g} {rough:,.0f} s of processor time")
    world = clusters()
    began = time.perf_counter()
    scores = fp.score(world, T)
    seconds = time.perf_counter() - began
    some = np.arange(0, world.n_states, 700)
    exact, true = following_seconds(Walk.of(world), None, some)
    error = np.abs(np.asarray(scores)[some] / true - 1).max()
    bound = float(((0.0 if scores.error_bound is None else scores.error_bound) / scores).max())
    print(f"clusters: exact {exact:,.0f} s, {scores.solver} {seconds:.0f} s, error {error:.1g}, bound {bound:.1g}")


if __name__ == "__main__":
    main()
