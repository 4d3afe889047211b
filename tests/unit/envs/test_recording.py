from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.envs import make


def test_a_log_follows_its_seed() -> None:
    env = make("FrozenLake-v1")
    one, two, other = (fp.record_log(env, 300, seed=seed) for seed in (1, 1, 2))
    assert list(one.states) == list(two.states)
    assert list(one.states) != list(other.states)
    reported: list[int] = []
    fp.record_log(env, 10, progress=lambda done, total: reported.append(done))
    assert reported[-1] == 10


def test_a_log_knows_its_episodes() -> None:
    env = make("FrozenLake-v1", is_slippery=False, max_episode_steps=10)
    log = fp.record_log(env, 500, seed=3)
    assert len(log) == 500
    assert set(log.first_states) == {0}
    # An episode begins first of all, and after every one that ended or was cut.
    assert len(log.first_states) == 1 + int(log.terminated.sum()) + log.n_truncated
    assert log.n_truncated > 0
    breaks = [step for step in range(499) if log.states[step + 1] != log.next_states[step]]
    assert all(log.states[step + 1] == 0 for step in breaks)
    assert set(np.flatnonzero(log.terminated[:-1])) <= set(breaks)


def test_observations_are_recorded_as_they_come() -> None:
    env = fp.ContinuousMaze("S...", max_steps=20)
    before, after = fp.envs.record_observations(env, 50, seed=1)
    assert before.shape == after.shape == (50, 2)
    # Within an episode what follows is what comes before the next step; every 20 steps it begins anew.
    np.testing.assert_array_equal(before[1:20], after[:19])
    np.testing.assert_array_equal(before[[0, 20, 40]], np.full((3, 2), 0.5))
    again, _ = fp.envs.record_observations(env, 50, seed=1)
    np.testing.assert_array_equal(again, before)
    with pytest.raises(InvalidInput, match="observations in a Box; got Discrete"):
        fp.envs.record_observations(gym.make("FrozenLake-v1"), 5)


def test_walk_goes_on_between_resets() -> None:
    before, after = fp.envs.record_observations(gym.make("CartPole-v1"), 200, seed=3)
    # CartPole begins each episode within 0.05 of zero: elsewhere the walk goes on from where it was.
    begun = (np.abs(before) <= 0.05).all(axis=1)
    assert begun[0]
    assert ((before[1:] == after[:-1]).all(axis=1) | begun[1:]).all()
    again = fp.envs.record_observations(gym.make("CartPole-v1"), 200, seed=3)
    assert np.array_equal(before, again[0])
    assert np.array_equal(after, again[1])


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
