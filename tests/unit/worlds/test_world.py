from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import farpoint as fp
from farpoint.errors import InvalidInput, InvalidMap, NotConnected, UnknownName
from farpoint.worlds.catalogue import FOUR_ROOMS, MAZE, RING
from tests.helpers import brute

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(("name", "text"), [("four_rooms", FOUR_ROOMS), ("maze", MAZE), ("ring", RING)])
def test_maps_equal_a_cell_by_cell_reading(name: str, text: str) -> None:
    world = fp.worlds.named_world(name)
    weights, cells = brute.grid_weights(text)
    np.testing.assert_array_equal(world.adjacency.toarray(), weights)
    assert world.positions is not None
    assert [tuple(p) for p in world.positions.tolist()] == cells
    assert world.start is not None
    assert text.splitlines()[cells[world.start][0]][cells[world.start][1]] == "S"
    assert world.goals is not None
    assert [text.splitlines()[r][c] for r, c in (cells[g] for g in world.goals)] == ["G"] * text.count("G")


def test_moves_of_the_middle_cell_are_up_left_right_down() -> None:
    world = fp.open_room(3, 3)
    assert world.actions is not None
    middle = list(world.choices(4))
    assert world.transitions.indices[middle].tolist() == [1, 3, 5, 7]
    assert world.actions[middle].tolist() == [0, 1, 2, 3]
    assert world.deterministic
    assert world.symmetric


def test_space_is_floor_and_empty_lines_around_are_dropped() -> None:
    assert fp.World.from_map("\n\n# #\n# #\n\n").n_states == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty text"),
        ("###\n####\n###", "4 characters in line 2 and 3 in line 1"),
        ("\n###\n#.\n", "2 characters in line 3 and 3 in line 2"),
        ("#.x", "got 'x' in line 1, column 3"),
        ("###\n###", "walls only"),
        ("S.S", "at most one start"),
    ],
)
def test_bad_maps(text: str, message: str) -> None:
    with pytest.raises(InvalidMap, match=message):
        fp.World.from_map(text)


def test_map_in_parts() -> None:
    text = "...#.\n..##."
    with pytest.raises(NotConnected, match=r"2 components \(sizes 5, 2\).*largest_component=True"):
        fp.World.from_map(text)
    assert fp.World.from_map(text, largest_component=True).n_states == 5


def test_a_map_is_a_text() -> None:
    with pytest.raises(InvalidMap, match="must be a text; got bytes"):
        fp.World.from_map(b"...")  # type: ignore[arg-type]


def test_positions_and_row_groups_are_whole_numbers() -> None:
    with pytest.raises(InvalidInput, match="positions must be whole numbers"):
        fp.World.from_graph(PATH, positions=[[0, 0.2], [0, 0.7], [0, 0.9]])
    with pytest.raises(InvalidInput, match="choice_ptr must be whole numbers"):
        fp.World(sparse.csr_array([[0.5, 0.5]]), np.array([0, 1.5, 2]))
    with pytest.raises(InvalidInput, match="state must be at least 0"):
        fp.ring().choices(-1)


@pytest.mark.parametrize("wind", [-0.1, 1.5, float("nan"), "strong", True])
def test_bad_wind(wind: object) -> None:
    with pytest.raises(InvalidInput, match="wind must be a number from 0 to 1"):
        fp.four_rooms(wind=wind)  # type: ignore[arg-type]


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
        (np.ones(4), r"square matrix; got shape \(4,\)"),
        (np.zeros((0, 0)), "at least one state"),
        ([[0, -1], [1, 0]], r"got -1 \(negative\) at \[0, 1\]"),
        ([[0, 1], [np.nan, 0]], r"NaN or infinite\) at \[1, 0\]"),
        ([[0, np.inf], [1, 0]], "infinite"),
        ("words", "matrix of numbers; got str"),
        (1j * PATH, "real weights; got complex"),
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


def test_constructor_checks_what_it_is_given() -> None:
    half = sparse.csr_array([[0.5, 0.4]])
    with pytest.raises(InvalidInput, match=r"must sum to 1; got 0\.9 in row 0"):
        fp.World(half, np.array([0, 1, 1]))
    with pytest.raises(InvalidInput, match="choice_ptr must run from 0 to 1"):
        fp.World(sparse.csr_array([[0.5, 0.5]]), np.array([0, 1]))
    with pytest.raises(InvalidInput, match="negative or NaN"):
        fp.World(sparse.csr_array([[1.5, -0.5]]), np.array([0, 1, 1]))
    with pytest.raises(InvalidInput, match="labels must name each of 2"):
        fp.World(sparse.csr_array([[0.5, 0.5]]), np.array([0, 1, 1]), labels=("a",))
    with pytest.raises(InvalidInput, match="start must be at most 1"):
        fp.World(sparse.csr_array([[0.5, 0.5]]), np.array([0, 1, 1]), start=2)


