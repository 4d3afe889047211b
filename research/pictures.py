"""Options from pictures alone, measured: ``python -m research.pictures [maze] [LAYOUT …]``.

A layout: MiniGrid FourRooms with this seed, seen as a picture of 57 × 57 pixels (by default 0, 1, 2). ``maze``: nine
rooms with continuous places, seen in gray, three logs. A log of random steps gives the metric (`learn_metric`), the
states (`World.from_log`) and the far points; the true state is read by nothing but the figures printed here. An option
arrives if it ends, by its own account, within two cells of where its goal's picture was taken.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from research.large.coverage import MAZE

LAYOUTS = (0, 1, 2)
# Seeds of the logs of the maze; the scale was chosen with the first.
LOGS = (0, 1, 2)
N_OPTIONS = 8
N_TRIALS = 10
MAX_STEPS = 200
NEAR = 2.0
Cell = tuple[float, float]


class FixedLayout(gym.Wrapper[Any, Any, Any, Any]):
    """Always the same rooms, and pictures that are drawn once: drawing takes longer than all else."""

    def __init__(self, env: gym.Env[Any, Any], layout: int) -> None:
        super().__init__(env)
        self._layout, self._drawn = layout, dict[Any, Any]()
        self._world: Any = env.unwrapped
        self._world.reset(seed=layout)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in the layout."""
        self._world.reset(seed=self._layout)
        return self._picture(), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step, and draw what was never drawn."""
        _, reward, terminated, truncated, info = self._world.step(action)
        return self._picture(), reward, terminated, truncated, info

    def _picture(self) -> Any:
        key = (*map(int, self._world.agent_pos), int(self._world.agent_dir))
        if key not in self._drawn:
            drawn, layers = self._world.gen_obs(), []
            layer: Any = self.env
            while isinstance(layer, gym.ObservationWrapper):
                layers.append(layer)
                layer = layer.env
            for one in reversed(layers):
                drawn = one.observation(drawn)
            self._drawn[key] = drawn
        return self._drawn[key]


class Witness(gym.Wrapper[Any, Any, Any, Any]):
    """Notes where each picture was taken, for the figures alone."""

    def __init__(self, env: gym.Env[Any, Any], where: Callable[[], Cell]) -> None:
        super().__init__(env)
        self.where = where
        self.places: dict[bytes, Cell] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.places[observation.tobytes()] = self.where()
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step."""
        result = self.env.step(action)
        self.places[result[0].tobytes()] = self.where()
        return result


@dataclass(frozen=True)
class Case:
    """An environment seen as pictures, for the log and for the trials, and the far points of the true world."""

    name: str
    log_env: Witness
    env: Witness
    far_points: NDArray[np.float64]
    sample: Callable[[np.random.Generator], int] | None
    n_log_steps: int
    scale: float


def four_rooms(layout: int) -> Case:
    import minigrid  # noqa: F401 - registers the environments

    made = gym.make("MiniGrid-FourRooms-v0", max_steps=10**9)
    env = FixedLayout(fp.envs.image_observations(made, tile_size=3), layout)
    base: Any = env.unwrapped
    world = fp.World.from_env(gym.make("MiniGrid-FourRooms-v0"), seed=layout)
    assert world.positions is not None
    far_points = world.positions[fp.discover(world).goals][:, ::-1]
    # Left, right and forward, the last as often as the others together; nothing else does anything here.
    witness = Witness(env, lambda: (float(base.agent_pos[0]), float(base.agent_pos[1])))
    return Case(
        f"FourRooms {layout}",
        witness,
        witness,
        far_points.astype(np.float64),
        lambda rng: int(rng.choice([0, 1, 2, 2])),
        n_log_steps=80_000,
        scale=0.25,
    )


def nine_rooms() -> Case:
    def seen(max_steps: int) -> tuple[fp.ContinuousMaze, Witness]:
        base = fp.ContinuousMaze(MAZE, start="random", max_steps=max_steps, render_mode="rgb_array")
        return base, Witness(fp.envs.PictureObservation(base, shrink=8), lambda: base.place)

    # The log begins anew somewhere every 200 steps; in the trials only options end.
    base, log_env = seen(200)
    # The true world: places a quarter of a cell apart, of a log that is long.
    before, after = base.random_walk(300_000, seed=0)
    world = fp.World.from_samples(before, after, n_states=500, neighbors="temporal")
    assert world.observations is not None
    far_points = world.observations[fp.discover(world).goals]
    return Case("nine rooms", log_env, seen(10**9)[1], far_points, None, n_log_steps=40_000, scale=0.5)


def measure(case: Case, seed: int = 0) -> None:
    """Print how long learning takes, how near the far points are to the true ones, and how often options arrive."""
    began = time.process_time()
    log = fp.envs.record_pictures(case.log_env, case.n_log_steps, sample=case.sample, seed=seed)
    logged = time.process_time()
    metric = fp.envs.learn_metric(log, seed=seed)
    steps = metric.steps(log)
    step = np.sqrt(((steps.next_observations - steps.observations) ** 2).sum(axis=1).mean())
    world = fp.World.from_log(steps, scale=case.scale * step)
    options = fp.discover(world, n_options=N_OPTIONS, form="symmetrized")
    ended = time.process_time()
    print(
        f"{case.name}, log {seed}: {len(log.pictures):,} pictures in {case.n_log_steps:,} steps, "
        f"{logged - began:.0f} s; {options!r}, {ended - logged:.0f} s",
        flush=True,
    )
    table = metric.rows(log.pictures)
    assert world.observations is not None
    nearest = [int(((table - goal) ** 2).sum(axis=1).argmin()) for goal in world.observations[options.goals]]
    goals = np.array([case.log_env.places[log.pictures[number].tobytes()] for number in nearest])
    away = np.abs(goals[:, None] - case.far_points[None]).max(axis=2).min(axis=1)
    print(
        f"  far points within two cells of true ones: {(away <= NEAR).sum()} of {len(goals)} {np.sort(away).tolist()}"
    )
    arrived = one_after_another(case, options, metric, goals, seed)
    print(f"  arrived: mean {np.mean(arrived):.2f}, of each {np.sort(arrived).round(2).tolist()}", flush=True)


def one_after_another(
    case: Case, options: Any, metric: Any, goals: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """Return how often each option arrives, each begun where the one before it ended."""
    rng = np.random.default_rng([seed, 1])
    arrived: list[list[bool]] = [[] for _ in range(len(options))]
    observation, _ = case.env.reset(seed=seed)
    for number in rng.permutation(np.repeat(np.arange(len(options)), N_TRIALS)).tolist():
        if options.reached(number, metric(observation)):
            continue
        for _ in range(MAX_STEPS):
            action = options.act(number, metric(observation))
            if action is None:
                break
            observation, _, terminated, truncated, _ = case.env.step(action)
            if terminated or truncated:
                break
        near = bool(np.abs(goals[number] - case.env.where()).max() <= NEAR)
        arrived[number].append(near and options.reached(number, metric(observation)))
        if terminated or truncated:
            observation, _ = case.env.reset()
    return np.array([np.mean(one) if one else np.nan for one in arrived])


def main() -> None:
    """Print what was asked for, by default all."""
    asked = sys.argv[1:] or [*map(str, LAYOUTS), "maze"]
    for word in asked:
        if word != "maze":
            measure(four_rooms(int(word)))
        else:
            for seed in LOGS:
                measure(nine_rooms(), seed)


if __name__ == "__main__":
    main()
