"""Eight copies against one: what is measured, and what the page says of it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from farpoint.worlds.environments import simulator_state
from farpoint.worlds.state_index import state_key
from research import runner
from research import vector as measured
from research.shown import vector
from tests.helpers.envs import fully_observed


def test_pages_say_the_means_and_their_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    coverage: list[dict[str, Any]] = [
        {"place": place, "n_envs": n_envs, "seed": seed, "layout": seed % n_layouts, "n_states": 9, "steps": steps}
        for place, n_layouts, slower in (("maze", 4, 100), ("rooms", 2, 20))
        for n_envs, more in ((1, 0), (8, slower))
        for seed, steps in enumerate((300 + more, 500 + more, 350 + more, 450 + more))
    ]
    wall = [{"n_envs": n_envs, "seed": 0, "steps": 9, "seconds": 80 / n_envs, "per_step": 1} for n_envs in (1, 8)]
    for name, rows in (("vector-coverage", coverage), ("vector-wall", wall)):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    maze, rooms = vector.coverage_rows()
    # (300 + 500 + 350 + 450) / 4 = 400.
    assert (maze["one copy"].value, maze["8 copies"].value, maze["ratio"]) == (400, 500, "1.25")  # type: ignore[union-attr]
    assert rooms["ratio"] == "1.05"
    assert vector.SHOWN["coverage_ratio"]() == "1.25"
    assert [vector.SHOWN[name]() for name in ("wall_one", "wall_many", "wall_ratio")] == ["80.0", "10.0", "0.12"]


def test_full_observations_of_four_rooms_tell_the_same_states_apart_as_the_simulator() -> None:
    env = fully_observed("MiniGrid-FourRooms-v0")
    observation, _ = env.reset(seed=3)
    env.action_space.seed(0)
    pairs = set()
    for _ in range(100):
        pairs.add((simulator_state(env, observation), state_key(observation)))
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            break
    assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs}) > 20


@pytest.mark.parametrize("way", ["DiscoveringVectorEnv", "DiscoveringWrapper"])
def test_memory_is_read_ten_times(way: str) -> None:
    pytest.importorskip("psutil")
    rows = measured.measure_memory(way, "MountainCar", 1_000)
    assert len(rows) == 10
    assert all(row["steps"] >= 100 * (number + 1) and row["bytes"] > 10**6 for number, row in enumerate(rows))
