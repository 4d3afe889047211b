"""Any goal from a log of an ant, 29 numbers: ``python -m research.ogbench_ant`` (farpoint[robotics]).

ogbench-ant: OGBench's AntMaze of medium size, with data that are made here by the same protocol as the point's, but by
our own gait (`research.ant_gait`), which was trained on another ant: Gymnasium's, five times as strong. A goal policy
compares positions alone (``scale=`` infinite for the rest), or all 29 numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds import read_log
from research.ant_gait import Gait, fallen, features
from research.antmaze import GAIT
from research.ogbench import DATA_SEEDS, FIRST_EVALUATION, KINDS, MAX_STEPS, N_TASKS
from research.ogbench_data import CACHE, MAZES, NOISE, RECORDINGS, Recording, Ways
from research.runner import Part, Row, Table, main, module_digest

MAZE = "medium"
# Torques are this many times what the gait says, within their bounds. Of 1, 2, 3 and 5 this walks fastest: 0.08 a step.
STRENGTH = 2.0
# The gait's own noise, per torque, so that the log does not hold one way of walking alone.
TORQUE_NOISE = 0.1
# How near to a goal the ant's tasks count it as reached; half of the point's.
RADIUS = 0.5
N_NUMBERS, N_EPISODES = 29, 5
# A tenth of the episodes of the protocol are recorded: 100,000 steps.
SHARE = 0.1
WAYS: dict[str, Any] = {
    "position alone": np.where(np.arange(N_NUMBERS) < 2, 1.0, np.inf),
    "all 29 numbers": np.where(np.arange(N_NUMBERS) < 2, 1.0, 3.0),
}


def make_ant(seed: int) -> Any:
    """Return the ant in its maze, whose episodes never end by themselves; all its random numbers are seeded."""
    import ogbench  # noqa: F401  registers the environments

    env: Any = gym.make(f"antmaze-{MAZE}-v0", terminate_at_goal=False).unwrapped
    np.random.seed(seed)  # noqa: NPY002
    env.action_space.seed(seed)
    env.reset(seed=seed)
    return env


def record(kind: str, seed: int, recording: Recording) -> dict[str, NDArray[Any]]:
    """Return the columns of a data set: observations, torques, and the last rows of episodes as terminals.

    An episode in which the ant falls over is walked on: nothing ends it, as in OGBench.
    """
    env, ways, gait = make_ant(seed), Ways(MAZE, seed), Gait.load(GAIT)
    rng = np.random.default_rng([seed, len(MAZES), kind == "stitch"])
    n_rows = recording.n_steps + 1
    observations = np.empty((recording.n_episodes, n_rows, N_NUMBERS), dtype=np.float32)
    actions = np.empty((recording.n_episodes, n_rows, 8), dtype=np.float32)
    for episode in range(recording.n_episodes):
        start = ways.cells[rng.integers(len(ways.cells))]
        choices = ways.stitch_goals(start) if kind == "stitch" else ways.crossings
        task = {"init_ij": start, "goal_ij": choices[rng.integers(len(choices))]}
        here, _ = env.reset(options={"task_info": task})
        for row in range(n_rows):
            way = ways.subgoal(env, here[:2]) - here[:2]
            way = way / (np.linalg.norm(way) + 1e-6) + NOISE * rng.standard_normal(2)
            torques = STRENGTH * gait(features(env.data.qpos[:15], env.data.qvel[:14], way / np.linalg.norm(way)))
            action = np.clip(torques + TORQUE_NOISE * rng.standard_normal(8), -1.0, 1.0)
            observations[episode, row], actions[episode, row] = here, action
            here, _, _, _, info = env.step(action)
            if kind == "navigate" and info["success"]:
                env.set_goal(ways.crossings[rng.integers(len(ways.crossings))])
    env.close()
    terminals = np.zeros((recording.n_episodes, n_rows), dtype=bool)
    terminals[:, -1] = True
    return {
        "observations": observations.reshape(-1, N_NUMBERS),
        "actions": actions.reshape(-1, 8),
        "terminals": terminals.ravel(),
    }


def load(kind: str, seed: int, recording: Recording) -> fp.Log:
    """Return a data set as a log; it is made if it is not in the cache."""
    size = f"{recording.n_episodes}x{recording.n_steps}"
    path = CACHE / f"antmaze-{MAZE}-{kind}-{seed}-{size}-{module_digest(__name__)}.npz"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        write_arrays(path, "ogbench-data", {}, record(kind, seed, recording))
    return read_log(read_arrays(path, "ogbench-data")[1])


def evaluate(policy: Any, seed: int, n_episodes: int) -> Row:
    """Return the share of the episodes of all five tasks that arrive, and the share in which the ant falls over."""
    env = make_ant(FIRST_EVALUATION + seed)
    arrived, fell = [], []
    for task in range(1, N_TASKS + 1):
        for _ in range(n_episodes):
            observation, info = env.reset(options={"task_id": task})
            goal, success, down = info["goal"], False, False
            for _ in range(MAX_STEPS):
                observation, _, _, _, info = env.step(policy(observation, goal))
                down |= fallen(env.data.qpos)
                success = bool(info["success"])
                if success:
                    break
            arrived.append(success)
            fell.append(down)
    env.close()
    return {"success": np.mean(arrived), "fell": np.mean(fell)}


def measure_ant(kind: str, data_seed: int, way: str, n_recorded: int, n_episodes: int) -> Row:
    recording = Recording(n_recorded, RECORDINGS[kind].n_steps)
    policy = fp.GoalPolicy.from_log(load(kind, data_seed, recording), scale=WAYS[way], radius=RADIUS)
    return {**evaluate(policy, 0, n_episodes), "n_cells": policy.n_cells}


def parts(quick: bool) -> Iterator[Part]:
    """Yield the parts; a quick look records two episodes."""
    for kind in KINDS[: 1 if quick else None]:
        for way in WAYS:
            recorded = 2 if quick else round(SHARE * RECORDINGS[kind].n_episodes)
            yield {
                "kind": kind, "data_seed": DATA_SEEDS[0], "way": way, "n_recorded": recorded,
                "n_episodes": 1 if quick else N_EPISODES,
            }  # fmt: skip


TABLES = (Table("ogbench-ant", measure_ant, parts),)

if __name__ == "__main__":
    main("research.ogbench_ant")
