"""An environment in which to learn to reach goals: any environment, with a goal drawn for each trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

# What of an observation is compared with a goal.
GoalOf = Callable[[Any], ArrayLike]


def flat(observation: Any) -> NDArray[np.float32]:
    """Return an observation as one row of float32."""
    return np.asarray(observation, dtype=np.float32).ravel()


class GoalEnv(gym.Env[Any, Any]):
    """Trials: −1 a step until the achieved goal lies within ``radius`` of the desired one.

    After a success the next trial goes on from there; after a failure, or when the environment's own episode is over,
    the environment is reset and wanders up to ``wander`` random steps, so that trials begin in many places. That
    the environment's own episode is over counts as a time limit.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        goals: NDArray[np.float32],
        *,
        radius: float,
        max_length: int,
        wander: int,
        goal_of: GoalOf | None,
    ) -> None:
        self.env = env
        self.goals = goals
        self.radius = radius
        self.max_length = max_length
        self.wander = wander
        self.goal_of = goal_of
        self.action_space = env.action_space
        assert env.observation_space.shape is not None
        n_features = int(np.prod(env.observation_space.shape))
        self.observation_space = spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, (n_features,)),
                "achieved_goal": spaces.Box(-np.inf, np.inf, goals.shape[1:]),
                "desired_goal": spaces.Box(-np.inf, np.inf, goals.shape[1:]),
            }
        )
        self._observation: Any = None
        self._goal = goals[0]
        self._n_steps = 0
        self._must_reset = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, Any]]:
        """Draw a goal, not one already reached; ``options={"goal": number}`` says which."""
        super().reset(seed=seed)
        if self._must_reset or seed is not None:
            self._begin(seed)
        chosen = (options or {}).get("goal")
        numbers = self.np_random.permutation(len(self.goals)) if chosen is None else [int(chosen)]
        for number in numbers:
            self._goal = self.goals[number]
            if not self.reached(self._achieved(), self._goal):
                break
        self._n_steps = 0
        self._must_reset = False
        return self._told(), {}

    def step(self, action: Any) -> tuple[dict[str, NDArray[np.float32]], float, bool, bool, dict[str, Any]]:
        """Take an action of the environment."""
        self._observation, _, ended, cut, _ = self.env.step(action)
        self._n_steps += 1
        told = self._told()
        success = bool(self.reached(told["achieved_goal"], self._goal))
        over = bool(ended or cut)
        late = self._n_steps >= self.max_length
        self._must_reset = over or (late and not success)
        return told, 0.0 if success else -1.0, success, not success and (over or late), {"is_success": success}

    def reached(self, achieved: NDArray[Any], desired: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether goals are reached; of many at once, one a row."""
        away = np.asarray(achieved) - np.asarray(desired)
        return np.asarray((away * away).sum(axis=-1) <= self.radius**2)

    def compute_reward(self, achieved_goal: NDArray[Any], desired_goal: NDArray[Any], info: Any) -> NDArray[Any]:
        """Return the reward had another goal been desired: what hindsight replay asks for."""
        return np.where(self.reached(achieved_goal, desired_goal), 0.0, -1.0)

    def _begin(self, seed: int | None) -> None:
        self._observation, _ = self.env.reset(seed=None if seed is None else int(self.np_random.integers(2**31)))
        for _ in range(int(self.np_random.integers(self.wander + 1))):
            action = int(self.np_random.integers(self.action_space.n))  # type: ignore[attr-defined]
            self._observation, _, ended, cut, _ = self.env.step(action)
            if ended or cut:
                self._observation, _ = self.env.reset()

    def _achieved(self) -> NDArray[np.float32]:
        return flat(self._observation if self.goal_of is None else self.goal_of(self._observation))

    def _told(self) -> dict[str, NDArray[np.float32]]:
        return {
            "observation": flat(self._observation),
            "achieved_goal": self._achieved(),
            "desired_goal": self._goal.copy(),
        }
