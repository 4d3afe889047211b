"""Scores from random probes."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.scores.local import squaring_is_cheaper
from farpoint.diffusion.scores.probes import probe_scores, probe_seconds
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput
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
