"""Learned option policies: training that can be interrupted, files that are refused when damaged, honest success."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("stable_baselines3")

import torch

import farpoint as fp
from farpoint.deep import goal_training
from farpoint.deep.goal_env import GoalEnv
from farpoint.errors import InvalidFile, InvalidInput, OutputError

GOALS = [[0.5, 0.5], [4.5, 0.5]]
TINY: dict[str, Any] = {
    "radius": 0.5,
    "steps": 600,
    "max_length": 20,
    "hidden": [16],
    "n_waves": 8,
    "batch_size": 32,
    "n_envs": 2,
    "chunk": 200,
    "trials": 10,
    "min_success": 0.0,
}


def corridor() -> fp.ContinuousMaze:
    return fp.ContinuousMaze(".....", step=0.4, noise=0.02)


@pytest.fixture(scope="module")
def options() -> fp.LearnedOptions:
    return fp.learn_option_policies(corridor(), GOALS, **TINY)


def weights_of(options: fp.LearnedOptions) -> NDArray[np.float32]:
    return np.concatenate([weight.ravel() for weight in options.network.weights])


def test_ways_to_both_ends_of_a_corridor_are_learned() -> None:
    learned = fp.learn_option_policies(
        corridor(), GOALS, **{**TINY, "steps": 6000, "chunk": 3000, "hidden": [64], "batch_size": 64, "trials": 30}
    )
    assert learned.success.min() >= 0.9
    # From the middle: left to the one, right to the other.
    env = corridor()
    for option in learned:
        observation, _ = env.reset(seed=0, options={"start": (2.5, 0.5)})
        while (action := option.act(observation)) is not None:
            observation, *_, truncated, _ = env.step(action)
            assert not truncated
        assert np.linalg.norm(observation - option.goal) <= 0.5


def test_same_seed_same_weights_and_generators_of_others_are_left_alone(options: fp.LearnedOptions) -> None:
    np.random.seed(3)  # noqa: NPY002 - the global state is what is tested
    torch.manual_seed(3)
    expected = np.random.random(), torch.rand(1).item()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    torch.manual_seed(3)
    again = fp.learn_option_policies(corridor(), GOALS, **TINY)
    assert (np.random.random(), torch.rand(1).item()) == expected  # noqa: NPY002
    assert np.array_equal(weights_of(options), weights_of(again))
    assert np.array_equal(options.success, again.success)
    other = fp.learn_option_policies(corridor(), GOALS, **{**TINY, "seed": 1})
    assert not np.array_equal(weights_of(options), weights_of(other))


def test_interrupted_training_ends_as_if_it_had_not_been(options: fp.LearnedOptions, tmp_path: Path) -> None:
    path = tmp_path / "training.npz"
    seen = []

    def stop(done: int, total: int) -> None:
        seen.append(done)
        if done == 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fp.learn_option_policies(corridor(), GOALS, **TINY, checkpoint=path, progress=stop)
    rest: list[int] = []
    resumed = fp.learn_option_policies(
        corridor(), GOALS, **TINY, checkpoint=path, progress=lambda done, total: rest.append(done)
    )
    assert (seen, rest) == ([200, 400], [600])
    assert np.array_equal(weights_of(resumed), weights_of(options))
    assert np.array_equal(resumed.success, options.success)


def test_checkpoints_of_others_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "training.npz"
    fp.learn_option_policies(corridor(), GOALS, **TINY, checkpoint=path)
    with pytest.raises(InvalidFile, match="checkpoint of this training; got one with other goals"):
        fp.learn_option_policies(corridor(), GOALS, **{**TINY, "seed": 9}, checkpoint=path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match="damaged"):
        fp.learn_option_policies(corridor(), GOALS, **TINY, checkpoint=path)
    with pytest.raises(OutputError, match="must be a file that can be written"):
        fp.learn_option_policies(corridor(), GOALS, **TINY, checkpoint=tmp_path / "no" / "folder.npz")


def test_saved_options_do_the_same(options: fp.LearnedOptions, tmp_path: Path) -> None:
    path = tmp_path / "options.npz"
    options.save(path)
    loaded = fp.load_option_policies(path)
    for name in ("goals", "success", "dropped_goals", "dropped_success"):
        assert np.array_equal(getattr(loaded, name), getattr(options, name))
    assert loaded.record == options.record
    for place in corridor().random_walk(50, seed=0)[0]:
        assert [option.act(place) for option in loaded] == [option.act(place) for option in options]
    with pytest.raises(InvalidInput, match="goal_of must be left out"):
        fp.load_option_policies(path, goal_of=lambda observation: observation)


def test_damaged_and_foreign_files_are_refused(options: fp.LearnedOptions, tmp_path: Path) -> None:
    path = tmp_path / "options.npz"
    options.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole), size=40):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            loaded = fp.load_option_policies(path)
        except InvalidFile:
            continue
        # A byte of the archive that carries nothing, such as a date.
        assert np.array_equal(weights_of(loaded), weights_of(options))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidFile, match="damaged or foreign"):
        fp.load_option_policies(path)
    np.savez(path, goals=np.zeros(3))
    with pytest.raises(InvalidFile, match="another kind"):
        fp.load_option_policies(path)
    # Pickled content is never opened.
    np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InvalidFile, match="damaged or foreign"):
        fp.load_option_policies(path)


def test_option_that_fails_is_dropped_with_a_warning() -> None:
    # Behind a wall.
    env = fp.ContinuousMaze("...#.", start=[0.5, 0.5])
    with pytest.warns(UserWarning, match=r"1 of 2 options were dropped: their success is 0\.00"):
        kept = fp.learn_option_policies(
            env, [[4.5, 0.5], [0.5, 0.5]], **{**TINY, "radius": 1.0, "steps": 1500, "min_success": 0.2}
        )
    assert kept.goals.tolist() == [[0.5, 0.5]]
    assert (kept.dropped_goals.tolist(), kept.dropped_success.tolist()) == ([[4.5, 0.5]], [0.0])


def test_network_in_numpy_is_that_of_torch() -> None:
    settings = {**TINY, "seed": 0, "wander": 5, "gamma": 0.9, "learning_rate": 1e-3}
    goals = np.array(GOALS, dtype=np.float32)
    model = goal_training._model(goal_training.make_envs(corridor(), goals, settings, None), settings)
    network = goal_training._network(model)
    rng = np.random.default_rng(0)
    for _ in range(20):
        here, goal = rng.uniform(0, 5, (2, 2)).astype(np.float32)
        told = {"observation": here, "achieved_goal": here, "desired_goal": goal}
        with torch.no_grad():
            expected = model.q_net({name: torch.as_tensor(value[None]) for name, value in told.items()}).numpy()[0]
        assert network(here, goal) == pytest.approx(expected, abs=1e-5)


def test_hindsight_ends_a_trial_at_the_goal_it_gives() -> None:
    settings = {**TINY, "seed": 0, "wander": 5, "gamma": 0.9, "learning_rate": 1e-3}
    goals = np.array(GOALS, dtype=np.float32)
    model = goal_training._model(goal_training.make_envs(corridor(), goals, settings, None), settings)
    model.learn(200, log_interval=None)
    batch = model.replay_buffer.sample(500)
    away = (batch.next_observations["achieved_goal"] - batch.observations["desired_goal"]).norm(dim=1)
    reached = (away <= 0.5).numpy()
    assert reached.any()
    assert not reached.all()
    assert np.array_equal(batch.rewards.numpy().ravel(), np.where(reached, 0.0, -1.0))
    assert np.array_equal(batch.dones.numpy().ravel().astype(bool), reached)


def test_trials_go_on_from_a_success_and_begin_anew_after_a_failure() -> None:
    env = GoalEnv(
        fp.ContinuousMaze("S....", noise=0.0, step=0.5),
        np.array([[2.5, 0.5], [0.5, 0.5]], dtype=np.float32),
        radius=0.2,
        max_length=4,
        wander=0,
        goal_of=None,
    )
    told, _ = env.reset(seed=0)
    # The other goal is already reached at the start.
    assert told["desired_goal"].tolist() == [2.5, 0.5]
    steps = [env.step(0)[1:4] for _ in range(4)]
    assert steps == [(-1.0, False, False)] * 3 + [(0.0, True, False)]
    told, _ = env.reset()
    assert (told["observation"].tolist(), told["desired_goal"].tolist()) == ([2.5, 0.5], [0.5, 0.5])
    steps = [env.step(0)[1:4] for _ in range(4)]
    assert steps == [(-1.0, False, False)] * 3 + [(-1.0, False, True)]
    told, _ = env.reset()
    assert told["observation"].tolist() == [0.5, 0.5]


def test_goals_may_be_a_part_of_the_observation(tmp_path: Path) -> None:
    def across(observation: NDArray[np.float32]) -> NDArray[np.float32]:
        return observation[:1]

    options = fp.learn_option_policies(corridor, [[0.5], [4.5]], goal_of=across, **TINY)
    assert options.goals.shape == (2, 1)
    assert options[0].act(np.array([0.6, 0.9], dtype=np.float32)) is None
    options.save(tmp_path / "options.npz")
    with pytest.raises(InvalidInput, match="goal_of must be given"):
        fp.load_option_policies(tmp_path / "options.npz")
    loaded = fp.load_option_policies(tmp_path / "options.npz", goal_of=across)
    assert loaded[1].act([2.0, 0.5]) == options[1].act([2.0, 0.5])


def test_unbounded_observations_are_scaled_by_what_is_seen() -> None:
    env = gym.make("CartPole-v1")
    options = fp.learn_option_policies(
        lambda: gym.make("CartPole-v1"), [[0.0, 0.0, 0.0, 0.0]], **{**TINY, "radius": 0.3, "steps": 200}
    )
    assert np.isfinite(options.network.scale).all()
    assert env.action_space.contains(options[0].act([1.0, 1.0, 0.1, 0.1]))


def test_learned_options_are_actions(options: fp.LearnedOptions) -> None:
    env = fp.GoalOptionsWrapper(corridor(), options, gamma=0.9, max_length=15)
    env.reset(seed=0, options={"start": (0.5, 0.5)})
    # At the first goal; the other option can start.
    assert env.action_masks()[8:].tolist() == [False, True]
    *_, info = env.step(9)
    assert 1 <= info["duration"] <= 15
    assert info["gamma_k"] == pytest.approx(0.9 ** info["duration"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goals": [0.5, 0.5]}, r"goals must be finite, one row a goal; got shape \(2,\)"),
        ({"goals": [[0.5]]}, r"goals must have 2 numbers each, as what they are compared with; got shape \(1, 1\)"),
        ({"radius": 0.0}, r"radius must be a finite number above 0; got 0\.0"),
        ({"steps": 0}, "steps must be at least 1; got 0"),
        ({"env": fp.ContinuousMaze(actions="box")}, "discrete actions from 0; got Box"),
        ({"env": gym.make("FrozenLake-v1")}, "observations in a Box; got Discrete"),
        ({"env": 3}, "env must be an environment that can be copied; got 3"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.learn_option_policies(**{"env": corridor(), "goals": GOALS, **TINY, **change})


def test_without_the_extra_the_rest_works() -> None:
    code = """
import sys
for name in ("torch", "stable_baselines3"):
    sys.modules[name] = None
import farpoint as fp, farpoint.errors
env = fp.ContinuousMaze("...")
fp.GoalOptionsWrapper(env, []), fp.GraphOptions, fp.LearnedOptions, fp.load_option_policies
for use in (lambda: fp.SMDPDQN, lambda: fp.learn_option_policies(env, [[0.5, 0.5]], radius=0.5)):
    try:
        use()
    except fp.errors.MissingExtra as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.count("pip install 'farpoint[deep]'") == 2
