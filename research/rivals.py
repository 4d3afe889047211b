"""Time, memory and accuracy of the leading eigenvectors of large worlds, and of the options made from them.

Run ``python -m research.rivals``; about ten minutes, or name some worlds (``maze-366 cube-32``). Every row is
measured in a process of its own. ``scipy`` is eigsh's own shift-invert; it alone does not look for missed copies of
repeated eigenvalues. Ratios are times against it within this one run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.sparse import csc_array
from scipy.sparse.linalg import eigsh

import farpoint as fp
from farpoint.diffusion.lanczos import LaplacianInverse, MultigridSolver, NotAccurate, with_every_copy
from farpoint.diffusion.spectral import Laplacian
from farpoint.diffusion.walk import Walk
from research.speed import PeakMemory

Result = TypeVar("Result")

WORLDS = ("maze-116", "maze-366", "maze-1000", "maze-1158", "room-1000", "cube-32", "cube-40")
METHODS = ("scipy", "factorized", "LOBPCG+AMG")
COMPONENTS = (2, 10)
N_OPTIONS = 20


def make(name: str) -> fp.World:
    kind, side = name.split("-")[0], int(name.split("-")[1])
    if kind == "maze":
        return fp.random_maze(side, side)
    if kind == "room":
        return fp.open_room(side, side)
    return fp.grid((side, side, side))


def components(method: str, world: fp.World, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    laplacian = Laplacian.of(Walk.of(world))
    if method == "scipy":
        start = np.random.default_rng(0).standard_normal(world.n_states)
        nu, psi = eigsh(csc_array(laplacian.sparse), k, sigma=-1e-8, v0=start)
        return nu, psi
    if method == "factorized":
        return with_every_copy(LaplacianInverse(laplacian), k)[:2]
    return with_every_copy(MultigridSolver(laplacian), k)[:2]


def _measure(method: str, name: str, k: int) -> tuple[int, float, int, str]:
    components(method, fp.open_room(40, 40), 2)
    world = make(name)
    _ = world.adjacency
    with PeakMemory() as memory:
        began = time.perf_counter()
        try:
            nu, psi = components(method, world, k)
        except NotAccurate as error:
            return (
                world.n_states,
                time.perf_counter() - began,
                memory.extra,
                str(error).rsplit("got ", 1)[1] + " refused",
            )
        seconds = time.perf_counter() - began
    residual = np.linalg.norm(fp.diffusion.normalized_laplacian(world) @ psi - psi * nu, axis=0).max()
    return world.n_states, seconds, memory.extra, f"{residual:.0e}"


def _measure_options(method: str, name: str) -> tuple[int, float, int]:
    fp.discover(fp.open_room(40, 40), method, n_options=2)
    world = make(name)
    _ = world.adjacency
    with PeakMemory() as memory:
        began = time.perf_counter()
        fp.discover(world, method, n_options=N_OPTIONS)
        seconds = time.perf_counter() - began
    return world.n_states, seconds, memory.extra


def alone(work: Callable[..., Result], *arguments: object) -> Result:
    # In a process of its own: memory that an earlier row gave back would be taken again unseen.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def main(names: tuple[str, ...]) -> None:
    console = Console(width=110)
    table = Table(title="smallest eigenvalues of N with their vectors", box=None, padding=(0, 2))
    for column in ("world", "states", "k", "method", "seconds", "of scipy's", "extra memory", "‖Nψ − νψ‖"):
        table.add_column(column, justify="right")
    for name in names:
        for k in COMPONENTS:
            theirs = float("nan")
            for method in METHODS:
                states, seconds, memory, residual = alone(_measure, method, name, k)
                theirs = seconds if method == "scipy" else theirs
                ratio = f"{seconds / theirs:.2f}"
                row = (name, f"{states:,}", str(k), method, f"{seconds:.2f}", ratio, f"{memory / 1e6:.0f} MB", residual)
                table.add_row(*row)
                print("·", *row, file=sys.stderr, flush=True)
    console.print(table)

    table = Table(title=f"{N_OPTIONS} options", box=None, padding=(0, 2))
    for column in ("world", "states", "method", "seconds", "extra memory"):
        table.add_column(column, justify="right")
    for name in names:
        for method in ("eigen", "cover"):
            states, seconds, memory = alone(_measure_options, method, name)
            table.add_row(name, f"{states:,}", method, f"{seconds:.1f}", f"{memory / 1e6:.0f} MB")
    console.print(table)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or WORLDS)
