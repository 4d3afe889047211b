"""Exploring an environment with continuous observations: its states are representatives of what was seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.envs.continuous_maze import ContinuousMaze
from farpoint.errors import WrongCheckpoint, check_memory
from farpoint.exploration.env_runs import EnvRun
from farpoint.exploration.explorer import Explorer
from farpoint.exploration.memory import NONE
from farpoint.exploration.representatives import Representatives, as_point, check_scale, differs, scale_of_steps
from farpoint.exploration.steps import GOES_ON, TERMINATED, Steps
from farpoint.worlds import SampleLog


def is_continuous(env: Any) -> bool:
    """Return whether an environment is explored by representatives: observations are a Box of floats.

    >>> import gymnasium as gym
    >>> is_continuous(gym.make("MountainCar-v0")), is_continuous(gym.make("FrozenLake-v1"))
    (True, False)
    """
    space, base = getattr(env, "observation_space", None), getattr(env, "unwrapped", None)
    # These have states of their own, whatever wrappers make of the observation.
    discrete = any(all(hasattr(base, name) for name in names) for names in (("P", "s"), ("grid", "agent_pos")))
    return isinstance(space, gym.spaces.Box) and np.issubdtype(space.dtype, np.floating) and not discrete


class SampledRun(EnvRun):
    """An explorer in an environment with continuous observations.

    Until a scale is known, everything is one state. The scale is taken from the steps so far before options are first
    made, and again whenever the number of steps has doubled; where it changed much, states and counts are made anew of
    all steps so far.
    """

    def __init__(
        self, env: Any, explorer: Explorer, n_steps: int, seed: int, scale: ArrayLike | None, layout: int | None
    ) -> None:
        super().__init__(env, explorer, n_steps, seed, None, layout)
        width = math.prod(env.observation_space.shape)
        given = check_scale(scale, width)
        self._given = given is not None
        check_memory("n_steps", n_steps, 16 * n_steps * width)
        self._before, self._after = np.zeros((n_steps, width)), np.zeros((n_steps, width))
        self._latest = np.zeros(width)
        self._scaled_at = 0
        self.places = Representatives(np.full(width, np.inf) if given is None else given)

    @property
    def about(self) -> dict[str, Any]:
        """What identifies the run in a checkpoint."""
        return {**super().about, "scale": self.places.scale.tolist() if self._given else None}

    @property
    def labels(self) -> list[Any]:
        """The representative observation of each state."""
        return [tuple(row) for row in self.places.observations.tolist()]

    @property
    def positions(self) -> NDArray[Any] | None:
        """Where the representatives lie on the map, in a `ContinuousMaze`."""
        base = self.env.unwrapped
        return base.locate(self.places.observations)[:, ::-1] if isinstance(base, ContinuousMaze) else None

    @property
    def samples(self) -> SampleLog:
        """Every step, as observed."""
        n_steps = self.explorer.n_steps
        return SampleLog(self._before[:n_steps], self.action_numbers.astype(np.int64), self._after[:n_steps])

    def remake(self) -> None:
        """Make the options anew, and the states where the scale has changed."""
        n_steps = self.explorer.n_steps
        if not self._given and n_steps >= max(1, 2 * self._scaled_at):
            self._scaled_at = n_steps
            scale = scale_of_steps(((self._after[:n_steps] - self._before[:n_steps]) ** 2).mean(axis=0))
            if differs(scale, self.places.scale):
                self._make_states(scale)
        super().remake()

    def _make_states(self, scale: NDArray[np.float64]) -> None:
        """Make states and counts of all steps so far, with another scale."""
        explorer, steps = self.explorer, self.steps
        n_steps = explorer.n_steps
        self.places = Representatives(scale)
        explorer.forget()
        begins = True
        for step in range(n_steps):
            if begins:
                here = self._numbered(self._before[step], step)
                explorer.visit(here)
                explorer.begin(here)
            there = self._numbered(self._after[step], step + 1)
            terminated = bool(steps.ended[step] == TERMINATED)
            explorer.visit(there, terminal=terminated)
            explorer.remember(here, int(steps.actions[step]), there, float(steps.rewards[step]), terminated=terminated)
            steps.before[step], steps.after[step] = here, there
            begins, here = steps.ended[step] != GOES_ON, there
        self._state = NONE if begins else here

    def _numbered(self, observation: Any, step: int) -> int:
        self._latest = point = as_point(observation, f"after {step} steps of {self.name}")
        number = self.places.number(point)
        return self.explorer.new_state(step) if number == self.explorer.n_states else number

    def _step(self, action: int) -> None:
        step = self.explorer.n_steps
        self._before[step] = self._latest
        super()._step(action)
        self._after[step] = self._latest

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the scale: states follow from it and the steps, which are taken again."""
        return {"scale": self.places.scale, "scaled_at": np.array(self._scaled_at)}

    def resume(self, state: Mapping[str, NDArray[Any]], taken: Steps) -> None:
        """Take the same steps again with the scale that the checkpoint has."""
        self.places = Representatives(np.asarray(state["scale"], dtype=np.float64))
        self._scaled_at = int(state["scaled_at"])
        try:
            super().resume(state, taken)
        except IndexError as error:
            raise WrongCheckpoint(f"checkpoint must be of this environment; got {error}.") from error
