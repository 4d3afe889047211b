"""States of continuous observations for a wrapper, under which any agent acts: the nearest representative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.exploration.representatives import Representatives, as_point, check_scale, differs, scale_of_steps


class PlaceKeys:
    """What identifies a state: the number of the representative near an observation; a new one where there is none.

    Until a scale is known, everything is one state. It is measured by the steps so far, and again whenever their number
    has doubled; where it changed much, states are made anew, and what was seen before is forgotten.

    Examples
    --------
    >>> import gymnasium as gym
    >>> keys = PlaceKeys(gym.make("MountainCar-v0"), scale=[0.1, 0.01])
    >>> [keys(None, np.array(observation)) for observation in ([-0.5, 0.0], [-0.45, 0.0], [0.5, 0.0])]
    [0, 0, 1]
    """

    def __init__(self, env: Any, scale: ArrayLike | None) -> None:
        width = math.prod(env.observation_space.shape)
        given = check_scale(scale, width)
        self._given = given is not None
        self.places = Representatives(np.full(width, np.inf) if given is None else given)
        self.latest: NDArray[np.float64] = np.zeros(width)
        self._squares, self._n_steps, self._measured_at = np.zeros(width), 0, 0

    def __call__(self, env: Any, observation: Any) -> int:
        """Return the number of the representative."""
        self.latest = as_point(observation, "of an environment")
        return self.places.number(self.latest)

    def count_step(self, before: NDArray[np.float64]) -> None:
        """Count a step that led from ``before`` to the latest observation."""
        self._squares += (self.latest - before) ** 2
        self._n_steps += 1

    def rescale(self) -> bool:
        """Measure the scale if it is time; return whether states are others from now on."""
        if self._given or self._n_steps < max(1, 2 * self._measured_at):
            return False
        self._measured_at = self._n_steps
        scale = scale_of_steps(self._squares / self._n_steps)
        if not differs(scale, self.places.scale):
            return False
        self.places = Representatives(scale)
        return True
