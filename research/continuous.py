"""Options in continuous spaces, measured: ``python -m research.continuous [SECTION …] [METHOD …]``.

``log``: options of a log alone. ``maze``: steps from
scratch until 90 % of nine rooms are seen. ``mountaincar``, ``acrobot``: steps until the flag, or the height, is first
reached; ``continuouscar``: with continuous pushes, of which three are taken. ``wrapper``: the same for an agent that
takes random decisions under `DiscoveringWrapper`. ``pointmaze``: steps until 90 % of PointMaze's cells are seen
from scratch (``UMaze``, ``Medium`` and ``Large`` choose among them); ``pushes``: cells seen there with options of any
push (both farpoint[robotics]). Every step counts; interquartile means with 95 % intervals, runs that did not get there
counted with all their steps.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp
from farpoint.measures.statistics import Estimate, estimate
from farpoint.options import GoalOptions, OptionList
from farpoint.worlds.environments import count_actions
from research.large import coverage
from research.point_maze import PointMaze

METHODS = ("diffusion", "novelty", "random", "eigen", "none")
N_RUNS = 10
RADIUS = 0.7
# Size, pushes, and pushes per episode.
POINT_MAZES = (("UMaze", 300, 50), ("Medium", 1_500, 50), ("Large", 2_000, 100))
N_POINT_MAZE_RUNS = 60
# Pushes are few, so options are made anew more often. Chosen in Medium with seeds 100 to 109, which are not used here.
POINT_MAZE_SETTINGS = {"option_probability": 0.1, "remake_every": 30}


class Arrived(Exception):
    """What was to be reached is reached."""


class Until(gym.Wrapper[Any, Any, Any, Any]):
    """Counts steps, and stops with `Arrived` once ``arrived`` says so of an observation and the end of an episode."""

    def __init__(self, env: gym.Env[Any, Any], arrived: Callable[[Any, bool], bool]) -> None:
        super().__init__(env)
        self.n_steps, self._arrived = 0, arrived

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step, count, and perhaps stop."""
        result = self.env.step(action)
        self.n_steps += 1
        if self._arrived(result[0], bool(result[2])):
            raise Arrived
        return result


class Cells:
    """The cells of a maze that were seen."""

    def __init__(self, floor: Any, share: float = 1.1) -> None:
        self._floor, self._wanted = floor, share * floor.sum()
        self._seen: set[tuple[int, int]] = set()

    def __call__(self, observation: Any, terminated: bool) -> bool:
        """Note the cell, and return whether enough were seen."""
        self._seen.add((int(observation[1]), int(observation[0])))
        return bool(len(self._seen) >= self._wanted)

    @property
    def share(self) -> float:
        """Of all cells."""
        return len(self._seen) / float(self._floor.sum())


def has_ended(observation: Any, terminated: bool) -> bool:
    return terminated


def nine_rooms(**settings: Any) -> fp.ContinuousMaze:
    return fp.ContinuousMaze(coverage.MAZE, **{"max_steps": 3_000, **settings})


def wander(env: Until, n_steps: int, seed: int) -> None:
    """Take uniformly random actions."""
    rng = np.random.default_rng(seed)
    n_actions = count_actions(env)
    env.reset(seed=seed)
    for action in rng.integers(n_actions, size=n_steps):
        _, _, terminated, truncated, _ = env.step(int(action))
        if terminated or truncated:
            env.reset()


def run_once(env: Until, method: str, n_steps: int, seed: int, **settings: Any) -> None:
    if method == "none":
        wander(env, n_steps, seed)
    else:
        fp.explore(env, n_steps, method, seed=seed, **settings)


def steps_needed(
    make: Callable[[], gym.Env[Any, Any]], arrived: Callable[[Any], Any], method: str, n_steps: int, n_runs: int
) -> tuple[Estimate, int]:
    """Return the steps until it is reached, and in how many runs it was."""
    steps = []
    for seed in range(n_runs):
        base = make()
        env = Until(base, arrived(base))
        try:
            run_once(env, method, n_steps, seed)
            steps.append(float("inf"))
        except Arrived:
            steps.append(float(env.n_steps))
    return estimate(steps, limit=n_steps), int(np.isfinite(steps).sum())


