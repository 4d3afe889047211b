"""The Laplacian and its eigenvectors: against dense ones, and in a basis of their own."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

import farpoint as fp
from farpoint.diffusion.spectral import Laplacian, canonical_vectors, fixed_signs, walk_spectrum
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput
from tests.helpers import brute
from tests.helpers.graphs import cylinder, directed_graph, spider, with_episodes


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
    more = Laplacian.of(walk).with_edge(3, 90)
    weights = walk.weights().toarray()
    weights[3, 90] += 1.0
    weights[90, 3] += 1.0
    np.testing.assert_allclose(more.toarray(), brute.laplacian(weights), atol=1e-14)
    np.testing.assert_allclose(more.degrees, weights.sum(axis=0), rtol=1e-14)


def test_the_public_matrix_is_the_same() -> None:
    world = with_episodes(fp.four_rooms())
    expected = brute.laplacian(Walk.of(world).weights().toarray())
    np.testing.assert_allclose(fp.diffusion.normalized_laplacian(world).toarray(), expected, atol=1e-14)


def test_a_state_that_nothing_enters_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"got none into state 0\. Use form='walk'"):
        Laplacian.of(Walk.of(fp.World.from_graph([[0, 1, 0], [0, 0, 1], [0, 1, 0]])))


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


def test_decompositions_are_checked() -> None:
    world, windy = fp.ring(), fp.four_rooms(wind=0.2)
    with pytest.raises(InvalidInput, match=r"decomposition must be of this world \(192 states\)"):
        fp.score(world, decomposition=fp.spectrum(fp.maze()))
    with pytest.raises(InvalidInput, match="form must be 'polar' with a decomposition"):
        fp.score(windy, form="walk", decomposition=fp.spectrum(windy))
    assert fp.score(world, decomposition=fp.spectrum(world, 10)).solver == "truncated"


def test_truncated_solver_on_a_sparse_spectrum_is_within_its_bound() -> None:
    world = fp.random_maze(40, 40)
    scores = fp.score(world, 30, "truncated", n_components=60)
    assert scores.error_bound is not None
    error = np.abs(np.asarray(scores) - np.asarray(fp.score(world, 30, "local")))
    assert (error <= scores.error_bound).all()


@pytest.mark.parametrize("t", [1, 5, 20])
def test_truncated_polar_score_is_within_its_bound(t: int) -> None:
    world = fp.World.from_map(fp.random_maze(32, 32).to_text(), wind=1 / 3, largest_component=True)
    scores = fp.score(world, t, "truncated", form="polar", n_components=60)
    assert scores.error_bound is not None
    error = np.abs(np.asarray(scores) - np.asarray(fp.score(world, t, "spectral", form="polar")))
    assert (error <= scores.error_bound + 1e-13).all()
    assert error.max() > 1e-6


def test_a_spectrum_of_another_world_with_the_same_degrees_is_refused() -> None:
    # Ten states of three neighbors each: the Petersen graph and the pentagonal prism.
    petersen = fp.World.from_graph(nx.petersen_graph())
    prism = fp.World.from_graph(nx.circular_ladder_graph(5))
    np.testing.assert_array_equal(petersen.adjacency.sum(axis=1), prism.adjacency.sum(axis=1))
    with pytest.raises(InvalidInput, match=r"decomposition must be of this world \(10 states\); got .* of another"):
        fp.score(petersen, decomposition=fp.spectrum(prism))
    again = fp.World.from_graph(petersen.adjacency, name="the same")
    expected = brute.score(petersen.adjacency.toarray(), 3)
    np.testing.assert_allclose(fp.score(petersen, 3, decomposition=fp.spectrum(again)), expected, atol=1e-14)


@pytest.mark.parametrize("weight", [1e-12, 1e-9, 1e-4])
@pytest.mark.parametrize("solver", ["spectral", "truncated", "local", "auto"])
def test_two_groups_that_are_hardly_connected(solver: str, weight: float) -> None:
    # Two cliques of 12 states joined by one light edge: walks of 4 steps forget where in their clique they began, and
    # nothing of which clique. Without that edge f = ‖Wᵗe_s − π₀‖² of each half is known to all digits by brute force.
    clique = 1.0 - np.eye(12)
    weights = np.block([[clique, np.zeros((12, 12))], [np.zeros((12, 12)), clique]])
    weights[11, 12] = weights[12, 11] = weight
    world = fp.World.from_graph(weights)
    for t in (4, 1000):
        scores = fp.score(world, t, solver)
        bound = 1e-11 if scores.error_bound is None else scores.error_bound + 1e-11
        assert (np.abs(scores - brute.score(weights, t)) <= bound).all()


def test_polar_refuses_what_it_cannot_tell_apart() -> None:
    cycle = np.roll(np.eye(12), 1, axis=1) + 0.1 * np.roll(np.eye(12), 2, axis=1)
    weights = np.block([[cycle, np.zeros((12, 12))], [np.zeros((12, 12)), cycle]])
    weights[11, 12] = weights[23, 0] = 1e-13
    world = fp.World.from_graph(weights)
    with pytest.raises(InvalidInput, match=r"nearly in two parts. Use form='walk' or 'symmetrized'"):
        fp.score(world, 4, "spectral", form="polar")
    np.testing.assert_allclose(fp.score(world, 4, form="walk"), brute.walk_score(weights, 4), rtol=1e-9)
