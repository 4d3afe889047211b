"""Worlds in Parquet partitions: the same numbers as in memory."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from tests.helpers.graphs import cylinder


@pytest.mark.parametrize("size", [50, 997, 10_000])
@pytest.mark.parametrize("t", [1, 4, 13])
def test_scores_and_goals_equal_those_in_memory(size: int, t: int, tmp_path: Path) -> None:
    world = fp.random_maze(50, 60, seed=1) if size > 50 else fp.ring()
    written = fp.diffusion.write_partitions(world, tmp_path / "world", states_per_partition=size)
    assert written.n_partitions == -(-world.n_states // size)
    folder = fp.diffusion.score_partitions(tmp_path / "world", t)
    scores = fp.score(world, t, "local")
    np.testing.assert_allclose(fp.diffusion.read_scores(folder), scores, rtol=1e-12)
    goals = fp.diffusion.goals_of_partitions(tmp_path / "world", folder)
    np.testing.assert_array_equal(goals, np.sort(fp.find_goals(world, scores).states))


def test_a_plateau_longer_than_the_halo_has_one_goal(tmp_path: Path) -> None:
    # On a long corridor the score is flat but near its ends: one plateau over many partitions.
    world = fp.grid((90,))
    fp.diffusion.write_partitions(world, tmp_path, states_per_partition=10)
    folder = fp.diffusion.score_partitions(tmp_path, 2)
    goals = fp.diffusion.goals_of_partitions(tmp_path, folder)
    np.testing.assert_array_equal(goals, np.sort(fp.find_goals(world, fp.score(world, 2)).states))


def test_the_flat_middle_of_a_room_and_a_cylinder(tmp_path: Path) -> None:
    for name, world in (("room", fp.open_room(20, 25)), ("cylinder", cylinder(24, 8))):
        fp.diffusion.write_partitions(world, tmp_path / name, states_per_partition=37)
        goals = fp.diffusion.goals_of_partitions(tmp_path / name, fp.diffusion.score_partitions(tmp_path / name, 3))
        np.testing.assert_array_equal(goals, np.sort(fp.find_goals(world, fp.score(world, 3)).states))


def test_a_folder_written_anew_is_read_anew(tmp_path: Path) -> None:
    for world in (fp.ring(), cylinder(24, 8)):
        fp.diffusion.write_partitions(world, tmp_path / "world", states_per_partition=100)
        found = fp.diffusion.read_scores(fp.diffusion.score_partitions(tmp_path / "world", 4))
        np.testing.assert_allclose(found, fp.score(world, 4), rtol=1e-12)
        shutil.rmtree(tmp_path / "world")


def test_partitions_that_are_there_are_not_computed_again(tmp_path: Path) -> None:
    fp.diffusion.write_partitions(fp.ring(), tmp_path, states_per_partition=50)
    folder = fp.diffusion.score_partitions(tmp_path, 4)
    expected = fp.diffusion.read_scores(folder)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / "part-00002.parquet").unlink()
    reported: list[tuple[int, int]] = []
    fp.diffusion.score_partitions(tmp_path, 4, progress=lambda *at: reported.append(at))
    assert reported == [(4, 4)]
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {"part-00002.parquet", "part-00002.json"}
    np.testing.assert_array_equal(fp.diffusion.read_scores(folder), expected)
