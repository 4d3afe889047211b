"""How close approximate eigenfunctions are to the exact ones: wrong orders, repeated eigenvalues, windy worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.deep.similarity import exact_eigenfunctions, observations_of, reversible_weights
from farpoint.errors import InvalidInput


@pytest.fixture(scope="module")
def corridor() -> fp.World:
    return fp.grid((10,))


def test_cosines_see_a_wrong_order_and_a_wrong_function(corridor: fp.World) -> None:
    phi = fp.spectrum(corridor).phi[:, :3]
    np.testing.assert_allclose(fp.deep.cosine_similarities(phi[:, [0, 2, 1]], corridor), [1, 0, 0], atol=1e-9)
    mixed = phi @ np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    np.testing.assert_allclose(fp.deep.cosine_similarities(mixed, corridor), [1, 1, np.sqrt(0.5)], atol=1e-9)
    np.testing.assert_allclose(fp.deep.cosine_similarities(-5 * phi, corridor), 1, atol=1e-9)


def test_any_basis_of_an_eigenspace_has_cosine_1() -> None:
    ring = fp.ring()
    exact = fp.spectrum(ring)
    rng, rotated = np.random.default_rng(0), exact.phi.copy()
    place = np.cumsum(np.diff(exact.omega, prepend=1.0) < -1e-9)
    for group in np.unique(place):
        columns = np.flatnonzero(place == group)
        rotated[:, columns] = exact.phi[:, columns] @ np.linalg.qr(rng.normal(size=(columns.size, columns.size)))[0]
    assert np.abs(rotated - exact.phi).max() > 0.01
    np.testing.assert_allclose(fp.deep.cosine_similarities(rotated[:, :11], ring), 1.0, rtol=1e-9)


def test_any_object_with_phi_is_evaluated_at_the_observations(corridor: fp.World) -> None:
    class OfPositions:
        def phi(self, observations: Any) -> NDArray[np.float64]:
            # Of a path of n states the eigenfunctions are cos(π k s / (n − 1)).
            return np.cos(np.pi * np.asarray(observations) * np.arange(3) / 9)

    np.testing.assert_allclose(fp.deep.cosine_similarities(OfPositions(), corridor), 1, atol=1e-9)


def test_observations_are_those_of_the_world_else_positions_else_numbers(corridor: fp.World) -> None:
    assert observations_of(corridor).tolist() == [[state] for state in range(10)]
    assert observations_of(fp.World.from_graph(corridor.adjacency)).tolist() == list(range(10))
    seen = np.linspace(0.0, 1.0, 40)[:, None]
    sampled = fp.World.from_samples(seen[:-1], seen[1:], n_states=5)
    np.testing.assert_array_equal(observations_of(sampled), sampled.observations)


def test_weights_of_a_windy_world_are_the_stationary_walk_averaged_with_its_reverse() -> None:
    world = fp.open_room(4, 3, wind=0.3)
    pi, walk = fp.stationary(world), fp.diffusion.lazy_walk(world).toarray()
    flow = (2 * walk - np.eye(12)) * pi[None, :]
    joint = (flow + flow.T) / 2
    np.testing.assert_allclose(reversible_weights(world).toarray(), joint, atol=1e-12)
    exact, mass = exact_eigenfunctions(world, 3)
    np.testing.assert_allclose(mass, pi, atol=1e-12)
    half = np.sqrt(pi)
    nu = np.linalg.eigvalsh(np.eye(12) - joint / half[:, None] / half[None, :])
    np.testing.assert_allclose(exact.omega[:3], 1 - nu[:3] / 2, atol=1e-9)


def test_wrong_shapes_and_worlds_are_named(corridor: fp.World) -> None:
    with pytest.raises(InvalidInput, match=r"row for each of 10 states .* got shape \(9, 2\)"):
        fp.deep.cosine_similarities(np.zeros((9, 2)), corridor)
    # From state 0 the walk goes to 1 and 2, and never back.
    one_way = fp.World.from_graph(np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]]))
    with pytest.raises(InvalidInput, match="returns to every state; got 1 states"):
        fp.deep.cosine_similarities(np.ones((3, 1)), one_way)
