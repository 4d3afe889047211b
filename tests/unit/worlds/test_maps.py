"""Maps, the worlds that are their map, the catalogue, and maps as text."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imsave
from scipy import ndimage

import farpoint as fp
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidFile, InvalidInput, InvalidMap, NotConnected, UnknownName
from farpoint.worlds.catalogue import FOUR_ROOMS, MAZE, RING
from tests.helpers import brute
from tests.helpers.worlds import assert_same_world


@pytest.mark.parametrize(("name", "text"), [("four_rooms", FOUR_ROOMS), ("maze", MAZE), ("ring", RING)])
def test_maps_equal_a_cell_by_cell_reading(name: str, text: str) -> None:
    world = fp.worlds.named_world(name)
    weights, cells = brute.grid_weights(text)
    np.testing.assert_array_equal(world.adjacency.toarray(), weights)
    assert world.positions is not None
    assert [tuple(p) for p in world.positions.tolist()] == cells
    assert world.start is not None
    assert text.splitlines()[cells[world.start][0]][cells[world.start][1]] == "S"
    assert world.targets is not None
    assert [text.splitlines()[r][c] for r, c in (cells[s] for s in world.targets)] == ["G"] * text.count("G")


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


@pytest.mark.parametrize("wind", [-0.1, 1.5, float("nan"), "strong", True])
def test_bad_wind(wind: object) -> None:
    with pytest.raises(InvalidInput, match="wind must be a number from 0 to 1"):
        fp.four_rooms(wind=wind)  # type: ignore[arg-type]


def test_a_graph_that_is_a_map_is_recognized() -> None:
    world = fp.random_maze(20, 30)
    assert world.positions is not None
    same = fp.World.from_graph(world.adjacency, positions=world.positions)
    assert same.floor is not None
    assert world.floor is not None
    assert same.floor.n_states == world.floor.n_states == world.n_states
    weights = world.adjacency.copy()
    weights.data = np.full(weights.nnz, 2.0)
    assert fp.World.from_graph(weights, positions=world.positions).floor is None
    assert fp.World.from_graph(world.adjacency, positions=world.positions[::-1]).floor is None
    assert fp.four_rooms(wind=0.1).floor is None
    assert fp.grid((3, 3, 3)).floor is None


WRITTEN_OUT = {"table", "positions", "adjacency", "neighbors"}


def written_out(world: fp.World) -> fp.World:
    """The same world, made of its table."""
    return replace(world, source=world.table, positions=world.positions)


def made(world: fp.World) -> set[str]:
    return WRITTEN_OUT & vars(world).keys()


@given(rows=st.integers(1, 20), cols=st.integers(1, 20), wall=st.floats(0, 0.6), seed=st.integers(0, 999))
def test_a_map_is_the_world_that_its_matrix_makes(rows: int, cols: int, wall: float, seed: int) -> None:
    floor = np.random.default_rng(seed).random((rows, cols)) >= wall
    if not floor.any():
        return
    world = fp.World.from_array(floor, largest_component=True, start=None)
    plain = written_out(world)
    assert (world.n_states, world.n_choices) == (plain.n_states, plain.n_choices)
    assert world.fingerprint == plain.fingerprint
    if world.n_states > 1:
        assert Walk.of(world).fingerprint == Walk.of(plain).fingerprint
        assert world.component_sizes == plain.component_sizes
    restarts = {"restart": np.full(world.n_states, 0.1), "starts": np.eye(world.n_states)[0]}
    assert replace(world, **restarts).fingerprint == replace(plain, **restarts).fingerprint != world.fingerprint


def test_nothing_is_written_out_for_scores_goals_routes_and_files(tmp_path: Path) -> None:
    world = fp.random_maze(300, 310, seed=2)
    options = fp.discover(world, t=4)
    options.save(tmp_path / "options.npz")
    options[3].route(world.n_states - 1)
    fp.discover(world, n_options=5)
    assert options.option_probability > 0
    assert options[2].potential.size == world.n_states
    world.save(tmp_path / "world.npz")
    copies = [pickle.loads(pickle.dumps(world)), copy.copy(world), replace(world, start=0)]
    copies.append(replace(copies[2], name="again"))
    for one in (*copies, fp.World.load(tmp_path / "world.npz")):
        assert one.fingerprint == world.fingerprint
        assert made(one) == set()
        assert one.floor is one.source
    assert repr(world) == f"World('random_maze', {world.n_states} states, {world.n_choices} choices, deterministic)"
    assert made(world) == set()
    plain = written_out(world)
    np.testing.assert_array_equal(fp.discover(plain, t=4).goals, options.goals)
    loaded = fp.OptionSet.load(tmp_path / "options.npz", plain)
    expected = fp.discover(plain, t=4).record["maxima"].prominences
    np.testing.assert_array_equal(loaded.record["maxima"].prominences, expected)


def test_positions_of_a_map_are_its_cells_unless_others_are_given() -> None:
    world = fp.ring()
    assert world.floor is not None
    np.testing.assert_array_equal(world.positions, np.argwhere(world.floor.cells))
    # A copy makes them itself, whether or not they were asked for before.
    assert made(replace(world, start=3)) == set()
    moved = replace(world, positions=np.asarray(world.positions) + 5)
    for one in (moved, replace(moved, start=3), pickle.loads(pickle.dumps(moved))):
        np.testing.assert_array_equal(one.positions, np.asarray(world.positions) + 5)
        assert one.on_grid
        assert one.floor is not None


@pytest.mark.parametrize("kind", [np.bool_, np.uint8])
def test_arrays_and_files_of_a_map(kind: Any, tmp_path: Path) -> None:
    text = "S..#\n.#..\n..#G"
    expected = fp.World.from_map(text, name="rooms")
    cells = np.array([[symbol != "#" for symbol in line] for line in text.splitlines()]).astype(kind)
    np.save(tmp_path / "rooms.npy", cells)
    imsave(tmp_path / "rooms.png", np.kron(cells, np.ones((1, 1))), cmap="gray")
    for source in (cells, np.asfortranarray(cells), tmp_path / "rooms.npy", tmp_path / "rooms.png"):
        world = fp.World.from_array(source, name="rooms", start=(0, 0), targets=[(2, 3)])
        assert_same_world(world, expected)
    assert fp.World.from_array(tmp_path / "rooms.npy").name == "rooms"
    for name in ("rooms.npy", "rooms.png"):
        assert fp.worlds.as_world(str(tmp_path / name)).n_states == expected.n_states


def test_a_file_is_memory_mapped_and_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "room.npy", np.ones((40, 50), dtype=np.uint8))
    floor = fp.World.from_array(tmp_path / "room.npy").floor
    assert floor is not None
    base: Any = floor.cells
    while not isinstance(base, np.memmap):
        base = base.base
    assert not floor.cells.flags.writeable


def test_any_brightness_of_bytes_is_floor() -> None:
    assert fp.World.from_array(np.array([[0, 7, 255]], dtype=np.uint8)).n_states == 2


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (np.ones((2, 2)), "bool or uint8"),
        (np.ones((2, 2, 2), dtype=bool), "two dimensions"),
        (np.zeros((2, 2), dtype=bool), "must have floor"),
        (np.ones((0, 2), dtype=bool), "two dimensions"),
        (np.ma.masked_array(np.ones((2, 2), dtype=bool)), "masked"),
        ([[1, 2], [3]], "cells must be"),
    ],
)
def test_arrays_that_are_no_map_are_refused(cells: Any, message: str) -> None:
    with pytest.raises(InvalidMap, match=message):
        fp.World.from_array(cells)


def test_cells_that_are_not_there_are_refused() -> None:
    cells = np.array([[True, False, True, True]])
    with pytest.raises(InvalidInput, match="start must be floor"):
        fp.World.from_array(cells, start=(0, 1))
    for targets in ([(0, 4)], [(-1, 0)], [0]):
        with pytest.raises(InvalidInput, match="targets must be cells"):
            fp.World.from_array(cells, targets=targets)
    with pytest.raises(InvalidInput, match="start must be whole numbers"):
        fp.World.from_array(cells, start=(0.0, 0.0))
    with pytest.raises(NotConnected, match="2 components"):
        fp.World.from_array(cells)


@pytest.mark.parametrize("name", ["missing.npy", "damaged.npy", "damaged.png", "map.gif"])
def test_files_that_are_no_map_are_refused(name: str, tmp_path: Path) -> None:
    if name.startswith("damaged"):
        (tmp_path / name).write_bytes(b"\x93NUMPY nothing")
    with pytest.raises(InvalidFile, match="must be a map in a"):
        fp.World.from_array(tmp_path / name)


def test_mazes_are_what_one_draw_makes() -> None:
    world = fp.random_maze(700, 2000, wall=0.3, seed=8)
    floor = np.random.default_rng(8).random((700, 2000), dtype=np.float32) >= 0.3
    component, _ = ndimage.label(floor)
    np.testing.assert_array_equal(world.floor, component == 1 + np.bincount(component.ravel())[1:].argmax())


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
    with pytest.raises(InvalidInput, match="a whole row and column per state to be a map"):
        fp.grid((2, 2, 2)).to_text()


def test_the_text_is_the_map_with_a_border_and_marks() -> None:
    world = fp.World.from_map("###\n#.#\n#..")
    assert world.to_text({0: "A", 2: "B"}) == "####\n#A##\n#.B#\n####"
    assert fp.World.from_map(world.to_text()).fingerprint == world.fingerprint


def test_positions_far_apart_are_no_text() -> None:
    for places in ([[0, 0], [10**6, 10**6]], [[0, 0], [2**31 - 1, -(2**31)]]):
        world = fp.World.from_graph([[0, 1], [1, 0]], positions=places)
        assert world.on_grid
        with pytest.raises(InvalidInput, match="positions must fit into the memory of this machine"):
            world.to_text()