def show(name: str, method: str, estimate: Estimate, rest: str) -> None:
    print(f"{name:<16}{method:<11}{estimate!s:<32} {rest}", flush=True)


def scratch(name: str, make: Any, arrived: Any, budgets: dict[str, int], methods: tuple[str, ...]) -> None:
    for method in methods:
        began = time.perf_counter()
        n_steps = budgets.get(method, budgets["default"])
        estimate, reached = steps_needed(make, arrived, method, n_steps, N_RUNS)
        seconds = time.perf_counter() - began
        show(name, method, estimate, f"reached {reached} / {N_RUNS} within {n_steps:,} steps, {seconds:.0f} s")


def maze(methods: tuple[str, ...]) -> None:
    scratch("nine rooms, 90 %", nine_rooms, lambda env: Cells(env.floor, 0.9), {"default": 60_000}, methods)


def control(name: str, methods: tuple[str, ...]) -> None:
    """Print the steps until an episode first ends in what the environment asks for."""
    budgets = {"default": 100_000, "none": 400_000}
    scratch(name, partial(gym.make, name), lambda env: has_ended, budgets, methods)


def continuous_car() -> gym.Env[Any, Any]:
    """The car whose push is any number from -1 to 1, of which three are left."""
    return gym.wrappers.DiscretizeAction(gym.make("MountainCarContinuous-v0"), bins=3)


def continuouscar(methods: tuple[str, ...]) -> None:
    budgets = {"default": 100_000, "none": 400_000}
    scratch("continuous car", continuous_car, lambda env: has_ended, budgets, methods)


def wrapper(methods: tuple[str, ...]) -> None:
    """Print the steps that an agent of its own needs, all of whose decisions are random."""
    places: list[tuple[str, Callable[[], Any], Callable[[Any], Any], int]] = [
        ("nine rooms, 90 %", nine_rooms, lambda env: Cells(env.floor, 0.9), 60_000),
        ("MountainCar-v0", partial(gym.make, "MountainCar-v0"), lambda env: has_ended, 200_000),
    ]
    for name, make, arrived, n_steps in places:
        for method in methods:
            steps = []
            for seed in range(N_RUNS):
                base = make()
                counted = Until(base, arrived(base))
                env = fp.DiscoveringWrapper(counted, 5, method=method, seed=seed)
                env.reset(seed=seed)
                try:
                    while counted.n_steps < n_steps:
                        _, _, terminated, truncated, _ = env.step(env.sample_action())
                        if terminated or truncated:
                            env.reset()
                    steps.append(float("inf"))
                except Arrived:
                    steps.append(float(counted.n_steps))
            rest = f"reached {np.isfinite(steps).sum()} / {N_RUNS} within {n_steps:,} steps, under DiscoveringWrapper"
            show(name, method, estimate(steps, limit=n_steps), rest)


def log(methods: tuple[str, ...]) -> None:
    """Print the success and the coverage of options from a log of random steps from anywhere."""
    recorded = fp.envs.record_samples(nine_rooms(start="random"), 300_000, seed=0)
    world = fp.World.from_samples(recorded, n_states=500, neighbors="temporal", seed=0)
    assert world.observations is not None
    began = time.perf_counter()
    policy = fp.GoalPolicy.from_log(recorded, radius=RADIUS, reversible=True)
    options = GoalOptions(policy, world.observations[fp.discover(world, n_options=12).goals])
    print(f"{options!r}, {time.perf_counter() - began:.1f} s", flush=True)
    anywhere = nine_rooms(start="random", max_steps=10**9)
    success = fp.envs.option_success(anywhere, options, n_trials=20, max_steps=300)
    print(f"success in the maze {np.sort(success).round(2).tolist()}", flush=True)
    steps = np.array([6_000])
    for name, chosen in (("options", options), ("primitive", OptionList([]))):
        shares = [
            100 * coverage.cells_seen(nine_rooms(max_steps=10**9), chosen, 0.05, steps, seed=seed)[0]
            for seed in range(N_RUNS)
        ]
        print(f"cells seen in 6,000 steps, {name:<10} {estimate(shares, 'mean')} %", flush=True)


class Counted(Cells):
    """Notes after each step how many cells were seen."""

    def __init__(self, floor: Any) -> None:
        super().__init__(floor)
        self.shares: list[float] = []

    def __call__(self, observation: Any, terminated: bool) -> bool:
        """Note the share."""
        super().__call__(observation, terminated)
        self.shares.append(100.0 * self.share)
        return False


