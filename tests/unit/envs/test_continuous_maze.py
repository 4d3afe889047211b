"""The continuous maze: motion against a fine-grained reference, walls that hold, Gymnasium's contract."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import farpoint as fp
from farpoint.envs.continuous_maze import move
from farpoint.errors import InvalidInput, InvalidMap

ROOMS = """
#######
#..#..#
#.....#
#..#..#
#######"""


def slow_move(floor: NDArray[np.bool_], x: float, y: float, dx: float, dy: float) -> tuple[float, float]:
    """The definition: many tiny steps; at a wall the motion stops in that axis and goes on in the other."""
    dx, dy = dx / 4000, dy / 4000
    for _ in range(4000):
        if floor[int(y), int(x + dx)]:
            x += dx
        else:
            dx = 0.0
        if floor[int(y + dy), int(x)]:
            y += dy
        else:
            dy = 0.0
    return x, y


@pytest.mark.parametrize("length", [0.3, 1.7, 4.0])
def test_motion_is_that_of_many_tiny_steps(length: float) -> None:
    floor = fp.ContinuousMaze(ROOMS).floor
    rng = np.random.default_rng(0)
    cells = np.argwhere(floor)
    for _ in range(60):
        row, column = cells[rng.integers(len(cells))]
        x, y = column + rng.uniform(0.01, 0.99), row + rng.uniform(0.01, 0.99)
        angle = rng.uniform(0, 2 * np.pi)
        step = length * np.cos(angle), length * np.sin(angle)
        assert move(floor, x, y, *step) == pytest.approx(slow_move(floor, x, y, *step), abs=3e-3)


@pytest.mark.parametrize("text", ["..#..\n..#..", ".#\n#.", "..#\n..#\n##."])
@pytest.mark.parametrize("step", [0.4, 1.0, 7.0])
def test_walls_and_corners_are_never_crossed(text: str, step: float) -> None:
    env = fp.ContinuousMaze(text, step=step, noise=0.2, start=[0.5, 0.5])
    _, after = env.random_walk(200_000, seed=0, episode_length=200_000)
    cells = {(int(row), int(column)) for column, row in np.floor(after)}
    # The cells connected to the first by their sides, read off the map.
    reachable = {"..#..\n..#..": {(0, 0), (0, 1), (1, 0), (1, 1)}, ".#\n#.": {(0, 0)}}
    assert cells == reachable.get(text, {(0, 0), (0, 1), (1, 0), (1, 1)})


def test_diagonal_gap_is_closed_for_single_steps_too() -> None:
    env = fp.ContinuousMaze(".#\n#.", step=0.1, noise=0.0, start=[0.95, 0.95])
    env.reset(seed=0)
    for _ in range(50):
        observation, *_ = env.step(1)
    assert (observation < 1.0).all()


def test_a_step_slides_along_a_wall() -> None:
    env = fp.ContinuousMaze("S...", step=1.0, noise=0.0)
    env.reset()
    observation, *_ = env.step(1)
    # Right by cos 45°; down as far as the wall.
    assert observation == pytest.approx([0.5 + np.sqrt(0.5), 1.0], abs=2e-4)


@pytest.mark.parametrize("kwargs", [{}, {"actions": "box", "scaled": True}, {"world": "S.\n.G", "noise": 0.0}])
def test_contract_of_gymnasium(kwargs: dict[str, Any]) -> None:
    check_env(gym.make("farpoint/ContinuousMaze-v0", render_mode="rgb_array", **kwargs).unwrapped)


def test_registered_when_the_package_is_imported() -> None:
    code = "import sys, gymnasium as gym, farpoint; gym.register_envs(farpoint); "
    code += "print(any(name.startswith(('farpoint.envs', 'numba', 'torch')) for name in sys.modules)); "
    code += "print(type(gym.make('farpoint/ContinuousMaze-v0').unwrapped).__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "ContinuousMaze"]


