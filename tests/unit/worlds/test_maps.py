from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, InvalidMap, NotConnected
from farpoint.worlds.catalogue import FOUR_ROOMS, MAZE, RING
from tests.helpers import brute


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
    assert same.floor.sum() == world.floor.sum() == world.n_states
    weights = world.adjacency.copy()
    weights.data = np.full(weights.nnz, 2.0)
    assert fp.World.from_graph(weights, positions=world.positions).floor is None
    assert fp.World.from_graph(world.adjacency, positions=world.positions[::-1]).floor is None
    assert fp.four_rooms(wind=0.1).floor is None
    assert fp.grid((3, 3, 3)).floor is None
