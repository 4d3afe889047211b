from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import farpoint as fp
from farpoint.errors import InvalidInput, NotConnected

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_matrix, sparse.csr_array, sparse.coo_array, sparse.csc_array, sparse.lil_array,
             sparse.dok_array, sparse.bsr_array, np.ndarray.tolist]
)  # fmt: skip
def test_every_format_of_a_matrix(form: object) -> None:
    world = fp.World.from_graph(form(PATH))  # type: ignore[operator]
    np.testing.assert_array_equal(world.adjacency.toarray(), PATH)
    assert world.symmetric


def test_networkx_names_and_weights_are_kept() -> None:
    graph = nx.Graph()
    graph.add_edge("kitchen", "hall", weight=2.5)
    graph.add_edge("hall", "attic")
    world = fp.World.from_graph(graph)
    assert world.labels == ("kitchen", "hall", "attic")
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]])


def test_networkx_directed() -> None:
    world = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 0)]))
    assert not world.symmetric
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(world.neighbors.toarray() > 0, ~np.eye(3, dtype=bool))
    np.testing.assert_array_equal(world.incoming.toarray(), world.adjacency.toarray().T)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"square matrix; got shape \(2, 3\)"),
        (np.ones(4), r"matrix of two dimensions; got shape \(4,\)"),
        (np.zeros((0, 0)), "at least one state"),
        ([[0, -1], [1, 0]], r"got -1 \(negative\) at \[0, 1\]"),
        ([[0, 1], [np.nan, 0]], r"NaN or infinite\) at \[1, 0\]"),
        ([[0, np.inf], [1, 0]], "infinite"),
        ("words", "matrix of numbers; got str"),
        (1j * PATH, "real numbers; got complex"),
        (1e160 * PATH, "Scale them"),
        (1e-160 * PATH, "Scale them"),
        (nx.Graph([(0, 1, {"weight": "x"})]), "edge weights must be numbers"),
        (nx.Graph(), "at least one node"),
    ],
)
def test_bad_graphs(matrix: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.World.from_graph(matrix)


def test_graph_in_parts() -> None:
    graph = nx.disjoint_union(nx.path_graph(4), nx.path_graph(2))
    with pytest.raises(NotConnected, match=r"2 components \(sizes 4, 2\)"):
        fp.World.from_graph(graph)
    world = fp.World.from_graph(graph, largest_component=True)
    assert world.labels == (0, 1, 2, 3)
    np.testing.assert_array_equal(world.adjacency.toarray(), nx.to_numpy_array(nx.path_graph(4)))


def test_small_integers_and_booleans_do_not_overflow() -> None:
    rows, columns = [0, 0, 1, 1], [1, 1, 0, 0]
    bytes_ = sparse.coo_array((np.array([200, 100, 200, 100], dtype=np.uint8), (rows, columns)), shape=(2, 2))
    assert fp.World.from_graph(bytes_).adjacency.toarray()[0, 1] == 300
    flags = sparse.coo_array((np.ones(4, dtype=bool), (rows, columns)), shape=(2, 2))
    assert fp.World.from_graph(flags).adjacency.toarray()[0, 1] == 2


def test_multigraph_edges_add_up() -> None:
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    np.testing.assert_array_equal(fp.World.from_graph(graph).adjacency.toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])


def test_a_networkx_layout_becomes_rows_and_columns() -> None:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: (0.0, 2.0), 1: (1.5, 0.5), 2: (3.0, 0.0)}, "pos")
    world = fp.World.from_graph(graph)
    # Typed by hand: the row is −y, for networkx draws y upwards, and the column is x.
    np.testing.assert_array_equal(world.positions, [[-2.0, 0.0], [-0.5, 1.5], [0.0, 3.0]])
    given = fp.World.from_graph(graph, positions=[[0, 0], [0, 1], [0, 2]])
    np.testing.assert_array_equal(given.positions, [[0, 0], [0, 1], [0, 2]])


def test_the_layout_of_a_component_is_that_of_its_nodes() -> None:
    graph = nx.Graph([("a", "b"), ("c", "d"), ("d", "e")])
    for number, node in enumerate(graph.nodes):
        graph.nodes[node]["pos"] = (float(number), 0.0)
    world = fp.World.from_graph(graph, largest_component=True)
    assert world.labels == ("c", "d", "e")
    np.testing.assert_array_equal(world.positions, [[0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])


def test_a_layout_is_complete_and_of_numbers() -> None:
    graph = nx.path_graph(3)
    graph.nodes[0]["pos"] = (0.0, 1.0)
    assert fp.World.from_graph(graph).positions is None
    for node, place in ((1, "left"), (2, "right")):
        graph.nodes[node]["pos"] = place
    with pytest.raises(InvalidInput, match="node attributes 'pos' must be pairs of numbers"):
        fp.World.from_graph(graph)


def test_rustworkx_graphs() -> None:
    rustworkx = pytest.importorskip("rustworkx")
    world = fp.World.from_graph(rustworkx.generators.cycle_graph(5))
    np.testing.assert_array_equal(world.adjacency.toarray(), nx.to_numpy_array(nx.cycle_graph(5)))
    # Weights and names; a node that was removed leaves a gap in the numbers of the others.
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(["gone", "a", "b"])
    graph.remove_node(0)
    graph.add_edges_from([(1, 2, 2.0), (2, 1, None)])
    world = fp.World.from_graph(graph)
    assert world.labels == ("a", "b")
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 2], [1, 0]])
    both = rustworkx.PyGraph()
    both.add_nodes_from([{"x": 0}, {"x": 1}])
    both.add_edge(0, 1, 3)
    world = fp.World.from_graph(both)
    assert world.labels == (0, 1)
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 3], [3, 0]])
    graph.add_edge(1, 2, "far")
    with pytest.raises(InvalidInput, match="edge weights must be numbers; got could not convert"):
        fp.World.from_graph(graph)
    with pytest.raises(InvalidInput, match="graph must have at least one node"):
        fp.World.from_graph(rustworkx.PyGraph())


@pytest.mark.parametrize("places", [[[0, 0]], [0, 1], np.zeros((4, 2))])
def test_positions_of_another_number_of_states(places: object) -> None:
    with pytest.raises(InvalidInput, match=r"positions must be one row of finite numbers per state \(2\)"):
        fp.World.from_graph([[0, 1], [1, 0]], positions=places)  # type: ignore[arg-type]
