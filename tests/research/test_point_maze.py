"""PointMaze, on a stand-in for the simulation: what is pushed, what is observed, where episodes begin."""

from __future__ import annotations

import sys
import types
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidInput, MissingExtra
from research.point_maze import PointMaze


class Simulation:
    """A ball that moves by a hundredth of the force, in a room of 3 × 4 cells of size 2; y points upwards."""

    maze = types.SimpleNamespace(
        maze_map=[[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 0, "r", 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1]],
        x_map_center=5.0,
        y_map_center=5.0,
        maze_size_scaling=2.0,
    )

    def __init__(self) -> None:
        self.unwrapped = self
        self.place = np.zeros(2)
        self.begun: list[dict[str, Any]] = []

    def reset(self, *, seed: int | None, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        self.begun.append({"seed": seed, **options})
        row, column = options["reset_cell"]
        self.place = np.array([2.0 * column + 1.0 - 5.0, 5.0 - 2.0 * row - 1.0])
        return self._observation(), {}

    def step(self, force: NDArray[np.float64]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        self.place = self.place + 0.01 * force
        return self._observation(), 0.0, False, False, {}

    def _observation(self) -> dict[str, Any]:
        return {"observation": np.array([*self.place, 0.0, 0.0])}

    def close(self) -> None:
        self.begun.clear()


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> Simulation:
    made = Simulation()
    monkeypatch.setitem(sys.modules, "gymnasium_robotics", types.ModuleType("gymnasium_robotics"))
    monkeypatch.setattr(gym, "make", lambda name, **settings: made)
    return made


def test_observations_are_in_cells_with_rows_downwards(simulation: Simulation) -> None:
    env = PointMaze()
    assert env.floor.sum() == 9
    position, _ = env.reset(seed=3)
    # The middle of the cell in row 1 and column 1.
    np.testing.assert_allclose(position, [1.5, 1.5])
    assert env.observation_space.contains(position)
    assert simulation.begun[0]["seed"] == 3
    assert simulation.begun[0]["goal_cell"].tolist() == [3, 3]
    for action, displacement in enumerate(env.displacements):
        before, _ = env.reset()
        after, reward, terminated, truncated, _ = env.step(action)
        # Ten pushes of a hundredth each, in cells of size 2.
        np.testing.assert_allclose(after - before, 0.05 * displacement, atol=1e-12)
        assert (reward, terminated, truncated) == (0.0, False, False)
    assert env.locate(after) is after
    np.testing.assert_allclose(env.displacements[[0, 2, 4, 6]], [[1, 0], [0, 1], [-1, 0], [0, -1]], atol=1e-12)


def test_random_walks_begin_again_after_each_episode(simulation: Simulation) -> None:
    env = PointMaze()
    before, after = env.random_walk(25, seed=0, episode_length=10)
    assert before.shape == after.shape == (25, 2)
    starts = np.flatnonzero((before == [1.5, 1.5]).all(axis=1))
    assert {0, 10, 20} <= set(starts.tolist())
    np.testing.assert_array_equal(before[1:10], after[:9])
    assert len(simulation.begun) == 3
    np.testing.assert_array_equal(PointMaze().random_walk(25, seed=0, episode_length=10)[1], after)


def test_actions_that_do_not_exist(simulation: Simulation) -> None:
    env = PointMaze()
    env.reset()
    with pytest.raises(InvalidInput, match="action must lie in 0 … 7; got 8"):
        env.step(8)
    env.close()
    assert simulation.begun == []


def test_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium_robotics", None)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[robotics\]'"):
        PointMaze()


def test_any_push_and_a_limit(simulation: Simulation) -> None:
    env = PointMaze("Medium", actions="box", max_steps=2)
    before, _ = env.reset(seed=0)
    after, _, _, truncated, _ = env.step(np.array([0.5, -1.0]))
    np.testing.assert_allclose(after - before, [0.025, -0.05], atol=1e-12)
    assert not truncated
    assert env.step(np.zeros(2))[3]
    env.reset()
    assert not env.step(np.zeros(2))[3]
    for wrong in ([2.0, 0.0], [0.0], [np.nan, 0.0]):
        with pytest.raises(InvalidInput, match="action must be two numbers in -1 … 1"):
            env.step(wrong)
    with pytest.raises(InvalidInput, match="size must be one of Large, Medium, UMaze; got 'Huge'"):
        PointMaze("Huge")


@pytest.mark.slow
def test_the_real_ball_rolls_and_is_explored() -> None:
    pytest.importorskip("gymnasium_robotics")
    env = PointMaze("UMaze", max_steps=50)
    position, _ = env.reset(seed=0)
    rolled = [env.step(0)[0] for _ in range(5)]
    # It gathers speed: each push moves it farther than the one before.
    lengths = np.diff([position[0], *(place[0] for place in rolled[:3])])
    assert (np.diff(lengths) > 0).all()
    found = fp.explore(env, 300, seed=0)
    assert found.samples is not None
    assert found.n_states > 10
    cells = {(int(y), int(x)) for x, y in found.samples.next_observations}
    assert all(env.floor[cell] for cell in cells)
    assert len(cells) >= 3
    env.close()
