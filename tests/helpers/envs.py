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
