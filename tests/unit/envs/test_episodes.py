"""The one loop of episodes, what is recorded with it, and success rates of options that can be followed by hand."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.envs import episodes
from farpoint.errors import InvalidInput
from farpoint.options.protocol import OptionList
from tests.helpers.counter import Counter, UpTo
from tests.helpers.envs import make


class Seeds(Counter):
    """Notes the seed of every reset."""

    def __init__(self, limit: int = 100) -> None:
        super().__init__(limit)
        self.seeds: list[int | None] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.seeds.append(seed)
        return super().reset(seed=seed)


def up(observation: Any, info: dict[str, Any]) -> int:
    return 1


def test_only_the_first_reset_is_seeded_unless_there_is_a_layout() -> None:
    env = Seeds(limit=3)
    steps = list(episodes(env, up, n_steps=8, seed=5))
    assert env.seeds == [5, None, None]
    assert [step.next_observation[0] for step in steps] == [1, 2, 3, 1, 2, 3, 1, 2]
    # The limit of three steps cuts two episodes, the number of steps the last.
    assert [step.truncated for step in steps] == [False, False, True, False, False, True, False, True]
    assert not any(step.terminated for step in steps)
    env = Seeds(limit=3)
    list(episodes(env, up, n_episodes=2, seed=5, layout=7))
    assert env.seeds == [7, 7]


def test_an_episode_ends_by_itself_by_a_limit_or_by_the_policy() -> None:
    ended = list(episodes(Counter(), up, n_episodes=1))
    assert [(step.terminated, step.truncated) for step in ended] == [(False, False)] * 8 + [(True, False)]
    assert [step.truncated for step in episodes(Counter(), up, n_episodes=2, max_steps=2)] == [False, True] * 2

    def up_to_four(observation: Any, info: dict[str, Any]) -> int | None:
        return 1 if observation[0] < 4 else None

    stopped = list(episodes(Counter(), up_to_four, n_episodes=2))
    assert [step.next_observation[0] for step in stopped] == [1, 2, 3, 4] * 2
    assert not any(step.truncated for step in stopped)


def test_a_log_follows_its_seed() -> None:
    env = make("FrozenLake-v1")
    one, two, other = (fp.record_log(env, 300, seed=seed) for seed in (1, 1, 2))
    assert list(one.observations) == list(two.observations)
    assert list(one.observations) != list(other.observations)
    reported: list[int] = []
    fp.record_log(env, 10, progress=lambda done, total: reported.append(done))
    assert reported[-1] == 10


def test_a_log_knows_its_episodes() -> None:
    env = make("FrozenLake-v1", is_slippery=False, max_episode_steps=10)
    log = fp.record_log(env, 500, seed=3)
    assert len(log) == 500
    before, after = np.array(log.observations), np.array(log.next_observations)
    assert set(before[log.begins].tolist()) == {0}
    # An episode begins first of all, and after every one that ended or was cut; the end of the recording cuts the last.
    assert log.begins.sum() == log.ended.sum()
    assert log.ended[-1]
    assert log.truncated.sum() > 1
    breaks = np.flatnonzero(before[1:] != after[:-1])
    assert (before[breaks + 1] == 0).all()
    assert log.rewards.tolist() == (after == 15).tolist()
    assert set(np.flatnonzero(log.terminated[:-1])) <= set(breaks)


def test_observations_are_recorded_as_they_come() -> None:
    env = fp.ContinuousMaze("S...", max_steps=20)
    log = fp.envs.record_samples(env, 50, seed=1)
    before, after = log.observations, log.next_observations
    assert before.shape == after.shape == (50, 2)
    # Within an episode what follows is what comes before the next step; every 20 steps it begins anew.
    np.testing.assert_array_equal(before[1:20], after[:19])
    np.testing.assert_array_equal(before[[0, 20, 40]], np.full((3, 2), 0.5))
    np.testing.assert_array_equal(fp.envs.record_samples(env, 50, seed=1).observations, before)


def test_walk_goes_on_between_resets() -> None:
    log = fp.envs.record_samples(gym.make("CartPole-v1"), 200, seed=3)
    before, after = log.observations, log.next_observations
    # CartPole begins each episode within 0.05 of zero: elsewhere the walk goes on from where it was.
    begun = (np.abs(before) <= 0.05).all(axis=1)
    assert begun[0]
    assert ((before[1:] == after[:-1]).all(axis=1) | begun[1:]).all()
    again = fp.envs.record_samples(gym.make("CartPole-v1"), 200, seed=3)
    assert np.array_equal(before, again.observations)
    assert np.array_equal(after, again.next_observations)


def test_samples_hold_what_was_done() -> None:
    env = fp.ContinuousMaze("S...", max_steps=20, noise=0.0)
    log = fp.envs.record_samples(env, 50, seed=1)
    np.testing.assert_array_equal(log.observations[1:20], log.next_observations[:19])
    for row in range(50):
        env.reset(options={"start": log.observations[row]})
        np.testing.assert_allclose(env.step(log.actions[row])[0], log.next_observations[row], atol=1e-6)
    right = fp.envs.record_samples(env, 5, sample=lambda rng: 0, seed=1)
    assert right.actions.tolist() == [0] * 5
    assert fp.envs.record_samples(env, 50, seed=1).actions.tolist() == log.actions.tolist()


def test_samples_need_boxes() -> None:
    with pytest.raises(InvalidInput, match="must have observations in a Box"):
        fp.envs.record_samples(make("FrozenLake-v1"), 10)
    env = fp.ContinuousMaze("S...")
    env.action_space = gym.spaces.MultiBinary(3)
    with pytest.raises(InvalidInput, match="must have actions that are discrete or in a Box"):
        fp.envs.record_samples(env, 10)


def test_success_is_the_share_of_trials_that_reach_the_goal() -> None:
    env = Counter(limit=4)
    # From 0: three steps are within the limit of four, five are not, and at 0 there is nothing to try.
    success = fp.envs.option_success(env, [UpTo(3), UpTo(5), UpTo(0)], n_trials=7)
    assert success[:2].tolist() == [1.0, 0.0]
    assert np.isnan(success[2])
    assert fp.envs.option_success(Counter(), [UpTo(5)], n_trials=3, max_steps=4).tolist() == [0.0]


class FromAnywhere(Counter):
    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(9))
        return np.array([self.place], dtype=np.float32), {}


def test_trials_begin_in_the_same_way_for_every_option() -> None:
    # With 4 steps to go up by 5, only trials that begin above 0 succeed.
    settings = {"n_trials": 50, "max_steps": 4}
    alone = fp.envs.option_success(FromAnywhere(), [UpTo(5)], **settings)
    assert 0.0 < alone[0] < 1.0
    assert fp.envs.option_success(FromAnywhere(), [UpTo(8), UpTo(5)], **settings)[1] == alone[0]
    assert fp.envs.option_success(FromAnywhere(), [UpTo(5)], **settings, seed=1)[0] != alone[0]


def test_options_may_read_something_else_than_the_observation() -> None:
    class OfPlaces(OptionList):
        def observe(self, env: Counter, observation: object) -> list[int]:
            return [env.place]

    options = OfPlaces([UpTo(3)])
    assert fp.envs.option_success(Counter(), options, n_trials=2).tolist() == [1.0]


def test_an_option_that_gives_up_has_failed() -> None:
    class GivesUp(UpTo):
        def act(self, observation: list[float]) -> int | None:
            return 1 if observation[0] < 2 else None

    assert fp.envs.option_success(Counter(), [GivesUp(3), GivesUp(2)], n_trials=2).tolist() == [0.0, 1.0]


def test_wrong_arguments() -> None:
    with pytest.raises(InvalidInput, match="n_trials must be at least 1; got 0"):
        fp.envs.option_success(Counter(), [UpTo(1)], n_trials=0)
    with pytest.raises(InvalidInput, match="max_steps must be at least 1; got 0"):
        fp.envs.option_success(Counter(), [UpTo(1)], max_steps=0)
