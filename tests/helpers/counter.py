"""A tiny environment, and options in it whose results can be computed by hand."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray


class Counter(gym.Env[Any, Any]):
    """A number that goes down or up by one, from 0 to 9; the reward is the number reached; 9 ends the episode."""

    def __init__(self, limit: int = 100) -> None:
        self.observation_space = gym.spaces.Box(0.0, 9.0, (1,))
        self.action_space = gym.spaces.Discrete(2)
        self.limit = limit

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.steps = 0, 0
        return np.array([0.0], dtype=np.float32), {}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        self.place = max(0, self.place + (1 if action else -1))
        self.steps += 1
        here = np.array([self.place], dtype=np.float32)
        return here, float(self.place), self.place == 9, self.steps >= self.limit, {"steps": self.steps}


class UpTo:
    """An option that goes up to a number."""

    def __init__(self, goal: int) -> None:
        self.goal = goal

    def can_start(self, observation: Any) -> bool:
        return bool(observation[0] < self.goal)

    def act(self, observation: Any) -> int | None:
        return 1 if observation[0] < self.goal else None

    def ended(self, observation: Any) -> bool:
        return bool(observation[0] >= self.goal)
