"""The leading components of large worlds, against dense decompositions of worlds small enough for them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_array

import farpoint as fp
from farpoint.diffusion.spectra import inverse, leading, multigrid
from farpoint.diffusion.spectra.inverse import LaplacianInverse, NotAccurate, with_edge
from farpoint.diffusion.spectra.leading import FiedlerVectors, is_wide, leading_components, with_every_copy
from farpoint.diffusion.spectra.multigrid import MultigridSolver

Matrix = NDArray[np.float64]


def parts_of(world: fp.World) -> tuple[csr_array, Matrix]:
    return fp.diffusion.normalized_laplacian(world), np.asarray(world.adjacency.sum(axis=0))


def windy_maze(side: int, wind: float = 1 / 3) -> fp.World:
    return fp.World.from_map(fp.random_maze(side, side).to_text(), wind=wind, largest_component=True)


def directed_graph(seed: int, n: int = 60) -> fp.World:
    rng = np.random.default_rng(seed)
    weights = (rng.random((n, n)) < 0.06) * rng.random((n, n))
    weights[np.arange(n), (np.arange(n) + 1) % n] = 1.0
    return fp.World.from_graph(weights)


def with_a_way_in(n: int = 30) -> fp.World:
    # Three states among themselves lead into a ring, and nothing leads back.
    weights = np.roll(np.eye(n), 1, axis=1) + 0.5 * np.roll(np.eye(n), -1, axis=1)
    weights[n - 3 :] = weights[:, n - 3 :] = 0.0
    weights[n - 4, 0] = 1.0
    weights[[n - 3, n - 2, n - 1, n - 1], [n - 2, n - 1, n - 3, 5]] = 1.0
    return fp.World.from_graph(weights)


def spider(n_legs: int, length: int) -> fp.World:
    # By symmetry all but the one pattern that is alike on every leg come n_legs − 1 times.
    n = n_legs * length + 1
    weights = np.zeros((n, n))
    for leg in range(n_legs):
        states = [0, *range(1 + leg * length, 1 + (leg + 1) * length)]
        weights[states[:-1], states[1:]] = 1.0
    return fp.World.from_graph(weights + weights.T)


DIRECTED = [
    fp.four_rooms(wind=1 / 3),
    fp.maze(wind=1 / 3),
    fp.maze(wind=0.8),
    directed_graph(0),
    directed_graph(1),
    directed_graph(2, 200),
    with_a_way_in(),
    windy_maze(40),
    windy_maze(30, 0.8),
]


@pytest.mark.parametrize("world", DIRECTED, ids=lambda world: f"{world.name}-{world.n_states}")
@pytest.mark.parametrize("k", [1, 7])
def test_partial_polar_spectrum_equals_the_dense_one(world: fp.World, k: int) -> None:
    laplacian, degrees = parts_of(world)
    nu, psi, omega_next = leading_components(laplacian, degrees, k, symmetric=False)
    left, singular, _ = linalg.svd(laplacian.toarray())
    left, singular = left[:, ::-1], singular[::-1]
    np.testing.assert_allclose(nu, singular[:k], atol=1e-13)
    np.testing.assert_allclose(psi.T @ psi, np.eye(k), atol=1e-10)
    # The dense vectors of close values are mixed by rounding: by 10⁻¹⁴ over the gap behind the last of them.
    mixed = 1e-14 / (singular[k] - singular[k - 1])
    assert mixed < 1e-5
    np.testing.assert_allclose(psi @ psi.T, left[:, :k] @ left[:, :k].T, atol=max(mixed, 1e-12))
    assert omega_next == pytest.approx(np.abs(1 - singular[k:] / 2).max(), abs=1e-10)


def test_what_is_left_out_may_be_largest_at_the_other_end() -> None:
    # Unequal weights make ν large: ω = 1 − ν/2 far below −1 is left out, and counts.
    weights = np.roll(np.eye(40), 1, axis=1) + 1e-3
    weights[:, 0] = 0.01
    weights[0] = 30.0
    np.fill_diagonal(weights, 0.0)
    laplacian, degrees = parts_of(fp.World.from_graph(weights))
    nu = linalg.svdvals(laplacian.toarray())
    assert 1 - nu[0] / 2 < -1
    assert leading_components(laplacian, degrees, 3, symmetric=False)[2] == pytest.approx(nu[0] / 2 - 1, abs=1e-10)


def test_spectrum_of_a_large_windy_world_is_partial() -> None:
    world = windy_maze(60)
    parts = fp.spectrum(world, 12)
    laplacian = fp.diffusion.normalized_laplacian(world)
    # Left singular vectors: N Nᵀ ψ = ν² ψ, and ν no farther than that from those of the dense matrix.
    np.testing.assert_allclose(laplacian @ (laplacian.T @ parts.psi), parts.psi * parts.nu**2, atol=1e-12)
    squares = linalg.eigvalsh((laplacian @ laplacian.T).toarray(), subset_by_index=[0, 12])
    np.testing.assert_allclose(parts.nu**2, squares[:12], atol=1e-13)
    assert parts.omega_next == pytest.approx(1 - np.sqrt(squares[12]) / 2, abs=1e-10)


@pytest.mark.parametrize("t", [1, 5, 20])
def test_truncated_polar_score_is_within_its_bound(t: int) -> None:
    world = windy_maze(32)
    scores = fp.score(world, t, "truncated", form="polar", n_components=60)
    assert scores.error_bound is not None
    error = np.abs(np.asarray(scores) - np.asarray(fp.score(world, t, "spectral", form="polar")))
    assert (error <= scores.error_bound + 1e-13).all()
    assert error.max() > 1e-6


@pytest.mark.parametrize("k", [4, 8, 10])
def test_no_copy_of_a_repeated_eigenvalue_is_missed(k: int) -> None:
    world = spider(9, 70)
    whole = linalg.eigvalsh(fp.diffusion.normalized_laplacian(world).toarray())
    assert whole[8] - whole[1] < 1e-12
    parts = fp.spectrum(world, k)
    np.testing.assert_allclose(parts.nu, whole[:k], atol=1e-12)
    assert parts.omega_next == pytest.approx(1 - whole[k] / 2, abs=1e-12)
    np.testing.assert_allclose(parts.psi.T @ parts.psi, np.eye(k), atol=1e-10)


def test_repeated_singular_values_are_all_found() -> None:
    one_way = np.triu(spider(7, 12).adjacency.toarray()) * 3 + spider(7, 12).adjacency.toarray()
    laplacian, degrees = parts_of(fp.World.from_graph(one_way))
    singular = linalg.svdvals(laplacian.toarray())[::-1]
    nu, psi, _ = leading_components(laplacian, degrees, 5, symmetric=False)
    np.testing.assert_allclose(nu, singular[:5], atol=1e-13)
    np.testing.assert_allclose(psi.T @ psi, np.eye(5), atol=1e-10)


@pytest.mark.parametrize("world", [fp.random_maze(45, 45), directed_graph(3), fp.maze(wind=1 / 3)], ids=str)
def test_fiedler_vectors_after_edges_are_those_of_the_new_world(world: fp.World) -> None:
    laplacian, degrees = parts_of(world)
    fiedler = FiedlerVectors(laplacian, degrees, symmetric=world.symmetric)
    weights = world.adjacency.toarray()
    for _ in range(5):
        ours = fiedler.vector()
        dense = fp.diffusion.normalized_laplacian(fp.World.from_graph(weights)).toarray()
        theirs = linalg.eigh(dense @ dense.T, subset_by_index=[1, 1])[1][:, 0]
        np.testing.assert_allclose(ours * np.sign(ours @ theirs), theirs, atol=1e-7)
        low, high = int(ours.argmin()), int(ours.argmax())
        fiedler.add_edge(low, high)
        weights[low, high] += 1.0
        weights[high, low] += 1.0


def test_an_inaccurate_update_leads_to_a_new_factorization(monkeypatch: pytest.MonkeyPatch) -> None:
    laplacian, degrees = parts_of(fp.random_maze(30, 30))
    fiedler = FiedlerVectors(laplacian, degrees, symmetric=True)
    fiedler.vector()
    fiedler.add_edge(0, 600)
    right = fiedler.vector()
    spoiled = fiedler._solver
    assert isinstance(spoiled, LaplacianInverse)
    spoiled._scale = 1.1 * spoiled._scale
    again = fiedler.vector()
    assert fiedler._solver is not spoiled
    np.testing.assert_allclose(again * np.sign(again @ right), right, atol=1e-9)


def test_an_edge_added_to_the_laplacian_is_one_of_the_world() -> None:
    world = fp.four_rooms(wind=1 / 3)
    laplacian, degrees = with_edge(*parts_of(world), 3, 90)
    weights = world.adjacency.toarray()
    weights[3, 90] += 1.0
    weights[90, 3] += 1.0
    expected = fp.World.from_graph(weights)
    np.testing.assert_allclose(laplacian.toarray(), fp.diffusion.normalized_laplacian(expected).toarray(), atol=1e-14)
    np.testing.assert_allclose(degrees, weights.sum(axis=0))


def test_residual_of_a_wrong_vector_is_refused() -> None:
    laplacian, degrees = parts_of(fp.open_room(20, 20))
    solver = LaplacianInverse(laplacian, degrees, symmetric=True)
    nu, psi = solver.smallest(2, solver.left[:, None])
    assert solver.residual(nu, psi) < 1e-13
    assert solver.residual(nu + 1e-3, psi) == pytest.approx(1e-3)
    with pytest.raises(NotAccurate, match=r"must be at most 1e-08; got 0\.001"):
        inverse.check_residual(solver.residual(nu + 1e-3, psi))


multigrid_only = pytest.mark.skipif(not multigrid.multigrid_installed(), reason="needs farpoint[scale]")


@multigrid_only
@pytest.mark.parametrize("world", [fp.grid((12, 12, 12)), fp.random_maze(45, 45), spider(9, 70)], ids=str)
def test_multigrid_gives_the_same_eigenvalues(world: fp.World) -> None:
    laplacian, degrees = parts_of(world)
    nu, psi, beyond = with_every_copy(MultigridSolver(laplacian, degrees), 6)
    whole = linalg.eigvalsh(laplacian.toarray())
    np.testing.assert_allclose(nu, whole[:6], atol=1e-12)
    assert beyond == pytest.approx(whole[6], abs=1e-12)
    np.testing.assert_allclose(psi.T @ psi, np.eye(6), atol=1e-8)
    assert np.linalg.norm(laplacian @ psi - psi * nu, axis=0).max() < 1e-8


@multigrid_only
def test_wide_worlds_take_multigrid_the_same_twice_and_leave_the_global_generator_alone() -> None:
    world = fp.grid((28, 28, 26))
    laplacian, degrees = parts_of(world)
    assert is_wide(laplacian)
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    first = fp.spectrum(world, 2)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index]  # noqa: NPY002
    np.testing.assert_array_equal(first.psi, fp.spectrum(world, 2).psi)
    direct = with_every_copy(LaplacianInverse(laplacian, degrees, symmetric=True), 2)
    np.testing.assert_allclose(first.nu, direct[0], atol=1e-12)
    assert first.omega_next == pytest.approx(1 - direct[2] / 2, abs=1e-12)


@multigrid_only
def test_multigrid_takes_edges_and_its_last_vectors() -> None:
    world = fp.grid((20, 9, 8))
    laplacian, degrees = parts_of(world)
    ours, direct = MultigridSolver(laplacian, degrees), LaplacianInverse(laplacian, degrees, symmetric=True)
    for low, high in ((0, 1439), (17, 1200), (5, 900)):
        for solver in (ours, direct):
            solver.add_edge(low, high)
        nu, psi = ours.smallest(1, ours.left[:, None])
        nu_direct, psi_direct = direct.smallest(1, direct.left[:, None])
        np.testing.assert_allclose(nu, nu_direct, atol=1e-13)
        assert abs(psi[:, 0] @ psi_direct[:, 0]) == pytest.approx(1, abs=1e-10)


@multigrid_only
def test_multigrid_that_stops_early_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.grid((24, 24))
    monkeypatch.setattr(leading, "is_wide", lambda laplacian: True)
    monkeypatch.setattr(multigrid, "_MOST_STEPS", 2)
    laplacian, degrees = parts_of(world)
    with pytest.raises(NotAccurate, match="residual"):
        MultigridSolver(laplacian, degrees).smallest(3, np.sqrt(degrees / degrees.sum())[:, None])
    np.testing.assert_allclose(fp.spectrum(world, 4).nu, linalg.eigvalsh(laplacian.toarray())[:4], atol=1e-13)


def test_without_pyamg_the_factorization_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leading, "is_wide", lambda laplacian: True)
    monkeypatch.setattr(leading, "multigrid_installed", lambda: False)
    world = fp.grid((9, 9, 9))
    whole = linalg.eigvalsh(fp.diffusion.normalized_laplacian(world).toarray())
    np.testing.assert_allclose(fp.spectrum(world, 5).nu, whole[:5], atol=1e-13)
