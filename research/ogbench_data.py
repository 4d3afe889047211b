"""The data sets of OGBench's PointMaze, made here by their published protocol, and its environments.

A point is driven toward random goals by the direction of the shortest way through the cells of the maze, plus noise.
*Navigate*: a new goal whenever one is reached, in a cell that is not a corridor. *Stitch*: short episodes, each with
one goal four cells away. A file is kept in ``research/cache`` (not in git) under the digest of this module.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds import read_log
from research.runner import ROOT, module_digest

CACHE = ROOT / "research" / "cache"
NOISE = 0.5
STITCH_CELLS = 4

Cell = tuple[int, int]


class Recording(NamedTuple):
    """How a data set is recorded; every episode has one row more than steps."""

    n_episodes: int
    n_steps: int


RECORDINGS = {
    "navigate": Recording(1_000, 1_000),
    "stitch": Recording(5_000, 200),
}
GIANT_NAVIGATE = Recording(500, 2_000)
MAZES = ("medium", "large", "giant", "teleport")


def make_env(maze: str, seed: int) -> Any:
    """Return the environment of a maze, whose episodes never end by themselves; all its random numbers are seeded."""
    import ogbench  # noqa: F401  registers the environments

    env = gym.make(f"pointmaze-{maze}-v0", terminate_at_goal=False).unwrapped
    # Starts, goals and teleporters draw from numpy's global generator.
    np.random.seed(seed)  # noqa: NPY002
    env.action_space.seed(seed)
    env.reset(seed=seed)
    return env


def load(maze: str, kind: str, seed: int) -> fp.Log:
    """Return a data set as a log; it is made if it is not in the cache."""
    path = CACHE / f"pointmaze-{maze}-{kind}-{seed}-{module_digest(__name__)}.npz"
    if not path.exists():
        recording = GIANT_NAVIGATE if (maze, kind) == ("giant", "navigate") else RECORDINGS[kind]
        path.parent.mkdir(exist_ok=True)
        write_arrays(path, "ogbench-data", {}, record(maze, kind, seed, recording))
    return read_log(read_arrays(path, "ogbench-data")[1])


def record(maze: str, kind: str, seed: int, recording: Recording) -> dict[str, NDArray[Any]]:
    """Return the columns of a data set: observations, actions, and the last rows of episodes as terminals."""
    env, ways = make_env(maze, seed), Ways(maze, seed)
    rng = np.random.default_rng([seed, MAZES.index(maze), kind == "stitch"])
    n_rows = recording.n_steps + 1
    shape = (recording.n_episodes, n_rows, 2)
    observations, actions = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.float32)
    for episode in range(recording.n_episodes):
        start = ways.cells[rng.integers(len(ways.cells))]
        choices = ways.stitch_goals(start) if kind == "stitch" else ways.crossings
        task = {"init_ij": start, "goal_ij": choices[rng.integers(len(choices))]}
        here, _ = env.reset(options={"task_info": task})
        noise = NOISE * rng.standard_normal((n_rows, 2))
        for row in range(n_rows):
            way = ways.subgoal(env, here) - here
            action = np.clip(way / (np.linalg.norm(way) + 1e-6) + noise[row], -1.0, 1.0)
            observations[episode, row], actions[episode, row] = here, action
            here, _, _, _, info = env.step(action)
            if kind == "navigate" and info["success"]:
                env.set_goal(ways.crossings[rng.integers(len(ways.crossings))])
    env.close()
    terminals = np.zeros(shape[:2], dtype=bool)
    terminals[:, -1] = True
    return {
        "observations": observations.reshape(-1, 2),
        "actions": actions.reshape(-1, 2),
        "terminals": terminals.ravel(),
    }


class Ways:
    """The shortest ways between the cells of a maze, searched once for each goal."""

    def __init__(self, maze: str, seed: int) -> None:
        env = make_env(maze, seed)
        free = env.maze_map == 0
        env.close()
        self.cells: list[Cell] = [(int(row), int(column)) for row, column in np.argwhere(free)]
        self._free = set(self.cells)
        self.crossings = [cell for cell in self.cells if not self._in_corridor(cell)]
        self._distances: dict[Cell, dict[Cell, int]] = {}
        self._next: dict[tuple[Cell, Cell], Cell] = {}

    def _in_corridor(self, cell: Cell) -> bool:
        """Whether the only free neighbors are opposite each other."""
        row, column = cell
        free = [
            near in self._free for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        ]
        return free in ([True, True, False, False], [False, False, True, True])

    def _neighbors(self, cell: Cell) -> list[Cell]:
        row, column = cell
        near = [(row - 1, column), (row, column - 1), (row + 1, column), (row, column + 1)]
        return [one for one in near if one in self._free]

    def distances(self, goal: Cell) -> dict[Cell, int]:
        """Return the number of moves from each cell to a goal."""
        if goal not in self._distances:
            found, queue = {goal: 0}, deque([goal])
            while queue:
                here = queue.popleft()
                for near in self._neighbors(here):
                    if near not in found:
                        found[near] = found[here] + 1
                        queue.append(near)
            self._distances[goal] = found
        return self._distances[goal]

    def stitch_goals(self, start: Cell) -> list[Cell]:
        """Return the cells at the distance of a goal; the start itself if there is none."""
        return [cell for cell, distance in self.distances(start).items() if distance == STITCH_CELLS] or [start]

    def subgoal(self, env: Any, here: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the middle of the next cell on the way from here to the goal of the environment."""
        pair = env.xy_to_ij(here), env.xy_to_ij(env.cur_goal_xy)
        if pair not in self._next:
            cell, goal = pair
            distances = self.distances(goal)
            # One cell of the teleporting maze has no way out: there the point stays where it is.
            self._next[pair] = min([cell, *self._neighbors(cell)], key=lambda near: distances.get(near, -1))
        return np.array(env.ij_to_xy(self._next[pair]))
