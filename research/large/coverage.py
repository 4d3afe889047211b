"""How much of a continuous maze a randomly acting agent visits, with and without options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.envs import record_samples
from farpoint.options import Options, discover
from farpoint.worlds import Log, World

# Walls are one cell thick, so that samples on the two sides of a wall are not neighbors.
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
MAX_OPTION_STEPS = 300
METHODS = ("diffusion", "eigen", "random", "none")


@dataclass(frozen=True)
class Setting:
    """A maze, how it is sampled, and its options.

    Attributes
    ----------
    make : function of a number of steps
        Returns the environment, with episodes of so many steps.
    log_share : float
        Steps of its logs, in parts of those that the scale gives.
    episode_length : int
        Steps per episode of a log.
    n_samples : int
        States of the sampled graph.
    n_options : int
    radius : float
        Distance from its goal at which an option ends.
    """

    make: Callable[[int], Any]
    log_share: float
    episode_length: int
    n_samples: int
    n_options: int
    radius: float


def make_maze(max_steps: int = 10**9) -> Any:
    """Return the maze; its episodes begin in the corner."""
    from farpoint.envs.continuous_maze import ContinuousMaze

    return ContinuousMaze(MAZE, max_steps=max_steps)


def _make_point_maze(max_steps: int) -> Any:
    from research.point_maze import PointMaze

    return PointMaze(max_steps=max_steps)


SETTINGS = {
    "maze": Setting(make_maze, log_share=1.0, episode_length=3_000, n_samples=500, n_options=12, radius=0.7),
    "pointmaze": Setting(_make_point_maze, log_share=0.1, episode_length=2_000, n_samples=250, n_options=8, radius=0.5),
}


def record(setting: Setting, n_steps: int, *, seed: int) -> Log:
    """Return a log of random steps."""
    return record_samples(setting.make(setting.episode_length), n_steps, seed=seed)


def sampled_world(log: Log, setting: Setting, *, seed: int) -> World:
    """Return the graph of a log, made from nothing but its steps."""
    return World.from_samples(log, n_states=setting.n_samples, neighbors="temporal", seed=seed)


def goals_of(world: World, method: str, n_options: int, *, seed: int) -> NDArray[np.int64]:
    """Return the goals of a method's options; of eigenoptions, the highest states of ±ψ₂, ±ψ₃, …."""
    if method == "eigen":
        # Several eigenvectors may share their highest state, so more of them are taken than needed.
        tops = discover(world, "eigen", n_options=4 * n_options, include_first=False).goals
        return np.asarray(list(dict.fromkeys(tops.tolist()))[:n_options])
    return np.array(discover(world, method, n_options=n_options, seed=seed).goals)


def cells_seen(
    env: Any,
    options: Options[Any],
    option_probability: float,
    checkpoints: NDArray[np.int64],
    *,
    seed: int,
) -> NDArray[np.float64]:
    """Return the share of the maze's cells that an agent has visited after each number of steps in ``checkpoints``.

    The agent is that of the paper's Table 1, with any probability in place of its ½: at each decision it takes a random
    option of those that can start, which it follows to its end, or a random action.
    """
    rng = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    floor = env.floor
    seen = np.zeros(floor.shape, dtype=bool)
    share = np.zeros(checkpoints.size)
    following, left = -1, 0
    for step in range(1, int(checkpoints[-1]) + 1):
        action = options.act(following, observation) if following >= 0 and left > 0 else None
        while action is None:
            following = -1
            takes_option = rng.random() < option_probability
            able = np.flatnonzero(options.can_start(observation)) if takes_option else np.empty(0, dtype=np.int64)
            if not able.size:
                action = int(rng.integers(env.action_space.n))
            else:
                following, left = int(able[rng.integers(able.size)]), MAX_OPTION_STEPS
                action = options.act(following, observation)
        left -= 1
        observation = env.step(action)[0]
        x, y = env.locate(observation)
        seen[int(y), int(x)] = True
        share[checkpoints == step] = seen[floor].mean()
    return share
