"""Exploring environments with continuous observations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, WrongCheckpoint
from tests.helpers.envs import make
from tests.unit.exploration.test_exploring import same

ROOMS = "S....#....\n.....#....\n..........\n.....#....\n.....#...."


def rooms(**settings: Any) -> fp.ContinuousMaze:
    return fp.ContinuousMaze(ROOMS, **{"max_steps": 100, **settings})


def test_states_are_representatives_and_counts_are_theirs() -> None:
    found = fp.explore(rooms(), 1_500, scale=0.8, seed=1)
    assert found.samples is not None
    labels = np.array(found.labels)
    for column, observed in (("before", found.samples.observations), ("after", found.samples.next_observations)):
        numbers = getattr(found.steps, column)
        assert (np.linalg.norm(labels[numbers] - observed, axis=1) <= 0.8).all()
    assert found.visits.sum() == 1_500 + found.log.begins.sum()
    assert found.coverage.size == found.n_states == len(found.labels)
    np.testing.assert_array_equal(found.samples.actions, found.actions)
    assert found.scale is not None
    assert found.scale.tolist() == [0.8, 0.8]


@pytest.mark.parametrize("method", ["diffusion", "novelty", "eigen", "cover", "random"])
def test_options_lead_to_what_is_little_known(method: str) -> None:
    found = fp.explore(rooms(), 3_000, method, seed=2)
    assert found.samples is not None
    if method in ("diffusion", "novelty"):
        assert (found.samples.next_observations[:, 0] > 8.0).any()
    assert found.goals.size
    np.testing.assert_array_equal(found.log.observations[0], found.labels[0])


def test_the_scale_is_twice_what_a_step_changes() -> None:
    found = fp.explore(rooms(), 2_000, seed=0)
    assert found.scale is not None
    # Steps of 0.4 in eight directions change a coordinate by 0.4 / √2, a little less where walls are.
    assert (found.scale < 0.8 / np.sqrt(2) + 0.05).all()
    assert (found.scale > 0.4).all()


class Growing(gym.Env[Any, Any]):
    """A number that grows by steps that become longer, and another that never changes."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), dtype=np.float64)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.n_steps, self.x = 0, 0.0
        return np.array([self.x, 3.0]), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.n_steps += 1
        self.x += (1 + self.n_steps // 300) * (1 if action else -0.5)
        return np.array([self.x, 3.0]), 0.0, False, self.n_steps >= 2_000, {}


def test_states_get_other_numbers_where_the_scale_has_changed() -> None:
    found = fp.explore(Growing(), 1_900, seed=3)
    assert found.scale is not None
    assert found.samples is not None
    assert found.scale[1] == np.inf
    assert found.scale[0] > 4.0
    # All steps are in the new states, the first ones too.
    places = np.array(found.labels)[:, 0]
    assert (np.abs(places[found.steps.before] - found.samples.observations[:, 0]) <= found.scale[0]).all()
    assert found.visits.sum() == 1_901


@pytest.mark.parametrize("make_env", [rooms, Growing])
def test_an_exploration_goes_on_where_it_stopped(tmp_path: Path, make_env: Any) -> None:
    whole = fp.explore(make_env(), 1_500, seed=4)
    fp.explore(make_env(), 700, seed=4, checkpoint=tmp_path)
    resumed = fp.explore(make_env(), 1_500, seed=4, checkpoint=tmp_path)
    same(whole, resumed)
    assert whole.samples is not None
    assert resumed.samples is not None
    np.testing.assert_array_equal(whole.samples.observations, resumed.samples.observations)
    with pytest.raises(WrongCheckpoint):
        fp.explore(make_env(), 1_500, seed=4, checkpoint=tmp_path, scale=1.0)


def test_options_that_were_found_lead_an_agent_there() -> None:
    found = fp.explore(rooms(), 4_000, seed=1)
    options = found.options
    success = fp.envs.option_success(rooms(max_steps=1_000), options, n_trials=5, max_steps=200)
    assert np.nanmean(success) > 0.8
    assert found.samples is not None
    from_log = fp.GoalPolicy.from_log(found.samples, radius=0.5, reversible=True).options(2)
    success = fp.envs.option_success(rooms(max_steps=1_000), from_log, n_trials=5, max_steps=200)
    assert (success > 0.8).all()


def test_wrong_arguments_are_named() -> None:
    for scale in (0.0, -1.0, [1.0, 1.0, 1.0], np.nan):
        with pytest.raises(InvalidInput, match="scale must be one number above 0, or 2 of them"):
            fp.explore(rooms(), 10, scale=scale)
    with pytest.raises(InvalidInput, match="scale must go with continuous observations"):
        fp.explore(make("FrozenLake-v1"), 10, scale=1.0)
    with pytest.raises(InvalidInput, match="state, layout and scale must go with an environment"):
        fp.explore(fp.maze(), 10, scale=1.0)
    options = fp.explore(rooms(), 1_000).options
    with pytest.raises(InvalidInput, match="observation must be 2 finite numbers"):
        options.act(0, [0.0])
    lost = Growing()
    lost.step = lambda action: (np.array([np.nan, 0.0]), 0.0, False, False, {})  # type: ignore[method-assign]
    with pytest.raises(InvalidInput, match="observation must be finite"):
        fp.explore(lost, 10)


def test_what_was_learned_survives_states_that_are_made_anew() -> None:
    env = fp.ContinuousMaze("S..G", step=0.5, noise=0.01, max_steps=60)
    result = fp.learn_from_scratch(env, 1_500, seed=0)
    assert result.first_reward < 1_500
    assert result.values.shape[0] == result.exploration.n_states > 1
    # In the cell before the target, at the latest, going right is known to be worth something.
    near = [number for number, (x, _) in enumerate(result.exploration.labels) if 2.0 < x < 3.0]
    assert result.values[near].max() > 0.1


def test_only_the_first_reset_is_seeded() -> None:
    class Seeded(fp.ContinuousMaze):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            seeds.append(seed)
            observation, info = super().reset(seed=seed, options=options)
            firsts.append(tuple(observation))
            return observation, info

    seeds: list[int | None] = []
    firsts: list[tuple[float, ...]] = []
    fp.explore(Seeded(ROOMS, start="random", max_steps=50), 400, seed=3)
    assert seeds == [3] + [None] * 7
    assert len(set(firsts)) == 8
    seeds.clear()
    fp.explore(Seeded(ROOMS, start="random", max_steps=50), 150, seed=3, layout=5)
    assert seeds == [5] * 3
