"""Options to the far points of PointMaze, a maze with a ball and momentum, from a log of random pushes alone.

Run: pip install 'farpoint[robotics]', then python examples/point_maze.py [--size UMaze] [--steps 10000]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp

SIZES = ("UMaze", "Medium", "Large")
# Simulation steps per action: fewer would hardly move the ball.
PUSHES = 10


class Ball(gym.Wrapper[Any, Any, Any, Any]):
    """Observes where the ball is, and not how fast; an action is a push of any direction and strength."""

    def __init__(self, size: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            env = gym.make(f"PointMaze_{size}-v3", max_episode_steps=10_000, continuing_task=True, reset_target=False)
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in a random cell."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation["observation"][:2], info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Push the ball."""
        for _ in range(PUSHES):
            observation, _, _, truncated, info = self.env.step(action)
        return observation["observation"][:2], 0.0, False, truncated, info


def main() -> None:
    """Record random pushes, make options of them, and try these in the maze."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="UMaze")
    parser.add_argument("--steps", type=int, default=10_000, help="random pushes that are logged")
    arguments = parser.parse_args()
    try:
        import gymnasium_robotics
    except ImportError:
        sys.exit("This example needs PointMaze. Run: pip install 'farpoint[robotics]'")
    gym.register_envs(gymnasium_robotics)
    env = Ball(arguments.size)
    log = fp.envs.record_samples(env, arguments.steps, seed=0)
    policy = fp.GoalPolicy.from_log(log, radius=0.5, reversible=True)
    options = policy.options(n_options=4)
    success = fp.envs.option_success(env, options, n_trials=10, max_steps=100)
    print(policy)
    for goal, share in zip(options.goals, success, strict=True):
        print(f"far point at x = {goal[0]:.2f}, y = {goal[1]:.2f}, reached in {share:.0%} of the trials")


if __name__ == "__main__":
    main()
