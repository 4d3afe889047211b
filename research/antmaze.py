"""Exploring AntMaze from scratch with a gait that was learned beforehand: ``python -m research.antmaze``.

The ant's eight torques are driven by ``ant_gait.npz`` (``python -m research.ant_gait``, trained on flat ground with
no maze and no goal); an action is a direction, in which it walks for a second. Printed are how well it walks, and the
cells seen from scratch, every action counted; words choose among ``UMaze``, ``Medium``, ``Large`` and the methods.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.measures.statistics import estimate
from research.ant_gait import Gait, fallen, features
from research.continuous import Counted, Until, run_once, show

METHODS = ("diffusion", "novelty", "none")
N_RUNS, N_DIRECTIONS, STEPS_PER_ACTION = 20, 8, 20
# Size, actions, and actions per episode.
MAZES = (("UMaze", 600, 50), ("Medium", 2_000, 100), ("Large", 3_000, 150))
# As in PointMaze.
SETTINGS = {"option_probability": 0.1, "remake_every": 30}
GAIT = Path(__file__).parent / "ant_gait.npz"


class AntMaze(gym.Env[NDArray[np.float64], int]):
    """An ant in a maze that walks in one of eight directions for a second; its position is observed, in cells.

    An episode begins in the corner. It ends after ``max_steps`` actions, and where the ant has fallen over.
    """

    def __init__(self, size: str, max_steps: int) -> None:
        import gymnasium_robotics

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gym.register_envs(gymnasium_robotics)
            self._env: Any = gym.make(
                f"AntMaze_{size}-v5", max_episode_steps=10**9, continuing_task=True, reset_target=False
            )
        simulation: Any = self._env.unwrapped
        self._ant, self._maze = simulation.ant_env, simulation.maze
        self._gait = Gait.load(GAIT)
        self.max_steps = max_steps
        self.floor = np.array([[cell != 1 for cell in row] for row in self._maze.maze_map])
        self.n_falls = self.n_actions = self._n_steps = 0
        self.action_space = gym.spaces.Discrete(N_DIRECTIONS)  # type: ignore[assignment]
        extent = np.array(self.floor.shape[::-1], dtype=np.float64)
        self.observation_space = gym.spaces.Box(np.zeros(2), extent, dtype=np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin an episode in the corner."""
        super().reset(seed=seed)
        self._n_steps = 0
        cells = {"reset_cell": np.array((1, 1)), "goal_cell": np.argwhere(self.floor)[-1]}
        self._env.reset(seed=seed, options=cells)
        return self._position, {}

    def step(self, action: int) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Walk for a second."""
        angle = action * 2.0 * np.pi / N_DIRECTIONS
        # In the simulation y points upwards; rows of the map count downwards.
        direction = np.array([np.cos(angle), -np.sin(angle)])
        data = self._ant.data
        for _ in range(STEPS_PER_ACTION):
            torques = self._gait(features(data.qpos, data.qvel, direction))
            self._ant.do_simulation(np.clip(torques, -1.0, 1.0), self._ant.frame_skip)
        fell = fallen(data.qpos)
        self._n_steps += 1
        self.n_actions += 1
        self.n_falls += fell
        return self._position, 0.0, False, fell or self._n_steps >= self.max_steps, {}

    def close(self) -> None:
        """Release the simulation."""
        self._env.close()

    @property
    def _position(self) -> NDArray[np.float64]:
        x, y = self._ant.data.qpos[:2]
        place = np.array([x + self._maze.x_map_center, self._maze.y_map_center - y])
        return np.asarray(place / self._maze.maze_size_scaling)


def walking(n_actions: int = 200) -> None:
    """Print how well the ant walks: in a room, with random directions, each kept for five seconds."""
    env = AntMaze("Open", 10**9)
    rng = np.random.default_rng(0)
    ahead, aside = [], []
    before, _ = env.reset(seed=0)
    middle = np.array(env.floor.shape[::-1]) / 2
    for _ in range(n_actions // 5):
        # Towards the middle, so that no wall is in the way; and then any direction.
        away = middle - before
        wanted = int(np.round(np.arctan2(away[1], away[0]) / (2 * np.pi / N_DIRECTIONS))) % N_DIRECTIONS
        direction = wanted if np.linalg.norm(away) > 0.8 else int(rng.integers(N_DIRECTIONS))
        angle = direction * 2 * np.pi / N_DIRECTIONS
        for second in range(5):
            after, _, _, over, _ = env.step(direction)
            moved = after - before
            before = env.reset()[0] if over else after
            # The first second turns.
            if second and not over:
                ahead.append(4.0 * float(moved @ [np.cos(angle), np.sin(angle)]))
                aside.append(4.0 * abs(float(moved @ [-np.sin(angle), np.cos(angle)])))
    print(f"an open room: {np.mean(ahead):.2f} m/s ahead, {np.mean(aside):.2f} aside, {env.n_falls} falls", flush=True)
    env.close()


def scratch(size: str, method: str, n_steps: int, episode: int, seed: int) -> tuple[list[float], int]:
    """Return the share of the cells that are seen from scratch after each action, in percent, and the falls."""
    base = AntMaze(size, episode)
    cells = Counted(base.floor)
    run_once(Until(base, cells), method, n_steps, seed, **SETTINGS)
    base.close()
    return cells.shares, base.n_falls


def main() -> None:
    """Print what was asked for, by default all."""
    sizes = [one for one in MAZES if one[0] in sys.argv[1:]] or MAZES
    methods = [one for one in METHODS if one in sys.argv[1:]] or METHODS
    walking()
    for size, n_steps, episode in sizes:
        for method in methods:
            runs = [scratch(size, method, n_steps, episode, seed) for seed in range(N_RUNS)]
            curves = np.array([shares for shares, _ in runs])
            enough = curves >= 90.0
            steps = estimate(np.where(enough.any(axis=1), enough.argmax(axis=1) + 1.0, n_steps))
            rest = [
                f"{at:,}: {estimate(curves[:, at - 1], 'mean')} %" for at in (n_steps // 3, 2 * n_steps // 3, n_steps)
            ]
            falls = sum(fell for _, fell in runs)
            reached = (
                f"90 % reached {enough.any(axis=1).sum()} / {N_RUNS}, {falls} falls; cells after {', '.join(rest)}"
            )
            show(f"AntMaze {size}", method, steps, reached)


if __name__ == "__main__":
    main()