def test_a_world_cannot_be_changed_and_does_not_freeze_the_callers_arrays() -> None:
    mine = np.array([0, 1, 1], dtype=np.int32)
    matrix = sparse.csr_array([[0.5, 0.5]])
    world = fp.World(matrix, mine)
    for copy in (world, pickle.loads(pickle.dumps(world))):
        with pytest.raises(ValueError, match="read-only"):
            copy.transitions.data[0] = 1.0
    mine[1] = 0
    matrix.data[:] = [1.0, 0.0]
    assert world.choice_ptr.tolist() == [0, 1, 1]
    assert world.transitions.toarray().tolist() == [[0.5, 0.5]]
    with pytest.raises(AttributeError):
        world.name = "other"  # type: ignore[misc]


def test_stored_zeros_and_repeated_entries_are_tidied() -> None:
    untidy = sparse.csr_array(([0.5, 0.5, 0.0, 1.0, 0.5, 0.5], [1, 0, 2, 1, 2, 2], [0, 3, 4, 6]), shape=(3, 3))
    tidy = sparse.csr_array([[0.5, 0.5, 0.0], [0, 1.0, 0], [0, 0, 1.0]])
    worlds = [fp.World(matrix, np.arange(4)) for matrix in (untidy, tidy)]
    assert worlds[0].fingerprint == worlds[1].fingerprint
    assert worlds[0].transitions.nnz == 4


def test_small_integers_and_booleans_do_not_overflow() -> None:
    rows, columns = [0, 0, 1, 1], [1, 1, 0, 0]
    bytes_ = sparse.coo_array((np.array([200, 100, 200, 100], dtype=np.uint8), (rows, columns)), shape=(2, 2))
    assert fp.World.from_graph(bytes_).adjacency.toarray()[0, 1] == 300
    flags = sparse.coo_array((np.ones(4, dtype=bool), (rows, columns)), shape=(2, 2))
    assert fp.World.from_graph(flags).adjacency.toarray()[0, 1] == 2


def test_multigraph_edges_add_up() -> None:
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    np.testing.assert_array_equal(fp.World.from_graph(graph).adjacency.toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])


def test_self_loops_are_dropped_unless_asked_for() -> None:
    world = fp.World.from_graph([[2, 1], [1, 0]])
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(world.to_adjacency(self_loops=True).toarray(), [[2, 1], [1, 0]])


def test_fingerprint_sees_the_dynamics_and_nothing_else() -> None:
    world = fp.World.from_map("...", name="one")
    assert world.fingerprint == fp.World.from_map("S.G", name="two").fingerprint
    others = [fp.World.from_map("...."), fp.World.from_map(".\n.\n.", wind=0.5)]
    assert world.fingerprint not in {other.fingerprint for other in others}
    weighted = fp.World.from_graph(2 * PATH)
    assert weighted.fingerprint != fp.World.from_graph(PATH).fingerprint


def test_grid_in_four_dimensions_is_a_product_of_paths() -> None:
    shape = (2, 3, 2, 4)
    expected = nx.grid_graph([nx.path_graph(k) for k in reversed(shape)])  # networkx puts the last first
    nodes = sorted(expected.nodes)
    np.testing.assert_array_equal(
        fp.grid(shape).adjacency.toarray(), nx.to_numpy_array(expected, nodelist=nodes, weight=None)
    )


def test_random_maze_is_the_largest_part_and_the_same_for_the_same_seed() -> None:
    world = fp.random_maze(60, 80, wall=0.35, seed=5)
    floor = np.random.default_rng(5).random((60, 80), dtype=np.float32) >= 0.35
    graph = nx.grid_2d_graph(60, 80).subgraph([tuple(cell) for cell in np.argwhere(floor).tolist()])
    largest = max(nx.connected_components(graph), key=len)
    assert world.positions is not None
    assert {tuple(p) for p in world.positions.tolist()} == largest
    assert world.fingerprint == fp.random_maze(60, 80, wall=0.35, seed=5).fingerprint
    assert world.fingerprint != fp.random_maze(60, 80, wall=0.35, seed=6).fingerprint


@pytest.mark.slow
def test_ten_million_cells() -> None:
    world = fp.random_maze(3163, 3163)
    assert 7_400_000 < world.n_states < 7_500_000
    assert world.adjacency.nnz == world.n_choices


@pytest.mark.parametrize(
    "call", ["random_maze(5, 5, seed=-1)", "random_maze(5, 5, wall=1)", "random_maze(0, 5)", "grid(())", "grid((2, 0))"]
)
def test_bad_catalogue_arguments(call: str) -> None:
    with pytest.raises(InvalidInput):
        eval(f"fp.{call}", {"fp": fp})


def test_unknown_world_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"one of four_rooms, .*; got 'four_room'. Did you mean four_rooms"):
        fp.worlds.named_world("four_room")


def test_text_needs_rows_and_columns() -> None:
    with pytest.raises(InvalidInput, match="row and a column"):
        fp.grid((2, 2, 2)).to_text()
