"""Time and memory of the score over sizes and t, against its peers, each in a process of its own."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from farpoint.diffusion import find_goals, score
from farpoint.experiments.memory import PeakMemory
from farpoint.experiments.peers import PEERS, strict_maxima
from farpoint.worlds import World, open_room, random_maze

# What a peer may need, of the memory that is free.
_SHARE_OF_MEMORY = 0.6
# A series ends before a run that should take longer than this, by the growth of the two before it.
_LONGEST_SECONDS = 90.0
# What is shorter is measured several times.
_SHORT_SECONDS = 2.0
_REPEATS = 3


@dataclass(frozen=True)
class Cell:
    """One thing to measure: a peer on a random maze (``side`` × ``side``; an open room where negative) at t."""

    peer: str
    side: int
    t: int
    goals: bool = False

    def world(self) -> World:
        """Return the world."""
        return random_maze(self.side, self.side) if self.side > 0 else open_room(-self.side, -self.side)


@dataclass(frozen=True)
class Measured:
    """What was measured: seconds (the best of some runs), the most memory of the process above that of its world, and
    the most memory of the process as a whole, in bytes.
    """

    cell: Cell
    n_states: int
    seconds: float
    extra_bytes: float
    peak_bytes: float


def measure(cell: Cell) -> Measured:
    """Return the measurement of one cell, in this process, which should be new."""
    # Compile first, on a world large enough for the same kernels.
    small = random_maze(40, 40)
    warm = PEERS[cell.peer].run(small, min(cell.t, 4))
    find_goals(small, warm)
    seconds: list[float] = []
    extra = 0
    while len(seconds) < (1 if seconds and seconds[0] > _SHORT_SECONDS else _REPEATS):
        # A world remembers what it was asked, so each run is of one that was asked nothing.
        world = cell.world()
        _ = world.adjacency
        with PeakMemory() as memory:
            began = time.perf_counter()
            scores = PEERS[cell.peer].run(world, cell.t)
            if cell.goals:
                find_goals(world, scores)
            seconds.append(time.perf_counter() - began)
        # Of the first run only: later ones use memory again that this one has given back.
        extra = extra or memory.extra
    # The most of the process in all its life, so that the making of the world counts too (kibibytes on Linux).
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measured(cell, world.n_states, min(seconds), extra, peak)


def measure_apart(cell: Cell) -> Measured:
    """Return the measurement of one cell in a process of its own, in which no memory lies ready from an earlier one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, cell).result()


@dataclass(frozen=True)
class Plan:
    """Which sizes and times: sides of mazes for growth with n at t = 4, and t for growth with t at one size."""

    sizes: tuple[int, ...]
    peers: tuple[str, ...]
    times: tuple[int, ...]
    times_side: int
    time_peers: tuple[str, ...]
    goals_side: int


FULL = Plan(
    sizes=(37, 68, 116, 366, 1158, 3661),
    peers=("farpoint", "powers", "eigh", "pygsp", "simpleoptions"),
    times=(1, 2, 4, 8, 13, 30, 60, 100),
    times_side=366,
    time_peers=("farpoint", "thousandth", "probes", "powers"),
    goals_side=3163,
)
QUICK = Plan(
    sizes=(20, 37, 60),
    peers=("farpoint", "powers", "eigh"),
    times=(1, 4, 13),
    times_side=60,
    time_peers=("farpoint", "thousandth", "powers"),
    goals_side=116,
)


def run_series(plan: Plan, progress: Callable[[str, int, int], None]) -> Iterator[Measured]:
    """Yield the measurements of a plan; a peer that has taken too long, or would need too much memory, stops there."""
    series = [[Cell(peer, side, 4) for side in plan.sizes] for peer in plan.peers]
    series += [[Cell(peer, plan.times_side, t) for t in plan.times] for peer in plan.time_peers]
    # What the claims compare: the same size at two t, and the largest world with its goals.
    series += [[Cell("farpoint", 1000, 4), Cell("farpoint", 1000, 13)]] if plan is FULL else []
    series += [[Cell("farpoint", plan.goals_side, 4, goals=True)]]
    series += [[Cell("farpoint", -45, 4)], [Cell("simpleoptions", -45, 4)]] if plan is FULL else []
    import psutil

    most = _SHARE_OF_MEMORY * psutil.virtual_memory().available
    total, done = sum(map(len, series)), 0
    seen: dict[Cell, Measured] = {}
    for cells in series:
        before: list[Measured] = []
        for number, cell in enumerate(cells):
            progress(f"{PEERS[cell.peer].title}, {abs(cell.side)}×{abs(cell.side)}, t = {cell.t}", done, total)
            if PEERS[cell.peer].bytes_of(cell.side**2) > most or _expected(before, cell) > _LONGEST_SECONDS:
                done += len(cells) - number
                break
            done += 1
            if cell not in seen:
                try:
                    seen[cell] = measure_apart(cell)
                except (BrokenProcessPool, MemoryError):  # ended for want of memory: as far as it gets
                    done += len(cells) - number - 1
                    break
                yield seen[cell]
            before.append(seen[cell])
    progress("done", total, total)


def _expected(before: list[Measured], cell: Cell) -> float:
    """Return how long a cell should take, by the growth so far in a series of growing worlds or times."""
    if not before:
        return 0.0
    slope = PEERS[cell.peer].power
    sizes = np.log([one.cell.side**2 * one.cell.t for one in before[-2:]])
    seconds = np.log([one.seconds for one in before[-2:]])
    if len(before) > 1:
        slope = max(slope, float(np.diff(seconds)[0] / np.diff(sizes)[0]))
    return float(np.exp(seconds[-1] + slope * (np.log(cell.side**2 * cell.t) - sizes[-1])))


def goals_that_agree(side: int, t: int) -> tuple[int, float]:
    """Return how many goals the exact score has, and the share of them that a tolerance of a thousandth finds too."""
    world = random_maze(side, side)
    exact = find_goals(world, score(world, t, "local")).states
    found = find_goals(world, score(world, t, "local", tolerance=1e-3)).states
    return int(exact.size), float(np.isin(exact, found).mean() * np.isin(found, exact).mean())


def cylinder(n_around: int, n_long: int) -> World:
    """Return a grid that is closed in one direction.

    >>> cylinder(24, 8).n_states
    192
    """
    import networkx as nx

    return World.from_graph(
        nx.to_scipy_sparse_array(nx.cartesian_product(nx.cycle_graph(n_around), nx.path_graph(n_long))),
        name="cylinder",
    )


def goal_counts() -> list[tuple[str, int, int]]:
    """Return for two symmetric worlds the goals that Farpoint finds and those that simpleoptions does, t = 4."""
    rows = []
    for name, world in (("20 × 20 grid", open_room(20, 20)), ("24 × 8 cylinder", cylinder(24, 8))):
        mine = len(find_goals(world, score(world, 4)))
        rows.append((name, mine, strict_maxima(world, PEERS["simpleoptions"].run(world, 4))))
    return rows
