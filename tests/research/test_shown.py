"""Arithmetic on pages: made-up tables of a few rows, with texts typed by hand."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from farpoint.measures import estimate
from research import runner
from research.exploration import plan
from research.shown import choices, exploring, goals, paper


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
    steps = {
        "diffusion_half": 200,
        "diffusion_best": 160,
        "farpoint_own": 152,
        "average_half": 250,
        "average_best": 176,
    }
    plans = {"none": 9.0, "diffusion": 4.0, "farpoint": 5.0, "average": 3.0, "fast": 3.5, "star": 6.0}
    decisions = {f"{name}_decisions": value for name, value in plans.items()}
    means = {"n_options": 4, "p": 0.1, "fast_best": 180, "star_best": 400} | steps | decisions
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
            {"seed": seed, "n_options": number, "diffusion": 100, "farpoint": ours, "average": 140, "fast": 150}
            | decisions
            | {"farpoint_decisions": 2.5, "average_decisions": 2}
            for number in (10, 20, 40)
            for seed, ours in enumerate((50, 80, 110))
        ],
    )
    assert goals.maze_rows()[0] == {"options": 10, "median": "−20.0 %", "worst": "+10.0 %"}
    assert goals.better() == "6 of 9"
    # 176 / 160, and 140 / 100 in the mazes; 3 / 4 and 2 / 4; of the median of farpoint options, 80, and of 152.
    assert goals.SHOWN["steps_to_diffusion"]() == "10 to 40 % more"
    assert goals.SHOWN["decisions_to_diffusion"]() == "25 to 50 % fewer"
    assert goals.SHOWN["steps_to_farpoint"]() == "16 to 75 % more"
    last = goals.SHOWN["decisions"]()[-1]
    assert (last["world"], last["options"], last["average"]) == ("3 mazes (median)", 40, 2)
    assert last["average, as published"] is None
    write(results, "goals-paper", [{"world": "maze", "farpoint_half": 180, **means, "average_best": 120}])
    assert goals.SHOWN["steps_to_diffusion"]() == "from 25 % fewer to 40 % more"
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


def shown_runs(place: str, steps: Mapping[str, Sequence[int | str]], limit: int = 1_000) -> list[dict[str, Any]]:
    """Return the rows of runs whose layouts take turns, with a worse one that a probability was chosen in."""
    return [
        {
            "place": place, "method": method, "probability": 0.1, "stage": stage, "limit": limit, "seed": seed,
            "layout": seed % 5, "most": value, "near_optimal": value, "first": value,
        }
        for method, values in steps.items()
        for stage, numbers in (("tuning", [limit]), ("shown", values))
        for seed, value in enumerate(numbers)
    ]  # fmt: skip


def test_exploring(results: Path) -> None:
    level: dict[str, Sequence[int | str]] = {method: [100, 120, 100, 120] for method in plan.LEARNERS}
    slow = {**level, "none": [300, 360, 300, 360], "random": [110, 130, 100, 120]}
    never = {**level, "none": ["", "", "", ""], "tried": [20, 24, 20, 24]}
    rows = [*shown_runs("cliff", slow), *shown_runs("lake", never), *shown_runs("taxi", {"diffusion": [1, 1]})]
    write(results, "explore-environments", rows)
    # Run by run 3 times; and 10 or 8⅓ times, whose geometric mean is 9.13, where nobody arrived.
    assert exploring.SHOWN["environments_none"]() == "3.00 × to ≥ 9.13 × sooner in 2 of 2"
    assert exploring.SHOWN["environments_none_level"]() == "level in none"
    assert exploring.SHOWN["environments_random_level"]() == "level in all of them"
    said = exploring.SHOWN["environments_tried_level"]()
    assert said == "level in CliffWalking and behind in FrozenLake 8x8, slippery"
    assert exploring.SHOWN["environments_tried"]() == "sooner in 0 of 2"
    assert exploring.SHOWN["environments_tried_counted"]() == "level in 1 of 2 and behind in 1 of 2"
    assert exploring.SHOWN["environments_none_counted"]() == "sooner in 2 of 2"
    # Taxi has one method only.
    missing = exploring.SHOWN["environments_missing"]()
    assert missing.startswith("MiniGrid MultiRoom-N2-S4, MiniGrid KeyCorridorS3R1, Taxi, ")
    assert "`python -m research.exploration explore-environments --only multiroom2,corridor,taxi," in missing
    first, near = exploring.draw("environments", "first", "near_optimal").axes
    assert [text.get_text() for text in first.get_yticklabels()] == ["CliffWalking", "FrozenLake 8x8, slippery"]
    assert near.get_legend() is not None


def test_intervals_of_exploring_are_over_layouts(results: Path) -> None:
    # Runs on one layout agree, so that the interval over layouts is the wider one.
    steps: list[int | str] = [100, 200, 300, 400, 500] * 4
    write(results, "explore-seen", shown_runs("ring", dict.fromkeys(plan.METHODS, steps)))
    (runs,) = exploring.runs_of("seen").values()
    found = exploring.steps_of(runs["eigen"], "most")
    assert found == estimate(steps, groups=[0, 1, 2, 3, 4] * 4)
    assert found.high - found.low > 1.5 * (estimate(steps).high - estimate(steps).low)
    assert exploring.SHOWN["seen_probabilities"]() == "0.1 in 1"


def test_places_in_which_too_few_runs_arrive(results: Path) -> None:
    reached = shown_runs("ring", dict.fromkeys(plan.METHODS, (100, 200)))
    beyond = shown_runs("doorkey", dict.fromkeys(plan.METHODS, ("", "")))
    for row in (*reached, *beyond):
        row |= {"n_states": 50, "n_unseen": 10 if row["method"] == "none" else 5}
    write(results, "explore-seen", [*reached, *beyond])
    assert exploring.SHOWN["seen_too_few"]() == "MiniGrid DoorKey-8x8"
    assert exploring.SHOWN["seen_none"]() == "sooner in 0 of 1"
    shares = {row[""]: str(row["MiniGrid DoorKey-8x8, %"]) for row in exploring.share_rows()}
    assert len(shares) == len(plan.METHODS)
    assert (shares["diffusion options"], shares["primitive actions"]) == ("90.0 [90.0, 90.0]", "80.0 [80.0, 80.0]")
    write(results, "explore-seen", reached)
    assert exploring.SHOWN["seen_too_few"]() == "none"
    runs: dict[str, Sequence[int | str]] = {"diffusion": ("", "", ""), "tried": (700, "", ""), "none": ("", "", "")}
    write(results, "explore-wrapper", shown_runs("lake", runs))
    counts = "diffusion options 0 of 3; primitive actions, least tried first 1 of 3; primitive actions 0 of 3"
    assert exploring.SHOWN["wrapper_too_few"]() == f"FrozenLake 8x8, slippery ({counts})"


def test_tasks_that_come_later(results: Path) -> None:
    # Run by run: twice as many steps, whatever the task of a run takes.
    ours: list[int | str] = [100, 1_000, 200, 3_000]
    steps = dict.fromkeys(plan.LATER_METHODS, ours)
    write(results, "explore-later", shown_runs("maze", {**steps, "novelty": [2 * int(one) for one in ours]}, 9_000))
    (row,) = exploring.later_rows()
    assert str(row["least known states, ×"]) == "2.00 [2.00, 2.00]"
    assert exploring.SHOWN["later_novelty"]() == "50 % fewer steps in 1 of 1 worlds"
    assert exploring.SHOWN["later_random"]() == "fewer steps in 0 of 1 worlds"
    assert exploring.SHOWN["later_random_level"]() == "level in all of them"
    assert exploring.SHOWN["later_novelty_level"]() == "level in none"


def test_views(results: Path) -> None:
    rows = [
        {
            "place": "multiroom4", "view": view, "method": method, "stage": "shown", "limit": 1_000, "seed": seed,
            "layout": seed, "first": first,
        }
        for view, method, first in (("full", "diffusion", 50), ("own", "diffusion", ""), ("none", "none", 400))
        for seed in range(2)
    ]  # fmt: skip
    write(results, "explore-views", rows)
    (row,) = exploring.view_rows()
    texts = [str(value) for value in row.values()]
    assert texts == [
        "MiniGrid MultiRoom-N4-S5", "50.0 [50.0, 50.0]", "≥ 1,000 [1,000, 1,000]", "400 [400, 400]",
    ]  # fmt: skip
    assert (exploring.SHOWN["views_full"](), exploring.SHOWN["views_own"]()) == ("2 of 2", "0 of 2")
