"""The suites on what a goal policy needs of its log: their data in small, and what pages show of made-up tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.measures import Estimate
from research import logs, ogbench_rivals, runner
from research.shown import logs as shown


def two_episodes() -> fp.Log:
    """Three steps to the right, and two upwards."""
    before = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [5.0, 5.0], [5.0, 5.2]])
    after = np.array([[0.1, 0.0], [0.2, 0.0], [0.3, 0.0], [5.0, 5.2], [5.0, 5.4]])
    return fp.Log(before, np.zeros((5, 2)), after, truncated=np.array([False, False, True, False, True]))


def test_what_is_added_to_an_observation_is_the_same_before_and_after_it() -> None:
    before, after = logs.drawn_for(two_episodes(), 8, seed=3)
    np.testing.assert_array_equal(before[[1, 2, 4]], after[[0, 1, 3]])
    # Where an episode ends, what follows it is another observation.
    assert (before[3] != after[2]).all()
    assert len(np.unique(np.concatenate([before, after])[:, 0])) == 5 + 2


def test_velocities_are_those_of_the_step_before() -> None:
    log = logs.with_nuisance(two_episodes(), "velocities", seed=0)
    np.testing.assert_allclose(log.observations[:, 2:], [[0, 0], [1, 0], [1, 0], [0, 0], [0, 2]], atol=1e-12)
    np.testing.assert_allclose(log.next_observations[:, 2:], [[1, 0]] * 3 + [[0, 2]] * 2, atol=1e-12)
    np.testing.assert_array_equal(log.observations[:, :2], two_episodes().observations)
    assert logs.with_nuisance(two_episodes(), "eight random", seed=0).observations.shape == (5, 10)


def test_a_policy_that_follows_sees_the_same_velocities() -> None:
    seen = list[Any]()

    def policy(observation: Any, goal: Any) -> None:
        seen.append((observation.tolist(), goal.tolist()))

    beside = logs.Beside(policy, "velocities")  # type: ignore[arg-type]
    for place in two_episodes().observations:
        beside(place, np.array([9.0, 9.0]))
    expected = logs.with_nuisance(two_episodes(), "velocities", seed=0).observations
    np.testing.assert_allclose([one for one, _ in seen], expected, atol=1e-12)
    assert seen[0][1] == [9.0, 9.0, 0.0, 0.0]


def test_parts_are_whole_rounds() -> None:
    parts = {table.name: list(table.parts(False)) for table in logs.TABLES}
    assert len(parts["logs-size"]) == 3 * 2 * 5
    assert parts["logs-size"][0] == {"data_seed": 0, "maze": "medium", "n_steps": 10_000}
    assert {part["data_seed"] for part in parts["logs-noise"][:10]} == {0}
    assert all(len(list(table.parts(True))) == 1 for table in logs.TABLES)


def test_random_pushes_of_one_small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"N_RANDOM_STEPS": 4_000, "N_RANDOM_OPTIONS": 2, "N_TRIALS": 1, "N_WALKS": 20}.items():
        monkeypatch.setattr(logs, name, value)
    row = logs.measure_random("eight numbers", "steps", 0)
    assert set(row) == {"success", "success_least", "steps", "near", "near_steps"}
    assert row["near"] >= 0.5


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_pages_show_means_over_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    rows = [
        {"data_seed": seed, "maze": maze, "n_steps": 10_000, "success": share}
        for maze, shares in (("medium", (0.5, 0.7)), ("giant", (0.0, 0.1)))
        for seed, share in enumerate(shares)
    ]
    write(tmp_path, "logs-size", rows)
    (row,) = shown.SHOWN["size"]()
    assert (row["steps of the log"], row["logs"]) == (10_000, 2)
    found = row["medium-stitch"]
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(60.0)
    agents = [
        {"maze": "giant", "n_options": number, "seed": seed, "first": first, "late_success": late}
        for number, seed, first, late in ((12, 0, 900, 0.5), (12, 1, 1_500, 1.0), (0, 0, "", 0.0))
    ]
    write(tmp_path, "logs-agent", agents)
    with_options, alone = shown.agent_rows()
    assert (with_options["first after, steps"], with_options["episodes that arrive at the end, %"]) == (
        "900 … 1,500",
        75.0,
    )
    assert (alone["agent"], alone["first after, steps"]) == ("eight pushes alone", "never")
    assert [shown.SHOWN[name]() for name in ("agents_with_options", "agents_alone")] == ["2 of 2", "0 of 1"]


def short_walks() -> fp.Log:
    """Eleven episodes of random steps in a plane, of different lengths."""
    places = np.cumsum(np.random.default_rng(0).uniform(-0.2, 0.2, (200, 2)), axis=0)
    cut = np.isin(np.arange(199), [3, 18, 40, 60, 79, 80, 120, 140, 160, 190, 198])
    return fp.Log(places[:-1], places[1:] - places[:-1], places[1:], truncated=cut)


@pytest.mark.slow
@pytest.mark.parametrize("method", ogbench_rivals.RIVALS)
def test_a_rival_goes_on_from_what_it_has_learned(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("ogbench", "torch", "stable_baselines3"):
        pytest.importorskip(package)
    monkeypatch.setattr(ogbench_rivals, "CACHE", tmp_path)
    monkeypatch.setattr(ogbench_rivals, "load", lambda *which: short_walks())
    said = list[Any]()

    def evaluate(policy: Any, *rest: Any) -> list[dict[str, float]]:
        said.append(policy(np.zeros(2), np.ones(2)))
        if len(said) == 2:
            raise KeyboardInterrupt
        return [{"success": 0.5}]

    monkeypatch.setattr(ogbench_rivals, "evaluate", evaluate)
    # A fifth of a second of one core, and twice that.
    first = ogbench_rivals.measure_rival(method, "medium", 0, 0.2 / 60)
    with pytest.raises(KeyboardInterrupt):
        ogbench_rivals.measure_rival(method, "medium", 0, 0.4 / 60)
    second = ogbench_rivals.measure_rival(method, "medium", 0, 0.4 / 60)
    assert second["updates"] > first["updates"] > 0
    # What was learned before the interruption was not learned again, and neither is what is known.
    np.testing.assert_array_equal(said[2], said[1])
    assert (said[1] != said[0]).any()
    assert ogbench_rivals.measure_rival(method, "medium", 0, 0.2 / 60)["updates"] == first["updates"]
    np.testing.assert_array_equal(said[3], said[0])


@pytest.mark.slow
def test_the_buffer_holds_the_log_as_if_it_were_added_row_by_row() -> None:
    for package in ("ogbench", "stable_baselines3"):
        pytest.importorskip(package)
    log = short_walks()
    whole, single = (ogbench_rivals.HindsightTD3(log, "medium", 0).model.replay_buffer for _ in range(2))
    single.reset()
    single.ep_length[:] = single.ep_start[:] = 0
    goal: Any = None
    for row in reversed(range(len(log))):
        goal = log.next_observations[row] if log.ended[row] else goal
        np.testing.assert_allclose(whole.observations["desired_goal"][row, 0], goal, rtol=1e-6)
    for row in range(len(log)):
        goals = whole.observations["desired_goal"][row]
        here, onward = (some[row][None] for some in (log.observations, log.next_observations))
        reward = -float(np.linalg.norm(onward - goals) > 1.0)
        single.add(
            {"observation": here, "achieved_goal": here, "desired_goal": goals},
            {"observation": onward, "achieved_goal": onward, "desired_goal": goals},
            log.actions[row][None],
            np.array([reward]),
            np.array([log.ended[row]]),
            [{"TimeLimit.truncated": bool(log.ended[row])}],
        )
    for name in ("actions", "rewards", "dones", "timeouts", "ep_start", "ep_length"):
        np.testing.assert_allclose(getattr(whole, name), getattr(single, name), rtol=1e-6, err_msg=name)
    for name in whole.observations:
        np.testing.assert_array_equal(whole.observations[name], single.observations[name])
        np.testing.assert_array_equal(whole.next_observations[name], single.next_observations[name])
    assert whole.full
    assert single.full


@pytest.mark.slow
def test_the_ant_walks_toward_its_goals() -> None:
    pytest.importorskip("ogbench")
    from research.ogbench_ant import N_NUMBERS, record
    from research.ogbench_data import Recording

    made = record("stitch", 1, Recording(2, 150))
    assert made["observations"].shape == (302, N_NUMBERS)
    places = made["observations"].reshape(2, 151, N_NUMBERS)[:, :, :2]
    # Goals are four cells of 4 away; in 150 steps of up to 0.1 the ant has left its cell.
    assert (np.linalg.norm(places[:, -1] - places[:, 0], axis=1) > 2.0).any()
    assert np.abs(made["actions"]).max() <= 1.0
