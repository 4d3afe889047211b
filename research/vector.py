"""Eight copies of an environment against one: the tables of docs/vector.md.

vector-coverage: steps, of all copies together, until 90 % of the states are seen. vector-wall: seconds until then where
every step sleeps 1 ms and the copies are in processes of their own; timed. vector-memory: the
resident bytes of a process with eight copies after 10⁵ to 10⁶ steps.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp
from farpoint.envs import WorldEnv
from research.runner import Part, Row, Table, main

N_ENVS = 8
N_SEEDS = 20
N_LAYOUTS = 5
SHARE = 0.9
SLEEP_SECONDS = 1e-3
N_WALL_SEEDS = 3


def _maze(layout: int) -> fp.World:
    """Return a maze of about 1,000 states with a random start."""
    world = fp.random_maze(37, 37, seed=layout)
    return replace(world, start=int(np.random.default_rng(layout).integers(world.n_states)))


def _four_rooms(layout: int) -> fp.World:
    """Return the states of MiniGrid's FourRooms: those that ``FullyObsWrapper`` tells apart."""
    import minigrid  # noqa: F401

    return fp.World.from_env(gym.make("MiniGrid-FourRooms-v0"), seed=layout)


# The world of a layout, its number of layouts, the length of an episode, and most steps. An environment that was
# enumerated is stepped as `WorldEnv`, since MiniGrid draws its picture at every step; the explorer sees the same.
PLACES: dict[str, tuple[Callable[[int], fp.World], int, int, int]] = {
    "Random mazes of 1,000 states": (_maze, N_SEEDS, 300, 25_000),
    "MiniGrid FourRooms": (_four_rooms, N_LAYOUTS, 100, 30_000),
}


@lru_cache(maxsize=N_LAYOUTS)
def world_of(place: str, layout: int) -> fp.World:
    return PLACES[place][0](layout)


def measure_coverage(place: str, n_envs: int, seed: int) -> Row:
    """Return the steps until 90 % of the states are seen; empty if they never were."""
    _, n_layouts, episode, n_steps = PLACES[place]
    world = world_of(place, seed % n_layouts)
    make = partial(WorldEnv, world, max_episode_steps=episode)
    found = (
        fp.explore(make(), n_steps, seed=seed) if n_envs == 1 else fp.explore(make, n_steps, n_envs=n_envs, seed=seed)
    )
    steps = found.steps_until(math.ceil(SHARE * world.n_states))
    return {"layout": seed % n_layouts, "n_states": world.n_states, "steps": steps if math.isfinite(steps) else None}


def parts_of_coverage(quick: bool) -> Iterator[Part]:
    for place in PLACES:
        for seed in range(2 if quick else N_SEEDS):
            yield from ({"place": place, "n_envs": n_envs, "seed": seed} for n_envs in (1, N_ENVS))


class Slow(gym.Wrapper[Any, Any, Any, Any]):
    """An environment in which every step takes a millisecond."""

    def step(self, action: Any) -> Any:
        """Take one step."""
        time.sleep(SLEEP_SECONDS)
        return self.env.step(action)


def slow_env(world: fp.World, episode: int) -> Slow:
    return Slow(WorldEnv(world, max_episode_steps=episode))


def measure_wall(n_envs: int, seed: int) -> Row:
    """Return the seconds until 90 % of the states were seen, and per step."""
    place = next(iter(PLACES))
    _, _, episode, n_steps = PLACES[place]
    world = world_of(place, seed)
    make = partial(slow_env, world, episode)
    # Compile before timing.
    fp.explore(WorldEnv(world, max_episode_steps=episode), 500)
    moments: list[tuple[int, float]] = []
    began = 0.0

    def tell(done: int, _: int) -> None:
        moments.append((done, time.perf_counter() - began))

    with closing(make() if n_envs == 1 else gym.vector.AsyncVectorEnv([make] * n_envs)) as env:
        began = time.perf_counter()
        found = fp.explore(env, n_steps // 2, seed=seed, progress=tell)
    steps, seconds = np.array(moments).T
    last = found.steps_until(math.ceil(SHARE * world.n_states))
    return {"steps": last, "seconds": float(np.interp(last, steps, seconds)), "per_step": seconds[-1] / steps[-1]}


def parts_of_wall(quick: bool) -> Iterator[Part]:
    for seed in range(1 if quick else N_WALL_SEEDS):
        yield from ({"n_envs": n_envs, "seed": seed} for n_envs in (1, N_ENVS))


def make_copies(way: str, place: str) -> gym.vector.VectorEnv[Any, Any, Any]:
    """Return eight copies with options that are found on the way."""
    if place == "MountainCar":
        make: Callable[[], gym.Env[Any, Any]] = partial(gym.make, "MountainCar-v0")
    else:
        make = partial(WorldEnv, world_of(place, 0), max_episode_steps=PLACES[place][2])
    if way == "DiscoveringVectorEnv":
        return fp.DiscoveringVectorEnv(gym.vector.SyncVectorEnv([make] * N_ENVS))
    explorer = fp.Explorer.for_env(make())
    return gym.vector.SyncVectorEnv([lambda: fp.DiscoveringWrapper(make(), explorer=explorer)] * N_ENVS)


def measure_memory(way: str, place: str, n_steps: int) -> list[Row]:
    """Return the resident bytes of the process after each tenth of the steps."""
    import psutil

    process, taken = psutil.Process(), 0
    rows: list[Row] = []
    envs = make_copies(way, place)
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(0)
    while taken < n_steps:
        infos = envs.step(envs.action_space.sample(tuple(infos["action_mask"])))[4]
        # In the middle of an option a vector environment says 0 steps, and at its end all of them.
        taken += int(infos["duration"].sum())
        if taken >= (len(rows) + 1) * n_steps / 10:
            gc.collect()
            rows.append({"steps": taken, "bytes": process.memory_info().rss})
    return rows


def parts_of_memory(quick: bool) -> Iterator[Part]:
    for way in ("DiscoveringVectorEnv", "DiscoveringWrapper"):
        for place in (next(iter(PLACES)), "MountainCar"):
            yield {"way": way, "place": place, "n_steps": 10_000 if quick else 1_000_000}


TABLES = (
    Table("vector-coverage", measure_coverage, parts_of_coverage),
    Table("vector-wall", measure_wall, parts_of_wall, timed=True),
    Table("vector-memory", measure_memory, parts_of_memory),
)

if __name__ == "__main__":
    main("research.vector")
