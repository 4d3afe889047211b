from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName


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
