"""Floors: numbers of states, degrees, neighbors and components, and memory that belongs to nobody else."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import ndimage

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidMap, NotConnected
from farpoint.worlds import floors
from farpoint.worlds.choices import ChoiceTable
from farpoint.worlds.floors import Floor, connected_cells

ROOM = np.array([[True, False, True], [True, True, True]])


def random_cells(rows: int, cols: int, wall: float, seed: int) -> NDArray[np.bool_]:
    cells = np.random.default_rng(seed).random((rows, cols)) >= wall
    cells[0, 0] = True
    return cells


def test_states_cells_and_degrees_typed_by_hand() -> None:
    floor = Floor(ROOM)
    assert (floor.n_states, floor.n_moves, floor.shape, floor.size) == (5, 8, (2, 3), 6)
    assert floor.row_starts.tolist() == [0, 2, 5]
    assert floor.degree_sums == (8.0, 14.0)
    assert floor.degrees(0, 2).tolist() == [1, 0, 1, 0, 2, 2, 2, 0]
    assert floor.degrees(-1, 1).tolist() == [0, 0, 0, 0, 1, 0, 1, 0]
    assert floor.states(np.array([[1, 2], [0, 0], [0, 2]])).tolist() == [4, 0, 1]
    assert repr(floor) == "Floor(5 states on 2 × 3 cells)"


@given(rows=st.integers(1, 9), cols=st.integers(1, 9), wall=st.floats(0, 0.6), seed=st.integers(0, 999))
def test_the_adjacency_joins_the_cells_one_step_apart(rows: int, cols: int, wall: float, seed: int) -> None:
    floor = Floor(random_cells(rows, cols, wall, seed), largest_component=True)
    places = np.argwhere(floor.cells)
    apart = np.abs(places[:, None] - places[None]).sum(axis=2)
    moves = floor.adjacency()
    assert (moves.toarray() == (apart == 1)).all()
    # The same matrix as that of the table of choices, its type of indices included; nobody can write to it.
    table = ChoiceTable.of_cells(floor.cells).adjacency()
    for name in ("data", "indices", "indptr"):
        one, other = getattr(moves, name), getattr(table, name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
        assert not one.flags.writeable


@given(rows=st.integers(1, 12), cols=st.integers(1, 12), wall=st.floats(0, 0.6), seed=st.integers(0, 999))
def test_bands_are_the_neighbors_of_the_whole(rows: int, cols: int, wall: float, seed: int) -> None:
    floor = Floor(random_cells(rows, cols, wall, seed), largest_component=True)
    number = np.full((rows + 2, cols + 2), -1)
    number[1:-1, 1:-1][floor.cells] = np.arange(floor.n_states)
    places = np.argwhere(floor.cells) + 1
    np.testing.assert_array_equal(floor.states(places - 1), np.arange(floor.n_states))
    around = [number[places[:, 0] + dr, places[:, 1] + dc] for dr, dc in ((-1, 0), (0, -1), (0, 1), (1, 0))]
    expected = [[int(there) for there in state if there >= 0] for state in np.stack(around, axis=1)]
    for first in range(rows):
        for last in range(first, rows + 1):
            states = range(int(floor.row_starts[first]), int(floor.row_starts[last]))
            indptr, indices = floor.neighbors(states)
            assert [indices[indptr[k] : indptr[k + 1]].tolist() for k in range(len(states))] == expected[
                states.start : states.stop
            ]
    assert [state for band in floor.ranges() for state in band] == [*range(floor.n_states)]
    assert floor.n_moves == sum(map(len, expected))
    assert floor.degree_sums[1] == sum(len(state) ** 2 for state in expected)


def largest(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    component, _ = ndimage.label(cells)
    return np.asarray(component == 1 + np.bincount(component.ravel())[1:].argmax())


@pytest.mark.parametrize(("rows", "cols"), [(300, 301), (2, 40_000), (40_000, 2), (1, 70_000), (70_000, 1)])
@pytest.mark.parametrize("wall", [0.25, 0.42, 0.7])
@pytest.mark.parametrize("piece", [1 << 10, 1 << 20])
def test_components_found_in_pieces_are_those_of_the_whole(
    rows: int, cols: int, wall: float, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floors, "CELLS_PER_PIECE", piece)
    cells = random_cells(rows, cols, wall, rows)
    np.testing.assert_array_equal(connected_cells(cells, True), largest(cells))
    _, count = ndimage.label(cells)
    with pytest.raises(NotConnected, match=f"got {count} components"):
        connected_cells(cells, False)


@pytest.mark.parametrize("piece", [1 << 10, 1 << 20])
def test_a_comb_is_one_component(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Joined only in its last row: every tooth has a label of its own in all other pieces.
    monkeypatch.setattr(floors, "CELLS_PER_PIECE", piece)
    cells = np.ones((400, 401), dtype=bool)
    cells[:-1, 1::2] = False
    assert connected_cells(cells, False) is cells


def test_a_floor_is_a_map_with_floor() -> None:
    for cells in (np.zeros((2, 2), dtype=bool), np.ones(3, dtype=bool), np.ones((2, 2))):
        with pytest.raises(InvalidMap):
            Floor(cells)
    with pytest.raises(NotConnected):
        Floor(np.array([[True, False, True]]))
    # The bytes of a file of bools may be any.
    assert Floor(np.array([[7, 255]], dtype=np.uint8).view(np.bool_)).bytes.tolist() == [[1, 1]]


@pytest.mark.parametrize("kind", [np.bool_, np.uint8])
@pytest.mark.parametrize("view", [lambda cells: cells, lambda cells: cells[::-1], np.asfortranarray])
def test_the_callers_array_may_change_afterwards(kind: Any, view: Any) -> None:
    whole = np.ones((20, 16), dtype=kind)
    world = fp.World.from_array(view(whole))
    expected = fp.discover(fp.open_room(20, 16), t=4).goals
    whole[...] = 0
    whole[3:5, 2] = 1
    np.testing.assert_array_equal(fp.discover(world, t=4).goals, expected)
    assert world.n_states == 320
    assert pickle.loads(pickle.dumps(world)).fingerprint == fp.open_room(20, 16).fingerprint


def mapped(folder: Path, cells: NDArray[Any]) -> Path:
    np.save(folder / "map.npy", cells)
    return folder / "map.npy"


CHANGES = {
    "other cells": "np.save(path, np.eye(300, dtype=bool))",
    "more walls": "cells = np.load(path); cells[5:] = False; np.save(path, cells)",
    "cut off": "open(path, 'r+b').truncate(100)",
    "emptied": "open(path, 'wb').close()",
    "gone": "import os; os.remove(path)",
    "replaced": "import os; np.save(path + '.new.npy', np.eye(300, dtype=bool)); os.replace(path + '.new.npy', path)",
}
USES = {
    "score": "fp.score(world, 4)",
    "goals": "fp.discover(world, t=4)",
    "fingerprint": "world.fingerprint",
    "pickle": "pickle.loads(pickle.dumps(world))",
    "matrix": "world.transitions",
    "positions": "world.positions",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("use", USES)
def test_a_file_that_changed_is_refused(change: str, use: str, tmp_path: Path) -> None:
    # In a process of its own: reading a file that was cut off would end it (SIGBUS).
    path = mapped(tmp_path, np.ones((300, 300), dtype=bool))
    lines = [
        "import pickle, time, numpy as np, farpoint as fp",
        f"path = {str(path)!r}",
        "world = fp.World.from_array(path)",
        "world.n_states",
        "time.sleep(0.02)",
        CHANGES[change],
        f"try: {USES[use]}",
        "except fp.errors.InvalidFile as error: print('refused', error)",
    ]
    run = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert re.match("refused .*map.npy must (stay as it was|be a map)", run.stdout), run.stdout


def test_a_mapped_floor_travels_as_its_path(tmp_path: Path) -> None:
    path = mapped(tmp_path, np.ones((300, 300), dtype=np.uint8))
    world = fp.World.from_array(path, start=(1, 1))
    sent = pickle.dumps(world)
    assert len(sent) < 1_000
    again = pickle.loads(sent)
    assert (again.start, again.fingerprint) == (301, world.fingerprint)
    np.save(path, np.ones((300, 301), dtype=np.uint8))
    with pytest.raises(InvalidFile, match="must stay as it was when the world was made of it"):
        pickle.loads(sent)


def test_a_map_in_memory_travels_as_bits() -> None:
    world = fp.open_room(300, 300)
    assert len(pickle.dumps(world)) < 300 * 300 / 8 + 1_000


def test_small_floors_have_more_moves_than_a_byte_holds() -> None:
    cells = connected_cells(np.random.default_rng(3).random((30, 40)) > 0.2, largest_component=True)
    floor = floors.Floor(cells)
    indptr, indices = floor.neighbors(range(floor.n_states))
    number = {tuple(cell): state for state, cell in enumerate(np.argwhere(cells).tolist())}
    expected = [
        [number[near] for near in ((r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c)) if near in number] for r, c in number
    ]
    assert indices.size > 255
    np.testing.assert_array_equal(indptr, np.cumsum([0, *map(len, expected)]))
    np.testing.assert_array_equal(indices, np.concatenate(expected))
