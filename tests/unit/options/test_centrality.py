"""Betweenness against networkx and rustworkx, exact and sampled."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import rustworkx
from hypothesis import given, settings
from hypothesis import strategies as st

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options import betweenness


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 40), st.integers(0, 1000), st.booleans())
def test_equal_to_networkx(n_states: int, seed: int, directed: bool) -> None:
    graph = nx.gnp_random_graph(n_states, 0.2, seed=seed, directed=directed)
    graph.add_edges_from(nx.path_graph(n_states).edges)  # connected, one way at least
    expected = nx.betweenness_centrality(graph)
    world = fp.World.from_graph(graph)
    assert world.labels is not None
    values = betweenness(world)
    assert np.abs(values - [expected[label] for label in world.labels]).max() < 1e-9


def test_equal_to_rustworkx_and_for_any_number_of_workers() -> None:
    world = fp.random_maze(40, 40, seed=1)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(world.n_states))
    edges = world.adjacency.tocoo()
    graph.add_edges_from_no_data([(int(a), int(b)) for a, b in zip(edges.row, edges.col, strict=True) if a < b])
    expected = rustworkx.betweenness_centrality(graph)
    values = betweenness(world)
    assert np.abs(values - [expected[state] for state in range(world.n_states)]).max() < 1e-9
    assert (values == betweenness(world, n_jobs=1)).all()


def test_the_mean_of_samples_is_the_exact_value() -> None:
    for world in (fp.open_room(12, 12), fp.random_maze(12, 12, seed=2)):
        exact = betweenness(world)
        samples = np.array([betweenness(world, n_sources=40, seed=seed) for seed in range(60)])
        error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
        # Five standard errors, of all states at once.
        assert (np.abs(samples.mean(axis=0) - exact) <= 5 * error + 1e-12).all()
        assert np.abs(samples[0] - exact).max() > 0


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="n_sources must be at least 2; got 1"):
        betweenness(fp.maze(), n_sources=1)


def test_more_routes_than_a_double_can_count() -> None:
    """A chain of 1,500 diamonds has 2¹⁵⁰⁰ shortest routes; each of its states is passed by half or all of those."""
    n = 1_500
    diamonds = nx.Graph()
    for number in range(n):
        begin = 3 * number
        diamonds.add_edges_from(
            [(begin, begin + 1), (begin, begin + 2), (begin + 1, begin + 3), (begin + 2, begin + 3)]
        )
    order = sorted(diamonds)
    found = betweenness(fp.World.from_graph(nx.to_scipy_sparse_array(diamonds, nodelist=order)), n_sources=40)
    assert np.isfinite(found).all()
    # By hand: a joint between diamonds separates the states before it from those behind it, and half of the routes
    # between the two sides of each of its diamonds pass it.
    joint, size = 3 * (n // 2), 3 * n + 1
    passed = (2 * joint * (size - 1 - joint) + 2) / ((size - 1) * (size - 2))
    exact = betweenness(fp.World.from_graph(nx.to_scipy_sparse_array(diamonds, nodelist=order)))
    assert exact[joint] == pytest.approx(passed, rel=1e-9)
    assert exact[3 * 700 + 1] == pytest.approx(exact[3 * 700 + 2], rel=1e-9)
