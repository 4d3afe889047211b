"""Arithmetic on pages: made-up tables of a few rows, with texts typed by hand."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from research import runner
from research.shown import choices, goals, paper


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    return tmp_path


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_probabilities(results: Path) -> None:
    rows = [
        {"world": "Maze", "goals": "random", "n_options": 6, "n_found": 5, "usual": p == 0.3, "p": p, "steps": steps}
        for p, steps in ((0.5, 400), (0.1, 100), (0.05, 150), (0.02, 1_000), (0.3, 120))
    ]
    write(results, "choices-worlds", rows)
    first, worst = choices.probability_rows()
    assert first == {
        "world, goals": "Maze, random", "options": 5, "usual p": 0.3, "best p": 0.1, "usual": 1.2, "0.5": 4.0,
        "0.1": 1.0, "0.05": 1.5, "0.02": 10.0,
    }  # fmt: skip
    assert (worst["usual"], worst["0.02"]) == (1.2, 10.0)
    assert choices.SHOWN["worst_0.02"]() == 10.0


def test_spread_goals(results: Path) -> None:
    pairs = ((103, 100), (104, 100), (50, 70))
    write(
        results,
        "choices-goals",
        [
            {"world": "Maze", "n_options": number, "none": 900, "t = 4, spread": spread, "random": other}
            for number, (spread, other) in enumerate(pairs)
        ],
    )
    assert choices.spread_rank() == "2 of 3"


def test_gains(results: Path) -> None:
    rows = [
        {"environment_name": "FourRooms", "layout": layout, "variant": variant, "steps": steps}
        for layout in range(2)
        for variant, steps in (("none", 3_000 if layout else ""), ("default", 1_000))
    ]
    write(results, "choices-unseen", rows)
    # One of two runs without options never arrived: (3,000 + 300,000) / 2 is a lower bound.
    assert choices.SHOWN["unseen_FourRooms"]() == "≥ 152 ×"
    by_layout = {row["layout"]: row["ratio"] for row in choices.unseen_rows()}
    assert by_layout == {0: "≥ 300 ×", 1: "3.00 ×", "all": "≥ 152 ×"}


def test_gain_of_defaults(results: Path) -> None:
    rows = [
        {"place": place, "actions": actions, "replay": replay, "exploring": 0, "layout": 0, "near_optimal": steps}
        for place, slow in (("maze", 900), ("ring", 400))
        for actions, replay, steps in (("uniform", 0, slow), ("least tried", 1, 200))
    ]
    write(results, "choices-agents", rows)
    assert choices.gain_of_defaults() == "2.0 to 4.5"


def test_goals(results: Path) -> None:
    means = {"n_options": 4, "p": 0.1, "diffusion_half": 200, "diffusion_best": 160, "farpoint_own": 152}
    write(
        results,
        "goals-paper",
        [{"world": name, "farpoint_half": n, **means} for name, n in (("maze", 180), ("ring", 170))],
    )
    assert goals.paper_range() == "10 to 15 %"
    assert goals.paper_rows()[1]["change at ½"] == "−15.0 %"
    assert goals.paper_rows()[1]["change"] == "−5.0 %"
    write(
        results,
        "goals-mazes",
        [
            {"seed": seed, "n_options": number, "diffusion": 100, "farpoint": ours}
            for number in (10, 20, 40)
            for seed, ours in enumerate((50, 80, 110))
        ],
    )
    assert goals.maze_rows()[0] == {"options": 10, "median": "−20.0 %", "worst": "+10.0 %"}
    assert goals.better() == "6 of 9"
    write(results, "goals-large", [{"what": "betweenness", "seconds": 2}, {"what": "rustworkx", "seconds": 5}])
    assert goals.rustworkx_ratio() == "2.5 ×"


def test_paper(results: Path) -> None:
    titles = list(paper.METHODS.values())
    table = [
        {"world": world, "t": t, "method": title, "median": 100 + n, "median, paper": "" if n == 3 else 99, "mean": n}
        for world in ("Ring", "Maze", "4Rooms")
        for t in (4, 13)
        for n, title in enumerate(titles)
    ]
    write(results, "paper-table1", table)
    write(results, "paper-table2", table)
    row = paper.median_rows()[0]
    assert (row["diffusion"], row["eigen"], row["random goals"]) == ("100 (99)", "101 (99)", "103")
    assert paper.SHOWN["means_random"]() == "3, 3 and 3"
    rivals = [{"world": "Ring", "method": title, "mean steps to goal": 20.125 + n} for n, title in enumerate(titles)]
    write(results, "paper-rivals", rivals)
    assert paper.SHOWN["learning_ring"]() == "22.1 against 20.1"
    write(results, "paper-claims", [{"claim": "a", "verdict": "holds"}, {"claim": "b", "verdict": "does not hold"}])
    assert (paper.SHOWN["holds"](), paper.SHOWN["claims"]()) == (1, 2)
