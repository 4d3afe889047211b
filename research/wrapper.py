"""What `OptionsWrapper` adds to the time of a primitive step: ``python -m research.wrapper [ROUNDS]``.

Bare and wrapped environments take the same actions in turn, a few hundred steps at a time. Machines are shared and
noisy, so each piece is compared with the one just before it, and only the ratios of their seconds of the processor are
summarized. Printed is the share of the bare environment's steps per second that is left when it is wrapped.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp
from farpoint.envs.making import make_env

# What is wrapped, the seed of its resets, and how many steps are timed at a time.
PLACES = {
    "CliffWalking-v1": (None, 4_000),
    "FrozenLake-v1": (None, 4_000),
    "MiniGrid-FourRooms-v0": (3, 400),
    "MiniGrid-DoorKey-5x5-v0": (3, 400),
}
ROUNDS = 40


class Stepped:
    """An environment that random primitive actions are taken in, reset where an episode ends."""

    def __init__(self, env: gym.Env[Any, Any], n_actions: int, seed: int | None) -> None:
        self.env, self.seed, self._n_actions = env, seed, n_actions
        self._rng = np.random.default_rng(0)
        env.reset(seed=seed)

    def seconds(self, n_steps: int) -> float:
        """Return the seconds of the processor that some steps take."""
        actions, step = self._rng.integers(self._n_actions, size=n_steps).tolist(), self.env.step
        began = time.process_time()
        for action in actions:
            _, _, terminated, truncated, _ = step(action)
            if terminated or truncated:
                self.env.reset(seed=self.seed)
        return time.process_time() - began


def shares_left(name: str, rounds: int) -> dict[str, list[float]]:
    """Return, for each wrapper and round, how many of the bare environment's steps per second are left."""
    seed, n_steps = PLACES[name]
    env = make_env(name)
    options = fp.discover(fp.World.from_env(env, seed=seed or 0))
    n_actions = int(env.action_space.n)
    bare = Stepped(env, n_actions, seed)
    wrapped = {
        "OptionsWrapper": fp.OptionsWrapper(make_env(name), options),
        "no options": fp.OptionsWrapper(make_env(name), None),
    }
    left: dict[str, list[float]] = {}
    for kind, other in wrapped.items():
        stepped = Stepped(other, n_actions, seed)
        for one in (bare, stepped):
            one.seconds(n_steps)
        # Whichever comes first may find the processor slower.
        left[kind] = []
        for number in range(rounds):
            pair = (bare, stepped) if number % 2 else (stepped, bare)
            seconds = {one: one.seconds(n_steps) for one in pair}
            left[kind].append(seconds[bare] / seconds[stepped])
    return left


def main() -> None:
    """Print the median share of each environment, and between which shares half of the rounds lie."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    for name in PLACES:
        for kind, shares in shares_left(name, rounds).items():
            low, middle, high = statistics.quantiles(shares, n=4)
            print(f"{name:<26}{kind:<16}{middle:.2f} of the bare steps per second [{low:.2f}, {high:.2f}]", flush=True)


if __name__ == "__main__":
    main()
