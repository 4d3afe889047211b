"""The normalized Laplacian, its restarts kept apart, against the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.spectra.laplacian import Laplacian
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput
from tests.helpers import brute
from tests.helpers.graphs import directed_graph, with_episodes

WALKS = {
    "symmetric": Walk.of(fp.four_rooms()),
    "windy": Walk.of(fp.four_rooms(wind=1 / 3)),
    "episodes": Walk.of(with_episodes(fp.four_rooms(), n_starts=7)),
    "directed with episodes": Walk.of(with_episodes(directed_graph(3, 104))),
    "symmetrized": Walk.of(with_episodes(fp.four_rooms(), n_starts=7)).symmetrized(),
}
every_walk = pytest.mark.parametrize("name", WALKS)


@every_walk
def test_products_are_those_of_the_dense_matrix(name: str) -> None:
    walk = WALKS[name]
    laplacian, expected = Laplacian.of(walk), brute.laplacian(walk.weights().toarray())
    assert laplacian.rank == (0 if walk.jumps is None else walk.jumps.rank)
    np.testing.assert_allclose(laplacian.toarray(), expected, atol=1e-14)
    np.testing.assert_allclose(laplacian.T.toarray(), expected.T, atol=1e-14)
    x = np.random.default_rng(0).normal(size=(walk.n_states, 2))
    np.testing.assert_allclose(laplacian @ x, expected @ x, atol=1e-13)
    np.testing.assert_allclose(laplacian.T @ x[:, 0], expected.T @ x[:, 0], atol=1e-13)
    np.testing.assert_allclose(laplacian @ np.sqrt(laplacian.degrees), 0.0, atol=1e-13)


@every_walk
def test_an_edge_added_to_the_laplacian_is_one_of_the_walk(name: str) -> None:
    walk = WALKS[name]
    more, expected = Laplacian.of(walk).with_edge(3, 90), Laplacian.of(walk.with_edge(3, 90))
    np.testing.assert_allclose(more.toarray(), expected.toarray(), atol=1e-14)
    np.testing.assert_allclose(more.degrees, expected.degrees, rtol=1e-14)
    weights = walk.weights().toarray()
    weights[3, 90] += 1.0
    weights[90, 3] += 1.0
    np.testing.assert_allclose(more.toarray(), brute.laplacian(weights), atol=1e-14)


def test_the_public_matrix_is_the_same() -> None:
    world = with_episodes(fp.four_rooms())
    expected = brute.laplacian(Walk.of(world).weights().toarray())
    np.testing.assert_allclose(fp.diffusion.normalized_laplacian(world).toarray(), expected, atol=1e-14)


def test_a_state_that_nothing_enters_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"got none into state 0\. Use form='walk'"):
        Laplacian.of(Walk.of(fp.World.from_graph([[0, 1, 0], [0, 0, 1], [0, 1, 0]])))
