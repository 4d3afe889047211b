"""DQN with actions that last several steps, on a corridor whose values are computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("stable_baselines3")

import torch
from stable_baselines3 import DQN
from stable_baselines3.common.monitor import Monitor

import farpoint as fp
from farpoint.errors import InvalidInput

GAMMA = 0.9
N = 6


class Corridor(gym.Env[Any, Any]):
    """Cells 0 … 5, one-hot; actions left and right; entering 5 pays 1 and ends the episode; starts anywhere."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (N,))
        self.action_space = gym.spaces.Discrete(2)

    def _seen(self) -> NDArray[np.float32]:
        return np.asarray(np.eye(N, dtype=np.float32)[self.place])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(N - 1))
        return self._seen(), {}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        self.place = max(0, self.place + (1 if action else -1))
        return self._seen(), float(self.place == N - 1), self.place == N - 1, False, {}


class RightToThree:
    """Right as far as cell 3."""

    def can_start(self, observation: Any) -> bool:
        return int(np.argmax(observation)) < 3

    def act(self, observation: Any) -> int | None:
        return 1 if self.can_start(observation) else None

    def ended(self, observation: Any) -> bool:
        return not self.can_start(observation)


def by_hand() -> NDArray[np.float64]:
    """Q of left, right and the option (nan where it cannot start), from V(s) = γ^(4 − s)."""
    value = GAMMA ** (4.0 - np.arange(5))
    q = np.full((5, 3), np.nan)
    for cell in range(5):
        q[cell, 0] = GAMMA * value[max(cell - 1, 0)]
        q[cell, 1] = 1.0 if cell == 4 else GAMMA * value[cell + 1]
        if cell < 3:
            q[cell, 2] = GAMMA ** (3 - cell) * value[3]
    return q


def learned(algorithm: type[Any]) -> NDArray[np.float64]:
    # Plain DQN has no masks: where the option cannot start a random action is taken, and no value is compared.
    env = Monitor(fp.OptionsWrapper(Corridor(), [RightToThree()], gamma=GAMMA, unavailable="random"))
    agent = algorithm(
        "MlpPolicy",
        env,
        gamma=GAMMA,
        learning_rate=0.02,
        learning_starts=200,
        batch_size=128,
        train_freq=2,
        target_update_interval=50,
        exploration_initial_eps=1.0,
        exploration_final_eps=1.0,
        buffer_size=4000,
        # One weight per cell and action: a table.
        policy_kwargs={"net_arch": []},
        seed=0,
        device="cpu",
    )
    agent.learn(4000)
    with torch.no_grad():
        values = agent.q_net(torch.eye(N)[:5]).numpy()
    return np.asarray(values, dtype=np.float64)


def test_values_are_those_computed_by_hand() -> None:
    expected = by_hand()
    known = ~np.isnan(expected)
    assert np.abs(learned(fp.SMDPDQN) - expected)[known].max() < 0.02


def test_plain_dqn_overestimates_actions_that_last_long() -> None:
    expected, values = by_hand(), learned(DQN)
    # With plain DQN the option from 0 is worth γ V(3) = 0.81 (or more, since V is too large), not γ³ V(3) = 0.656.
    assert values[0, 2] > expected[0, 2] + 0.1


def test_durations_and_masks_are_kept_with_their_transitions() -> None:
    env = fp.OptionsWrapper(Corridor(), [RightToThree()], gamma=GAMMA)
    agent = fp.SMDPDQN("MlpPolicy", env, gamma=GAMMA, learning_starts=0, seed=1, buffer_size=500, device="cpu")
    agent.learn(300)
    buffer = agent.replay_buffer
    before = buffer.observations[:300, 0].argmax(axis=1)
    after = buffer.next_observations[:300, 0].argmax(axis=1)
    option = buffer.actions[:300, 0, 0] == 2
    assert option.any()
    assert (buffer.durations[:300, 0] == np.where(option, after - before, 1)).all()
    # The option was taken only where it can start, and the mask says where it can start next.
    assert (before[option] < 3).all()
    assert (buffer.masks[:300, 0, 2] == (after < 3)).all()
    batch = buffer.sample(64)
    durations = np.log(batch.discounts.numpy()) / np.log(GAMMA)
    assert set(durations.round(3).ravel()) <= {1.0, 2.0, 3.0}


def test_works_with_numbered_states_and_without_options() -> None:
    lake = gym.make("FrozenLake-v1", is_slippery=False)
    options = fp.discover(fp.World.from_env(lake), n_options=2)
    agent = fp.SMDPDQN("MlpPolicy", fp.OptionsWrapper(lake, options, gamma=GAMMA), gamma=GAMMA, seed=0, device="cpu")
    agent.learn(300)
    assert agent.replay_buffer.durations[:300].max() > 1
    plain = fp.SMDPDQN("MlpPolicy", Corridor(), seed=0, learning_starts=10, device="cpu").learn(100)
    assert (plain.replay_buffer.durations == 1).all()


def test_predict_takes_masks() -> None:
    env = fp.OptionsWrapper(Corridor(), [RightToThree()], gamma=GAMMA)
    agent = fp.SMDPDQN("MlpPolicy", env, gamma=GAMMA, seed=1, device="cpu")
    observation = np.eye(N, dtype=np.float32)[0]
    for allowed in range(3):
        action, _ = agent.predict(observation, deterministic=True, action_masks=np.arange(3) == allowed)
        assert action == allowed


def test_wrong_use_is_named() -> None:
    env = fp.OptionsWrapper(Corridor(), [RightToThree()], gamma=0.5)
    with pytest.raises(InvalidInput, match=r"gamma must be that of the wrapper; got 0\.9"):
        fp.SMDPDQN("MlpPolicy", env, gamma=0.9, seed=0, device="cpu").learn(5)
    with pytest.raises(InvalidInput, match="n_steps must be left out"):
        fp.SMDPDQN("MlpPolicy", env, n_steps=3)


def test_saved_and_loaded_as_any_agent(tmp_path: Path) -> None:
    env = fp.OptionsWrapper(Corridor(), [RightToThree()], gamma=GAMMA)
    agent = fp.SMDPDQN("MlpPolicy", env, gamma=GAMMA, seed=1, buffer_size=500, device="cpu").learn(50)
    agent.save(tmp_path / "agent.zip")
    loaded = fp.SMDPDQN.load(tmp_path / "agent.zip", env=env, device="cpu")
    assert loaded.gamma == loaded.replay_buffer.gamma == GAMMA
    observation = np.eye(N, dtype=np.float32)[1]
    assert loaded.predict(observation, deterministic=True) == agent.predict(observation, deterministic=True)
    loaded.learn(20)
