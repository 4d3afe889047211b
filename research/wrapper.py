"""What `OptionsWrapper` adds to the time of a primitive step of MiniGrid, as a ratio within this run."""

from __future__ import annotations

import time
import warnings
from typing import Any

import gymnasium as gym
import minigrid  # noqa: F401

import farpoint as fp

STEPS = 4000


def seconds_per_step(env: Any) -> float:
    best = float("inf")
    for _ in range(3):
        env.reset(seed=3)
        began = time.perf_counter()
        for step in range(STEPS):
            _, _, terminated, truncated, _ = env.step(step % 3)
            if terminated or truncated:
                env.reset(seed=3)
        best = min(best, (time.perf_counter() - began) / STEPS)
    return best


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-5x5-v0"):
            env = gym.make(name)
            options = fp.discover(fp.World.from_env(env, seed=3), n_options=5)
            plain, wrapped = seconds_per_step(env), seconds_per_step(fp.OptionsWrapper(gym.make(name), options))
            print(f"{name}: {1e6 * plain:.0f} µs per step, {1e6 * wrapped:.0f} µs wrapped: {wrapped / plain:.2f} ×")


if __name__ == "__main__":
    main()
