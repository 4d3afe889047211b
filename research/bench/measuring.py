"""Time and memory of one program over growing worlds or times, each measurement in a fresh process."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context

import numpy as np

from farpoint.diffusion import find_goals, score
from farpoint.diffusion.scores.lattice import LARGEST_UNROLLED
from farpoint.paper.framework import Arrays
from farpoint.worlds import World, open_room, random_maze
from research.bench.cells import Cell, Measured
from research.bench.memory import PeakMemory
from research.bench.peers import PEERS, strict_maxima

# The share of the free memory that a program may need.
_SHARE_OF_MEMORY = 0.6
# A series ends before a measurement that should take longer than this, by the growth of the two before it.
_LONGEST_SECONDS = 90.0
# Shorter runs are measured several times.
_SHORT_SECONDS = 2.0
_REPEATS = 3
# Of a map that is scored by the loops of large ones.
_LARGE_SIDE = 600


def _series(
    n_jobs: int, peer: str, sides: tuple[int, ...], times: tuple[int, ...], room: bool = False, goals: bool = False
) -> Arrays:
    """Measure a program until it takes too long or would need too much memory; return what was measured until then."""
    measured = measure_series([Cell(peer, side, t, room, goals) for side in sides for t in times])
    return {
        "sides": np.array([one.cell.side for one in measured], dtype=np.int64),
        "times": np.array([one.cell.t for one in measured], dtype=np.int64),
        "n_states": np.array([one.n_states for one in measured], dtype=np.int64),
        "seconds": np.array([one.seconds for one in measured], dtype=np.float64),
        "extra_bytes": np.array([one.extra_bytes for one in measured], dtype=np.int64),
        "peak_bytes": np.array([one.peak_bytes for one in measured], dtype=np.int64),
    }


def measure_series(cells: Sequence[Cell], measure_one: Callable[[Cell], Measured] | None = None) -> list[Measured]:
    """Return the measurements of growing cells, up to the first that would need too much time or memory.

    Parameters
    ----------
    cells : sequence of Cell
    measure_one : function of a cell, optional
        Default: `measure` in a fresh process.
    """
    import psutil

    most_bytes = _SHARE_OF_MEMORY * psutil.virtual_memory().available
    measured: list[Measured] = []
    for cell in cells:
        if PEERS[cell.peer].bytes_of(cell.side**2) > most_bytes or _expected(measured, cell) > _LONGEST_SECONDS:
            break
        try:
            measured.append((measure_one or _measure_apart)(cell))
        except (BrokenProcessPool, MemoryError):
            # The system ended the process for lack of memory: the series ends here.
            break
    return measured


def _measure_apart(cell: Cell) -> Measured:
    """Return the measurement of a cell in a fresh process, which holds no memory of an earlier one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, cell).result()


def measure(cell: Cell) -> Measured:
    """Return the measurement of one cell, in this process, which should be a fresh one."""
    # Compile first: the loops that small worlds go without at first, and those of large maps at small t.
    own = cell.peer in ("farpoint", "thousandth")
    if own:
        import_module("farpoint.diffusion.scores.lattice_kernels")
        if cell.t <= LARGEST_UNROLLED:
            large = random_maze(_LARGE_SIDE, _LARGE_SIDE)
            find_goals(large, PEERS[cell.peer].run(large, cell.t))
    small = random_maze(40, 40)
    warm = PEERS[cell.peer].run(small, min(cell.t, 4))
    find_goals(small, warm)
    seconds: list[float] = []
    extra = 0
    while len(seconds) < (1 if seconds and seconds[0] > _SHORT_SECONDS else _REPEATS):
        # A world caches what it computes, so each run has a world of its own.
        world = open_room(cell.side, cell.side) if cell.room else random_maze(cell.side, cell.side)
        # What the others need is not theirs to make; a map needs none of it.
        if not own:
            _ = world.adjacency
        with PeakMemory() as memory:
            began = time.perf_counter()
            scores = PEERS[cell.peer].run(world, cell.t)
            if cell.goals:
                find_goals(world, scores)
            seconds.append(time.perf_counter() - began)
        # Of the first run only: later runs reuse memory that it has released.
        extra = extra or memory.extra
    # Over the whole life of the process, so that making the world counts too (kibibytes on Linux).
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measured(cell, world.n_states, min(seconds), extra, peak)


def _expected(measured: Sequence[Measured], cell: Cell) -> float:
    """Return the seconds that a cell should take, by the growth so far in a series of growing worlds or times."""
    if not measured:
        return 0.0
    slope = PEERS[cell.peer].power
    sizes = np.log([one.cell.side**2 * one.cell.t for one in measured[-2:]])
    seconds = np.log([one.seconds for one in measured[-2:]])
    if len(measured) > 1:
        slope = max(slope, float(np.diff(seconds)[0] / np.diff(sizes)[0]))
    return float(np.exp(seconds[-1] + slope * (np.log(cell.side**2 * cell.t) - sizes[-1])))


def _agreement(n_jobs: int, side: int, t: int) -> Arrays:
    """Return the number of goals of the exact score, and the share that a score to a thousandth has in common."""
    world = random_maze(side, side)
    exact = find_goals(world, score(world, t, "local")).states
    near = find_goals(world, score(world, t, "local", tolerance=1e-3)).states
    share = np.isin(exact, near).mean() * np.isin(near, exact).mean()
    return {
        "n_goals": np.array(exact.size),
        "share": np.array(share),
    }


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


def _goal_counts(n_jobs: int) -> Arrays:
    """Return the number of goals at t = 4 that Farpoint and simpleoptions find in two symmetric worlds."""
    worlds = (open_room(20, 20), cylinder(24, 8))
    return {
        "farpoint": np.array([len(find_goals(world, score(world, 4))) for world in worlds]),
        "simpleoptions": np.array([strict_maxima(world, PEERS["simpleoptions"].run(world, 4)) for world in worlds]),
    }


# In the order of the counts.
COUNTED_WORLDS = ("20 × 20 grid", "24 × 8 cylinder")

KINDS: Mapping[str, Callable[..., Arrays]] = {
    "series": _series,
    "agreement": _agreement,
    "goal_counts": _goal_counts,
}