def test_same_seed_same_episode_and_same_walk() -> None:
    env = fp.ContinuousMaze(ROOMS)

    def episode(seed: int) -> NDArray[np.float32]:
        first, _ = env.reset(seed=seed)
        return np.array([first, *(env.step(action)[0] for action in (0, 1, 2, 3, 4))])

    assert np.array_equal(episode(3), episode(3))
    assert not np.array_equal(episode(3), episode(4))
    for one, two in zip(env.random_walk(500, seed=5), env.random_walk(500, seed=5), strict=True):
        assert np.array_equal(one, two)


def test_walk_takes_the_steps_of_the_environment() -> None:
    env = fp.ContinuousMaze(ROOMS, step=0.4, noise=0.0, start=[1.5, 1.5])
    before, after = env.random_walk(300, seed=0, episode_length=100)
    assert np.array_equal(before[[0, 100, 200]], np.full((3, 2), 1.5))
    for place, following in zip(before, after, strict=True):
        env.reset(options={"start": place})
        reached = np.array([_after(env, place, action) for action in range(8)])
        assert np.abs(reached - following).max(axis=1).min() < 1e-5


def _after(env: fp.ContinuousMaze, place: NDArray[np.float32], action: int) -> NDArray[np.float32]:
    env.reset(options={"start": place})
    return env.step(action)[0]


def test_a_target_ends_the_episode_and_time_truncates() -> None:
    env = fp.ContinuousMaze("S.G", step=0.5, noise=0.0, target_radius=0.5, max_steps=10)
    env.reset()
    rewards = [env.step(0)[1:3] for _ in range(3)]
    # From 0.5 to 2.0 in three steps: within 0.5 of the target at 2.5.
    assert rewards == [(0.0, False), (0.0, False), (1.0, True)]
    env.reset()
    assert [env.step(4)[3] for _ in range(10)] == [False] * 9 + [True]


def test_without_target_there_is_no_reward() -> None:
    env = fp.ContinuousMaze(ROOMS)
    env.reset(seed=0)
    assert {env.step(action % 8)[1:3] for action in range(100)} == {(0.0, False)}


def test_scaled_observations_are_the_same_places() -> None:
    plain, scaled = (fp.ContinuousMaze(ROOMS, scaled=scaled) for scaled in (False, True))
    places = plain.random_walk(100, seed=1)[0]
    observations = scaled.random_walk(100, seed=1)[0]
    assert np.abs(observations).max() <= 1.0
    assert np.allclose(scaled.locate(observations), places, atol=1e-5)


def test_world_with_a_map_and_picture() -> None:
    env = fp.ContinuousMaze(fp.four_rooms(), render_mode="rgb_array", target=[2.5, 2.5])
    env.reset(seed=0, options={"start": (1.5, 1.5)})
    assert env.floor.sum() == 104
    assert env.targets.tolist() == [[2.5, 2.5]]
    image = env.render()
    assert image is not None
    # Red point in the middle of its cell, wall in the corner.
    assert image[24, 24].tolist() == [200, 40, 40]
    assert image[0, 0].tolist() == [60, 60, 60]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"step": 0.0}, "step must be a finite number above 0; got 0.0"),
        ({"noise": -1.0}, "noise must be a finite number of at least 0"),
        ({"start": [0.5, 0.5]}, r"start must lie on the floor; got \(0.5, 0.5\), row 0, column 0"),
        ({"target": [99.0, 0.5]}, "target must lie on the floor"),
        ({"actions": "wheels"}, "actions must be one of directions, box"),
        ({"start": "somewhere"}, "start must be one of random"),
        ({"world": fp.World.from_graph([[0, 1], [1, 0]])}, "world must be a text map or a world with a map"),
    ],
)
def test_wrong_arguments_are_named(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.ContinuousMaze(**{"world": ROOMS, **kwargs})


def test_wrong_maps_and_actions() -> None:
    with pytest.raises(InvalidMap, match="got 'x'"):
        fp.ContinuousMaze("..x")
    env = fp.ContinuousMaze(ROOMS)
    with pytest.raises(InvalidInput, match="must be reset"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match="action must lie in 0 … 7; got 8"):
        env.step(8)
