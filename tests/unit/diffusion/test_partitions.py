"""Worlds in Parquet partitions: the same numbers as in memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import farpoint as fp
from farpoint.diffusion.partitions import scores as partition_scores
from farpoint.diffusion.partitions.edges import Edges, PartitionedWorld
from farpoint.errors import InvalidFile, InvalidInput, OutputError
from farpoint.experiments.bench.measuring import cylinder


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


def pieces_of_a_circle(n_states: int, piece: int) -> Iterator[Edges]:
    for first in range(0, n_states, piece):
        source = np.repeat(np.arange(first, min(first + piece, n_states), dtype=np.int64), 2)
        target = (source + np.tile([-1, 1], source.size // 2)) % n_states
        yield source, target, np.ones(source.size)


@pytest.mark.parametrize("piece", [7, 100, 1000])
def test_edges_may_come_piece_by_piece(piece: int, tmp_path: Path) -> None:
    edges = pieces_of_a_circle(500, piece)
    world = fp.diffusion.write_partitions(edges, tmp_path, states_per_partition=64)
    assert (world.n_states, world.n_partitions, world.total, world.squares) == (500, 8, 1000.0, 2000.0)
    table = pyarrow.parquet.read_table(tmp_path / "edges" / "part-00007.parquet")
    assert table.column_names == ["source", "target", "weight"]
    assert table["source"].to_numpy()[0] == 448
    found = fp.diffusion.read_scores(fp.diffusion.score_partitions(tmp_path, 3, tolerance=1e-3))
    # Every state of a circle is like every other; after 3 lazy steps the walk is spread as 1 6 15 20 15 6 1 over 64.
    spread = np.array([1, 6, 15, 20, 15, 6, 1]) / 64
    np.testing.assert_allclose(found, (spread**2).sum() - 1 / 500, rtol=1e-12)


def test_partitions_that_are_there_are_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fp.diffusion.write_partitions(fp.ring(), tmp_path, states_per_partition=50)
    folder = fp.diffusion.score_partitions(tmp_path, 4)
    expected = fp.diffusion.read_scores(folder)
    (folder / "part-00002.parquet").unlink()
    real, computed = partition_scores._score_partition, []

    def counted(world: PartitionedWorld, task: tuple[int, str, int, float | None]) -> int:
        computed.append(task[0])
        return real(world, task)

    monkeypatch.setattr(partition_scores, "_score_partition", counted)
    fp.diffusion.score_partitions(tmp_path, 4)
    assert computed == [2]
    np.testing.assert_array_equal(fp.diffusion.read_scores(folder), expected)


def test_what_cannot_be_written_or_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="world must be symmetric to be written"):
        fp.diffusion.write_partitions(fp.four_rooms(wind=0.2), tmp_path)
    with pytest.raises(InvalidFile, match="must be a folder that write_partitions made"):
        fp.diffusion.score_partitions(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="edges must come in ascending order"):
        fp.diffusion.write_partitions([(np.array([1, 0]), np.array([0, 1]), np.ones(2))], tmp_path / "a")
    with pytest.raises(InvalidInput, match="every state must have an edge"):
        fp.diffusion.write_partitions([(np.array([0, 2]), np.array([2, 0]), np.ones(2))], tmp_path / "b")
    with pytest.raises(InvalidInput, match="every state must have an edge"):
        fp.diffusion.write_partitions(
            [(np.array([9]), np.array([0]), np.ones(1))], tmp_path / "d", states_per_partition=3
        )
    with pytest.raises(InvalidInput, match=r"targets must be states, 0 … 1; got 5"):
        fp.diffusion.write_partitions([(np.array([0, 1]), np.array([1, 5]), np.ones(2))], tmp_path / "e")
    with pytest.raises(InvalidInput, match="tolerance must be a number"):
        fp.diffusion.score_partitions(
            fp.diffusion.write_partitions(fp.ring(), tmp_path / "f").folder, 4, tolerance=-1e-3
        )
    with pytest.raises(InvalidInput, match="scores must be whole"):
        fp.diffusion.goals_of_partitions(tmp_path / "f", tmp_path / "f" / "scores-t4")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "mine").write_text("")
    with pytest.raises(OutputError, match="folder must be new or empty"):
        fp.diffusion.write_partitions(fp.ring(), tmp_path / "c")
