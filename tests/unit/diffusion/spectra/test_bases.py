"""Eigenvectors that do not depend on the solver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.diffusion.spectra.bases import canonical_vectors, fixed_signs
from tests.helpers import brute
from tests.helpers.graphs import cylinder, spider

Vectors = NDArray[np.float64]


def test_signs_are_fixed_and_the_same_twice() -> None:
    first, second = fp.spectrum(fp.ring()), fp.spectrum(fp.ring())
    np.testing.assert_array_equal(first.psi, second.psi)
    large = np.abs(first.psi) >= (1 - 1e-6) * np.abs(first.psi).max(axis=0)
    assert (first.psi[large.argmax(axis=0), np.arange(192)] > 0).all()


def rotated(nu: Vectors, psi: Vectors, seed: int) -> Vectors:
    """The same eigenspaces in other bases: a random rotation inside each repeated value, random signs elsewhere."""
    rng, turned = np.random.default_rng(seed), psi.copy()
    space = np.cumsum(np.diff(nu, prepend=nu[0]) > 1e-9)
    for number in np.unique(space):
        columns = np.flatnonzero(space == number)
        turned[:, columns] = psi[:, columns] @ np.linalg.qr(rng.normal(size=(columns.size, columns.size)))[0]
    return turned


@pytest.mark.parametrize("world", [fp.ring(), spider(9, 20), cylinder(12, 5), fp.open_room(9, 9)], ids=str)
def test_the_basis_depends_on_the_eigenspaces_only(world: fp.World) -> None:
    nu, psi = np.linalg.eigh(brute.laplacian(world.adjacency.toarray()))
    assert (np.diff(nu) < 1e-9).sum() > 5
    canonical = canonical_vectors(nu, psi)
    for seed in range(3):
        other = rotated(nu, psi, seed)
        assert np.abs(other - psi).max() > 0.1
        np.testing.assert_allclose(canonical_vectors(nu, other), canonical, atol=1e-9)
    np.testing.assert_allclose(canonical.T @ canonical, np.eye(world.n_states), atol=1e-12)
    np.testing.assert_allclose(canonical * nu @ canonical.T, psi * nu @ psi.T, atol=1e-10)


def test_the_spectrum_has_that_basis() -> None:
    ring = fp.ring()
    components = fp.spectrum(ring)
    nu, psi = np.linalg.eigh(brute.laplacian(ring.adjacency.toarray()))
    np.testing.assert_allclose(components.psi, canonical_vectors(nu, rotated(nu, psi, 7)), atol=1e-9)


def test_a_few_components_are_those_of_the_whole() -> None:
    # Nine legs: the first repeated value has eight copies, and four components cut it in two.
    world = spider(9, 70)
    few, whole = fp.spectrum(world, 4), fp.spectrum(world)
    np.testing.assert_allclose(few.psi, whole.psi[:, :4], atol=1e-8)


def test_vectors_by_hand() -> None:
    # The plane of the first two axes, turned: the unit vectors of states 0 and 1 are in it.
    turned = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, -1.0]])
    np.testing.assert_allclose(canonical_vectors(np.array([1.0, 1.0, 2.0]), turned), np.eye(3), atol=1e-15)
    # Two values: nothing is turned, only signs are set.
    np.testing.assert_array_equal(
        canonical_vectors(np.array([1.0, 1.5, 2.0]), turned), [[0.6, 0.8, 0.0], [0.8, -0.6, 0.0], [0.0, 0.0, 1.0]]
    )


def test_of_entries_equally_large_the_first_decides_the_sign() -> None:
    vectors = np.array([[-1.0, 1.0, 0.1], [1.0 + 1e-12, -1.0, -0.9]])
    np.testing.assert_array_equal(fixed_signs(vectors), [[1.0, 1.0, -0.1], [-1.0 - 1e-12, -1.0, 0.9]])
