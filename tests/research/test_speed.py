"""The speed of scores: what other programs compute, when a series ends, and what pages say of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from research import runner, speed
from research.shown import speed as shown
from research.speed import PEERS, Cell, Measured, PeakMemory, measure_series, strict_maxima


@pytest.mark.parametrize("name", ["farpoint", "powers", "eigh"])
def test_exact_programs_compute_the_score(name: str) -> None:
    world = fp.random_maze(12, 12, seed=4)
    np.testing.assert_allclose(PEERS[name].run(world, 4), fp.score(world, 4, "spectral"), rtol=1e-9, atol=1e-12)


def test_the_thousandth_is_within_a_thousandth() -> None:
    world = fp.random_maze(12, 12, seed=4)
    np.testing.assert_allclose(PEERS["thousandth"].run(world, 30), fp.score(world, 30, "spectral"), rtol=1e-3)


def test_strict_maxima() -> None:
    # A path of five: two ends, and a plateau in the middle that is no strict maximum.
    assert strict_maxima(fp.grid((5,)), np.array([3.0, 1.0, 2.0, 2.0, 9.0])) == 2


def test_a_series_ends_before_it_takes_too_long_or_too_much() -> None:
    asked: list[int] = []

    def cubic(cell: Cell) -> Measured:
        asked.append(cell.side)
        return Measured(cell, cell.side**2, (cell.side / 10) ** 6, 0, 0)

    cells = [Cell("eigh", side, 4) for side in (10, 20, 40, 80)]
    assert [one.cell.side for one in measure_series(cells, cubic)] == [10, 20]
    assert asked == [10, 20], "the next would take 64 times as long: over a minute and a half"

    def starved(cell: Cell) -> Measured:
        raise MemoryError

    assert measure_series(cells, starved) == []


def test_peak_memory() -> None:
    with PeakMemory() as memory:
        held = np.ones(20_000_000)
    # Pages that the process held before may be used again, and other threads may take some.
    assert 1e8 < memory.extra < 3e8
    assert held.size


def test_what_pages_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {
        ("farpoint", "37 68", "4"): [(37, 4, 0.5), (68, 4, 1.0)], ("powers", "37 68", "4"): [(37, 4, 1.5)],
        ("farpoint", "366", "13 100"): [(366, 13, 2.0), (366, 100, 9.0)],
        ("thousandth", "366", "13 100"): [(366, 100, 3.0)],
    }  # fmt: skip

    def made_up(peer: str, sides: str, times: str) -> list[dict[str, object]]:
        return [
            {"side": side, "t": t, "n_states": side**2, "seconds": one, "extra_bytes": 800 * side**2}
            for side, t, one in seconds[peer, sides, times]
        ]

    parts = [{"peer": peer, "sides": sides, "times": times} for peer, sides, times in seconds]
    runner.run(runner.Table("speed-scores", made_up, lambda quick: parts, timed=True), folder=tmp_path)
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    rows = shown.size_rows()
    head = "seconds (ratio), t = 4"
    assert rows[0] == {head: "Farpoint, exact", "1,369 states": "0.5", "4,624 states": "1"}
    assert rows[1] == {head: "scipy, sparse powers", "1,369 states": "1.50 (3.00 ×)", "4,624 states": None}
    assert rows[-1]["4,624 states"] == "800 B"
    assert shown.time_rows()[1]["t = 100"] == "3 (0.333 ×)"
    assert shown.SHOWN["thousandth"]() == "1.50 ×"
    assert shown.SHOWN["thousandth_exact"]() == "3.00 ×"
    assert shown.SHOWN["powers"]() == "3.00 ×"
    assert shown.SHOWN["room"]() == "–"


def test_parts_name_known_programs() -> None:
    for quick in (False, True):
        assert {part["peer"] for part in speed.parts_of_speed(quick)} <= set(PEERS)


@pytest.mark.slow
def test_programs_of_others_come_near() -> None:
    world = fp.random_maze(15, 20, seed=1)
    exact = np.asarray(fp.score(world, 4, "spectral"))
    for name, least in (("probes", 0.9), ("pygsp", 0.8), ("simpleoptions", 0.8)):
        assert np.corrcoef(PEERS[name].run(world, 4), exact)[0, 1] > least


@pytest.mark.slow
def test_symmetric_worlds_have_as_many_goals_as_they_should() -> None:
    # The corners of a grid; of a cylinder, whose rims have equal states, one goal at either end.
    found = [speed.measure_goals(name) for name in speed.COUNTED_WORLDS]
    assert [row["farpoint"] for row in found] == [4, 2]
    assert all(row["simpleoptions"] > row["farpoint"] for row in found)
    assert speed.cylinder(5, 3).adjacency.sum() == 2 * (5 * 3 + 5 * 2)


def test_a_measurement_has_time_and_memory() -> None:
    measured = speed.measure(Cell("powers", 30, 4, goals=True))
    assert measured.n_states == fp.random_maze(30, 30).n_states
    assert measured.seconds > 0
    assert 0 <= measured.extra_bytes <= measured.peak_bytes


def test_what_is_measured_loads_no_library_for_drawing() -> None:
    code = "import sys, research.speed; print([name for name in ('matplotlib', 'torch') if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
