"""How much of a continuous maze an agent sees that acts at random, with and without options to goals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.options import discover
from farpoint.worlds import World

# Walls are a cell thick, so that samples on two sides of one are not near.
MAZE = """
#######################
#S....#.......#.......#
#.....#.......#.......#
#.....#.......#.......#
#.............#.......#
#.....#.......#.......#
####.####.#######.#####
#.....#.......#.......#
#.....#.......#.......#
#.............#.......#
#.....#...............#
#.....#.......#.......#
###.######.########.###
#.....#.......#.......#
#.....#.......#.......#
#.....#...............#
#.............#.......#
#.....#.......#.......#
#######################
"""
LONGEST_OPTION = 300
METHODS = ("diffusion", "eigen", "random", "none")


@dataclass(frozen=True)
class Setting:
    """A maze and how much of it is sampled: steps of the log, of an episode in it, representatives, options, and how
    near to its goal an option ends.
    """

    make: Callable[[], Any]
    log_steps: int
    episode: int
    n_samples: int
    n_options: int
    radius: float


def make_maze(*, anywhere: bool = False) -> Any:
    """Return the environment; its episodes begin in the corner, or anywhere."""
    from farpoint.envs.continuous_maze import ContinuousMaze

    return ContinuousMaze(MAZE, max_steps=10**9, start="random" if anywhere else None)


def _make_point_maze() -> Any:
    from farpoint.experiments.point_maze import PointMaze

    return PointMaze()


SETTINGS = {
    "maze": Setting(make_maze, log_steps=300_000, episode=3_000, n_samples=500, n_options=12, radius=0.7),
    "pointmaze": Setting(_make_point_maze, log_steps=60_000, episode=2_000, n_samples=250, n_options=8, radius=0.5),
}


def sampled_world(env: Any, setting: Setting, seed: int) -> World:
    """Return the graph of a log of random steps: nothing else is known of the maze."""
    before, after = env.random_walk(setting.log_steps, seed=seed, episode_length=setting.episode)
    return World.from_samples(before, after, n_states=setting.n_samples, neighbors="temporal", seed=seed)


def goals_of(world: World, method: str, n_options: int, seed: int) -> NDArray[np.int64]:
    """Return the states that a method's options lead to, as many of each; of eigenoptions the tops of ±ψ₂, ±ψ₃, …."""
    if method == "eigen":
        # Several vectors may have one top: take more of them until there are enough.
        tops = discover(world, "eigen", n_options=4 * n_options, include_first=False).goals
        return np.asarray(list(dict.fromkeys(tops.tolist()))[:n_options])
    return np.array(discover(world, method, n_options=n_options, seed=seed).goals)


def cells_seen(
    env: Any, options: Sequence[Any], steps: int, seed: int, checkpoints: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the share of the maze's cells that an agent has been in at each checkpoint.

    At each decision it takes, with probability ½ each, a random action or a random option of those that can start,
    which it follows to its end: the agent of the paper's Table 1.
    """
    rng = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    floor = env.floor
    seen = np.zeros(floor.shape, dtype=bool)
    share = np.zeros(checkpoints.size)
    following, left = None, 0
    for step in range(1, steps + 1):
        action = following.act(observation) if following is not None and left > 0 else None
        while action is None:
            following = None
            able = [option for option in options if option.can_start(observation)] if rng.random() < 0.5 else []
            if not able:
                action = int(rng.integers(env.action_space.n))
            else:
                following, left = able[rng.integers(len(able))], LONGEST_OPTION
                action = following.act(observation)
        left -= 1
        observation = env.step(action)[0]
        x, y = env.locate(observation)
        seen[int(y), int(x)] = True
        share[checkpoints == step] = seen[floor].mean()
    return share
