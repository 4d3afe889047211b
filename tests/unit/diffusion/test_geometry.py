"""Diffusion distances and maps; their identities are in tests/properties."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.geometry import distributions
from farpoint.errors import InvalidInput
from tests.helpers import brute, precise
from tests.helpers.graphs import with_episodes


def test_distances_of_worlds_that_are_not_symmetric() -> None:
    windy = fp.four_rooms(wind=0.5)
    for call in (fp.diffusion.diffusion_map, fp.difficulty, fp.diffusion.score_bound):
        with pytest.raises(InvalidInput, match="world must be symmetric"):
            call(windy)
    with pytest.raises(InvalidInput, match="norm must be one of plain, weighted"):
        fp.diffusion_distance(fp.ring(), 0, norm="taxi")
    assert fp.diffusion_distance(fp.ring(), 0, 2.5)[0] == pytest.approx(0, abs=1e-12)


def test_distributions_of_a_walk_that_begins_again() -> None:
    world = with_episodes(fp.maze(), n_starts=3)
    assert world.restart is not None
    assert world.starts is not None
    weights = brute.restart_weights(world.adjacency.toarray(), world.restart, world.starts)
    after = np.linalg.matrix_power(brute.walk(weights), 5)
    found = distributions(world, 5, np.array([3, 70]))
    np.testing.assert_allclose(found, after[:, [3, 70]], rtol=1e-12, atol=1e-17)
    expected = np.linalg.norm(after - after[:, [3]], axis=0)
    np.testing.assert_allclose(fp.diffusion_distance(world, 3, 5), expected, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("t", [0.5, 3, 2.5])
@pytest.mark.parametrize("norm", ["plain", "weighted"])
def test_distances_from_the_last_state_are_those_of_decimals(t: float, norm: str) -> None:
    world = fp.open_room(2, 4)
    after = precise.rounded(precise.distributions(world.adjacency.toarray(), t))
    scale = np.sqrt(fp.stationary(world))[:, None] if norm == "weighted" else 1.0
    expected = np.linalg.norm((after - after[:, [7]]) / scale, axis=0)
    np.testing.assert_allclose(fp.diffusion_distance(world, 7, t, norm=norm), expected, rtol=1e-7, atol=1e-7)
    for state in (-1, 8):
        with pytest.raises(InvalidInput, match="state must be at"):
            fp.diffusion_distance(world, state, t)


def test_distances_after_a_billion_steps_are_zero() -> None:
    np.testing.assert_allclose(fp.diffusion_distance(fp.ring(), 0, 10**9), 0.0, atol=1e-7)


def test_distributions_after_half_a_step_need_no_decomposition() -> None:
    world = fp.open_room(2, 4)
    expected = precise.rounded(precise.distributions(world.adjacency.toarray(), 0.5))[:, [1, 6]]
    for decomposition in (None, fp.spectrum(world)):
        found = distributions(world, 0.5, np.array([1, 6]), decomposition)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
