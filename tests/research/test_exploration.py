"""The tables of exploring from scratch: what is tuned where, what is measured, and from which observations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.envs import WorldEnv
from research.exploration import plan
from research.exploration.learning import measure_learning
from research.exploration.places import full_image, make_env, make_place
from research.exploration.seen import explored, measure_neo, measure_seen
from research.exploration.tables import TABLES
from research.exploration.views import measure_view
from research.exploration.wrapped import measure_wrapped, policy_values
from research.runner import Row, Table
from tests.helpers.envs import fully_observed

TUNED = [table for table in TABLES if table.then is not None]
TINY: dict[str, Any] = {"stage": "tuning", "n_runs": 2}


@pytest.mark.parametrize("table", TUNED, ids=lambda table: table.name)
def test_every_method_is_tuned_over_the_same_four_values_on_runs_that_no_table_shows(table: Table) -> None:
    parts = list(table.parts(False))
    tuned = [part for part in parts if part["stage"] == "tuning"]
    place = parts[0]["place"]
    for method in {part["method"] for part in parts} - set(plan.WITHOUT_OPTIONS):
        values = [part["probability"] for part in tuned if (part["place"], part["method"]) == (place, method)]
        assert values == [0.02, 0.05, 0.1, 0.2]
    assert {part["n_runs"] for part in tuned} == {10}
    assert {part["n_runs"] for part in parts if part["stage"] == "shown"} == {20}
    assert not set(plan.seeds_of("tuning", 10)) & set(plan.seeds_of("shown", 20))


def test_only_the_best_probability_is_shown() -> None:
    then: Callable[[bool, list[Row]], Any] = plan.shown_parts(plan.SEEN_PLACES, "most", "n_unseen")

    def row(probability: float, most: float | None, unseen: int) -> Row:
        part = {"place": "ring", "method": "eigen", "probability": probability, "stage": "tuning", "limit": 8_000}
        return {**part, "most": most, "n_unseen": unseen}

    rows = [row(0.02, 900, 5), row(0.05, 700, 5), row(0.1, 800, 5)]
    assert list(then(False, rows)) == [], "one value is not there yet"
    (part,) = then(False, [*rows, row(0.2, None, 50)])
    assert (part["probability"], part["stage"], part["n_runs"]) == (0.05, "shown", 20)
    # Where nobody saw nine tenths, who saw most.
    (part,) = then(False, [row(p, None, unseen) for p, unseen in ((0.02, 90), (0.05, 80), (0.1, 60), (0.2, 70))])
    assert part["probability"] == 0.1


def test_an_exploration_that_ends_early_is_the_beginning_of_one_that_does_not() -> None:
    world = make_place("ring", 1)
    settings: dict[str, Any] = {"method": "diffusion", "max_episode_steps": 100, "seed": 3}
    early, whole = explored(world, 8_000, **settings), fp.explore(world, 8_000, **settings)
    assert math.ceil(0.9 * world.n_states) <= early.n_states
    assert early.n_steps < 4_000
    np.testing.assert_array_equal(early.actions, whole.actions[: early.n_steps])


def test_what_is_measured_of_an_exploration() -> None:
    rows = measure_seen("cliff", "diffusion", 0.1, limit=1_500, **TINY)
    assert [row["seed"] for row in rows] == [1_000, 1_001]
    for row in rows:
        found = fp.explore(make_place("env:CliffWalking-v1", 0), 1_500, option_probability=0.1, max_episode_steps=200,
                           seed=row["seed"])  # fmt: skip
        # 48 cells without the ten of the cliff; nine tenths of 38 are 35.
        assert row["n_states"] == 38
        assert (row["half"], row["most"]) == (found.steps_until(19), found.steps_until(35))
        arrived = np.flatnonzero(found.log.terminated)
        assert row["target"] == (arrived[0] + 1 if arrived.size else None)


def test_options_are_made_anew_as_rarely_as_in_the_protocol_of_neo() -> None:
    for place in plan.NEO_PLACES:
        n_states = make_place(place.world, 0).n_states
        assert place.limit == (125_000 if n_states < 1_000 else 250_000)
        # Random mazes differ in size.
        assert abs(plan.NEO_REMAKES[place.name] - max(1_000, 5 * n_states)) <= 0.03 * plan.NEO_REMAKES[place.name]
    row = measure_neo("neo-rooms25", "none", None, "shown", 1, 2_500)[0]
    found = fp.explore(make_place("large_four_rooms", 0), 2_500, "none", actions="uniform", max_episode_steps=500)
    assert row["n_states"] - row["n_unseen"] == found.n_states


def test_learning_in_small() -> None:
    for place, seen in (("cliff", 38), ("multiroom6", 301)):
        for row in measure_learning(place, "diffusion", 0.05, limit=300, **TINY):
            assert 5 < row["n_seen"] <= seen
            assert row["first"] is None or 0 < row["first"] <= 300


def test_learning_under_the_wrapper_in_small() -> None:
    for method in plan.WRAPPED_METHODS:
        (row,) = measure_wrapped("cliff", method, 0.05, "tuning", 1, 400)
        assert 5 < row["n_seen"] <= 38


def test_the_value_of_a_policy_is_what_its_episodes_bring() -> None:
    world = fp.World.from_env(gym.make("FrozenLake-v1"))
    assert world.targets is not None
    rng = np.random.default_rng(1)
    # Few different numbers, so that some states have several best actions.
    values = rng.integers(0, 3, size=(world.n_states, 4)).astype(float)
    is_target = np.isin(np.arange(world.n_states), world.targets)
    exact = policy_values(world, values, is_target, 0.9)
    env, total = WorldEnv(world), 0.0
    env.reset(seed=3)
    n_episodes = 4_000
    for _ in range(n_episodes):
        state, _ = env.reset()
        discount, ended = 1.0, False
        while not ended and discount > 1e-6:
            best = np.flatnonzero(values[state] == values[state].max())
            state, reward, ended, _, _ = env.step(int(rng.choice(best)))
            total += discount * reward
            discount *= 0.9
    start = int(np.flatnonzero(world.starts)[0]) if world.starts is not None else world.start
    assert exact[start] > 0
    np.testing.assert_allclose(total / n_episodes, exact[start], rtol=0.2)


SMALL = ("MiniGrid-MultiRoom-N2-S4-v0", "MiniGrid-KeyCorridorS3R1-v0")


@pytest.mark.parametrize("name", [*SMALL, pytest.param("MiniGrid-FourRooms-v0", marks=pytest.mark.slow)])
def test_full_observations_show_what_the_simulator_knows(name: str) -> None:
    observed, simulated = make_place(f"env:{name}", 3), fp.World.from_env(make_env(name), seed=3)
    assert (observed.keyed_by, simulated.keyed_by) == ("observation", "minigrid")
    assert (observed.transitions != simulated.transitions).nnz == 0
    np.testing.assert_array_equal(observed.actions, simulated.actions)
    np.testing.assert_array_equal(observed.targets, simulated.targets)


@pytest.mark.parametrize("name", SMALL)
def test_what_is_simulated_is_what_is_stepped(name: str) -> None:
    world = make_place(f"env:{name}", 2)
    log = fp.explore(make_env(name, "full"), 1_500, layout=2).log
    assert world.actions is not None
    for before, action, after, terminated in zip(
        log.observations, log.actions, log.next_observations, log.terminated, strict=True
    ):
        state = world.find_state(before)
        assert state is not None
        (choice,) = (
            choice
            for choice in range(world.choice_ptr[state], world.choice_ptr[state + 1])
            if world.actions[choice] == action
        )
        there = world.transitions[[choice]].indices
        assert there.tolist() == [world.find_state(after)]
        assert terminated == world.terminal[there[0]]


def test_the_image_is_that_of_minigrid() -> None:
    name = "MiniGrid-DoorKey-5x5-v0"
    env = fully_observed(name)
    observation, _ = env.reset(seed=1)
    index = fp.worlds.state_index.StateIndex.exact()
    for action in (0, 1, 2, 3, 2, 4, 5):
        assert index.add(full_image(env, None)) == index.add(fp.worlds.state_index.state_key(observation))
        observation, *_ = env.step(action)


def test_views() -> None:
    (full,) = measure_view("multiroom2", "full", "diffusion", None, "shown", 1, 2_000)
    found = fp.explore(make_env(SMALL[0], "full"), 2_000, layout=0, seed=0)
    assert full["first"] == found.steps.first_reward
    # The own view is a dictionary, and warns about what it hides nowhere.
    (own,) = measure_view("multiroom2", "own", "diffusion", None, "shown", 1, 1_500)
    assert set(own) == {"seed", "layout", "first"}


def test_the_rooms_of_multiroom() -> None:
    assert any(place.world == "env:MiniGrid-MultiRoom-N4-S5-v0" for place in plan.ENVIRONMENTS)
    env = make_env("MiniGrid-MultiRoom-N4-S5-v0")
    env.reset(seed=0)
    # It is told on the page.
    assert len(env.unwrapped.rooms) == 6
