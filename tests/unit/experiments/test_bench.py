"""The benchmark: its peers compute what they say, and it writes what it measured."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from farpoint.experiments.peers import PEERS

import farpoint as fp
from farpoint.cli import bench as command
from farpoint.errors import MissingExtra
from farpoint.experiments.bench import Cell, Plan, cylinder, goal_counts, goals_that_agree, measure

TINY = Plan(
    sizes=(12, 20),
    peers=("farpoint", "powers"),
    times=(1, 4),
    times_side=20,
    time_peers=("farpoint", "thousandth"),
    goals_side=20,
)


@pytest.mark.parametrize("name", [name for name, peer in PEERS.items() if peer.exact])
def test_exact_peers_agree_with_the_spectral_score(name: str) -> None:
    world = fp.random_maze(15, 20, seed=1)
    np.testing.assert_allclose(PEERS[name].run(world, 4), fp.score(world, 4, "spectral"), rtol=1e-9)


def test_the_others_come_near() -> None:
    world = fp.random_maze(15, 20, seed=1)
    exact = np.asarray(fp.score(world, 4, "spectral"))
    for name, least in (("thousandth", 0.999999), ("probes", 0.9), ("pygsp", 0.8), ("simpleoptions", 0.8)):
        assert np.corrcoef(PEERS[name].run(world, 4), exact)[0, 1] > least


def test_symmetric_worlds_have_as_many_goals_as_they_should() -> None:
    (grid, mine, theirs), (around, mine_around, theirs_around) = goal_counts()
    assert (grid, mine) == ("20 × 20 grid", 4)
    # On a cylinder all states of a rim are alike: one goal at either end.
    assert (around, mine_around) == ("24 × 8 cylinder", 2)
    assert theirs > mine
    assert theirs_around > mine_around
    assert cylinder(5, 3).adjacency.sum() == 2 * (5 * 3 + 5 * 2)
    assert goals_that_agree(40, 13)[1] == 1.0


def test_a_measurement_has_time_and_memory() -> None:
    measured = measure(Cell("powers", 30, 4, goals=True))
    assert measured.n_states == fp.random_maze(30, 30).n_states
    assert measured.seconds > 0
    assert measured.peak_bytes > measured.extra_bytes >= 0


def test_the_command_writes_figure_and_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "QUICK", TINY)
    command.run(True, tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"bench.md", "bench.png", "bench.csv"}
    text = (tmp_path / "bench.md").read_text()
    assert "× faster than scipy's W⁴ at" in text
    assert "% of" in text
    rows = list(csv.DictReader((tmp_path / "bench.csv").read_text().splitlines()))
    assert {row["peer"] for row in rows} == {"farpoint", "thousandth", "powers"}
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert "bench.md, bench.png and bench.csv" in capsys.readouterr().out


def test_without_the_peers_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pygsp" else True)
    with pytest.raises(MissingExtra, match=r"pygsp must be installed to compare with.*farpoint\[bench\]"):
        command.run(True, tmp_path)
