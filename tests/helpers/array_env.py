"""A small environment whose observations are arrays: the row and column of an agent in a room."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np


class ArrayEnv(gym.Env[Any, Any]):
    """A room that shows where the agent is: as row and column, or as a picture of all cells with a 1 in one of them."""

    def __init__(self, rows: int = 3, columns: int = 4, *, picture: bool = False) -> None:
        self.cells, self.picture = (rows, columns), picture
        self.observation_space = gym.spaces.MultiDiscrete([rows, columns])
        self.action_space = gym.spaces.Discrete(4)
        self.place = (0, 0)

    def observation(self) -> Any:
        if not self.picture:
            return np.array(self.place)
        cells = np.zeros(self.cells, dtype=np.uint8)
        cells[self.place] = 1
        return cells

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place = (0, 0)
        return self.observation(), {}

    def step(self, action: int) -> Any:
        move = ((-1, 0), (1, 0), (0, -1), (0, 1))[int(action)]
        row, column = (
            int(np.clip(here + by, 0, size - 1)) for here, by, size in zip(self.place, move, self.cells, strict=True)
        )
        self.place = (row, column)
        return self.observation(), 0.0, False, False, {}
