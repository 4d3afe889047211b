from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

import farpoint as fp
from farpoint.diffusion.spectra.decomposition import walk_spectrum
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput
from tests.helpers import brute
from tests.helpers.graphs import with_episodes


@pytest.mark.parametrize("world", [fp.ring(), fp.four_rooms(), fp.four_rooms(wind=1 / 3)], ids=str)
def test_whole_spectrum_rebuilds_its_matrix(world: fp.World) -> None:
    components = fp.spectrum(world)
    np.testing.assert_allclose(components.psi.T @ components.psi, np.eye(world.n_states), atol=1e-12)
    laplacian = fp.diffusion.normalized_laplacian(world).toarray()
    # Symmetric: N = Ψ ν Ψᵀ. Polar: R² = N Nᵀ has the same left vectors.
    rebuilt = components.psi @ np.diag(components.nu**2) @ components.psi.T
    np.testing.assert_allclose(rebuilt, laplacian @ laplacian.T, atol=1e-12)
    assert (np.diff(components.omega) <= 1e-15).all()
    assert components.omega[0] == pytest.approx(1)


def test_left_and_right_vectors_belong_to_the_walk() -> None:
    world = fp.maze()
    components, walk = fp.spectrum(world), fp.diffusion.lazy_walk(world)
    np.testing.assert_allclose(walk @ components.phi_tilde, components.phi_tilde * components.omega, atol=1e-12)
    np.testing.assert_allclose(walk.T @ components.phi, components.phi * components.omega, atol=1e-12)
    np.testing.assert_allclose(components.phi.T @ components.phi_tilde, np.eye(world.n_states), atol=1e-11)


@pytest.mark.parametrize("world", [fp.random_maze(50, 50), fp.open_room(30, 30)], ids=str)
def test_leading_components_equal_the_dense_ones(world: fp.World) -> None:
    # The open room has repeated eigenvalues, of which a single Lanczos run may miss a copy.
    few, whole = fp.spectrum(world, 12), fp.spectrum(world)
    np.testing.assert_allclose(few.omega, whole.omega[:12], atol=1e-10)
    assert few.omega_next == pytest.approx(whole.omega[12], abs=1e-10)
    residual = fp.diffusion.normalized_laplacian(world) @ few.psi - few.psi * few.nu
    assert np.abs(residual).max() < 1e-9
    np.testing.assert_allclose(few.psi.T @ few.psi, np.eye(12), atol=1e-9)


def test_leading_components_agree_with_scipy_on_a_larger_world() -> None:
    world = fp.random_maze(130, 130)
    nu = eigsh(fp.diffusion.normalized_laplacian(world), 6, sigma=-1e-3, return_eigenvectors=False)
    np.testing.assert_allclose(fp.spectrum(world, 6).nu, np.sort(nu), atol=1e-9)


def test_fraction_of_t_needs_eigenvalues_of_one_sign() -> None:
    world = fp.World.from_graph([[0, 9, 1], [1, 0, 9], [1, 9, 0]])
    assert fp.spectrum(world).omega.min() < 0
    with pytest.raises(InvalidInput, match="t must be a whole number in this world"):
        fp.score(world, 2.5)
    assert np.isfinite(fp.score(world, 2)).all()


def test_too_large_for_a_whole_spectrum() -> None:
    with pytest.raises(InvalidInput, match="at most 10000 states; got 14"):
        fp.spectrum(fp.random_maze(140, 140))
    with pytest.raises(InvalidInput, match="n_components must be at most 192"):
        fp.spectrum(fp.ring(), 193)


def test_a_spectrum_names_the_walk_it_belongs_to() -> None:
    world = fp.maze()
    whole = fp.spectrum(world)
    assert whole.fingerprint == Walk.of(world).fingerprint == whole.first(3).fingerprint
    assert fp.spectrum(fp.random_maze(30, 30), 5).fingerprint == Walk.of(fp.random_maze(30, 30)).fingerprint
    assert whole.fingerprint != fp.spectrum(fp.maze(wind=0.1)).fingerprint


@pytest.mark.parametrize("symmetrized", [False, True])
def test_the_spectrum_of_a_walk_with_restarts_is_that_of_its_weights(symmetrized: bool) -> None:
    walk = Walk.of(with_episodes(fp.maze(wind=0.2)))
    walk = walk.symmetrized() if symmetrized else walk
    laplacian = brute.laplacian(walk.weights().toarray())
    components = walk_spectrum(walk)
    np.testing.assert_allclose(components.nu, np.linalg.svd(laplacian)[1][::-1], atol=1e-12)
    rebuilt = components.psi @ np.diag(components.nu**2) @ components.psi.T
    np.testing.assert_allclose(rebuilt, laplacian @ laplacian.T, atol=1e-12)
