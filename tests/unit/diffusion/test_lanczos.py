"""The leading components of large worlds and their two solvers, against dense matrices of small ones."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import eigsh, lobpcg

import farpoint as fp
from farpoint.diffusion import lanczos
from farpoint.diffusion.lanczos import (
    FiedlerVectors,
    LaplacianInverse,
    MultigridSolver,
    NotAccurate,
    check_residual,
    eigenpairs,
    is_wide,
    leading_components,
    with_every_copy,
)
from farpoint.diffusion.spectral import Laplacian, walk_spectrum
from farpoint.diffusion.walk import Walk
from tests.helpers import brute
from tests.helpers.graphs import directed_graph, spider, with_episodes

Matrix = NDArray[np.float64]


def laplacian_of(world: fp.World) -> Laplacian:
    return Laplacian.of(Walk.of(world))


def windy_maze(side: int, wind: float = 1 / 3) -> fp.World:
    return fp.World.from_map(fp.random_maze(side, side).to_text(), wind=wind, largest_component=True)


def with_a_way_in(n: int = 30) -> fp.World:
    # Three states among themselves lead into a ring, and nothing leads back.
    weights = np.roll(np.eye(n), 1, axis=1) + 0.5 * np.roll(np.eye(n), -1, axis=1)
    weights[n - 3 :] = weights[:, n - 3 :] = 0.0
    weights[n - 4, 0] = 1.0
    weights[[n - 3, n - 2, n - 1, n - 1], [n - 2, n - 1, n - 3, 5]] = 1.0
    return fp.World.from_graph(weights)


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
    with_episodes(fp.maze(), n_starts=9),
    with_episodes(directed_graph(4, 150), n_starts=100),
    with_episodes(windy_maze(30), n_starts=1),
]


@pytest.mark.parametrize("world", DIRECTED, ids=lambda world: f"{world.name}-{world.n_states}")
@pytest.mark.parametrize("k", [1, 7])
def test_partial_polar_spectrum_equals_the_dense_one(world: fp.World, k: int) -> None:
    laplacian = laplacian_of(world)
    nu, psi, omega_next = leading_components(laplacian, k)
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
    laplacian = laplacian_of(fp.World.from_graph(weights))
    nu = linalg.svdvals(laplacian.toarray())
    assert 1 - nu[0] / 2 < -1
    assert leading_components(laplacian, 3)[2] == pytest.approx(nu[0] / 2 - 1, abs=1e-10)


def test_spectrum_of_a_large_windy_world_is_partial() -> None:
    world = windy_maze(60)
    components = fp.spectrum(world, 12)
    laplacian = fp.diffusion.normalized_laplacian(world)
    # Left singular vectors: N Nᵀ ψ = ν² ψ, and ν no farther than that from those of the dense matrix.
    np.testing.assert_allclose(
        laplacian @ (laplacian.T @ components.psi), components.psi * components.nu**2, atol=1e-12
    )
    squares = linalg.eigvalsh((laplacian @ laplacian.T).toarray(), subset_by_index=[0, 12])
    np.testing.assert_allclose(components.nu**2, squares[:12], atol=1e-13)
    assert components.omega_next == pytest.approx(1 - np.sqrt(squares[12]) / 2, abs=1e-10)


@pytest.mark.parametrize("k", [4, 8, 10])
def test_no_copy_of_a_repeated_eigenvalue_is_missed(k: int) -> None:
    world = spider(9, 70)
    whole = linalg.eigvalsh(fp.diffusion.normalized_laplacian(world).toarray())
    assert whole[8] - whole[1] < 1e-12
    components = fp.spectrum(world, k)
    np.testing.assert_allclose(components.nu, whole[:k], atol=1e-12)
    assert components.omega_next == pytest.approx(1 - whole[k] / 2, abs=1e-12)
    np.testing.assert_allclose(components.psi.T @ components.psi, np.eye(k), atol=1e-10)


def test_repeated_singular_values_are_all_found() -> None:
    one_way = np.triu(spider(7, 12).adjacency.toarray()) * 3 + spider(7, 12).adjacency.toarray()
    laplacian = laplacian_of(fp.World.from_graph(one_way))
    singular = linalg.svdvals(laplacian.toarray())[::-1]
    nu, psi, _ = leading_components(laplacian, 5)
    np.testing.assert_allclose(nu, singular[:5], atol=1e-13)
    np.testing.assert_allclose(psi.T @ psi, np.eye(5), atol=1e-10)


def test_no_copy_is_missed_with_restarts_to_many_starts() -> None:
    # Restarts from everywhere to everywhere alike: the symmetry of the legs, and so the copies, stay.
    n = 9 * 70 + 1
    world = spider(9, 70)
    walk = Walk.of(
        fp.World.from_matrix(
            world.transitions, world.choice_ptr, restart=np.full(n, 0.01), starts=np.full(n, 1.0 / n)
        )
    ).symmetrized()  # fmt: skip
    whole = linalg.eigvalsh(brute.laplacian(walk.weights().toarray()))
    assert whole[8] - whole[1] < 1e-12
    components = walk_spectrum(walk, 6)
    np.testing.assert_allclose(components.nu, whole[:6], atol=1e-12)
    assert components.omega_next == pytest.approx(1 - whole[6] / 2, abs=1e-12)


FIEDLER = [fp.random_maze(45, 45), directed_graph(3), fp.maze(wind=1 / 3), with_episodes(fp.random_maze(30, 30))]


@pytest.mark.parametrize("world", FIEDLER, ids=str)
def test_fiedler_vectors_after_edges_are_those_of_the_new_world(world: fp.World) -> None:
    walk = Walk.of(world)
    fiedler, weights = FiedlerVectors(Laplacian.of(walk)), walk.weights().toarray()
    for _ in range(5):
        ours = fiedler.vector()
        dense = brute.laplacian(weights)
        theirs = linalg.eigh(dense @ dense.T, subset_by_index=[1, 1])[1][:, 0]
        np.testing.assert_allclose(ours * np.sign(ours @ theirs), theirs, atol=1e-7)
        low, high = int(ours.argmin()), int(ours.argmax())
        fiedler.add_edge(low, high)
        weights[low, high] += 1.0
        weights[high, low] += 1.0


def test_an_inaccurate_update_leads_to_a_new_factorization(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[LaplacianInverse] = []

    class Spoiled(LaplacianInverse):
        spoiled = False

        def __init__(self, laplacian: Laplacian) -> None:
            super().__init__(laplacian)
            made.append(self)

        def residual(self, nu: Matrix, psi: Matrix) -> float:
            return 1.0 if self.spoiled else super().residual(nu, psi)

    monkeypatch.setattr(lanczos, "LaplacianInverse", Spoiled)
    fiedler = FiedlerVectors(laplacian_of(fp.random_maze(30, 30)))
    fiedler.vector()
    fiedler.add_edge(0, 600)
    right = fiedler.vector()
    assert len(made) == 1
    made[0].spoiled = True  # type: ignore[attr-defined]
    again = fiedler.vector()
    assert len(made) == 2
    np.testing.assert_allclose(again * np.sign(again @ right), right, atol=1e-9)
    # The edge is part of what was factored anew.
    np.testing.assert_allclose(made[1].laplacian.toarray(), made[0].laplacian.toarray(), atol=1e-14)


def test_without_pyamg_the_factorization_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanczos, "is_wide", lambda pattern: True)
    monkeypatch.setattr(lanczos, "multigrid_installed", lambda: False)
    world = fp.grid((9, 9, 9))
    whole = linalg.eigvalsh(brute.laplacian(world.adjacency.toarray()))
    np.testing.assert_allclose(fp.spectrum(world, 5).nu, whole[:5], atol=1e-13)


WALKS = {
    "symmetric": Walk.of(fp.maze()),
    "windy": Walk.of(fp.maze(wind=1 / 3)),
    "episodes": Walk.of(with_episodes(fp.maze(), n_starts=7)),
    "one start": Walk.of(with_episodes(fp.maze(wind=0.5), n_starts=1)),
    "directed with episodes": Walk.of(with_episodes(directed_graph(3, 148), n_starts=30)),
    "symmetrized": Walk.of(with_episodes(fp.maze(), n_starts=7)).symmetrized(),
}
every_walk = pytest.mark.parametrize("name", WALKS)


@every_walk
@pytest.mark.parametrize("n_edges", [0, 3])
def test_it_is_the_pseudoinverse(name: str, n_edges: int) -> None:
    inverse = LaplacianInverse(Laplacian.of(WALKS[name]))
    for low, high in ((3, 100), (17, 60), (0, 147))[:n_edges]:
        inverse.add_edge(low, high)
    dense = inverse.laplacian.toarray()
    expected = linalg.pinv(dense, rtol=1e-10)
    x = np.random.default_rng(1).normal(size=WALKS[name].n_states)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(inverse.apply(x), expected @ x, atol=1e-10 * scale)
    np.testing.assert_allclose(inverse.apply(x, transposed=True), expected.T @ x, atol=1e-10 * scale)
    np.testing.assert_allclose(inverse.left @ dense, 0.0, atol=1e-12)
    np.testing.assert_allclose(dense @ inverse.right, 0.0, atol=1e-12)


@every_walk
@pytest.mark.parametrize("n_edges", [0, 2])
def test_smallest_values_and_vectors_are_the_dense_ones(name: str, n_edges: int) -> None:
    inverse = LaplacianInverse(Laplacian.of(WALKS[name]))
    for low, high in ((3, 100), (17, 60))[:n_edges]:
        inverse.add_edge(low, high)
    left, singular, _ = linalg.svd(inverse.laplacian.toarray())
    left, singular = left[:, ::-1], singular[::-1]
    nu, psi = inverse.smallest(5, inverse.left[:, None])
    np.testing.assert_allclose(nu, singular[1:6], atol=1e-12)
    assert inverse.residual(nu, psi) < 1e-10
    # Each vector lies in the dense eigenspace of its value.
    for value, vector in zip(nu, psi.T, strict=True):
        space = left[:, np.abs(singular - value) < 1e-9]
        assert np.linalg.norm(space.T @ vector) == pytest.approx(1.0, abs=1e-9)


def test_residual_of_a_wrong_vector_is_refused() -> None:
    solver = LaplacianInverse(Laplacian.of(Walk.of(fp.open_room(20, 20))))
    nu, psi = solver.smallest(2, solver.left[:, None])
    assert solver.residual(nu, psi) < 1e-13
    assert solver.residual(nu + 1e-3, psi) == pytest.approx(1e-3)
    with pytest.raises(NotAccurate, match=r"must be at most 1e-08; got 0\.001"):
        check_residual(solver.residual(nu + 1e-3, psi))


def imprecise(real: Callable[..., Any], n_runs: int) -> Callable[..., Any]:
    """Lanczos iterations of which the first runs lose half of their digits."""
    n_done = 0

    def run(matrix: Any, *args: Any, **options: Any) -> Any:
        nonlocal n_done
        values, vectors = real(matrix, *args, **options)
        n_done += 1
        if n_done <= n_runs:
            vectors = vectors + 1e-7 * np.random.default_rng(0).standard_normal(vectors.shape)
        return values, vectors

    return run


def test_a_run_that_loses_digits_is_done_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = LaplacianInverse(Laplacian.of(Walk.of(fp.open_room(20, 15))))
    nu, _ = solver.smallest(2, solver.left[:, None])
    monkeypatch.setattr("farpoint.diffusion.lanczos.eigenpairs", imprecise(eigenpairs, n_runs=1))
    again, psi = solver.smallest(2, solver.left[:, None])
    np.testing.assert_allclose(again, nu, atol=1e-13)
    assert solver.residual(again, psi) < 1e-12


def test_runs_that_all_lose_digits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = LaplacianInverse(Laplacian.of(Walk.of(fp.open_room(20, 15))))
    monkeypatch.setattr("farpoint.diffusion.lanczos.eigenpairs", imprecise(eigenpairs, n_runs=100))
    with pytest.raises(NotAccurate, match="must be at most 1e-08"):
        solver.smallest(2, solver.left[:, None])


@pytest.mark.skipif("rng" not in inspect.signature(eigsh).parameters, reason="this scipy takes no generator")
def test_repeated_values_give_the_same_vectors_in_each_run() -> None:
    """A cube has so few different values that the iterations go on from random vectors."""
    cube = fp.World.from_graph(nx.hypercube_graph(9))
    np.testing.assert_array_equal(fp.spectrum(cube, 50).psi, fp.spectrum(cube, 50).psi)


needs_multigrid = pytest.mark.skipif(not lanczos.multigrid_installed(), reason="needs farpoint[scale]")


@needs_multigrid
@pytest.mark.parametrize("world", [fp.grid((12, 12, 12)), fp.random_maze(45, 45), spider(9, 70)], ids=str)
def test_multigrid_gives_the_same_eigenvalues(world: fp.World) -> None:
    laplacian = laplacian_of(world)
    nu, psi, beyond = with_every_copy(MultigridSolver(laplacian), 6)
    whole = linalg.eigvalsh(laplacian.toarray())
    np.testing.assert_allclose(nu, whole[:6], atol=1e-12)
    assert beyond == pytest.approx(whole[6], abs=1e-12)
    np.testing.assert_allclose(psi.T @ psi, np.eye(6), atol=1e-8)
    assert np.linalg.norm(laplacian @ psi - psi * nu, axis=0).max() < 1e-8


@needs_multigrid
def test_wide_worlds_take_multigrid_the_same_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert is_wide(fp.grid((28, 28, 26)).adjacency)
    # Direct solvers take long where multigrid pays.
    monkeypatch.setattr(lanczos, "is_wide", lambda pattern: True)
    world = fp.grid((17, 16, 15))
    first = fp.spectrum(world, 2)
    np.testing.assert_array_equal(first.psi, fp.spectrum(world, 2).psi)
    direct = with_every_copy(LaplacianInverse(laplacian_of(world)), 2)
    np.testing.assert_allclose(first.nu, direct[0], atol=1e-12)
    assert first.omega_next == pytest.approx(1 - direct[2] / 2, abs=1e-12)


@needs_multigrid
def test_multigrid_touches_neither_the_global_generator_nor_the_filters_of_warnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Other threads use both meanwhile: it is not enough that they are as before when it is done.
    filters = warnings.filters
    seen: list[bool] = []

    def looking(*args: Any, **kwargs: Any) -> Any:
        seen.append(warnings.filters is filters)
        return lobpcg(*args, **kwargs)

    def refused(*args: Any) -> None:
        raise AssertionError("the global generator is not ours")

    monkeypatch.setattr(lanczos, "lobpcg", looking)
    for name in ("seed", "set_state", "rand", "random"):
        monkeypatch.setattr(np.random, name, refused)
    laplacian = laplacian_of(fp.grid((12, 12, 12)))
    first = np.sqrt(laplacian.degrees / laplacian.degrees.sum())[:, None]
    nu, _ = MultigridSolver(laplacian).smallest(1, first)
    np.testing.assert_allclose(nu, LaplacianInverse(laplacian).smallest(1, first)[0], rtol=1e-10)
    assert seen == [True]


@needs_multigrid
def test_multigrid_takes_edges_and_its_last_vectors() -> None:
    laplacian = laplacian_of(fp.grid((20, 9, 8)))
    ours, direct = MultigridSolver(laplacian), LaplacianInverse(laplacian)
    for low, high in ((0, 1439), (17, 1200), (5, 900)):
        ours.add_edge(low, high)
        direct.add_edge(low, high)
        nu, psi = ours.smallest(1, ours.left[:, None])
        nu_direct, psi_direct = direct.smallest(1, direct.left[:, None])
        np.testing.assert_allclose(nu, nu_direct, atol=1e-13)
        assert abs(psi[:, 0] @ psi_direct[:, 0]) == pytest.approx(1, abs=1e-10)


@needs_multigrid
@pytest.mark.filterwarnings("ignore:Exited")
def test_multigrid_that_stops_early_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def two_steps(*args: Any, **kwargs: Any) -> Any:
        return lobpcg(*args, **{**kwargs, "maxiter": 2})

    world = fp.grid((24, 24))
    monkeypatch.setattr(lanczos, "is_wide", lambda pattern: True)
    monkeypatch.setattr(lanczos, "lobpcg", two_steps)
    laplacian = laplacian_of(world)
    solver = MultigridSolver(laplacian)
    with pytest.raises(NotAccurate, match="residual"):
        solver.smallest(3, solver.left[:, None])
    np.testing.assert_allclose(fp.spectrum(world, 4).nu, linalg.eigvalsh(laplacian.toarray())[:4], atol=1e-13)


@needs_multigrid
@pytest.mark.parametrize("error", [ValueError, np.linalg.LinAlgError])
def test_iterations_that_break_down_are_not_accurate(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **settings: Any) -> Any:
        raise error("broken")

    solver = MultigridSolver(laplacian_of(fp.grid((9, 9, 9))))
    monkeypatch.setattr(lanczos, "lobpcg", broken)
    with pytest.raises(NotAccurate, match="broken"):
        solver.smallest(1, solver.left[:, None])
