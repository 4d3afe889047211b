"""The inverse of the Laplacian from sparse factors, with restarts and added edges, against dense ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import linalg
from scipy.sparse.linalg import eigsh

import farpoint as fp
from farpoint.diffusion.spectra.inverse import LaplacianInverse, NotAccurate, check_residual
from farpoint.diffusion.spectra.lanczos import eigenpairs
from farpoint.diffusion.spectra.laplacian import Laplacian
from farpoint.diffusion.walk import Walk
from tests.helpers.graphs import directed_graph, with_episodes

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
    monkeypatch.setattr("farpoint.diffusion.spectra.inverse.eigenpairs", imprecise(eigenpairs, n_runs=1))
    again, psi = solver.smallest(2, solver.left[:, None])
    np.testing.assert_allclose(again, nu, atol=1e-13)
    assert solver.residual(again, psi) < 1e-12


def test_runs_that_all_lose_digits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = LaplacianInverse(Laplacian.of(Walk.of(fp.open_room(20, 15))))
    monkeypatch.setattr("farpoint.diffusion.spectra.inverse.eigenpairs", imprecise(eigenpairs, n_runs=100))
    with pytest.raises(NotAccurate, match="must be at most 1e-08"):
        solver.smallest(2, solver.left[:, None])


@pytest.mark.skipif("rng" not in inspect.signature(eigsh).parameters, reason="this scipy takes no generator")
def test_repeated_values_give_the_same_vectors_in_each_run() -> None:
    """A cube has so few different values that the iterations go on from random vectors."""
    cube = fp.World.from_graph(nx.hypercube_graph(9))
    np.testing.assert_array_equal(fp.spectrum(cube, 50).psi, fp.spectrum(cube, 50).psi)
