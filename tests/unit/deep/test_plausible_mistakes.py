"""What people do with neural parts that is easily got wrong."""

from __future__ import annotations

import pickle
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.deep.goal_env import GoalEnv
from farpoint.deep.goal_training import _scaling
from farpoint.errors import InvalidFile, OutputError


def test_coordinates_far_from_zero_give_the_same_functions() -> None:
    places = np.arange(30.0)[:, None]
    near, far = (
        fp.learn_eigenfunctions(
            shift + places[:-1], shift + places[1:], n_functions=3, steps=150, hidden=(32,), n_spare=0
        )
        for shift in (0.0, 1.7e9)
    )
    np.testing.assert_allclose(far.omega, near.omega, rtol=1e-6)
    np.testing.assert_allclose(far.phi(1.7e9 + places), near.phi(places), rtol=1e-4, atol=1e-5)


def test_graph_options_can_be_sent_elsewhere() -> None:
    corridor = fp.World.from_map(".....")
    middles = np.asarray(corridor.positions)[:, ::-1] + 0.5
    control = fp.direction_controller(fp.ContinuousMaze(".....").displacements)
    options = pickle.loads(pickle.dumps(fp.GraphOptions(corridor, middles, [4], control, radius=0.3)))
    assert options[0].act([0.5, 0.5]) == 0


def test_the_largest_float_is_no_bound() -> None:
    class Unbounded(fp.ContinuousMaze):
        def __init__(self) -> None:
            super().__init__("....")
            largest = np.finfo(np.float32).max
            self.observation_space = gym.spaces.Box(-largest, largest, (2,), dtype=np.float32)

    goals = np.array([[0.5, 0.5], [3.5, 0.5]], dtype=np.float32)
    env = GoalEnv(Unbounded(), goals, radius=0.5, max_length=10, wander=5, goal_of=None)
    center, scale = _scaling(env, seed=0)
    assert np.isfinite(center).all()
    assert (scale[[0, 2]] > 0.1).all()


def test_files_that_cannot_be_written_or_are_of_another_kind(tmp_path: Path) -> None:
    functions = fp.learn_eigenfunctions(fp.grid((6,)), n_functions=2, steps=2, hidden=(4,), n_spare=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="must be a file that can be written"):
        functions.save(tmp_path / "file" / "x.safetensors")
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(InvalidFile, match="damaged or foreign"):
        fp.load_option_policies(tmp_path / "x.npy")


def test_extending_very_long_walks_ends() -> None:
    world = fp.four_rooms()
    extended = fp.extend(world, fp.landmarks(world, 30), 5000)
    assert np.abs(np.asarray(extended)).max() < 1e-12
