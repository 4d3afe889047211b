"""Scores that are estimated, from random probes or from the probabilities to return, against the scores themselves."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.scores.lattice import degrees_of_rows
from farpoint.diffusion.scores.local import squaring_is_cheaper
from farpoint.diffusion.scores.probes import probe_scores, probe_seconds
from farpoint.diffusion.scores.returns import ReturnScores
from farpoint.diffusion.scores.returns_kernels import averaged, step_products
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput
from farpoint.worlds import World
from tests.helpers import brute
from tests.helpers.graphs import with_episodes


@pytest.mark.parametrize("wind", [0.0, 0.2])
def test_the_estimate_is_within_its_standard_error(wind: float) -> None:
    world = fp.random_maze(40, 40, wind=wind)
    exact = fp.score(world, 30, "local")
    found = fp.score(world, 30, "probes", n_probes=400, seed=1)
    assert found.standard_error is not None
    deviation = (found - exact) / found.standard_error
    # Of a normal variable 4.55 % lie beyond 2; neighbors are alike, so the share over states is rougher than that.
    assert (np.abs(deviation) > 2).mean() < 0.12
    assert np.abs(deviation).max() < 6
    assert abs(deviation.mean()) < 1.0
    np.testing.assert_allclose(np.median(found.standard_error / found), np.sqrt(2 / 400), rtol=0.15)


def test_the_same_seed_gives_the_same_estimate_on_any_number_of_workers() -> None:
    world = fp.random_maze(30, 30)
    one = fp.score(world, 9, "probes", n_probes=20, seed=5, n_jobs=1)
    np.testing.assert_array_equal(fp.score(world, 9, "probes", n_probes=20, seed=5, n_jobs=3), one)
    assert not np.array_equal(fp.score(world, 9, "probes", n_probes=20, seed=6), one)


@pytest.mark.parametrize("symmetrized", [False, True])
def test_restarts_are_part_of_the_walk(symmetrized: bool) -> None:
    world = with_episodes(fp.maze(), terminal=4, n_starts=9)
    walk = Walk.of(world).symmetrized() if symmetrized else Walk.of(world)
    exact = brute.walk_score(walk.weights().toarray(), 12)
    found, error = probe_scores(walk, 12, 2000, seed=3)
    assert np.abs((found - exact) / error).max() < 6
    assert error.max() < 0.05 * exact.max()


def test_what_probes_cost_and_need() -> None:
    walk = Walk.of(fp.ring())
    assert probe_seconds(walk, 20, 256) == pytest.approx(4 * probe_seconds(walk, 10, 128))
    with pytest.raises(InvalidInput, match="t must be a whole number with solver='probes'"):
        fp.score(fp.ring(), 2.5, "probes")
    with pytest.raises(InvalidInput, match="n_probes must be at least 2"):
        fp.score(fp.ring(), 4, n_probes=1)


def test_walks_that_would_take_too_long_are_refused_before_they_begin() -> None:
    # 3600 states are too many for a dense power.
    with pytest.raises(InvalidInput, match="t must be small enough for probes to be followed; got 1000000000"):
        fp.score(fp.open_room(60, 60), 10**9, "probes")


def test_probes_that_follow_restarts_step_by_step_are_near_the_exact_score() -> None:
    # So few steps that no power of the dense matrix is taken.
    world = with_episodes(fp.ring(), terminal=40, n_starts=20)
    assert world.restart is not None
    assert world.starts is not None
    walk = Walk.of(world)
    assert not squaring_is_cheaper(walk, probe_seconds(walk, 2, 64), 2)
    weights = brute.restart_weights(world.adjacency.toarray(), world.restart, world.starts)
    found, error = probe_scores(walk, 2, 64, seed=3, n_jobs=1)
    exact = brute.walk_score(weights, 2)
    # Both of the mean over all states, whose errors average out, and of each of them.
    assert found.mean() == pytest.approx(exact.mean(), rel=0.05)
    assert (np.abs(found - exact) <= 5.0 * error).all()


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
