"""Diffusion distances and maps; their identities are in tests/properties."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers import brute
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
    found = fp.diffusion.distributions(world, 5, np.array([3, 70]))
    np.testing.assert_allclose(found, after[:, [3, 70]], rtol=1e-12, atol=1e-17)
    expected = np.linalg.norm(after - after[:, [3]], axis=0)
    np.testing.assert_allclose(fp.diffusion_distance(world, 3, 5), expected, rtol=1e-11, atol=1e-15)
