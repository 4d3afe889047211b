"""The solver of maps, and long walks on maps, against steps in extended precision."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.diffusion.maps import MapPlan

# Open, cut in two but for one cell, and a comb of dead ends.
MAPS = {
    "room": "\n".join(["." * 24] * 20),
    "nearly in two": "\n".join(["." * 11 + ("." if row == 10 else "#") + "." * 11 for row in range(21)]),
    "comb": "\n".join(["." * 25] + [".#" * 12 + "."] * 20),
}


def long_scores(text: str, times: list[int]) -> dict[int, NDArray[np.longdouble]]:
    """‖Wᵗe_s − π₀‖² of every floor cell, one step after another with 64 bits of mantissa."""
    floor = np.array([[symbol != "#" for symbol in line] for line in text.splitlines()])
    padded = np.pad(floor, 1)
    degrees = padded[:-2, 1:-1].astype(np.longdouble) + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    degrees = np.where(floor, degrees, 1)
    n = int(floor.sum())
    mass = np.zeros((n, *floor.shape), dtype=np.longdouble)
    mass[np.arange(n), *np.nonzero(floor)] = 1
    pi = np.where(floor, degrees, 0) / np.where(floor, degrees, 0).sum()
    found = {}
    for step in range(1, max(times) + 1):
        going = np.pad(np.where(floor, mass / (2 * degrees), 0), ((0, 0), (1, 1), (1, 1)))
        arrived = going[:, :-2, 1:-1] + going[:, 2:, 1:-1] + going[:, 1:-1, :-2] + going[:, 1:-1, 2:]
        mass = np.where(floor, mass / 2 + arrived, 0)
        if step in times:
            found[step] = ((mass - pi) ** 2).sum(axis=(1, 2))
    return found


@pytest.mark.parametrize("name", MAPS)
def test_maps_are_right_to_their_bound(name: str) -> None:
    world = fp.World.from_map(MAPS[name])
    exact = long_scores(MAPS[name], [1, 4, 13, 100])
    followed = 0
    for t, expected in exact.items():
        for tolerance in (None, 0.3, 1e-3, 1e-10):
            scores = fp.score(world, t, "local", tolerance=tolerance, n_jobs=1)
            found = [(np.asarray(scores), scores.error_bound)]
            # Small maps take another way; these are the kernels.
            plan = MapPlan.of(world.floor, t, tolerance)
            if plan is not None:
                followed += 1
                arrays = [np.concatenate(pieces) for pieces in zip(*map(plan.block, plan.tasks), strict=True)]
                found.append((arrays[0], None if tolerance is None else arrays[1]))
            for values, bound in found:
                error = np.abs(values - expected.astype(np.float64))
                if tolerance is None:
                    assert (error <= 2.0**-50 * (t + 4) * (expected + 1.0 / world.n_states)).all()
                else:
                    assert bound is not None
                    assert (error <= bound).all()
                    assert (bound <= tolerance * values + 1e-14).all()
    assert followed >= 8
