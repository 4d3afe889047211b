from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

import farpoint as fp
from farpoint.errors import InvalidInput


@pytest.mark.parametrize("world", [fp.ring(), fp.four_rooms(), fp.four_rooms(wind=1 / 3)], ids=str)
def test_whole_spectrum_rebuilds_its_matrix(world: fp.World) -> None:
    parts = fp.spectrum(world)
    np.testing.assert_allclose(parts.psi.T @ parts.psi, np.eye(world.n_states), atol=1e-12)
    laplacian = fp.diffusion.normalized_laplacian(world).toarray()
    # Symmetric: N = Ψ ν Ψᵀ. Polar: R² = N Nᵀ has the same left vectors.
    rebuilt = parts.psi @ np.diag(parts.nu**2) @ parts.psi.T
    np.testing.assert_allclose(rebuilt, laplacian @ laplacian.T, atol=1e-12)
    assert (np.diff(parts.omega) <= 1e-15).all()
    assert parts.omega[0] == pytest.approx(1)


def test_left_and_right_vectors_belong_to_the_walk() -> None:
    world = fp.maze()
    parts, walk = fp.spectrum(world), fp.diffusion.lazy_walk(world)
    np.testing.assert_allclose(walk @ parts.phi_tilde, parts.phi_tilde * parts.omega, atol=1e-12)
    np.testing.assert_allclose(walk.T @ parts.phi, parts.phi * parts.omega, atol=1e-12)
    np.testing.assert_allclose(parts.phi.T @ parts.phi_tilde, np.eye(world.n_states), atol=1e-11)


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


def test_truncated_solver_on_a_sparse_spectrum_is_within_its_bound() -> None:
    world = fp.random_maze(40, 40)
    scores = fp.score(world, 30, "truncated", n_components=60)
    assert scores.error_bound is not None
    error = np.abs(np.asarray(scores) - np.asarray(fp.score(world, 30, "local")))
    assert (error <= scores.error_bound).all()


def test_signs_are_fixed_and_the_same_twice() -> None:
    first, second = fp.spectrum(fp.ring()), fp.spectrum(fp.ring())
    np.testing.assert_array_equal(first.psi, second.psi)
    large = np.abs(first.psi) >= (1 - 1e-6) * np.abs(first.psi).max(axis=0)
    assert (first.psi[large.argmax(axis=0), np.arange(192)] > 0).all()


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


def test_distances_of_worlds_that_are_not_symmetric() -> None:
    windy = fp.four_rooms(wind=0.5)
    for call in (fp.diffusion.diffusion_map, fp.difficulty, fp.diffusion.score_bound):
        with pytest.raises(InvalidInput, match="world must be symmetric"):
            call(windy)
    with pytest.raises(InvalidInput, match="norm must be one of plain, weighted"):
        fp.diffusion_distance(fp.ring(), 0, norm="taxi")
    assert fp.diffusion_distance(fp.ring(), 0, 2.5)[0] == pytest.approx(0, abs=1e-12)
