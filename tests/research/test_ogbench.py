"""The OGBench suite: its data sets in small, made by the published protocol, and what pages show of its tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.measures import Estimate
from farpoint.worlds import read_log
from research import runner
from research.shown import ogbench as shown


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_success_is_a_mean_over_episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    # Two tasks of one log, evaluated twice: 75 % and 85 %.
    rows = [
        {"maze": maze, "kind": kind, "data_seed": 0, "seed": seed, "task": task, "success": share, "steps": 100}
        for maze in ("medium", "large", "giant", "teleport")
        for kind in ("navigate", "stitch")
        for seed, shares in enumerate(((1.0, 0.5), (0.9, 0.8)))
        for task, share in enumerate(shares, start=1)
    ]
    write(tmp_path, "ogbench-success", rows)
    first = shown.success_rows()[0]
    found = first["GoalPolicy"]
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(80.0)
    # Of 200 episodes: 80 ± 1.96 · √(0.8 · 0.2 / 200) = 74.5 … 85.5.
    assert (found.low, found.high) == pytest.approx((74.5, 85.5), abs=1.0)
    assert {name: first[name] for name in ("data set", "logs", "episodes", "HIQL")} == {
        "data set": "medium-navigate", "logs": 1, "episodes": 200, "HIQL": 79,
    }  # fmt: skip


def test_rivals_are_shown_below_the_policy_with_the_minutes_that_all_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    write(tmp_path, "ogbench-speed", [{"maze": "giant", "build_processor_seconds": 0.6}])
    tasks = [
        {"maze": maze, "kind": "stitch", "data_seed": 1, "seed": seed, "task": task, "success": share}
        for maze in ("medium", "giant")
        # The other evaluation is not the rivals' own.
        for seed, share in ((0, 0.9), (1, 0.0))
        for task in range(1, 6)
    ]
    write(tmp_path, "ogbench-success", tasks)
    curves: dict[tuple[str, str], tuple[float, ...]] = {
        ("behavior cloning", "medium"): (0.2, 0.4),
        ("behavior cloning", "giant"): (0.0, 0.1),
        ("TD3 + HER", "medium"): (0.1, 0.3),
        ("TD3 + HER", "giant"): (0.0,),
    }
    rows = [
        {"method": method, "maze": maze, "data_seed": 1, "core_minutes": 2.0 * point, "updates": 9, "success": share}
        for (method, maze), shares in curves.items()
        for point, share in enumerate(shares, start=1)
    ]
    write(tmp_path, "ogbench-rivals", rows)
    shown_rows = shown.rival_rows()
    assert [(row["method"], row["minutes of one core"]) for row in shown_rows] == [
        ("GoalPolicy", "0.010"), ("behavior cloning", "2"), ("behavior cloning", "4"), ("TD3 + HER", "2"),
        ("TD3 + HER", "4"),
    ]  # fmt: skip
    found = [row["medium-stitch"] for row in shown_rows]
    assert [one.value for one in found if isinstance(one, Estimate)] == pytest.approx([90.0, 20.0, 40.0, 10.0, 30.0])
    assert shown_rows[-1]["giant-stitch"] is None
    last = [shown.SHOWN[name]().value for name in ("cloning_medium", "cloning_giant", "td3_medium", "td3_giant")]
    assert last == pytest.approx([40.0, 10.0, 30.0, 0.0])
    # TD3 was trained for two minutes only in the giant maze: 120 / 0.6.
    assert (shown.SHOWN["rival_minutes"](), shown.SHOWN["rival_ratio"]()) == ("2", "200")


def test_the_ant_is_shown_beside_what_others_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    row = {"kind": "stitch", "data_seed": 0, "way": "position alone", "n_recorded": 9, "n_episodes": 5}
    write(tmp_path, "ogbench-ant", [row | {"success": 0.2, "fell": 0.4, "n_cells": 7}])
    (found,) = shown.ant_rows()
    assert (found["data set"], found["compared"], found["fell over, %"]) == ("medium-stitch", "position alone", 40.0)
    share = found["GoalPolicy"]
    assert isinstance(share, Estimate)
    assert share.value == pytest.approx(20.0)
    assert found["HIQL"] == 94
    assert shown.SHOWN["ant_best"]().value == pytest.approx(20.0)


@pytest.mark.slow
def test_data_sets_follow_the_protocol() -> None:
    pytest.importorskip("ogbench")
    from research.ogbench_data import Recording, Ways, record

    recording = Recording(20, 100)
    for kind in ("navigate", "stitch"):
        made = record("medium", kind, 3, recording)
        assert np.flatnonzero(made["terminals"]).tolist() == [101 * episode + 100 for episode in range(20)]
        assert np.abs(made["actions"]).max() <= 1.0
        log = read_log(made)
        assert (len(log), int(log.ended.sum())) == (2_000, 20)
        # The point moves by a fifth of the action where no wall is in the way.
        free = np.abs(log.next_observations - log.observations - 0.2 * log.actions).max(axis=1) < 1e-3
        assert free.mean() > 0.5
        again = record("medium", kind, 3, recording)
        assert all((made[name] == again[name]).all() for name in made)
        other = record("medium", kind, 4, recording)
        assert not np.array_equal(made["observations"], other["observations"])
    ways = Ways("medium", 0)
    # Row 3 of the medium maze is 1 1 0 0 0 1 1 1: from (3, 2) one can go up, down and right.
    assert (3, 2) in ways.crossings
    assert ways.distances((1, 1))[(1, 2)] == 1
    assert all(ways.distances((1, 1))[goal] == 4 for goal in ways.stitch_goals((1, 1)))


@pytest.mark.slow
def test_a_small_log_already_reaches_goals() -> None:
    pytest.importorskip("ogbench")
    from research.ogbench import evaluate
    from research.ogbench_data import Recording, record

    log = read_log(record("medium", "navigate", 5, Recording(40, 1_000)))
    rows = evaluate(fp.GoalPolicy.from_log(log, radius=1.0), "medium", 5, n_episodes=2)
    assert [row["task"] for row in rows] == [1, 2, 3, 4, 5]
    assert np.mean([row["success"] for row in rows]) >= 0.7
