"""PointMaze of gymnasium-robotics with eight directions of force: what the coverage experiment needs of a maze."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.errors import MissingExtra

# One direction is pushed for so many of the simulation's steps, so that the ball gets somewhere.
_PUSHES = 10
_CORNER = (1, 1)


class PointMaze:
    """A ball with momentum, observed as (x, y) in cells, pushed in one of eight directions a step."""

    def __init__(self) -> None:
        try:
            import gymnasium_robotics
        except ImportError as error:
            raise MissingExtra(
                "gymnasium-robotics must be installed for PointMaze. Run: pip install gymnasium-robotics"
            ) from error
        with warnings.catch_warnings():
            # It advises newer versions of environments that are not used here.
            warnings.simplefilter("ignore")
            gym.register_envs(gymnasium_robotics)
            self._env: Any = gym.make(
                "PointMaze_Large-v3", max_episode_steps=10**9, continuing_task=True, reset_target=False
            )
        inner: Any = self._env.unwrapped
        self._maze = inner.maze
        self.floor: NDArray[np.bool_] = np.array([[cell != 1 for cell in row] for row in self._maze.maze_map])
        angles = np.arange(8) * np.pi / 4
        # The simulation's y points upwards, rows of the map downwards.
        self._forces = np.stack([np.cos(angles), -np.sin(angles)], axis=1)
        self.displacements = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self.action_space = gym.spaces.Discrete(8)

    def _cell(self, told: Any) -> NDArray[np.float64]:
        x, y = told["observation"][:2]
        place = np.array([x + self._maze.x_map_center, self._maze.y_map_center - y])
        return np.asarray(place / self._maze.maze_size_scaling)

    def reset(self, *, seed: int | None = None) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin in the corner."""
        goal = np.argwhere(self.floor)[-1]
        told, info = self._env.reset(seed=seed, options={"reset_cell": np.array(_CORNER), "goal_cell": goal})
        return self._cell(told), info

    def step(self, action: int) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Push in a direction."""
        for _ in range(_PUSHES):
            told = self._env.step(self._forces[action])[0]
        return self._cell(told), 0.0, False, False, {}

    def locate(self, observation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the place of an observation, which is the observation."""
        return observation

    def random_walk(
        self, n_steps: int, *, seed: int, episode_length: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the places before and after each step of a random walk."""
        rng = np.random.default_rng(seed)
        before, after = np.empty((n_steps, 2)), np.empty((n_steps, 2))
        for step in range(n_steps):
            if step % episode_length == 0:
                here, _ = self.reset(seed=int(rng.integers(2**31)))
            before[step] = here
            here = self.step(int(rng.integers(8)))[0]
            after[step] = here
        return before, after
