"""An environment for learning to reach goals: any environment, with one goal per trial."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from farpoint.options.learned_options import GoalOf, flat, goal_features, within_radius

GoalObservation = dict[str, NDArray[np.float32]]


class GoalEnv(gym.Env[Any, Any]):
    """Episodes are trials: reward −1 per step until the achieved goal is within ``radius`` of the desired goal.

    After a success the next trial continues from there. After a failure, or when the episode of the environment itself
    ends, the environment is reset and takes up to ``wander`` random steps, so that trials begin in many places. The end
    of the environment's episode counts as a time limit.

    Parameters
    ----------
    env : gymnasium.Env
    goals : array, shape (n_goals, n_features)
    radius : float
    max_steps : int
        Steps per trial.
    wander : int
        Largest number of random steps after a reset.
    goal_of : function of an observation, or None
        Returns the features that are compared with goals.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        goals: NDArray[np.float32],
        *,
        radius: float,
        max_steps: int,
        wander: int,
        goal_of: GoalOf | None,
    ) -> None:
        self.env = env
        self.goals = goals
        self.radius = radius
        self.max_steps = max_steps
        self.wander = wander
        self.goal_of = goal_of
        self.action_space = env.action_space
        assert env.observation_space.shape is not None
        self.n_features = int(np.prod(env.observation_space.shape))
        self.n_actions = int(env.action_space.n)  # type: ignore[attr-defined]
        self.observation_space = spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, (self.n_features,)),
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
    ) -> tuple[GoalObservation, dict[str, Any]]:
        """Begin a trial with a random goal that is not yet reached, or with goal number ``options["goal"]``."""
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
        return self._goal_observation(), {}

    def step(self, action: Any) -> tuple[GoalObservation, float, bool, bool, dict[str, Any]]:
        """Take an action of the environment."""
        self._observation, _, terminated, truncated, _ = self.env.step(action)
        self._n_steps += 1
        seen = self._goal_observation()
        success = bool(self.reached(seen["achieved_goal"], self._goal))
        over = bool(terminated or truncated)
        late = self._n_steps >= self.max_steps
        self._must_reset = over or (late and not success)
        return seen, 0.0 if success else -1.0, success, not success and (over or late), {"is_success": success}

    def reached(self, achieved: NDArray[Any], desired: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether goals are reached; arrays of goals have one row per goal."""
        return within_radius(achieved, desired, self.radius)

    def compute_reward(self, achieved_goal: NDArray[Any], desired_goal: NDArray[Any], info: Any) -> NDArray[Any]:
        """Return the rewards for other desired goals; used by hindsight replay."""
        return np.where(self.reached(achieved_goal, desired_goal), 0.0, -1.0)

    def _begin(self, seed: int | None) -> None:
        self._observation, _ = self.env.reset(seed=None if seed is None else int(self.np_random.integers(2**31)))
        for _ in range(int(self.np_random.integers(self.wander + 1))):
            action = int(self.np_random.integers(self.n_actions))
            self._observation, _, terminated, truncated, _ = self.env.step(action)
            if terminated or truncated:
                self._observation, _ = self.env.reset()

    def _achieved(self) -> NDArray[np.float32]:
        return goal_features(self._observation, self.goal_of)

    def _goal_observation(self) -> GoalObservation:
        return {
            "observation": flat(self._observation),
            "achieved_goal": self._achieved(),
            "desired_goal": self._goal.copy(),
        }
