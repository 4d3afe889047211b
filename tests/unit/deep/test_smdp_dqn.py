"""DQN with actions that last several steps, on a corridor whose values are computed by hand."""

from __future__ import annotations

import pickle
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
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays

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


def test_saved_and_loaded(tmp_path: Path) -> None:
    env = fp.OptionsWrapper(Corridor(), [RightToThree()], gamma=GAMMA)
    agent = fp.SMDPDQN("MlpPolicy", env, gamma=GAMMA, seed=1, buffer_size=500, device="cpu").learn(50)
    agent.save(tmp_path / "agent.zip")
    loaded = fp.SMDPDQN.load(tmp_path / "agent.zip", env, device="cpu")
    assert loaded.num_timesteps == agent.num_timesteps
    assert loaded.gamma == loaded.replay_buffer.gamma == GAMMA
    observation = np.eye(N, dtype=np.float32)[1]
    assert loaded.predict(observation, deterministic=True) == agent.predict(observation, deterministic=True)
    loaded.learn(20)


def test_settings_that_are_functions_must_be_given_again(tmp_path: Path) -> None:
    kinds: dict[str, Any] = {
        "learning_rate": lambda left: 1e-3 * left,
        "policy_kwargs": {"activation_fn": torch.nn.Tanh},
    }
    agent = fp.SMDPDQN("MlpPolicy", Corridor(), seed=1, tau=0.5, device="cpu", **kinds)
    agent.save(tmp_path / "agent.npz")
    with pytest.raises(
        InvalidInput, match="learning_rate, policy_kwargs must be given to load, because a file holds no"
    ):
        fp.SMDPDQN.load(tmp_path / "agent.npz", Corridor())
    loaded = fp.SMDPDQN.load(tmp_path / "agent.npz", Corridor(), device="cpu", seed=2, **kinds)
    assert (loaded.tau, loaded.seed) == (0.5, 2)
    observation = np.eye(N, dtype=np.float32)
    with torch.no_grad():
        np.testing.assert_array_equal(loaded.q_net(torch.tensor(observation)), agent.q_net(torch.tensor(observation)))
    with pytest.raises(
        InvalidInput, match=r"env must have the spaces of the saved agent, .*Discrete\(2\); got .*\(3\)"
    ):
        fp.SMDPDQN.load(tmp_path / "agent.npz", fp.OptionsWrapper(Corridor(), [RightToThree()]), device="cpu", **kinds)


class Hostile:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> Any:
        return open, (self.path, "w")


def test_no_code_of_a_file_is_run(tmp_path: Path) -> None:
    victim = tmp_path / "made by a pickle"
    # As Stable-Baselines3 writes it, with something in it that it would unpickle.
    agent = DQN("MlpPolicy", Corridor(), seed=0, device="cpu")
    agent.extra = Hostile(victim)
    agent.save(tmp_path / "agent.zip")
    pickle.loads(pickle.dumps(Hostile(victim))).close()
    assert victim.exists(), "the trap works"
    victim.unlink()
    with pytest.raises(InvalidFile, match=r"must be a file that SMDPDQN\.save wrote; got one of Stable-Baselines3"):
        fp.SMDPDQN.load(tmp_path / "agent.zip", Corridor())
    (tmp_path / "agent.npz").write_bytes(pickle.dumps(Hostile(victim)))
    np.savez(tmp_path / "objects.npz", header=np.array([Hostile(victim)], dtype=object))
    (tmp_path / "agent.pkl").write_bytes(pickle.dumps(Hostile(victim)))
    for name in ("agent.npz", "objects.npz", "agent.pkl"):
        with pytest.raises(InvalidFile):
            fp.SMDPDQN.load(tmp_path / name, Corridor())
    loaded = fp.SMDPDQN("MlpPolicy", Corridor(), device="cpu")
    for call in (loaded.load_replay_buffer, loaded.save_replay_buffer):
        with pytest.raises(InvalidInput, match="replay buffer must be filled by learning"):
            call(tmp_path / "agent.pkl")
    assert not victim.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"policy": "NoPolicy"}},
        {"settings": {"policy": "MlpPolicy", "tensorboard_log": "/tmp"}},
        {"settings": {}},
        {"settings": None},
        {"left_out": None},
        {"num_timesteps": None},
        {"settings": {"policy": "MlpPolicy", "policy_kwargs": {"net_arch": [3]}}},
    ],
)
def test_crafted_agents_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    fp.SMDPDQN("MlpPolicy", Corridor(), seed=0, device="cpu").save(path)
    facts, arrays = read_arrays(path, "farpoint-smdp-dqn")
    write_arrays(path, "farpoint-smdp-dqn", facts | change, arrays)
    with pytest.raises(InvalidFile, match="must be a whole agent; it is damaged"):
        fp.SMDPDQN.load(path, Corridor(), device="cpu")
