"""Options to the far points of PointMaze, a maze with a ball and momentum, from a log of random pushes alone.

Run: pip install 'farpoint[robotics]', then python examples/point_maze.py [--size UMaze] [--steps 10000]
"""

from __future__ import annotations

import argparse
import sys

import farpoint as fp
from farpoint.envs.point_maze import SIZES, PointMaze
from farpoint.errors import MissingExtra


def main() -> None:
    """Record random pushes of any direction and strength, make options of them, and try these in the maze."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="UMaze")
    parser.add_argument("--steps", type=int, default=10_000, help="random pushes that are logged")
    arguments = parser.parse_args()
    try:
        env = PointMaze(arguments.size, actions="box", max_steps=1_000)
    except MissingExtra:
        sys.exit("This example needs PointMaze. Run: pip install 'farpoint[robotics]'")
    log = fp.envs.record_samples(env, arguments.steps, seed=0)
    world = fp.World.from_samples(log, n_states=100, neighbors="temporal")
    options = fp.GraphOptions.learn(log, fp.discover(world, n_options=4), radius=0.5, max_steps=100, n_trials=10)
    success = fp.envs.option_success(env, options, n_trials=10, max_steps=100, wander=50)
    print(f"{world.n_states} samples of {arguments.steps} pushes")
    for goal, share in zip(options.goals, success, strict=True):
        print(f"far point at x = {goal[0]:.2f}, y = {goal[1]:.2f}, reached in {share:.0%} of the trials")


if __name__ == "__main__":
    main()
