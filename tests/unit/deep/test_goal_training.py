"""The parts of the training of goal-conditioned policies."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch

import farpoint as fp
from farpoint.deep.goal_env import GoalEnv
from farpoint.deep.goal_training import GoalSettings, input_scaling, make_envs, make_model, network_of

GOALS = np.array([[0.5, 0.5], [4.5, 0.5]], dtype=np.float32)
SETTINGS = GoalSettings(
    radius=0.5,
    n_steps=600,
    seed=0,
    max_steps=20,
    wander=5,
    hidden=(16,),
    n_waves=8,
    gamma=0.9,
    learning_rate=1e-3,
    batch_size=32,
    n_envs=2,
    chunk_steps=200,
)


def new_model() -> Any:
    return make_model(make_envs(fp.ContinuousMaze(".....", step=0.4, noise=0.02), GOALS, SETTINGS, None), SETTINGS)


def test_network_in_numpy_is_that_of_torch() -> None:
    model = new_model()
    network = network_of(model)
    rng = np.random.default_rng(0)
    for _ in range(20):
        here, goal = rng.uniform(0, 5, (2, 2)).astype(np.float32)
        seen = {"observation": here, "achieved_goal": here, "desired_goal": goal}
        with torch.no_grad():
            expected = model.q_net({name: torch.as_tensor(value[None]) for name, value in seen.items()}).numpy()[0]
        assert network(here, goal) == pytest.approx(expected, abs=1e-5)


def test_hindsight_ends_a_trial_at_the_relabeled_goal() -> None:
    model = new_model()
    model.learn(200, log_interval=None)
    batch = model.replay_buffer.sample(500)
    away = (batch.next_observations["achieved_goal"] - batch.observations["desired_goal"]).norm(dim=1)
    reached = (away <= 0.5).numpy()
    assert reached.any()
    assert not reached.all()
    assert np.array_equal(batch.rewards.numpy().ravel(), np.where(reached, 0.0, -1.0))
    assert np.array_equal(batch.dones.numpy().ravel().astype(bool), reached)


def test_the_largest_float_is_no_bound() -> None:
    class Unbounded(fp.ContinuousMaze):
        def __init__(self) -> None:
            super().__init__("....")
            largest = np.finfo(np.float32).max
            self.observation_space = gym.spaces.Box(-largest, largest, (2,), dtype=np.float32)

    goals = np.array([[0.5, 0.5], [3.5, 0.5]], dtype=np.float32)
    env = GoalEnv(Unbounded(), goals, radius=0.5, max_steps=10, wander=5, goal_of=None)
    center, scale = input_scaling(env, seed=0)
    assert np.isfinite(center).all()
    assert (scale[[0, 2]] > 0.1).all()
