"""Find options in a continuous maze from a log of random steps alone, then learn a task with and without them.

Run: python examples/continuous_maze.py [--log-steps 60000] [--task-steps 15000]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import farpoint as fp

ROOMS = """
###############
#......#......#
#......#......#
#.............#
#......#......#
###.#######.###
#......#......#
#......#......#
#......#......#
#......#......#
###############"""
GAMMA = 0.98
RADIUS = 0.7
# From one corner to the opposite one, by way of two doors.
TASK: dict[str, Any] = {"start": [1.5, 9.5], "target": [13.5, 9.5], "target_radius": RADIUS, "max_steps": 300}


def learn_task(env: fp.OptionsWrapper, world: fp.World, n_steps: int, seed: int = 0) -> tuple[NDArray[Any], float]:
    """Return the values of Q-learning on the nearest samples, and after how many steps the target was first reached."""
    rng = np.random.default_rng(seed)
    n_choices = env.n_actions + len(env.options)
    values = np.zeros((world.n_states, n_choices))
    observation, info = env.reset(seed=seed)
    first = float("inf")
    while env.total_steps < n_steps:
        state = int(world.nearest_states(observation)[0])
        mask = info["action_mask"].astype(bool)
        best = np.where(mask, values[state], -np.inf)
        # One decision in ten is random, and so is one between equal values.
        among = mask if rng.random() < 0.1 else best == best.max()
        choice = env.sample_action(0.05, among=among, rng=rng)
        observation, reward, terminated, truncated, info = env.step(choice)
        after = int(world.nearest_states(observation)[0])
        following = np.where(info["action_mask"].astype(bool), values[after], -np.inf).max()
        goal = reward + (0.0 if terminated else info["discount"] * following)
        values[state, choice] += 0.3 * (goal - values[state, choice])
        if terminated:
            first = min(first, env.total_steps)
        if terminated or truncated:
            observation, info = env.reset()
    return values, first


def evaluate(values: NDArray[Any], env: fp.OptionsWrapper, world: fp.World, n_episodes: int = 20) -> float:
    """Return the share of episodes in which the best decisions reach the target."""
    reached = 0
    for seed in range(n_episodes):
        observation, info = env.reset(seed=1000 + seed)
        over = False
        while not over:
            state = int(world.nearest_states(observation)[0])
            choice = int(np.where(info["action_mask"], values[state], -np.inf).argmax())
            observation, _, terminated, truncated, info = env.step(choice)
            over = terminated or truncated
        reached += terminated
    return reached / n_episodes


def main() -> None:
    """Find goals, make options for them, and learn a task with and without options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log-steps", type=int, default=60_000, help="random steps that are logged")
    parser.add_argument("--task-steps", type=int, default=15_000, help="steps of learning the task")
    arguments = parser.parse_args()

    log = fp.envs.record_samples(fp.ContinuousMaze(ROOMS, max_steps=500), arguments.log_steps, seed=0)
    world = fp.World.from_samples(log, n_states=250, neighbors="temporal")
    begun = time.perf_counter()
    policy = fp.GoalPolicy.from_log(log, radius=RADIUS, reversible=True)
    options = fp.options.GoalOptions(policy, world.observations[fp.discover(world, n_options=8).goals])
    print(f"{options!r}, {time.perf_counter() - begun:.0f} s; far points at {options.goals.round(1).tolist()}")
    success = fp.envs.option_success(fp.ContinuousMaze(ROOMS), options, n_trials=10, max_steps=200)
    print(f"in the maze itself: success {success.round(2).tolist()}")
    for name, chosen in (("without options", []), ("with options", options)):
        env = fp.OptionsWrapper(fp.ContinuousMaze(ROOMS, **TASK), chosen, gamma=GAMMA, max_steps=100)
        values, first = learn_task(env, world, arguments.task_steps)
        share = evaluate(values, env, world)
        reached = "never" if np.isinf(first) else f"after {first:,.0f} steps"
        print(f"task {name}: first reached {reached}; then reached in {share:.0%} of episodes")


if __name__ == "__main__":
    main()
