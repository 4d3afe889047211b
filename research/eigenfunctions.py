"""Accuracy and time of learned eigenfunctions: ``python -m research.eigenfunctions``.

One thread. ``table``: every transition of the world, weighted by how often the walk takes it. ``log``: one walk of
400 000 steps with noise added to the coordinates, so that no observation occurs twice and batches are sampled.
``pixels``: as ``table``, observed as images. ``network``: the outputs of the network, before the Rayleigh-Ritz
rotation. ``exact``: eigenvectors of the counts of the same transitions by a dense solver, the best that can be learned
from them.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

import farpoint as fp
from farpoint.deep.eigenfunction_training import evaluate

WORLDS = ("four_rooms", "ring", "maze", "open_room")
NOISE = 0.1
LOG_STEPS = 400_000
# The network and the number of steps per kind of input; images and logs cost more per step.
SETTINGS: dict[str, dict[str, Any]] = {
    "table": {"hidden": (256, 256), "n_steps": 10_000},
    "log": {"hidden": (128, 128, 128), "n_steps": 8_000, "batch_size": 256},
    "pixels": {"hidden": (128,), "n_steps": 2_500},
}


def walk_of(world: fp.World, seed: int = 0) -> NDArray[np.int64]:
    """Return the states of one walk."""
    matrix, state, states = world.adjacency, 0, [0]
    for chance in np.random.default_rng(seed).random(LOG_STEPS).tolist():
        begin, end = matrix.indptr[state], matrix.indptr[state + 1]
        state = matrix.indices[begin + int(chance * (end - begin))]
        states.append(state)
    return np.array(states)


def images_of(world: fp.World, pixels_per_cell: int = 2) -> NDArray[np.uint8]:
    """Return an image of each state, (height, width, 3): gray floor and a red agent."""
    assert world.positions is not None
    n_rows, n_cols = world.positions.max(axis=0) + 1
    floor = np.zeros((n_rows, n_cols, 3), dtype=np.uint8)
    floor[tuple(world.positions.T)] = 128
    images = np.repeat(floor[None], world.n_states, axis=0)
    for state, (row, column) in enumerate(world.positions):
        images[state, row, column] = (255, 0, 0)
    return images.repeat(pixels_per_cell, axis=1).repeat(pixels_per_cell, axis=2)


def exact(before: NDArray[np.int64], after: NDArray[np.int64], n_states: int) -> NDArray[np.float64]:
    """Return the eigenvectors of the counts of transitions, smallest ν first."""
    counts = np.zeros((n_states, n_states))
    np.add.at(counts, (before, after), 1.0)
    counts += counts.T
    degrees = np.diag(counts.sum(axis=1))
    _, vectors = eigh(degrees - counts, degrees)
    return np.asarray(vectors)


def measure(world: fp.World, source: str, objective: str, device: str) -> str:
    """Return one row of the table."""
    assert world.positions is not None
    seen: NDArray[Any] = images_of(world) if source == "pixels" else world.positions
    if source == "log":
        states = walk_of(world)
        before, after = states[:-1], states[1:]
        noise = np.random.default_rng(1).uniform(-NOISE, NOISE, (states.size, seen.shape[1]))
        data = (seen[before] + noise[:-1], seen[after] + noise[1:])
    else:
        steps = world.adjacency.tocoo()
        before, after = steps.row, steps.col
        data = (seen[before], seen[after])
    began = time.perf_counter()
    functions = fp.learn_eigenfunctions(*data, objective=objective, device=device, **SETTINGS[source])
    seconds = time.perf_counter() - began
    values = functions.phi(seen)
    rotated = fp.deep.cosine_similarities(values, world)
    plain = fp.deep.cosine_similarities(evaluate(functions.network, seen)[:, : values.shape[1]], world)
    best = fp.deep.cosine_similarities(exact(before, after, world.n_states)[:, : values.shape[1]], world)
    return (
        f"{world.name:11} {source:7} {objective:9} {functions.record['n_steps']:6} {rotated.mean():11.4f} "
        f"{rotated.min():7.3f} {plain.mean():9.4f} {best.mean():8.4f} {seconds:9.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--objectives", nargs="*", default=["allo", "ggdo"])
    parser.add_argument("--inputs", nargs="*", default=list(SETTINGS))
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    print("world       input   objective  steps  mean |cos|   least   network    exact   seconds")
    for name in options.worlds:
        for source in options.inputs:
            for objective in options.objectives:
                print(measure(fp.worlds.named_world(name), source, objective, options.device), flush=True)


if __name__ == "__main__":
    main()
