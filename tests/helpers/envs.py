"""Gymnasium environments for tests."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import minigrid  # noqa: F401
import numpy as np

# Gymnasium 1.3 has a new version of it, and warns about the one before.
TAXI = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"


def make(name: str, **kwargs: Any) -> Any:
    """Return an environment, without the warnings that Gymnasium has about its own older versions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gym.make(name, **kwargs)


def fully_observed(name: str, **kwargs: Any) -> Any:
    """Return a MiniGrid environment whose observation is the image of the whole grid."""
    from minigrid.wrappers import FullyObsWrapper, ImgObsWrapper

    return ImgObsWrapper(FullyObsWrapper(make(name, **kwargs)))


class StartIn(gym.Wrapper[Any, Any, Any, Any]):
    """A table environment whose episodes begin where ``reset(options={"state": …})`` says."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed)
        if options is None:
            return observation, info
        self.unwrapped.s = options["state"]  # type: ignore[attr-defined]
        return options["state"], info


class Corridor(gym.Env[Any, Any]):
    """Ten cells; left and right; a reward of its own for entering each cell."""

    observation_space = gym.spaces.Discrete(10)
    action_space = gym.spaces.Discrete(2)
    rewards = np.zeros(10)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.cell = int(np.clip(self.cell + (1 if action else -1), 0, 9))
        return self.cell, float(self.rewards[self.cell]), self.cell == 9, False, {}
