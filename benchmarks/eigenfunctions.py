"""How near learned eigenfunctions come to the true ones, and how long it takes: ``python -m benchmarks.eigenfunctions``.

One thread. ``table``: every transition of the world, each as often as the walk takes it. ``log``: a walk of 50 000 steps
whose coordinates carry noise, so that no observation comes twice and batches are drawn. ``pixels``: the table, seen as
pictures. The second mean is that of the functions as the network gives them, before Rayleigh–Ritz.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import farpoint as fp

WORLDS = ("four_rooms", "ring", "maze", "open_room")
NOISE = 0.1
LOG_STEPS = 50_000


def log_of(world: fp.Domain, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the noisy coordinates before and after each step of one walk."""
    rng = np.random.default_rng(seed)
    matrix, states = world.adjacency, [0]
    for chance in rng.random(LOG_STEPS):
        row = matrix.indices[matrix.indptr[states[-1]] : matrix.indptr[states[-1] + 1]]
        states.append(int(row[int(chance * row.size)]))
    assert world.positions is not None
    seen = world.positions[states] + rng.uniform(-NOISE, NOISE, (LOG_STEPS + 1, world.positions.shape[1]))
    return seen[:-1], seen[1:]


def pictures_of(world: fp.Domain, pixels_a_cell: int = 2) -> NDArray[np.uint8]:
    """Return a picture of each state, (height, width, 3): grey floor, and the agent in red."""
    assert world.positions is not None
    n_rows, n_cols = world.positions.max(axis=0) + 1
    floor = np.zeros((n_rows, n_cols, 3), dtype=np.uint8)
    floor[tuple(world.positions.T)] = 128
    pictures = np.repeat(floor[None], world.n_states, axis=0)
    for state, (row, column) in enumerate(world.positions):
        pictures[state, row, column] = (255, 0, 0)
    return pictures.repeat(pixels_a_cell, axis=1).repeat(pixels_a_cell, axis=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--objectives", nargs="*", default=["allo", "ggdo"])
    parser.add_argument("--inputs", nargs="*", default=["table", "log", "pixels"])
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    print("world        input   objective  steps   mean |cos|  least   before turning   seconds")
    for name in options.worlds:
        world = fp.world(name)
        for source in options.inputs:
            for objective in options.objectives:
                settings: dict[str, Any] = {"objective": objective, "steps": options.steps, "device": options.device}
                row(world, source, settings)


def row(world: fp.Domain, source: str, settings: dict[str, Any]) -> None:
    data: tuple[Any, ...] = (world,)
    seen: Any = world.positions
    if source == "log":
        data = log_of(world)
    elif source == "pixels":
        seen, steps = pictures_of(world), world.adjacency.tocoo()
        data = (seen[steps.row], seen[steps.col])
        settings |= {"hidden": (128,), "steps": settings["steps"] // 4}
    began = time.perf_counter()
    functions = fp.learn_eigenfunctions(*data, **settings)
    seconds = time.perf_counter() - began
    turned = fp.cosine_similarities(functions.phi(seen), world)
    plain = fp.cosine_similarities(functions.phi(seen) @ np.linalg.inv(functions.rotation), world)
    print(
        f"{world.name:12} {source:7} {settings['objective']:9} {settings['steps']:6}   {turned.mean():10.4f} "
        f"{turned.min():6.3f} {plain.mean():16.4f} {seconds:9.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
