"""A world that is saved and loaded is the same world, so that options found elsewhere fit it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays
from tests.helpers.worlds import WORLDS, assert_same_world


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_every_kind_of_world_is_the_same_when_loaded(name: str, tmp_path: Path) -> None:
    world = WORLDS[name]()
    world.save(tmp_path / "world.npz")
    loaded = fp.World.load(tmp_path / "world.npz")
    if world.floor is not None:
        # A map of text may have more wall around it than a world remembers.
        assert loaded.floor is not None
        cut, whole = (floor[np.ix_(*ranges(floor))] for floor in (loaded.floor, world.floor))
        np.testing.assert_array_equal(cut, whole)
        # A changed copy does not have what its builder knew.
        world = replace(world)
    assert_same_world(loaded, world)


def ranges(floor: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Rows and columns from the first to the last that have floor."""
    return [np.arange(*(np.flatnonzero(floor.any(axis=axis))[[0, -1]] + [0, 1])) for axis in (1, 0)]


def test_options_of_samples_are_used_elsewhere(tmp_path: Path) -> None:
    world = WORLDS["temporal_samples"]()
    fp.discover(world, n_options=3).save(tmp_path / "options.npz")
    world.save(tmp_path / "world.npz")
    again = fp.World.load(tmp_path / "world.npz")
    options = fp.OptionSet.load(tmp_path / "options.npz", again)
    start = int(again.nearest_states([[0.5, 0.5]])[0])
    assert options[0].route(start)[-1] == options.goals[0]


def test_labels_come_back_as_they_were(tmp_path: Path) -> None:
    labels = (1, "one", b"\x00\xff", ("a", (2, None)), frozenset({"x", 3}))
    world = replace(fp.grid((5,)), labels=labels)
    world.save(tmp_path / "world.npz")
    loaded = fp.World.load(tmp_path / "world.npz")
    assert loaded.labels == labels
    assert [type(label) for label in loaded.labels or ()] == [int, str, bytes, tuple, frozenset]


def test_labels_that_no_file_holds_are_refused(tmp_path: Path) -> None:
    world = replace(fp.grid((2,)), labels=(object(), object()))
    with pytest.raises(InvalidInput, match="labels must be numbers, texts, bytes or tuples of these to be saved"):
        world.save(tmp_path / "world.npz")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_world_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "world.npz"
    with pytest.raises(InvalidFile, match="got no file of that name"):
        fp.World.load(path)
    fp.discover(fp.ring()).save(path)
    with pytest.raises(InvalidFile, match="must be a file of farpoint-world; got another kind"):
        fp.World.load(path)
    fp.ring().save(path)
    facts, arrays = read_arrays(path, "farpoint-world")
    write_arrays(path, "farpoint-world", facts, {name: a for name, a in arrays.items() if name != "choice_ptr"})
    with pytest.raises(InvalidFile, match="some of its arrays are missing"):
        fp.World.load(path)
    write_arrays(path, "farpoint-world", facts, {**arrays, "transitions.data": -arrays["transitions.data"]})
    with pytest.raises(InvalidFile, match="transitions must be probabilities"):
        fp.World.load(path)
    write_arrays(path, "farpoint-world", {"name": "x"}, arrays)
    with pytest.raises(InvalidFile, match="must hold all parts of a world"):
        fp.World.load(path)
    facts = {**facts, "parts": [*facts["parts"], "labels"]}
    write_arrays(path, "farpoint-world", facts, {**arrays, "labels": np.frombuffer(b"[[1]]", dtype=np.uint8)})
    with pytest.raises(InvalidFile, match="must hold all parts of a world"):
        fp.World.load(path)
