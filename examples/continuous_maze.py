"""Find options in a continuous maze without rewards, then learn a task with and without them.

Run: pip install 'farpoint[deep]', then python examples/continuous_maze.py [--steps 120000] [--task-steps 20000]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.monitor import Monitor

import farpoint as fp

ROOMS = """
###########
#.........#
#.........#
#.........#
#.........#
####.######
#.........#
#.........#
#.........#
#.........#
###########"""
GAMMA = 0.98
RADIUS = 0.6


def sampled_world(env: fp.ContinuousMaze) -> fp.World:
    """Return the world of the squares, half a cell wide, that a random walk visited, each observed at its center."""
    before, after = env.random_walk(300_000, seed=0, episode_length=200)
    squares, following = np.floor(2 * before).astype(int), np.floor(2 * after).astype(int)
    moved = (squares != following).any(axis=1)
    world = fp.World.from_log(squares[moved], following[moved], symmetrize=True, largest_component=True)
    return replace(world, observations=(np.array(world.labels) + 0.5) / 2)


def evaluate(agent: Any, env: Any, n_episodes: int = 30) -> float:
    """Return the share of episodes that reach the target of the task."""
    reached = 0
    for seed in range(n_episodes):
        observation, info = env.reset(seed=1000 + seed)
        over = False
        while not over:
            masks = {"action_masks": info["action_mask"]} if isinstance(agent, fp.SMDPDQN) else {}
            action, _ = agent.predict(observation, deterministic=True, **masks)
            observation, _, terminated, truncated, info = env.step(int(action))
            over = terminated or truncated
        reached += terminated
    return reached / n_episodes


def main() -> None:
    """Find goals, make options for them in two ways, and learn a task with and without options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=120_000, help="environment steps for training the option policies")
    parser.add_argument("--task-steps", type=int, default=20_000, help="environment steps for training on the task")
    arguments = parser.parse_args()

    # Small networks are faster on one thread.
    torch.set_num_threads(1)
    env = fp.ContinuousMaze(ROOMS)
    options = fp.discover(sampled_world(env), n_options=6)
    along = fp.GraphOptions(options, fp.options.direction_controller(env.displacements), radius=RADIUS)
    print(f"{options.world.n_states} squares; far points at {along.goals.tolist()}")
    print(f"routes on the graph: success {fp.envs.option_success(env, along).round(2).tolist()}")
    begun = time.perf_counter()
    learned = fp.learn_options(env, along.goals, radius=RADIUS, n_steps=arguments.steps, max_steps=80, min_success=0.0)
    print(f"learned policies: success {learned.success.round(2).tolist()}, {time.perf_counter() - begun:.0f} s")

    # The task: from one corner to the opposite one.
    task = {"start": [1.5, 1.5], "target": [9.5, 9.5], "target_radius": RADIUS, "max_steps": 200}
    settings = {"gamma": GAMMA, "learning_rate": 1e-3, "learning_starts": 500, "target_update_interval": 500, "seed": 0}
    plain = DQN("MlpPolicy", Monitor(fp.ContinuousMaze(ROOMS, **task)), **settings).learn(arguments.task_steps)
    print(f"task without options: reached in {evaluate(plain, fp.ContinuousMaze(ROOMS, **task)):.0%} of episodes")
    for name, skills in (("routes", along), ("learned policies", learned)):
        with_options = fp.OptionsWrapper(fp.ContinuousMaze(ROOMS, **task), skills, gamma=GAMMA, max_steps=80)
        agent = fp.SMDPDQN("MlpPolicy", Monitor(with_options), **settings)
        # As many environment steps as without options, although these are fewer decisions.
        agent.learn(
            arguments.task_steps,
            callback=lambda *_, env=with_options: env.total_steps < arguments.task_steps,
        )
        share = evaluate(agent, with_options)
        print(f"task with options ({name}): reached in {share:.0%} of episodes, {agent.num_timesteps} decisions")


if __name__ == "__main__":
    main()
