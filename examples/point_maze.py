"""Find the far points of PointMaze, a maze with a ball, momentum and continuous forces, from a random walk.

Run: pip install 'farpoint[robotics]', then python examples/point_maze.py [--steps 200000]
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp


def make() -> gym.Env[Any, Any]:
    """Return PointMaze, observed as (x, y, velocity x, velocity y)."""
    try:
        import gymnasium_robotics
    except ImportError:
        sys.exit("This example needs PointMaze. Run: pip install 'farpoint[robotics]'")
    gym.register_envs(gymnasium_robotics)
    env = gym.make("PointMaze_UMaze-v3", max_episode_steps=1000, continuing_task=True)
    space = env.observation_space["observation"]
    return gym.wrappers.TransformObservation(env, lambda observation: observation["observation"], space)


def main() -> None:
    """Record a random walk, make a world of the visited places, and print its far points."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000)
    n_steps = parser.parse_args().steps
    before, after = fp.envs.record_observations(make(), n_steps, seed=0)
    # States are squares, a quarter of a cell wide; the velocity is ignored.
    squares, following = np.floor(4 * before[:, :2]).astype(int), np.floor(4 * after[:, :2]).astype(int)
    moved = (squares != following).any(axis=1)
    world = fp.World.from_log(squares[moved], following[moved], symmetrize=True, largest_component=True)
    goals = fp.discover(world, n_options=4).goals
    centers = (np.array(world.labels) + 0.5) / 4
    print(f"{world.n_states} squares visited in {n_steps} steps")
    for goal in goals:
        print(f"far point at x = {centers[goal][0]:.2f}, y = {centers[goal][1]:.2f}")


if __name__ == "__main__":
    main()
