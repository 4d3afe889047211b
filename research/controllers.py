"""Controllers of continuous actions, measured: ``python -m research.controllers`` (farpoint[deep]).

Options of the nine rooms from a log of random pushes, of two numbers and of eight. Their routes are followed by the
action that is looked up in the log, by the best of 16 logged actions, and by a network that takes any action.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp
from farpoint.measures.statistics import estimate
from research.continuous import RADIUS, nine_rooms


class Thrusters(gym.ActionWrapper[Any, Any, Any]):
    """Eight numbers instead of two: each pushes in a direction of its own."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        angles = np.pi / 4.0 * np.arange(8)
        # All that push one way together, at full strength, go a step and a bit.
        self._pushes = 0.25 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (8,), dtype=np.float32)

    def action(self, action: Any) -> Any:
        """Return the sum of the pushes."""
        return np.asarray(action) @ self._pushes


def trials(env: gym.Env[Any, Any], options: fp.GraphOptions, n_trials: int, max_steps: int) -> tuple[Any, Any]:
    """Return whether each trial of each option arrived, and its steps: those that did not count in full."""
    arrived, steps = np.zeros((len(options), n_trials), dtype=bool), np.zeros((len(options), n_trials))
    for number in range(len(options)):
        for trial in range(n_trials):
            observation, taken = env.reset(seed=trial)[0], 0
            while taken < max_steps and (action := options.act(number, observation)) is not None:
                observation, taken = env.step(action)[0], taken + 1
            arrived[number, trial] = options.reached(number, observation)
            steps[number, trial] = taken if arrived[number, trial] else max_steps
    return arrived, steps


def to_neighbors(env: gym.Env[Any, Any], log: Any, world: fp.World, control: Any, n_trials: int) -> tuple[Any, Any]:
    """Return whether each walk from a logged place to a neighbor of its state came within 0.3, and its steps."""
    rng = np.random.default_rng(0)
    assert world.observations is not None
    arrived, steps = np.zeros(n_trials, dtype=bool), np.full(n_trials, 20.0)
    for trial in range(n_trials):
        place = log.observations[rng.integers(len(log.observations))].astype(np.float64)
        choices = world.choices(int(world.nearest_states(place[None, :])[0]))
        target = world.observations[world.transitions.indices[world.transitions.indptr[rng.choice(choices)]]]
        observation = env.reset(seed=trial, options={"start": place})[0]
        for step in range(20):
            if np.linalg.norm(observation - target) <= 0.3:
                arrived[trial], steps[trial] = True, step
                break
            observation = env.step(control(observation, target))[0]
    return arrived, steps


def main() -> None:
    """Print how options with continuous actions arrive, by the controller that follows their routes."""

    def two(**settings: Any) -> gym.Env[Any, Any]:
        return nine_rooms(start="random", actions="box", **settings)

    def eight(**settings: Any) -> gym.Env[Any, Any]:
        return Thrusters(two(**settings))

    ways: list[tuple[str, Callable[[Any], Any]]] = [
        ("looked up", fp.options.nearest_controller),
        ("16 logged actions", partial(fp.deep.learn_controller, n_updates=5_000, n_actions=16)),
        ("any action", partial(fp.deep.learn_controller, n_updates=5_000)),
    ]
    for name, make in (("two numbers", two), ("eight numbers", eight)):
        recorded = fp.envs.record_samples(make(), 40_000, seed=0)
        world = fp.World.from_samples(recorded, n_states=300, neighbors="temporal", seed=0)
        discovered = fp.discover(world, n_options=8)
        for way, learn in ways:
            began = time.perf_counter()
            control = learn(recorded)
            seconds = time.perf_counter() - began
            near, walked = to_neighbors(make(max_steps=10**9), recorded, world, control, 1_000)
            options = fp.GraphOptions.learn(recorded, discovered, radius=RADIUS, controller=control, n_trials=10)
            arrived, steps = trials(make(max_steps=10**9), options, 20, 300)
            success = np.sort(arrived.mean(axis=1)).round(2).tolist()
            rest = f"steps of a trial {estimate(steps.mean(axis=0), 'mean')}, {seconds:.0f} s to learn"
            print(f"nine rooms, {name:<14} {way:<18} neighbors {near.mean():.3f}, steps {estimate(walked, 'mean')}")
            print(f"nine rooms, {name:<14} {way:<18} success {success}, {rest}", flush=True)


if __name__ == "__main__":
    main()
