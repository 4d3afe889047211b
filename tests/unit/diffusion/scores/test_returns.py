"""Estimates from the probabilities to return, against the scores themselves."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.scores.lattice import degrees_of_rows
from farpoint.diffusion.scores.returns import ReturnScores
from farpoint.diffusion.scores.returns_kernels import averaged, step_products
from farpoint.worlds import World

ROOMS = "\n".join(["." * 21 + "#" + "." * 19] * 12 + ["." * 41] + ["." * 21 + "#" + "." * 19] * 12)
WORLDS = {
    "few walls": fp.random_maze(36, 40, 0.1, seed=3),
    "walls": fp.random_maze(40, 42, seed=1),
    "many walls": fp.random_maze(50, 50, 0.38, seed=2),
    "rooms": fp.World.from_map(ROOMS),
}


def estimate(world: World, *times: int) -> list[np.ndarray]:
    assert world.floor is not None
    return ReturnScores.of(world.floor, list(times)).compute()


@cache
def decomposition(name: str) -> fp.diffusion.Spectrum:
    return fp.diffusion.spectrum(WORLDS[name])


@pytest.mark.parametrize("t", [13, 60, 250, 1000])
def test_estimates_are_near_the_scores(t: int) -> None:
    same = 0
    either = 0
    for name, world in WORLDS.items():
        (found,) = estimate(world, t)
        exact = fp.score(world, t, decomposition=decomposition(name))
        errors = np.abs(found / exact - 1.0)
        # What the documentation says: about a hundredth, a few in dead ends.
        assert errors.mean() < 0.013
        assert errors.max() < 0.08
        expected = set(fp.find_goals(world, exact).states.tolist())
        goals = set(fp.find_goals(world, found, tolerance=1e-4).states.tolist())
        same += len(expected & goals)
        either += len(expected | goals)
    assert same >= 0.92 * either


@pytest.mark.parametrize("t", [1, 5, 30, 400])
def test_nothing_is_estimated_where_all_degrees_are_equal(t: int) -> None:
    """On a closed corridor every cell has two neighbors, so the mean degree is 2 whatever its weights."""
    world = fp.World.from_map("\n".join(["." * 120, *["." + "#" * 118 + "."] * 30, "." * 120]))
    (found,) = estimate(world, t)
    np.testing.assert_allclose(found, fp.score(world, t), rtol=2e-3)


def test_open_room_has_its_corners() -> None:
    world = fp.open_room(60, 80)
    for scores in estimate(world, 13, 40, 300):
        goals = fp.find_goals(world, scores, tolerance=1e-4)
        assert sorted(goals.states.tolist()) == [0, 79, 59 * 80, 60 * 80 - 1]


def test_several_t_from_one_pass_are_those_of_each_alone() -> None:
    world = WORLDS["walls"]
    for together, t in zip(estimate(world, 10, 40, 160), (10, 40, 160), strict=True):
        # Shorter t follow the longer walk too, and so leave less out.
        np.testing.assert_allclose(together, estimate(world, t)[0], rtol=5e-3)


def test_workers_do_not_change_the_numbers() -> None:
    world = WORLDS["walls"]
    assert world.floor is not None
    plan = ReturnScores.of(world.floor, [20, 50])
    done: list[tuple[int, int]] = []
    found = plan.compute(n_jobs=2, progress=lambda *counts: done.append(counts))
    np.testing.assert_array_equal(plan.compute(n_jobs=1), found)
    assert done[-1][0] == done[-1][1] == len(done)


def test_larger_t_takes_longer() -> None:
    floor = np.ones((100, 100), dtype=bool)
    seconds = [ReturnScores.of(floor, [t]).seconds for t in (10, 100, 1000)]
    assert seconds == sorted(seconds)
    # One pass costs what its largest t does.
    assert ReturnScores.of(floor, [10, 1000, 100]).seconds == seconds[-1]


def test_kernels_are_chebyshev_polynomials_of_the_walk() -> None:
    """Against dense matrices: T_0 = I, T_1 = P, T_{j+1} = 2 P T_j − T_{j−1}."""
    floor = np.array([[1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 0]], dtype=np.uint8)
    world = fp.World.from_map("...#\n.#..\n...#")
    moves = world.adjacency.toarray()
    degrees = moves.sum(axis=1)
    walk = moves / degrees[:, None]
    polynomials = [np.eye(9), walk]
    for _ in range(4):
        polynomials.append(2 * walk @ polynomials[-1] - polynomials[-2])
    n_steps, width, stride, margin = 5, 8, 5, 8
    flat = degrees_of_rows(floor, -margin, 3 + margin)
    twice = np.array([0, 2, 1, 2 / 3, 0.5], dtype=np.float32)[flat]
    found = np.empty((2, n_steps, width), dtype=np.float32)
    step_products(twice, margin * stride + np.array([0, width]), stride, n_steps, width, found)
    places = np.flatnonzero(np.pad(floor, ((0, 0), (0, 1))).ravel())
    for j in range(1, n_steps + 1):
        # Rows of T are T e_s / d(s) as functions of the cell, times d(cell).
        left, right = polynomials[j] / degrees, walk @ polynomials[j - 1] / degrees
        expected = (left * degrees * right).sum(axis=1) * (0.5 if j == 1 else 1.0)
        np.testing.assert_allclose(found[:, j - 1].ravel()[places], expected, atol=1e-6)
    values = np.zeros(flat.size, dtype=np.float32)
    values[margin * stride + places] = np.arange(9)
    coefficients = np.array([0.4, 0.3, 0.2, 0.1], dtype=np.float32)
    spread = averaged(values, twice, coefficients, stride)[margin * stride + places]
    expected = sum(c * T @ np.arange(9) for c, T in zip(coefficients, polynomials, strict=False))
    np.testing.assert_allclose(spread, expected, rtol=1e-5)
