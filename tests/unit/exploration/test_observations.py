"""From scratch is from observations: nothing reads the simulator unless it is asked to, and what is hidden is said."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.worlds.state_index import StateIndex
from research.warehouse import warehouse
from tests.helpers.envs import fully_observed, make


def blind(name: str) -> Any:
    return gym.wrappers.TransformObservation(make(name), lambda _: 0, gym.spaces.Discrete(1))


@pytest.mark.filterwarnings("ignore:observations must show all")
def test_a_constant_observation_is_one_state() -> None:
    assert fp.explore(blind("FrozenLake-v1"), 1_000).n_states == 1
    assert fp.learn_from_scratch(blind("FrozenLake-v1"), 1_000).exploration.n_states == 1
    assert set(fp.record_log(blind("FrozenLake-v1"), 1_000).observations) == {0}


def test_a_result_made_with_the_simulator_says_so() -> None:
    found = fp.explore(blind("FrozenLake-v1"), 1_000, state=fp.envs.simulator_state)
    assert found.n_states == 16
    assert "16 states of the simulator" in repr(found)
    assert set(found.columns()["keyed_by"].tolist()) == {"table"}
    assert found.world.keyed_by == "table"
    # Options on it find states in the same way.
    env = fp.OptionsWrapper(blind("FrozenLake-v1"), found.options)
    env.reset(seed=0)
    assert env.action_masks()[4:].any()
    wrapped = fp.DiscoveringWrapper(blind("FrozenLake-v1"), 3, state=fp.envs.simulator_state)
    fp.train_tabular(wrapped, 500)
    assert "of the simulator" in repr(wrapped.explorer)
    learned = fp.learn_from_scratch(blind("FrozenLake-v1"), 1_000, state=fp.envs.simulator_state)
    assert repr(learned).endswith("states of the simulator)")
    again = fp.DiscoveringWrapper(blind("FrozenLake-v1"), explorer=wrapped.explorer, learn=False)
    again.reset(seed=0)
    assert again.explorer.n_states > 1


def same_steps(name: str, n_steps: int, seed: int) -> fp.Exploration:
    observed = fp.explore(fully_observed(name), n_steps, seed=seed, layout=seed)
    simulated = fp.explore(fully_observed(name), n_steps, seed=seed, layout=seed, state=fp.envs.simulator_state)
    for one, other in zip(observed.steps, simulated.steps, strict=True):
        np.testing.assert_array_equal(one, other)
    assert observed.n_states == simulated.n_states
    return observed


ROOMS = ["FourRooms-v0", "DoorKey-8x8-v0", "MultiRoom-N2-S4-v0", "KeyCorridorS3R1-v0"]


@pytest.mark.parametrize("name", ROOMS)
def test_full_observations_are_as_good_as_the_simulator(name: str) -> None:
    same_steps(f"MiniGrid-{name}", 1_200, 3)


@pytest.mark.slow
@pytest.mark.parametrize("layout", range(5))
def test_full_observations_of_many_rooms_are_as_good_as_the_simulator(layout: int) -> None:
    # The goal of each of the five layouts is found, after no more than 8,600 steps.
    assert same_steps("MiniGrid-MultiRoom-N4-S5-v0", 9_000, layout).steps.first_reward <= 8_600


def test_a_partial_view_is_told() -> None:
    with pytest.warns(UserWarning, match=r"observations must show all .*FullyObsWrapper.* or pass state="):
        fp.explore(make("MiniGrid-MultiRoom-N2-S4-v0"), 1_500, seed=0)
    env = fp.DiscoveringWrapper(make("MiniGrid-MultiRoom-N2-S4-v0"), 4, option_probability=0.2)
    with pytest.warns(UserWarning, match="observations must show all") as told:
        fp.train_tabular(env, 4_000)
    assert len(told) == 1
    assert env.explorer.stickiness > 0.9


class Warehouse(gym.Env[Any, Any]):
    """A box is fetched and brought to a shelf; a tenth of the moves slip to another direction."""

    observation_space = gym.spaces.MultiDiscrete([6, 6, 2])
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.carrying, self.n_steps = [0, 0], 0, 0
        return np.array([*self.place, self.carrying]), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.np_random.random() < 0.1:
            action = int(self.np_random.integers(4))
        down, right = ((0, 1), (1, 0), (0, -1), (-1, 0))[action]
        self.place = [int(np.clip(self.place[0] + down, 0, 5)), int(np.clip(self.place[1] + right, 0, 5))]
        self.carrying |= int(self.place == [5, 0])
        self.n_steps += 1
        done = bool(self.carrying and self.place == [5, 5])
        return np.array([*self.place, self.carrying]), float(done), done, self.n_steps >= 100, {}


@pytest.mark.parametrize("seed", range(3))
def test_slip_is_no_secret(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fp.explore(make("FrozenLake-v1", map_name="8x8"), 6_000, seed=seed)
        fp.explore(Warehouse(), 6_000, seed=seed)
        fp.explore(warehouse(), 6_000, seed=seed)


def test_stickiness_is_tested_on_counts() -> None:
    def told(outcomes: list[list[int]]) -> float:
        explorer = fp.Explorer(StateIndex.exact(), 1)
        for episode in outcomes:
            start = explorer.begin(["start"])
            for outcome in episode:
                explorer.add(start, [0], [f"end{outcome}"], [False])
        return explorer.stickiness

    # Ten episodes of five tries, the same outcome in each: 40 repeats, all agree, chance says (25 − 1) / 49.
    assert told([[episode % 2] * 5 for episode in range(10)]) == 1.0
    # Independent draws, and always the same outcome, say nothing.
    draws = np.random.default_rng(0).integers(2, size=(10, 5)).tolist()
    assert told(draws) == 0.0
    assert told([[0] * 5] * 10) == 0.0


def steps_until_most(world: fp.World, n_steps: int, episode: int) -> float:
    found = [fp.explore(world, n_steps, max_episode_steps=episode, seed=seed) for seed in range(5)]
    return float(np.median([one.steps_until(int(np.ceil(0.9 * world.n_states))) for one in found]))


def test_most_of_a_maze_is_soon_seen() -> None:
    assert steps_until_most(fp.maze(), 4_000, 100) <= 2_000
    assert steps_until_most(replace(fp.random_maze(40, 40, seed=1), start=0), 20_000, 300) <= 11_000