def point_maze_scratch(size: str, method: str, n_steps: int, episode: int, seed: int) -> list[float]:
    """Return the share of the cells that are seen from scratch after each push, in percent."""
    base = PointMaze(size, max_steps=episode)
    cells = Counted(base.floor)
    run_once(Until(base, cells), method, n_steps, seed, **POINT_MAZE_SETTINGS)
    base.close()
    return cells.shares


def point_maze_pushes(size: str, options: Any, n_steps: int, seed: int) -> float:
    """Return the share of the cells that random decisions among any pushes and options see, in percent."""
    base = PointMaze(size, actions="box", max_steps=200)
    cells = Cells(base.floor)
    env = fp.OptionsWrapper(Until(base, cells), options, max_steps=50)
    env.reset(seed=seed)
    while env.total_steps < n_steps:
        _, _, terminated, truncated, _ = env.step(env.sample_action())
        if terminated or truncated:
            env.reset()
    base.close()
    return 100.0 * cells.share


def pointmaze(methods: tuple[str, ...]) -> None:
    """Print the cells seen from scratch with eight pushes; of the sizes that were asked for, by default all."""
    asked = [one for one in POINT_MAZES if one[0] in sys.argv[1:]] or POINT_MAZES
    for size, n_steps, episode in asked:
        for method in methods:
            curves = np.array(
                [point_maze_scratch(size, method, n_steps, episode, seed) for seed in range(N_POINT_MAZE_RUNS)]
            )
            enough = curves >= 90.0
            steps = estimate(np.where(enough.any(axis=1), enough.argmax(axis=1) + 1.0, n_steps))
            rest = [
                f"{at:,}: {estimate(curves[:, at - 1], 'mean')} %" for at in (n_steps // 3, 2 * n_steps // 3, n_steps)
            ]
            reached = f"90 % reached {enough.any(axis=1).sum()} / {len(curves)}; cells after {', '.join(rest)}"
            show(f"PointMaze {size}", method, steps, reached)


class Anywhere(gym.Wrapper[Any, Any, Any, Any]):
    """An environment whose episodes begin with up to 100 random actions."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.env.action_space.seed(seed)
        for _ in range(int(np.random.default_rng(seed).integers(101))):
            observation, _, _, _, info = self.env.step(self.env.action_space.sample())
        return observation, info


def pushes(_: tuple[str, ...]) -> None:
    """Print the cells seen with options learned from a log of any pushes."""
    for size in ("Medium", "Large"):
        recorded = fp.envs.record_samples(PointMaze(size, actions="box", max_steps=2_000), 40_000, seed=0)
        learned = fp.GoalPolicy.from_log(recorded, radius=0.5, reversible=True).options(8)
        print(f"PointMaze {size:<7} any push, 40,000 logged: {learned!r}", flush=True)
        anywhere = Anywhere(PointMaze(size, actions="box", max_steps=10**6))
        success = fp.envs.option_success(anywhere, learned, n_trials=5, max_steps=100)
        print(f"PointMaze {size:<7} success in the maze {np.sort(success).round(2).tolist()}", flush=True)
        for name, chosen in (("options", learned), ("no options", OptionList([]))):
            shares = [point_maze_pushes(size, chosen, 1_000, seed) for seed in range(N_RUNS)]
            print(f"PointMaze {size:<7} 1,000 of any push, {name:<10} {estimate(shares, 'mean')} %", flush=True)


SECTIONS: dict[str, Callable[[tuple[str, ...]], None]] = {
    "log": log,
    "maze": maze,
    "mountaincar": partial(control, "MountainCar-v0"),
    "acrobot": partial(control, "Acrobot-v1"),
    "continuouscar": continuouscar,
    "wrapper": wrapper,
    "pointmaze": pointmaze,
    "pushes": pushes,
}


def main() -> None:
    """Print the sections that were asked for, by default all."""
    asked = [word for word in sys.argv[1:] if word in SECTIONS] or list(SECTIONS)
    methods = tuple(word for word in sys.argv[1:] if word in METHODS) or METHODS
    for section in asked:
        SECTIONS[section](methods)


if __name__ == "__main__":
    main()
