"""Multigrid for worlds whose factors would fill up, against dense and sparse solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg
from scipy.sparse.linalg import lobpcg

import farpoint as fp
from farpoint.diffusion.spectra import leading, multigrid
from farpoint.diffusion.spectra.inverse import LaplacianInverse, NotAccurate
from farpoint.diffusion.spectra.laplacian import Laplacian
from farpoint.diffusion.spectra.leading import is_wide, with_every_copy
from farpoint.diffusion.spectra.multigrid import MultigridSolver
from farpoint.diffusion.walk import Walk
from tests.helpers.graphs import spider

pytestmark = pytest.mark.skipif(not multigrid.multigrid_installed(), reason="needs farpoint[scale]")


def laplacian_of(world: fp.World) -> Laplacian:
    return Laplacian.of(Walk.of(world))


@pytest.mark.parametrize("world", [fp.grid((12, 12, 12)), fp.random_maze(45, 45), spider(9, 70)], ids=str)
def test_multigrid_gives_the_same_eigenvalues(world: fp.World) -> None:
    laplacian = laplacian_of(world)
    nu, psi, beyond = with_every_copy(MultigridSolver(laplacian), 6)
    whole = linalg.eigvalsh(laplacian.toarray())
    np.testing.assert_allclose(nu, whole[:6], atol=1e-12)
    assert beyond == pytest.approx(whole[6], abs=1e-12)
    np.testing.assert_allclose(psi.T @ psi, np.eye(6), atol=1e-8)
    assert np.linalg.norm(laplacian @ psi - psi * nu, axis=0).max() < 1e-8


def test_wide_worlds_take_multigrid_the_same_twice_and_leave_the_global_generator_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert is_wide(fp.grid((28, 28, 26)).adjacency)
    # Direct solvers take long where multigrid pays.
    monkeypatch.setattr(leading, "is_wide", lambda pattern: True)
    world = fp.grid((17, 16, 15))
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    first = fp.spectrum(world, 2)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index]  # noqa: NPY002
    np.testing.assert_array_equal(first.psi, fp.spectrum(world, 2).psi)
    direct = with_every_copy(LaplacianInverse(laplacian_of(world)), 2)
    np.testing.assert_allclose(first.nu, direct[0], atol=1e-12)
    assert first.omega_next == pytest.approx(1 - direct[2] / 2, abs=1e-12)


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


def test_multigrid_that_stops_early_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def two_steps(*args: Any, **kwargs: Any) -> Any:
        return lobpcg(*args, **{**kwargs, "maxiter": 2})

    world = fp.grid((24, 24))
    monkeypatch.setattr(leading, "is_wide", lambda pattern: True)
    monkeypatch.setattr(multigrid, "lobpcg", two_steps)
    laplacian = laplacian_of(world)
    solver = MultigridSolver(laplacian)
    with pytest.raises(NotAccurate, match="residual"):
        solver.smallest(3, solver.left[:, None])
    np.testing.assert_allclose(fp.spectrum(world, 4).nu, linalg.eigvalsh(laplacian.toarray())[:4], atol=1e-13)


@pytest.mark.parametrize("error", [ValueError, np.linalg.LinAlgError])
def test_iterations_that_break_down_are_not_accurate(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **settings: Any) -> Any:
        raise error("broken")

    solver = MultigridSolver(laplacian_of(fp.grid((9, 9, 9))))
    monkeypatch.setattr(multigrid, "lobpcg", broken)
    with pytest.raises(NotAccurate, match="broken"):
        solver.smallest(1, solver.left[:, None])
