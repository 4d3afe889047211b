"""PointMaze of gymnasium-robotics as a maze with eight actions, or with any push."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, MissingExtra, check_integer, check_word
from farpoint.worlds.arrays import real_numbers

N_DIRECTIONS = 8
SIZES = ("Large", "Medium", "UMaze")
# Simulation steps per action: fewer would hardly move the ball.
_PUSHES = 10
_CORNER = (1, 1)


class PointMaze(gym.Env[NDArray[np.float64], Any]):
    """A ball with momentum in a maze, pushed in one of eight directions per step, without a reward.

    The observation is the position (x, y) of the ball in cells: x to the right, y downwards, as in `ContinuousMaze`.
    Its velocity is not observed. Action 0 pushes to the right, 2 down, 4 left, 6 up; the diagonals lie between them.
    With ``actions="box"`` an action is the push itself, (x, y) in −1 … 1. Episodes begin in the corner, and end after
    ``max_steps`` pushes.

    Parameters
    ----------
    size : {"Large", "Medium", "UMaze"}
    actions : {"directions", "box"}
    max_steps : int

    Attributes
    ----------
    floor : array of bool
        The cells of the maze that are not wall, indexed by row and column.
    displacements : array of float, shape (8, 2)
        The direction in which each action pushes, for controllers.

    Raises
    ------
    MissingExtra
        If gymnasium-robotics is not installed.

    Examples
    --------
    >>> from research.point_maze import PointMaze
    >>> env = PointMaze("UMaze")
    >>> position, _ = env.reset(seed=0)
    >>> after, reward, terminated, truncated, info = env.step(0)
    >>> bool(after[0] > position[0])
    True
    """

    def __init__(self, size: str = "Large", *, actions: str = "directions", max_steps: int = 10**9) -> None:
        check_word("size", size, SIZES)
        self.actions = check_word("actions", actions, ["directions", "box"])
        self.max_steps = check_integer("max_steps", max_steps, 1)
        try:
            import gymnasium_robotics
        except ImportError as error:
            raise MissingExtra(
                "gymnasium-robotics must be installed for PointMaze. Run: pip install 'farpoint[robotics]'"
            ) from error
        with warnings.catch_warnings():
            # Gymnasium recommends newer versions of environments that are not used here.
            warnings.simplefilter("ignore")
            gym.register_envs(gymnasium_robotics)
            self._env: Any = gym.make(
                f"PointMaze_{size}-v3", max_episode_steps=10**9, continuing_task=True, reset_target=False
            )
        simulation: Any = self._env.unwrapped
        self._maze = simulation.maze
        self.floor: NDArray[np.bool_] = np.array([[cell != 1 for cell in row] for row in self._maze.maze_map])
        angles = np.arange(N_DIRECTIONS) * np.pi / 4
        # In the simulation y points upwards; rows of the map count downwards.
        self._forces = np.stack([np.cos(angles), -np.sin(angles)], axis=1)
        self.displacements = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self.action_space = (
            gym.spaces.Discrete(N_DIRECTIONS)
            if self.actions == "directions"
            else gym.spaces.Box(-1.0, 1.0, (2,), dtype=np.float64)
        )
        self._n_pushes = 0
        extent = np.array(self.floor.shape[::-1], dtype=np.float64)
        self.observation_space = gym.spaces.Box(np.zeros(2), extent, dtype=np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin an episode in the corner."""
        super().reset(seed=seed)
        self._n_pushes = 0
        cells = {"reset_cell": np.array(_CORNER), "goal_cell": np.argwhere(self.floor)[-1]}
        observation, info = self._env.reset(seed=seed, options=cells | (options or {}))
        return self._position(observation), info

    def step(self, action: Any) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Push the ball in one direction."""
        if self.actions == "box":
            push = real_numbers("action", action)
            if push.shape != (2,) or not (np.abs(push) <= 1.0).all():
                raise InvalidInput(f"action must be two numbers in -1 … 1; got {action!r}.")
            force = push * [1.0, -1.0]
        else:
            if not 0 <= action < N_DIRECTIONS:
                raise InvalidInput(f"action must lie in 0 … {N_DIRECTIONS - 1}; got {action}.")
            force = self._forces[action]
        for _ in range(_PUSHES):
            observation = self._env.step(force)[0]
        self._n_pushes += 1
        return self._position(observation), 0.0, False, self._n_pushes >= self.max_steps, {}

    def locate(self, observation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the position (x, y) of an observation, which is the observation itself."""
        return observation

    def random_walk(
        self, n_steps: int, *, seed: int, episode_length: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the positions before and after each step of a uniformly random walk."""
        rng = np.random.default_rng(seed)
        before, after = np.empty((n_steps, 2)), np.empty((n_steps, 2))
        for step in range(n_steps):
            if step % episode_length == 0:
                here, _ = self.reset(seed=int(rng.integers(2**31)))
            before[step] = here
            here = self.step(int(rng.integers(N_DIRECTIONS)))[0]
            after[step] = here
        return before, after

    def close(self) -> None:
        """Release the simulation."""
        self._env.close()

    def _position(self, observation: Any) -> NDArray[np.float64]:
        x, y = observation["observation"][:2]
        position = np.array([x + self._maze.x_map_center, self._maze.y_map_center - y])
        return np.asarray(position / self._maze.maze_size_scaling)
