"""Maps in bands of a memory-mapped file: the same numbers as in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput, NotConnected, OutputError


def in_bands(world: fp.World, folder: Path, size: int) -> fp.diffusion.PartitionedMap:
    assert world.floor is not None
    np.save(folder / "map.npy", world.floor)
    written = fp.diffusion.write_partitions(folder / "map.npy", folder / "parts", states_per_partition=size)
    assert isinstance(written, fp.diffusion.PartitionedMap)
    assert fp.diffusion.open_partitions(folder / "parts") == written
    return written


@pytest.mark.parametrize("size", [1, 200, 997, 10_000])
@pytest.mark.parametrize(("t", "tolerance"), [(1, None), (4, None), (13, None), (30, 1e-2)])
def test_scores_and_goals_equal_those_in_memory(size: int, t: int, tolerance: float | None, tmp_path: Path) -> None:
    world = fp.random_maze(50, 60, seed=1)
    written = in_bands(world, tmp_path, size)
    assert (written.n_states, written.bounds[-1]) == (world.n_states, world.n_states)
    assert not (tmp_path / "parts" / "edges").exists()
    folder = fp.diffusion.score_partitions(tmp_path / "parts", t, tolerance=tolerance)
    scores = fp.score(world, t, "local", tolerance=tolerance)
    np.testing.assert_array_equal(fp.diffusion.read_scores(folder), scores)
    goals = fp.diffusion.goals_of_partitions(tmp_path / "parts", folder)
    np.testing.assert_array_equal(goals, np.sort(fp.find_goals(world, scores).states))


@pytest.mark.parametrize("size", [7, 60])
def test_plateaus_over_many_bands_have_one_goal(size: int, tmp_path: Path) -> None:
    # The middle of a room is flat, and so is a corridor with rows of wall on both sides.
    room = np.ones((30, 11), dtype=bool)
    room[10:20, :5] = room[10:20, 6:] = False
    world = fp.World.from_array(room)
    in_bands(world, tmp_path, size)
    goals = fp.diffusion.goals_of_partitions(tmp_path / "parts", fp.diffusion.score_partitions(tmp_path / "parts", 2))
    np.testing.assert_array_equal(goals, np.sort(fp.find_goals(world, fp.score(world, 2)).states))


def test_a_map_that_has_changed_is_refused(tmp_path: Path) -> None:
    world = fp.random_maze(40, 40)
    in_bands(world, tmp_path, 300)
    changed = np.array(world.floor)
    changed[20, np.flatnonzero(changed[20])[3]] = False
    np.save(tmp_path / "map.npy", changed)
    with pytest.raises(InvalidFile, match="has changed"):
        fp.diffusion.score_partitions(tmp_path / "parts", 4)
    (tmp_path / "map.npy").unlink()
    with pytest.raises(InvalidFile, match="must be a map"):
        fp.diffusion.score_partitions(tmp_path / "parts", 4)


def test_what_cannot_be_read_in_bands_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.npy"
    np.save(path, np.array([[1, 0, 1]], dtype=np.uint8))
    with pytest.raises(NotConnected, match="2 components"):
        fp.diffusion.write_partitions(path, tmp_path / "parts")
    np.save(path, np.array([[1, 200]], dtype=np.uint8))
    with pytest.raises(InvalidInput, match="0 and 1"):
        fp.diffusion.write_partitions(path, tmp_path / "parts")
    np.save(path, np.array([[1]], dtype=np.uint8))
    with pytest.raises(InvalidInput, match="at least 2 states"):
        fp.diffusion.write_partitions(path, tmp_path / "parts")
    np.save(path, np.ones((3, 3), dtype=np.uint8))
    fp.diffusion.write_partitions(path, tmp_path / "parts")
    with pytest.raises(OutputError, match="new or empty"):
        fp.diffusion.write_partitions(path, tmp_path / "parts")
    (tmp_path / "parts" / "map.json").write_text("{}")
    with pytest.raises(InvalidFile, match=r"map\.json"):
        fp.diffusion.open_partitions(tmp_path / "parts")
