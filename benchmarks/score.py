"""Time and memory of the exact score against scipy's sparse products, and its growth with the world.

Run ``make bench``. Every comparison is a ratio within this one run; absolute times depend on the machine.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

import farpoint as fp

T = 4
SIDES = (116, 366, 1000, 1158)


class PeakMemory:
    """The most resident memory that the process held inside the block, above what it held at its start."""

    def __enter__(self) -> PeakMemory:
        self._process = psutil.Process(os.getpid())
        self._before = self._most = self._process.memory_info().rss
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.001):
            self._most = max(self._most, self._process.memory_info().rss)

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()
        self._most = max(self._most, self._process.memory_info().rss)

    @property
    def extra(self) -> int:
        """Bytes."""
        return int(self._most - self._before)


def best_of(work: Callable[[Any], Any], prepare: Callable[[], Any], repeats: int = 3) -> float:
    """Return the shortest time of ``work`` on what ``prepare`` makes anew each time, so that nothing is remembered."""
    times = []
    for _ in range(repeats):
        material = prepare()
        began = time.perf_counter()
        work(material)
        times.append(time.perf_counter() - began)
    return min(times)


def scipy_power(world: fp.Domain) -> Any:
    """Four sparse products: M D⁻¹ for the walk W, then W W, W² W and W³ W."""
    walk = fp.lazy_walk(world)
    return walk @ walk @ walk @ walk


def _measure_memory(side: int) -> float:
    fp.score(fp.ring(), T, "local")
    world = fp.random_maze(side, side)
    _ = world.adjacency
    with PeakMemory() as memory:
        fp.score(world, T, "local")
    return memory.extra / world.n_states


def extra_bytes_a_state(side: int) -> float:
    # In a process of its own: memory that an earlier size gave back would be taken again unseen.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measure_memory, side).result()


def main() -> None:
    console = Console(width=110)
    fp.find_goals(fp.ring(), fp.score(fp.ring(), T, "local"))  # compile first

    table = Table(title=f"exact score, t = {T}, random mazes", box=None, padding=(0, 2))
    for name in ("states", "score", "per state", "scipy W⁴", "ratio", "extra memory", "goals"):
        table.add_column(name, justify="right")
    sizes, times = [], []
    for side in SIDES:
        world = fp.random_maze(side, side)
        _ = world.adjacency
        scores = fp.score(world, T, "local")
        make = partial(fp.random_maze, side, side)
        ours = best_of(lambda fresh: fp.score(fresh, T, "local"), make)
        theirs = best_of(scipy_power, make)
        goals = best_of(partial(fp.find_goals, scores=scores), make)
        sizes.append(world.n_states)
        times.append(ours)
        table.add_row(
            f"{world.n_states:,}",
            f"{ours:.3f} s",
            f"{1e9 * ours / world.n_states:.0f} ns",
            f"{theirs:.3f} s",
            f"{ours / theirs:.2f}",
            f"{extra_bytes_a_state(side):.0f} B/state",
            f"{goals:.3f} s",
        )
    console.print(table)
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    console.print(f"time grows like n^{slope:.2f} from {sizes[0]:,} to {sizes[-1]:,} states", highlight=False)


if __name__ == "__main__":
    main()
