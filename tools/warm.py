"""Compile the kernels once: ``python -m tools.warm``, which `make test` runs while types are checked.

Two workers of a test run would otherwise compile the same kernels at the same time. What is compiled stays in the cache
beside the sources until a kernel changes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp


def work() -> Iterator[Callable[[], Any]]:
    """Yield calls that together reach every kernel that the fast tests need, on worlds that take no time."""
    room, rooms, windy = fp.open_room(90, 90), fp.four_rooms(), fp.four_rooms(wind=1 / 3)
    graph, ring = fp.World.from_graph(fp.open_room(75, 75).adjacency), fp.ring()
    cliff = fp.World.from_env(gym.make("CliffWalking-v1"))
    options, few = fp.discover(rooms), fp.discover(rooms, n_options=3)
    for world in (room, graph):
        for t in (1, 4, 7):
            yield lambda world=world, t=t: fp.find_goals(world, fp.score(world, t, "local")).most_prominent(3)  # type: ignore[misc]
        yield lambda world=world: fp.score(world, 30, "local", tolerance=1e-3)  # type: ignore[misc]
        yield lambda world=world: fp.discover(world, n_options=4)[0].route(0)  # type: ignore[misc]
    yield lambda: fp.score(windy, 4, "local", form="walk")
    yield lambda: fp.discover(windy, n_options=3)[0].route(0, seed=0)
    yield lambda: fp.discover(rooms, "farpoint", n_options=3)
    yield lambda: fp.options.betweenness(room, n_sources=2)
    yield lambda: fp.score(room, 9, "probes", n_probes=8)
    yield lambda: fp.World.from_array(np.ones((200, 200), dtype=bool), largest_component=True)
    yield lambda: fp.extend(rooms, fp.diffusion.choose_landmarks(rooms, 40), 4)
    for algorithm in ("paper", "smdp", "intra-option"):
        yield lambda algorithm=algorithm: fp.learn(rooms, few, n_runs=1, n_episodes=2, algorithm=algorithm)  # type: ignore[misc]
    yield lambda: fp.learn_episodes(cliff, fp.discover(cliff), n_runs=1, n_steps=2_000)
    yield lambda: fp.cover_time(rooms, options, n_runs=2)
    yield lambda: fp.visitation(rooms, options, n_runs=2, n_steps=50)
    yield lambda: fp.measures.first_visits(cliff, None, n_runs=2, n_steps=500)
    for method in ("diffusion", "novelty", "eigen", "none"):
        yield lambda method=method: fp.explore(ring, 500, method, max_episode_steps=100)  # type: ignore[misc]
    yield lambda: fp.learn_from_scratch(cliff, 2_000)
    yield lambda: fp.explore(fp.ContinuousMaze("....\n.#..\n...."), 300, scale=0.5)


def main() -> None:
    """Do the work, and say how long it took."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in work():
            call()
    print(f"kernels are compiled, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
