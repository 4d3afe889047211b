"""A world played as an environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp


class WorldEnv(gym.Env[Any, Any]):
    """A world with the number of the state as observation and as reward; an action that a state lacks does nothing.

    An episode begins in a random state, or in that of ``reset(options={"state": …})``, and ends in a terminal state.
    """

    def __init__(self, world: fp.World, limit: int = 2_000) -> None:
        assert world.actions is not None
        self.world = world
        self.limit = limit
        self.observation_space = gym.spaces.Discrete(world.n_states)
        self.action_space = gym.spaces.Discrete(int(world.actions.max()) + 1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        first = np.flatnonzero(~self.world.terminal)
        self.state = int((options or {}).get("state", first[self.np_random.integers(first.size)]))
        self.n_steps = 0
        return self.state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert self.world.actions is not None
        self.n_steps += 1
        for choice in self.world.choices(self.state):
            if self.world.actions[choice] == action:
                after = self.world.transitions[[choice]]
                self.state = int(self.np_random.choice(after.indices, p=after.data / after.data.sum()))
                break
        ended = bool(self.world.terminal[self.state])
        return self.state, float(self.state), ended, self.n_steps >= self.limit, {}
