"""Worlds written into Parquet partitions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from scipy.sparse import bsr_array

import farpoint as fp
from farpoint.diffusion.partitions.edges import Edges
from farpoint.errors import InvalidFile, InvalidInput, NotConnected, OutputError
from tests.helpers.graphs import with_episodes


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


def test_what_cannot_be_written_or_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="world must be symmetric and without restarts to be written"):
        fp.diffusion.write_partitions(fp.four_rooms(wind=0.2), tmp_path)
    with pytest.raises(InvalidInput, match="world must be symmetric and without restarts to be written"):
        fp.diffusion.write_partitions(with_episodes(fp.four_rooms()), tmp_path)
    with pytest.raises(InvalidFile, match="must be a folder that write_partitions wrote"):
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


def edges(*pairs: tuple[int, int], weights: Any = 1.0) -> list[Edges]:
    source, target = np.array(sorted(pairs)).T
    return [(source, target, np.broadcast_to(np.asarray(weights, dtype=np.float64), source.shape))]


def test_edges_in_one_direction_are_refused_and_nothing_is_a_world(tmp_path: Path) -> None:
    one_way = edges((0, 1), (1, 2), (2, 0), (2, 1))
    unequal = edges((0, 1), (1, 0), (1, 2), (2, 1), weights=[1.0, 2.0, 1.0, 1.0])
    for number, given in enumerate((one_way, unequal)):
        with pytest.raises(InvalidInput, match="every edge must come in both directions with the same weight"):
            fp.diffusion.write_partitions(given, tmp_path / str(number), states_per_partition=2)
        assert not (tmp_path / str(number) / "world.json").exists()
        with pytest.raises(InvalidFile, match="must be a folder that write_partitions wrote"):
            fp.diffusion.open_partitions(tmp_path / str(number))


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_several_components_are_refused(size: int, tmp_path: Path) -> None:
    apart = edges((0, 1), (1, 0), (2, 4), (4, 2), (3, 4), (4, 3))
    with pytest.raises(NotConnected, match="world must be connected; got 2 components"):
        fp.diffusion.write_partitions(apart, tmp_path / "apart", states_per_partition=size)
    joined = edges((0, 1), (1, 0), (1, 2), (2, 1), (2, 4), (4, 2), (3, 4), (4, 3))
    assert fp.diffusion.write_partitions(joined, tmp_path / "joined", states_per_partition=size).n_states == 5
    with pytest.raises(NotConnected, match="world must be connected; got 2 components"):
        fp.diffusion.write_partitions(fp.World(np.eye(4)[[1, 0, 3, 2]], np.arange(5)), tmp_path / "world")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written = fp.diffusion.write_partitions(fp.ring(), tmp_path, states_per_partition=64)
    assert fp.diffusion.open_partitions(tmp_path) == written
    about = json.loads((tmp_path / "world.json").read_text())
    for change in ({"version": 99}, {"format": "other"}, {"bounds": None}):
        (tmp_path / "world.json").write_text(json.dumps(about | change))
        with pytest.raises(InvalidFile, match="must be"):
            fp.diffusion.open_partitions(tmp_path)
    (tmp_path / "world.json").write_text(json.dumps(about)[:-9])
    with pytest.raises(InvalidFile, match="must be a folder that write_partitions wrote"):
        fp.diffusion.open_partitions(tmp_path)


def test_the_first_state_without_an_edge_is_named(tmp_path: Path) -> None:
    # States 0, 1 and 3 of a path, 2 left out.
    source, target = np.array([0, 1, 3]), np.array([1, 0, 1])
    with pytest.raises(InvalidInput, match=r"every state must have an edge, .* got none from state 2\."):
        fp.diffusion.write_partitions([(source, target, np.ones(3))], tmp_path / "gap")


def test_the_format_has_a_version_and_a_world_a_fingerprint(tmp_path: Path) -> None:
    world = fp.diffusion.write_partitions(fp.open_room(4, 4), tmp_path, states_per_partition=5)
    assert json.loads((tmp_path / "world.json").read_text())["version"] == 2
    # 128 bits as hexadecimal digits.
    assert len(world.fingerprint) == 32


def test_a_matrix_is_no_world(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"world must be a World, or pieces of \(source, target, weight\)"):
        fp.diffusion.write_partitions(bsr_array(np.eye(3)), tmp_path / "parts")
