"""What the best actions of an agent are worth."""

from __future__ import annotations

import gymnasium as gym
import numpy as np

import farpoint as fp
from farpoint.envs import WorldEnv
from research.exploration.wrapped import policy_values


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
