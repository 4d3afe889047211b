"""Symmetry and components of a graph that is read once, against networkx."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.diffusion.partitions.structure import EdgeBalance, StreamedComponents

Integers = NDArray[np.int64]


def streamed(weights: csr_array, size: int) -> list[tuple[int, int, Integers, Integers, NDArray[np.float64]]]:
    """The edges of ``size`` states at a time: first state, last, sources, targets, weights."""
    n = weights.shape[0]
    pieces = []
    for first, last in pairwise([*range(0, n, size), n]):
        rows = weights[first:last].tocoo()
        pieces.append((first, last, rows.row.astype(np.int64) + first, rows.col.astype(np.int64), rows.data))
    return pieces


def random_graph(n: int, p: float, seed: int) -> csr_array:
    graph = nx.gnp_random_graph(n, p, seed=seed)
    rng = np.random.default_rng(seed)
    for u, v in graph.edges:
        graph.edges[u, v]["weight"] = rng.uniform(0.1, 2.0)
    return csr_array(nx.to_scipy_sparse_array(graph, dtype=np.float64))


@given(n=st.integers(1, 60), p=st.floats(0, 0.2), size=st.integers(1, 70), seed=st.integers(0, 99))
def test_components_are_those_of_networkx(n: int, p: float, size: int, seed: int) -> None:
    weights = random_graph(n, p, seed)
    components = StreamedComponents()
    for first, last, source, target, _ in streamed(weights, size):
        components.add(first, last, source, target)
    assert components.count() == nx.number_connected_components(nx.from_scipy_sparse_array(weights))


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("seed", range(5))
def test_a_symmetric_graph_is_balanced_and_any_single_change_is_seen(size: int, seed: int) -> None:
    weights = random_graph(40, 0.15, seed)

    def balanced(matrix: csr_array) -> bool:
        balance = EdgeBalance()
        for _, _, source, target, weight in streamed(matrix, size):
            balance.add(source, target, weight)
        return balance.balanced

    assert balanced(weights)
    entry = np.random.default_rng(seed).integers(weights.nnz)
    heavier, missing = weights.copy(), weights.copy()
    heavier.data[entry] = np.nextafter(heavier.data[entry], 9.0)
    assert not balanced(heavier)
    missing.data[entry] = 0.0
    missing.eliminate_zeros()
    assert not balanced(missing)


def test_self_loops_have_no_direction_and_equal_edges_add_up() -> None:
    balance = EdgeBalance()
    balance.add(np.array([0, 1, 1]), np.array([0, 1, 2]), np.array([3.0, 1.0, 0.5]))
    assert not balance.balanced
    balance.add(np.array([1, 2, 2]), np.array([2, 1, 1]), np.array([0.5, 0.5, 0.5]))
    assert balance.balanced


def test_a_path_against_its_reverse_with_other_weights_does_not_balance() -> None:
    # The same sum of weights, and as many edges there as back.
    balance = EdgeBalance()
    balance.add(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0]))
    balance.add(np.array([1, 2]), np.array([0, 1]), np.array([2.0, 1.0]))
    assert not balance.balanced
