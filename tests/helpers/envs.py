"""Gymnasium environments for tests."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import minigrid  # noqa: F401


def make(name: str, **kwargs: Any) -> Any:
    """Return an environment, without the warnings that Gymnasium has about its own older versions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gym.make(name, **kwargs)


class StartIn(gym.Wrapper[Any, Any, Any, Any]):
    """A table environment whose episodes begin where ``reset(options={"state": …})`` says."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed)
        if options is None:
            return observation, info
        self.unwrapped.s = options["state"]  # type: ignore[attr-defined]
        return options["state"], info
