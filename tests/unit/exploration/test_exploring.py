"""Exploring worlds and environments of which nothing is known."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName, WrongCheckpoint
from farpoint.exploration.goals import GOALS
from tests.helpers.envs import fully_observed, make

MAZE = fp.maze()


class MapEnv(gym.Env[Any, Any]):
    """A deterministic world as an environment: action k is the k-th choice of the state."""

    def __init__(self, world: fp.World, limit: int) -> None:
        self.world, self.limit = world, limit
        self.observation_space = gym.spaces.Discrete(world.n_states)
        self.action_space = gym.spaces.Discrete(int(np.diff(world.choice_ptr).max()))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.n_steps, self.state = 0, int(self.world.start or 0)
        return self.state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.n_steps += 1
        choice = self.world.choice_ptr[self.state] + action
        self.state = int(self.world.transitions[[choice]].indices[0])
        return self.state, 0.0, False, self.n_steps >= self.limit, {}


def same(one: fp.Exploration, other: fp.Exploration) -> None:
    for a, b in zip(one.steps.columns, other.steps.columns, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.visits, other.visits)
    np.testing.assert_array_equal(one.coverage, other.coverage)
    np.testing.assert_array_equal(one.goals, other.goals)
    assert one.labels == other.labels


@pytest.mark.parametrize("method", GOALS)
def test_an_environment_is_explored_as_the_world_that_it_is(method: str) -> None:
    world = replace(fp.World.from_graph(torus()), start=5)
    compiled = fp.explore(world, 1_500, method, max_episode_steps=60, seed=5)
    stepped = fp.explore(MapEnv(world, 60), 1_500, method, seed=5)
    same(compiled, stepped)


def torus() -> Any:
    """A torus of 9 × 12: every state has four choices, so that a state tells nothing by their number."""
    rows, cols = np.meshgrid(np.arange(9), np.arange(12), indexing="ij")
    number = rows * 12 + cols
    adjacency = np.zeros((108, 108))
    for down, right in ((1, 0), (0, 1), (8, 0), (0, 11)):
        adjacency[number.ravel(), ((rows + down) % 9 * 12 + (cols + right) % 12).ravel()] = 1
    return adjacency


def test_the_log_is_what_happened() -> None:
    found = fp.explore(MAZE, 2_000, max_episode_steps=100, seed=3)
    assert len(found.log) == found.n_steps == 2_000
    assert found.log.truncated.sum() == 20
    assert found.log.begins.sum() == 20
    begun = np.array(found.log.observations)[found.log.begins].tolist()
    assert set(begun) == {MAZE.start}
    steps: Any = zip(found.log.observations, found.log.actions, found.log.next_observations, strict=True)
    assert MAZE.actions is not None
    for before, action, after in steps:
        choices = [c for c in MAZE.choices(before) if MAZE.actions[c] == action]
        assert after in MAZE.transitions[choices].indices
    counted = np.bincount([found.labels.index(s) for s in (*begun, *found.log.next_observations)])
    np.testing.assert_array_equal(found.visits, counted)
    seen: set[Any] = {MAZE.start}
    first = [0]
    for step, state in enumerate(found.log.next_observations, start=1):
        if state not in seen:
            seen.add(state)
            first.append(step)
    np.testing.assert_array_equal(found.coverage, first)
    assert found.steps_until(50) == first[49]


def test_the_world_that_was_seen_is_the_world() -> None:
    found = fp.explore(MAZE, 6_000, max_episode_steps=100, seed=0)
    assert found.n_states == MAZE.n_states
    assert found.world.labels is not None
    order = [found.world.labels.index(state) for state in range(MAZE.n_states)]
    seen = found.world.adjacency[order][:, order].astype(bool)
    assert (seen != MAZE.adjacency.astype(bool)).nnz == 0
    assert len(found.options) > 5


@pytest.mark.parametrize("stop", [700, 1_999])
def test_an_interrupted_exploration_goes_on_with_the_same_log(stop: int, tmp_path: Path) -> None:
    whole = fp.explore(MAZE, 2_000, max_episode_steps=100, seed=2)
    fp.explore(MAZE, stop, max_episode_steps=100, seed=2, checkpoint=tmp_path)
    same(fp.explore(MAZE, 2_000, max_episode_steps=100, seed=2, checkpoint=tmp_path), whole)


def test_an_interrupted_exploration_of_an_environment_goes_on_with_the_same_log(tmp_path: Path) -> None:
    def lake() -> Any:
        return make("FrozenLake8x8-v1", is_slippery=True)

    whole = fp.explore(lake(), 1_200, seed=4)
    fp.explore(lake(), 500, seed=4, checkpoint=tmp_path)
    same(fp.explore(lake(), 1_200, seed=4, checkpoint=tmp_path), whole)
    with pytest.raises(WrongCheckpoint, match="with another method"):
        fp.explore(lake(), 1_200, "random", seed=4, checkpoint=tmp_path)


@pytest.mark.parametrize("method", GOALS)
def test_every_method_explores_environments_with_ends(method: str) -> None:
    found = fp.explore(make("CliffWalking-v1"), 2_000, method, seed=1)
    again = fp.explore(make("CliffWalking-v1"), 2_000, method, seed=1)
    same(found, again)
    assert found.n_states > 20
    if method != "none":
        assert 1 <= len(found.goals) <= 5
        ends = {after for after, ended in zip(found.steps.after, found.steps.ended, strict=True) if ended == 1}
        assert not ends & set(found.goals.tolist())


def test_layouts_that_change_with_every_reset_are_one_graph() -> None:
    found = fp.explore(fully_observed("MiniGrid-MultiRoom-N2-S4-v0"), 1_500, seed=0)
    fixed = fp.explore(fully_observed("MiniGrid-MultiRoom-N2-S4-v0"), 1_500, seed=0, layout=7)
    begun = [set(itertools.compress(one.log.observations, one.log.begins)) for one in (found, fixed)]
    assert len(begun[0]) > 5
    assert len(begun[1]) == 1


def test_what_cannot_be_explored() -> None:
    with pytest.raises(InvalidInput, match="world must have a start state"):
        fp.explore(fp.open_room(4, 4), 10)
    with pytest.raises(UnknownName, match="method must be one of diffusion, novelty"):
        fp.explore(MAZE, 10, "difusion")
    with pytest.raises(InvalidInput, match="n_steps must be at least 1"):
        fp.explore(MAZE, 0)
    with pytest.raises(InvalidInput, match="discrete actions"):
        fp.explore(make("Pendulum-v1"), 10)


def test_options_see_more_than_none() -> None:
    def seen(method: str, **settings: Any) -> float:
        runs = [fp.explore(MAZE, 2_000, method, max_episode_steps=100, seed=seed, **settings) for seed in range(5)]
        return float(np.median([run.n_states for run in runs]))

    assert seen("diffusion") > 140
    assert seen("none", actions="uniform") < 90


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    fp.explore(MAZE, 1_000, max_episode_steps=100, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (100, 1_000)
    assert told[-1] == (1_000, 1_000)
    with pytest.raises(InvalidInput, match="progress must be a function"):
        fp.explore(MAZE, 10, progress=5)  # type: ignore[arg-type]


class ShortEnv(gym.Env[Any, Any]):
    """Every step ends the episode, in one of three states; the reward may be anything."""

    def __init__(self, n_actions: int = 3, reward: float = 0.0) -> None:
        self.observation_space, self.action_space = gym.spaces.Discrete(4), gym.spaces.Discrete(n_actions)
        self.reward = reward

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return action % 3, self.reward, True, False, {}


@pytest.mark.parametrize("method", GOALS)
def test_where_every_step_ends_the_episode_only_the_start_can_be_a_goal(method: str) -> None:
    found = fp.explore(ShortEnv(), 500, method)
    assert found.n_states == 3
    assert set(found.goals.tolist()) <= {0}


@pytest.mark.parametrize("method", ["eigen", "cover", "diffusion", "novelty"])
@pytest.mark.parametrize("seed", range(4))
def test_every_slot_has_a_goal_of_its_own(method: str, seed: int) -> None:
    found = fp.explore(fp.four_rooms(), 2_000, method, max_episode_steps=100, seed=seed)
    assert len(set(found.goals.tolist())) == 5


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 32767 actions to be explored; got 40000"):
        fp.explore(ShortEnv(40_000), 10)
    with pytest.raises(InvalidInput, match="reward must be finite; got nan in step 0"):
        fp.explore(ShortEnv(reward=float("nan")), 10)
    with pytest.raises(InvalidInput, match="at least two states to have options"):
        _ = fp.explore(ShortEnv(1), 5).options


def test_a_longer_checkpoint_is_not_shortened(tmp_path: Path) -> None:
    fp.explore(MAZE, 2_000, max_episode_steps=100, checkpoint=tmp_path)
    with pytest.raises(WrongCheckpoint, match="at most 200 steps"):
        fp.explore(MAZE, 200, max_episode_steps=100, checkpoint=tmp_path)


def test_options_for_later_are_few_in_an_environment() -> None:
    found = fp.explore(fully_observed("MiniGrid-DoorKey-5x5-v0"), 5_000, layout=1)
    assert 2 <= len(found.options) <= 20


@pytest.mark.parametrize("observation", [(1, "a"), {"b": np.array([1, 2]), "a": 3}, "word", np.True_])
def test_observations_of_many_kinds_are_states(observation: Any) -> None:
    class Odd(ShortEnv):
        def step(self, action: int) -> Any:
            return observation, 0.0, action == 2, False, {}

    assert fp.explore(Odd(), 50).n_states == 2
