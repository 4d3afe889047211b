"""The benchmark: its peers compute what they say, and it writes what it measured."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint.cli.paper import run_suite
from farpoint.errors import MissingExtra
from farpoint.paper.framework import Results
from research.bench import SUITE
from research.bench.cells import Cell, Measured
from research.bench.measuring import cylinder, measure, measure_series
from research.bench.peers import PEERS
from research.bench.plan import COUNTS, Plan, agreement_part, measurements, series_part
from research.bench.rows import growth, sentences, size_rows, time_rows

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
    counts = SUITE.compute(COUNTS)
    # The corners of a grid; of a cylinder, whose rims have equal states, one goal at either end.
    assert counts["farpoint"].tolist() == [4, 2]
    assert (counts["simpleoptions"] > counts["farpoint"]).all()
    assert cylinder(5, 3).adjacency.sum() == 2 * (5 * 3 + 5 * 2)
    agreement = SUITE.compute(agreement_part(replace(TINY, times_side=40, times=(13,))))
    assert agreement["share"] == 1.0
    assert agreement["n_goals"] > 10


def test_a_measurement_has_time_and_memory() -> None:
    measured = measure(Cell("powers", 30, 4, goals=True))
    assert measured.n_states == fp.random_maze(30, 30).n_states
    assert measured.seconds > 0
    assert measured.peak_bytes > measured.extra_bytes >= 0
    assert measure(Cell("farpoint", 6, 1, room=True)).n_states == 36


def test_a_series_ends_before_what_takes_too_long() -> None:
    def slow(cell: Cell) -> Measured:
        # Ten seconds, then a thousand times the cells in ten thousand times the time.
        return Measured(cell, cell.side**2, 10.0 * (cell.side / 10) ** 2, 0, 0)

    cells = [Cell("farpoint", side, 4) for side in (10, 20, 30, 40)]
    assert [one.cell.side for one in measure_series(cells, slow)] == [10, 20, 30], "40 would take 160 seconds"

    def ended(cell: Cell) -> Measured:
        raise MemoryError

    assert measure_series(cells, ended) == []
    assert measure_series([Cell("eigh", 10**6, 4)], slow) == [], "more memory than there is"


def results_of(plan: Plan, seconds: dict[tuple[str, int, int], float]) -> Results[Plan]:
    """Return made-up results: a series per program, with the states of a full square."""
    results = Results(plan)
    for peers, sides, times in ((plan.peers, plan.sizes, (4,)), (plan.time_peers, (plan.times_side,), plan.times)):
        for peer in peers:
            cells = [(side, t) for side in sides for t in times if (peer, side, t) in seconds]
            results.arrays[series_part(peer, sides, times)] = {
                "sides": np.array([side for side, _ in cells]),
                "times": np.array([t for _, t in cells]),
                "n_states": np.array([side**2 for side, _ in cells]),
                "seconds": np.array([seconds[peer, side, t] for side, t in cells]),
                "extra_bytes": np.array([800 * side**2 for side, _ in cells]),
                "peak_bytes": np.array([2**30 for _ in cells]),
            }
    results.arrays[agreement_part(plan)] = {"n_goals": np.array(7), "share": np.array(1.0)}
    return results


def test_tables_show_ratios_and_dashes() -> None:
    seconds = {("farpoint", 12, 4): 0.5, ("farpoint", 20, 4): 1.0, ("powers", 12, 4): 1.5, ("farpoint", 20, 1): 0.25,
               ("thousandth", 20, 1): 0.5}  # fmt: skip
    results = results_of(TINY, seconds)
    assert size_rows(results) == [
        {"seconds (ratio), t = 4": "Farpoint, exact", "144 states": "0.5", "400 states": "1"},
        {"seconds (ratio), t = 4": "scipy, sparse powers", "144 states": "1.5 (3 ×)", "400 states": "–"},
        {
            "seconds (ratio), t = 4": "Farpoint, memory per state beyond the world",
            "144 states": "800 B",
            "400 states": "800 B",
        },
    ]
    assert time_rows(results) == [
        {"seconds (ratio), 400 states": "Farpoint, exact", "t = 1": "0.25", "t = 4": "1"},
        {"seconds (ratio), 400 states": "Farpoint, to 0.1 %", "t = 1": "0.5 (2 ×)", "t = 4": "–"},
    ]
    said = sentences(results)
    assert said[1] == "t = 4 to 0.1 %: 100.00 % of 7 goals agree with the exact ones."
    assert said[-1] == "3.0 × faster than scipy's W⁴ at 144 states, the largest that both reach."
    linear = {("farpoint", 12, 4): 144e-6, ("farpoint", 20, 4): 400e-6}
    assert growth(measurements(results_of(TINY, linear)), 0) == pytest.approx(1.0)
    assert growth(measurements(results_of(TINY, {("farpoint", 12, 4): 1.0})), 0) is None


def test_the_command_writes_figure_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_suite(replace(SUITE, quick=TINY), only=None, quick=True, jobs=-1, out=tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {
        f"bench-quick.{ending}" for ending in ("html", "md", "png", "csv")
    }, "and no results are kept, since timings of two runs must not be mixed"
    text = (tmp_path / "bench-quick.md").read_text()
    assert "× faster than scipy's W⁴ at" in text
    assert "% of" in text
    rows = list(csv.DictReader((tmp_path / "bench-quick.csv").read_text().splitlines()))
    assert {row["peer"] for row in rows} == {"farpoint", "thousandth", "powers"}
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert "bench-quick.html: 3 sections," in " ".join(capsys.readouterr().out.split())


def test_without_the_peers_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pygsp" else True)
    with pytest.raises(MissingExtra, match=r"pygsp must be installed for farpoint bench.*'farpoint\[bench\]'"):
        SUITE.choose()
