"""Learned option policies: they reach their goals, the training can be interrupted, and failures are reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("stable_baselines3")

import torch

import farpoint as fp
from farpoint.errors import InvalidInput, OutputError, WrongCheckpoint

GOALS = [[0.5, 0.5], [4.5, 0.5]]
TINY: dict[str, Any] = {
    "radius": 0.5,
    "n_steps": 600,
    "max_steps": 20,
    "hidden": [16],
    "n_waves": 8,
    "batch_size": 32,
    "n_envs": 2,
    "chunk_steps": 200,
    "n_trials": 10,
    "min_success": 0.0,
}


def corridor() -> fp.ContinuousMaze:
    return fp.ContinuousMaze(".....", step=0.4, noise=0.02)


@pytest.fixture(scope="module")
def options() -> fp.LearnedOptions:
    return fp.learn_options(corridor(), GOALS, **TINY)


def weights_of(options: fp.LearnedOptions) -> NDArray[np.float32]:
    return np.concatenate([weight.ravel() for weight in options.network.weights])


def test_policies_reach_both_ends_of_a_corridor() -> None:
    longer = {"n_steps": 6000, "chunk_steps": 3000, "hidden": [64], "batch_size": 64, "n_trials": 30}
    learned = fp.learn_options(corridor(), GOALS, **{**TINY, **longer})
    assert learned.success.min() >= 0.9
    # From the middle: left to the one, right to the other.
    env = corridor()
    for option in learned:
        observation, _ = env.reset(seed=0, options={"start": (2.5, 0.5)})
        while (action := option.act(observation)) is not None:
            observation, *_, truncated, _ = env.step(action)
            assert not truncated
        assert np.linalg.norm(observation - option.goal) <= 0.5


def test_same_seed_gives_same_weights_and_leaves_global_generators_alone(options: fp.LearnedOptions) -> None:
    np.random.seed(3)  # noqa: NPY002 - the global state is what is tested
    torch.manual_seed(3)
    expected = np.random.random(), torch.rand(1).item()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    torch.manual_seed(3)
    again = fp.learn_options(corridor(), GOALS, **TINY)
    assert (np.random.random(), torch.rand(1).item()) == expected  # noqa: NPY002
    assert np.array_equal(weights_of(options), weights_of(again))
    assert np.array_equal(options.success, again.success)
    other = fp.learn_options(corridor(), GOALS, **{**TINY, "seed": 1})
    assert not np.array_equal(weights_of(options), weights_of(other))


def test_interrupted_training_ends_as_an_uninterrupted_one(options: fp.LearnedOptions, tmp_path: Path) -> None:
    seen = []

    def stop(done: int, total: int) -> None:
        seen.append(done)
        if done == 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fp.learn_options(corridor(), GOALS, **TINY, checkpoint=tmp_path, progress=stop)
    rest: list[int] = []
    resumed = fp.learn_options(
        corridor(), GOALS, **TINY, checkpoint=tmp_path, progress=lambda done, total: rest.append(done)
    )
    assert (seen, rest) == ([200, 400], [600])
    assert np.array_equal(weights_of(resumed), weights_of(options))
    assert np.array_equal(resumed.success, options.success)


@pytest.mark.parametrize(
    ("change", "different"),
    [
        ({"seed": 9}, "seed"),
        ({"goals": [[1.5, 0.5]]}, "goals"),
        ({"n_steps": 400, "gamma": 0.5}, "gamma, n_steps"),
    ],
)
def test_checkpoint_of_another_training_is_refused(change: dict[str, Any], different: str, tmp_path: Path) -> None:
    first = {"env": corridor(), "goals": GOALS, **TINY, "n_steps": 200, "checkpoint": tmp_path}
    fp.learn_options(**first)
    with pytest.raises(WrongCheckpoint, match=f"folder of this training; got .* with another {different}. Give each"):
        fp.learn_options(**{**first, **change})


def test_damaged_checkpoint_begins_again(options: fp.LearnedOptions, tmp_path: Path) -> None:
    fp.learn_options(corridor(), GOALS, **TINY, checkpoint=tmp_path)
    path = tmp_path / "state.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    calls: list[int] = []
    again = fp.learn_options(
        corridor(), GOALS, **TINY, checkpoint=tmp_path, progress=lambda done, total: calls.append(done)
    )
    assert calls == [200, 400, 600]
    assert np.array_equal(weights_of(again), weights_of(options))


def test_checkpoint_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="checkpoint must be a folder that can be written"):
        fp.learn_options(corridor(), GOALS, **TINY, checkpoint=tmp_path / "file")


def test_option_that_fails_is_dropped_with_a_warning() -> None:
    # Behind a wall.
    env = fp.ContinuousMaze("...#.", start=[0.5, 0.5])
    with pytest.warns(UserWarning, match=r"1 of 2 options were dropped: their success is 0\.00"):
        kept = fp.learn_options(
            env, [[4.5, 0.5], [0.5, 0.5]], **{**TINY, "radius": 1.0, "n_steps": 1500, "min_success": 0.2}
        )
    assert kept.goals.tolist() == [[0.5, 0.5]]
    assert (kept.dropped_goals.tolist(), kept.dropped_success.tolist()) == ([[4.5, 0.5]], [0.0])


def test_goals_may_be_some_features_of_the_observation() -> None:
    def across(observation: NDArray[np.float32]) -> NDArray[np.float32]:
        return observation[:1]

    options = fp.learn_options(corridor, [[0.5], [4.5]], goal_of=across, **TINY)
    assert options.goals.shape == (2, 1)
    assert options[0].act(np.array([0.6, 0.9], dtype=np.float32)) is None
    assert options.can_start([0.6, 0.9]).tolist() == [False, True]


def test_unbounded_observations_are_scaled_by_what_is_seen() -> None:
    env = gym.make("CartPole-v1")
    options = fp.learn_options(
        lambda: gym.make("CartPole-v1"), [[0.0, 0.0, 0.0, 0.0]], **{**TINY, "radius": 0.3, "n_steps": 200}
    )
    assert np.isfinite(options.network.scale).all()
    assert env.action_space.contains(options[0].act([1.0, 1.0, 0.1, 0.1]))


def test_learned_options_are_actions(options: fp.LearnedOptions) -> None:
    env = fp.OptionsWrapper(corridor(), options, gamma=0.9, max_steps=15)
    env.reset(seed=0, options={"start": (0.5, 0.5)})
    # At the first goal; the other option can start.
    assert env.action_masks()[8:].tolist() == [False, True]
    *_, info = env.step(9)
    assert 1 <= info["duration"] <= 15
    assert info["discount"] == pytest.approx(0.9 ** info["duration"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goals": [0.5, 0.5]}, r"goals must be finite numbers with one row per goal; got shape \(2,\)"),
        (
            {"goals": [[0.5]]},
            r"goals must have 2 numbers each, like the features .* got shape \(1, 1\)",
        ),
        ({"radius": 0.0}, r"radius must be a finite number above 0; got 0\.0"),
        ({"n_steps": 0}, "n_steps must be at least 1; got 0"),
        ({"env": fp.ContinuousMaze(actions="box")}, "discrete actions from 0; got Box"),
        ({"env": gym.make("FrozenLake-v1")}, "observations in a Box; got Discrete"),
        ({"env": 3}, "env must be an environment that can be copied; got 3"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.learn_options(**{"env": corridor(), "goals": GOALS, **TINY, **change})
