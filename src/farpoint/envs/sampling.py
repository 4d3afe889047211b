"""Random primitive actions of an environment, discrete or continuous."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from farpoint.errors import InvalidInput

# Draws an action.
Sampler = Callable[[np.random.Generator], Any]


def uniform_sampler(space: Any) -> Sampler:
    """Return a function that draws uniformly from a space of actions, discrete or a Box with bounds.

    >>> draw = uniform_sampler(gym.spaces.Box(-1.0, 1.0, (2,)))
    >>> draw(np.random.default_rng(0)).shape
    (2,)
    """
    if isinstance(space, gym.spaces.Discrete):
        return lambda rng: int(space.start + rng.integers(space.n))
    if not isinstance(space, gym.spaces.Box) or not space.is_bounded():
        raise InvalidInput(
            f"environment must have actions that are discrete or in a Box with bounds; got {space}. Pass sample=, a "
            "function of a numpy Generator that draws an action."
        )
    return lambda rng: rng.uniform(space.low, space.high).astype(space.dtype)
