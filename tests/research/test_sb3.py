"""The suite of Stable-Baselines3's agents: its encoding, its parts, and what pages show of it."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research import runner, sb3, sb3_masks
from research.shown import sb3 as shown
from tests.helpers.envs import make


def bits_of(image: Any, column: int, row: int) -> tuple[list[int], ...]:
    """Return the bits of a grid from `FullyObsWrapper`'s image; the agent hides what is in its cell."""
    width, height, _ = image.shape
    agent, key, door = (np.argwhere(image[:, :, 0] == kind) for kind in (10, 5, 4))
    assert agent.tolist() == [[column, row]]
    facts = [(width, column), (height, row), (4, image[column, row, 2])]
    facts += [(width, key[0][0]), (height, key[0][1])] if len(key) else [(width, -1), (height, -1)]
    facts.append((3, image[door[0][0], door[0][1], 2] if len(door) else -1))
    return tuple([int(place == fact) for place in range(size)] for size, fact in facts)


@pytest.mark.filterwarnings("ignore:.*A seed has been passed to `ReseedWrapper")
@pytest.mark.parametrize("name", ["MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-5x5-v0"])
def test_a_grid_as_bits_says_what_its_image_says(name: str) -> None:
    from minigrid.wrappers import FullyObsWrapper

    env, seen = sb3.minigrid(name, 3), make(name)
    image: Any = FullyObsWrapper(seen).reset(seed=3)[0]["image"]
    bits, _ = env.reset(seed=8)
    rng, doors, keys = np.random.default_rng(0), set(), set()
    for _ in range(3_000):
        expected = bits_of(image, *seen.unwrapped.agent_pos)
        under = seen.unwrapped.grid.get(*seen.unwrapped.agent_pos)
        # In a doorway the image shows the agent instead of the door, which is open.
        if under is not None and under.type == "door":
            expected = (*expected[:-1], [1, 0, 0])
        assert bits in env.observation_space
        assert bits.tolist() == [bit for part in expected for bit in part]
        doors.add(tuple(expected[-1]))
        keys.add(tuple(expected[3] + expected[4]))
        action = int(rng.integers(6))
        bits, reward, terminated, truncated, _ = env.step(action)
        _, *answer, _ = seen.step(action)
        assert [reward, terminated, truncated] == answer
        image = FullyObsWrapper(seen).observation({"mission": ""})["image"]
        if terminated or truncated:
            bits, image = env.reset()[0], FullyObsWrapper(seen).reset(seed=3)[0]["image"]
    # Locked, closed and open; the key where it lay, carried, and put down elsewhere.
    assert (len(doors), len(keys) > 3) == ((3, True) if "Door" in name else (1, False))


def test_parts_name_what_there_is() -> None:
    for table in (*sb3.TABLES, *sb3_masks.TABLES):
        full, quick = list(table.parts(False)), list(table.parts(True))
        assert 0 < len(quick) < len(full)
    assert {place for place, _ in sb3.RUNS} == set(sb3.PLACES)
    assert len({table.name for table in sb3.TABLES}) == len(sb3.RUNS) + 1
    # Seeds can be computed one at a time, and every way of a seed takes the same number of steps.
    for table in sb3.TABLES[:-1]:
        parts = list(table.parts(False))
        assert {runner.first_value(part) for part in parts} == {str(seed) for seed in range(sb3.N_SEEDS)}
        assert {part["n_steps"] for part in parts} == {sb3.N_STEPS}


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_what_pages_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    rows = [
        {"place": "FourRooms", "agent": "DQN", "way": way, "n_steps": 1_000, "seed": seed, "success": success,
         "first": first, "decisions": 100 + seed}
        for way, seed, success, first in (
            ("none", 0, "", ""), ("none", 1, 0.0, ""), ("options", 0, 1.0, 200), ("options", 1, 0.5, 400),
        )
    ]  # fmt: skip
    assert shown.agent_rows() == []
    write(tmp_path, "sb3-fourrooms-dqn", rows)
    none, options = shown.agent_rows()
    assert none["reached in"] == "0 of 2"
    assert str(none["first reached"]) == "≥ 1,000 [1,000, 1,000]"
    assert str(none["success at the end"]) == "0 [0, 0]"
    assert options["reached in"] == "2 of 2"
    # The means of 200 and 400, and of 1 and ½.
    assert str(options["first reached"]) == "300 [200, 400]"
    assert str(options["success at the end"]) == "0.75 [0.5, 1.00]"
    assert options["decisions"] == 100.5
    assert none["steps"] == 1_000
    write(
        tmp_path, "sb3-masks",
        [{"masks": masks, "seed": seed, "first": first, "length": 20.0}
         for masks, first in (("junk", 100), ("read", 300)) for seed in range(2)],
    )  # fmt: skip
    assert [str(row["first reached"]) for row in shown.mask_rows()] == ["100 [100, 100]", "300 [300, 300]"]
    write(
        tmp_path, "sb3-two-states",
        [{"discount": "γ", "seed": seed, "learned_0": 2.0 * seed, "learned_1": 3.0, "solved_0": 1.0, "solved_1": 4.0}
         for seed in range(2)],
    )  # fmt: skip
    assert shown.two_state_rows() == [
        {
            "discount": "γ",
            "V₀, by the equations": 1.0,
            "V₀, of DQN": 1.0,
            "V₁, by the equations": 4.0,
            "V₁, of DQN": 3.0,
        }
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*A seed has been passed to `ReseedWrapper")
@pytest.mark.parametrize(
    ("place", "agent", "way"),
    [("Warehouse", "MaskablePPO", sb3.ALIKE), ("FourRooms", "PPO", sb3.OPTIONS), ("FourRooms", "DQN", sb3.CONSTANT),
     ("Warehouse", "DQN", sb3.NONE)],
)  # fmt: skip
def test_agents_are_trained_for_as_many_primitive_steps(place: str, agent: str, way: str) -> None:
    pytest.importorskip("sb3_contrib")
    row = sb3.measure(place, agent, way, 2_000, 0)
    # Without options a decision is a step; with them some last longer.
    assert row["decisions"] == 2_000 if way == sb3.NONE else row["decisions"] < 2_000
    # Half of its decisions are options where it takes every action alike, and 16 of 22 are options; else 5 %.
    assert (row["options_taken"] > 0.3) == (way == sb3.ALIKE)
    assert (row["n_states"] > 0) == (way != sb3.NONE)


@pytest.mark.slow
@pytest.mark.parametrize("way", [sb3.NONE, sb3.OPTIONS])
def test_the_file_in_the_style_of_cleanrl_is_measured_alike(way: str) -> None:
    pytest.importorskip("tensorboard")
    words = sys.argv
    row = sb3.measure("FourRooms", "CleanRL", way, 2_000, 0)
    assert sys.argv is words
    assert row.keys() == sb3.measure("Warehouse", "DQN", way, 200, 0).keys()
    # Rollouts of eight copies and 256 decisions.
    assert row["decisions"] == 2_048
    assert (row["options_taken"] > 0) == (way == sb3.OPTIONS)
    assert row["success"] is None or 0.0 <= row["success"] <= 1.0


@pytest.mark.slow
def test_masks_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("stable_baselines3")
    monkeypatch.setattr(sb3_masks, "N_STEPS", 1_500)
    rows = [sb3_masks.measure(masks, 0) for masks in ("junk", "read")]
    assert all(0 < row["length"] <= sb3_masks.MAX_STEPS for row in rows)
