"""States of continuous observations for a wrapper, under which any agent acts: the nearest representative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.exploration.representatives import Representatives, as_point, check_scale, differs, scale_of_steps


class PlaceKeys:
    """What identifies a state: the number of the representative near an observation.

    Until a scale is known, everything is one state. It is measured by the steps so far, and again whenever their number
    has doubled; where it changed much, states are made anew, with numbers that none had before.

    Examples
    --------
    >>> import gymnasium as gym
    >>> keys = PlaceKeys(gym.make("MountainCar-v0"), scale=[0.1, 0.01])
    >>> [keys.observe(None, np.array(observation)) for observation in ([-0.5, 0.0], [-0.45, 0.0], [0.5, 0.0])]
    [0, 0, 1]
    >>> keys(None, np.array([9.0, 0.0])), keys(None, np.array([9.0, 0.0]))           # looked up, and not remembered
    (2, 2)
    """

    def __init__(self, env: Any, scale: ArrayLike | None) -> None:
        width = math.prod(env.observation_space.shape)
        given = check_scale(scale, width)
        self._given = given is not None
        self.places = Representatives(np.full(width, np.inf) if given is None else given)
        # Of the states that were made before.
        self._used = 0
        self._asked = np.zeros(width)
        self.latest: NDArray[np.float64] = np.zeros(width)
        self._squares, self._n_steps, self._measured_at = np.zeros(width), 0, 0

    def __call__(self, env: Any, observation: Any) -> int:
        """Return the number of the representative; where there is none, the one that a new one would get."""
        self._asked = as_point(observation, "of an environment")
        return self._used + self.places.find(self._asked)

    def observe(self, env: Any, observation: Any) -> int:
        """Return the same of what is observed now; where there is no representative, it becomes one."""
        key = self(env, observation)
        self.keep()
        return key

    def keep(self) -> None:
        """Take what was last asked for as what is observed now."""
        self.latest = self._asked
        self.places.number(self.latest)

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
        self._used += len(self.places)
        self.places = Representatives(scale)
        return True
