"""Any goal from a log, on the eight PointMaze data sets of OGBench: the tables of docs/logs.md (farpoint[robotics]).

ogbench-success: `GoalPolicy` on data sets made here (`research.ogbench_data`; some minutes each, kept in
``research/cache``), success in the five tasks of each maze. ogbench-medium: how its settings were chosen, on the medium
maze alone, with a data set and seeds that nothing else uses. ogbench-far: the far points of the giant maze from its
stitch data, a route to one, and how often options arrive there. ogbench-speed: seconds and memory; timed.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import farpoint as fp
from research.ogbench_data import MAZES, load, make_env
from research.runner import Part, Row, Table, main

# The only thing taken from the task: how near to a goal counts as there. It is also the default, to a twentieth.
RADIUS = 1.0
KINDS = ("navigate", "stitch")
N_TASKS = 5
N_EPISODES = 50
MAX_STEPS = 1_000
DATA_SEEDS = (0, 1, 2)
EVALUATION_SEEDS = (0, 1)
# Settings are chosen with this data set, whose seeds differ from those above.
CHOOSING_SEED = 9
# Far points of the giant maze: how many, trials of each option, and the t of the picture's colors.
N_FAR, N_TRIALS, COLOR_T = 12, 10, 13
# Seeds of evaluations begin here, far from those of data sets.
FIRST_EVALUATION = 1_000
CHOICES: dict[str, dict[str, Any]] = {
    "default": {},
    "radius 0.25": {"radius": 0.25},
    "radius 0.5": {"radius": 0.5},
    "radius 1.5": {"radius": 1.5},
    "segments of 1": {"segment": 1},
    "segments of 5": {"segment": 5},
    "segments of 20": {"segment": 20},
    "10 candidates": {"n_candidates": 10},
    "160 candidates": {"n_candidates": 160},
    "cells of 0.25": {"cell": 0.25},
    "cells of 1": {"cell": 1.0},
}


def evaluate(policy: Any, maze: str, seed: int, n_episodes: int = N_EPISODES) -> list[Row]:
    """Return for each task the share of episodes that arrive, and the mean number of their steps."""
    env = make_env(maze, FIRST_EVALUATION + seed)
    rows = []
    for task in range(1, N_TASKS + 1):
        steps = np.full(n_episodes, np.inf)
        for episode in range(n_episodes):
            observation, info = env.reset(options={"task_id": task})
            goal = info["goal"]
            for step in range(1, MAX_STEPS + 1):
                observation, _, _, _, info = env.step(policy(observation, goal))
                if info["success"]:
                    steps[episode] = step
                    break
        arrived = np.isfinite(steps)
        rows.append(
            {"task": task, "success": arrived.mean(), "steps": steps[arrived].mean() if arrived.any() else None}
        )
    env.close()
    return rows


def measure_success(maze: str, kind: str, data_seed: int, seed: int) -> list[Row]:
    policy = fp.GoalPolicy.from_log(load(maze, kind, data_seed), radius=RADIUS)
    return evaluate(policy, maze, seed)


def parts_of_success(quick: bool) -> Iterator[Part]:
    # Whole rounds: after an interruption every data set has been measured equally often.
    for data_seed in DATA_SEEDS[:1] if quick else DATA_SEEDS:
        for seed in EVALUATION_SEEDS[:1] if quick else EVALUATION_SEEDS:
            for maze in MAZES[:1] if quick else MAZES:
                yield from ({"maze": maze, "kind": kind, "data_seed": data_seed, "seed": seed} for kind in KINDS)


def measure_medium(kind: str, choice: str) -> Row:
    policy = fp.GoalPolicy.from_log(load("medium", kind, CHOOSING_SEED), **{"radius": RADIUS, **CHOICES[choice]})
    return {"success": np.mean([row["success"] for row in evaluate(policy, "medium", CHOOSING_SEED)])}


def measure_far(maze: str, kind: str, n_options: int) -> list[Row]:
    """Return every cell with its score, the far points with the success of their options, and one route."""
    policy = fp.GoalPolicy.from_log(load(maze, kind, DATA_SEEDS[0]), radius=RADIUS)
    world = policy.world
    assert world.observations is not None
    options = policy.options(n_options)
    scores = np.asarray(fp.score(world, COLOR_T))
    rows = [
        {"what": "cell", "x": x, "y": y, "value": score}
        for (x, y), score in zip(world.observations, scores, strict=True)
    ]
    env = make_env(maze, FIRST_EVALUATION)
    for number, (x, y) in enumerate(options.goals):
        arrived = 0
        for trial in range(N_TRIALS):
            # From where the tasks begin, one after another; their goals are not used.
            observation, _ = env.reset(options={"task_id": 1 + trial % N_TASKS})
            for _ in range(MAX_STEPS):
                action = options.act(number, observation)
                if action is None:
                    break
                observation = env.step(action)[0]
            arrived += options.reached(number, observation)
        rows.append({"what": "far point", "x": x, "y": y, "value": arrived / N_TRIALS})
    start, _ = env.reset(options={"task_id": 1})
    env.close()
    farthest = options.goals[policy.distance(start, options.goals).argmax()]
    rows += [{"what": "route", "x": x, "y": y, "value": None} for x, y in policy.route(start, farthest)]
    return rows


def measure_speed(maze: str, kind: str) -> Row:
    """Return the seconds of building a policy and of a decision, and the memory that building takes."""
    log = load(maze, kind, DATA_SEEDS[0])
    env = make_env(maze, FIRST_EVALUATION)
    goals = [env.reset(options={"task_id": task})[1]["goal"] for task in range(1, N_TASKS + 1)]
    env.close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, worked = time.perf_counter(), time.process_time()
    policy = fp.GoalPolicy.from_log(log, radius=RADIUS)
    policy(log.observations[0], goals[0])
    built, processor = time.perf_counter() - began, time.process_time() - worked
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    first, later = [], []
    for place in log.observations[:: len(log) // 2_000]:
        for goal in goals:
            began = time.perf_counter()
            policy(place, goal)
            later.append(time.perf_counter() - began)
    for place in log.observations[:: len(log) // 50]:
        began = time.perf_counter()
        policy(place, place)
        first.append(time.perf_counter() - began)
    return {
        "n_steps": len(log),
        "build_seconds": built,
        "build_processor_seconds": processor,
        "build_megabytes": memory / 1024,
        "decision_milliseconds": 1e3 * np.median(later),
        "new_goal_milliseconds": 1e3 * np.median(first),
    }


TABLES = (
    Table(
        "ogbench-medium",
        measure_medium,
        lambda quick: [
            {"kind": kind, "choice": name} for kind in KINDS for name in list(CHOICES)[: 1 if quick else 99]
        ],
    ),
    Table("ogbench-success", measure_success, parts_of_success),
    Table(
        "ogbench-far",
        measure_far,
        lambda quick: [{"maze": "giant", "kind": "stitch", "n_options": 2 if quick else N_FAR}],
    ),
    Table("ogbench-speed", measure_speed, lambda quick: [{"maze": "giant", "kind": "stitch"}], timed=True),
)

if __name__ == "__main__":
    main("research.ogbench")
