"""How far the kernels of maps are from what this machine can do: ``python -m research.floor``.

The least that a step costs is one five-point sum for each offset of the diamond: five loads, one coefficient, one
store. The floor is that sum alone on arrays that stay in the first cache, measured in the same run on one core. What
must come from main memory is one byte per cell (its degree) and eight per score: nothing beside it.
"""

from __future__ import annotations

import time

import numba
import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from farpoint.diffusion.graphs import GraphPlan
from farpoint.diffusion.maps import MapPlan
from farpoint.diffusion.walk import Walk

_U = np.uint64


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def five_point(
    now: NDArray[np.float64], then: NDArray[np.float64], spread: NDArray[np.float64], down: int, repeats: int
) -> None:
    below = _U(down)
    for _ in range(repeats):
        for index in range(now.size - 2 * down):
            i = below + _U(index)
            around = (now[i - below] + now[i + below]) + (now[i - _U(1)] + now[i + _U(1)])
            then[i] = 0.5 * now[i] + spread[i] * around


def floor_seconds_per_sum() -> float:
    now, then, spread = np.random.default_rng(0).random((3, 1200))
    repeats = 20_000
    five_point(now, then, spread, 64, 10)
    times = []
    for _ in range(5):
        began = time.process_time()
        five_point(now, then, spread, 64, repeats)
        times.append(time.process_time() - began)
    return float(min(times) / repeats / (now.size - 128))


def main() -> None:
    floor = floor_seconds_per_sum()
    print(f"floor: {1e9 * floor:.3f} ns per five-point sum, one core, first cache")
    exact = [(1000, t, None) for t in (1, 2, 3, 4, 5, 6, 13)]
    for side, t, tolerance in (*exact, (200, 100, 1e-3), (200, 60, None)):
        world = fp.random_maze(side, side)
        fp.score(world, t, "local", n_jobs=1, tolerance=tolerance)
        plan = MapPlan.of(world.floor, t, tolerance)
        assert plan is not None
        sums = plan.sums_per_cell
        times = []
        for _ in range(3):
            began = time.process_time()
            fp.score(world, t, "local", n_jobs=1, tolerance=tolerance)
            times.append(time.process_time() - began)
        per_cell = min(times) / side**2
        print(
            f"t = {t:3}, {'exact' if tolerance is None else f'to {tolerance:g}'}: {sums:9,.0f} sums per cell, "
            f"{1e9 * per_cell:10,.0f} ns per cell on one core, {1e9 * per_cell / sums:.3f} ns per sum, "
            f"{per_cell / sums / floor:.1f} × the floor"
        )
    scattered()


def scattered() -> None:
    """Time of the same graph as a graph, with its states in order, shuffled, and shuffled as the solver reorders it."""
    world = fp.random_maze(600, 600)
    graph = fp.World.from_graph(world.adjacency)
    order = np.random.default_rng(0).permutation(graph.n_states)
    shuffled = fp.World.from_graph(graph.adjacency[order][:, order])
    # The scores of single states are followed in the order in which they are given.
    as_given = GraphPlan(Walk.of(shuffled), 4, None).following()
    seconds = {}
    for name, work in (
        ("in order", lambda: fp.score(graph, 4, "local", n_jobs=1)),
        ("shuffled", lambda: as_given.at(np.arange(shuffled.n_states))),
        ("reordered", lambda: fp.score(shuffled, 4, "local", n_jobs=1)),
    ):
        began = time.perf_counter()
        work()
        seconds[name] = time.perf_counter() - began
    print(
        f"any graph, {graph.n_states:,} states, t = 4, one core: {seconds['in order']:.2f} s in order, "
        f"{seconds['shuffled']:.2f} s shuffled, {seconds['reordered']:.2f} s shuffled and reordered by the solver"
    )


if __name__ == "__main__":
    main()
