"""Eigenvectors of the walk from a few of its columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

import farpoint as fp
from farpoint.diffusion.extension import lowrank
from farpoint.diffusion.extension.kernels import walk_ends
from farpoint.diffusion.extension.lowrank import Columns, affordable_tau, columns_of, low_rank
from farpoint.diffusion.walk import Walk
from tests.helpers.nystrom import dense_nystrom, dense_walk, random_sample


def test_columns_are_those_of_the_dense_power() -> None:
    world = fp.maze()
    sample = random_sample(world, 0.2, seed=4)
    walk, degrees = dense_walk(world)
    columns = columns_of(Walk.of(world), sample, 7)
    expected = np.linalg.matrix_power(walk, 7)[:, sample]
    np.testing.assert_allclose(columns.matrix.toarray(), expected, atol=1e-15)
    np.testing.assert_allclose(columns.within, expected[sample], atol=1e-15)
    np.testing.assert_array_equal(columns.degrees, degrees)


def test_eigenvectors_are_orthonormal_and_free_of_the_constant_one() -> None:
    world = fp.maze()
    leading = low_rank(columns_of(Walk.of(world), random_sample(world, 0.3, seed=0), 8))
    psi = leading.vectors()
    np.testing.assert_allclose(psi.T @ psi, np.eye(psi.shape[1]), atol=1e-6)
    np.testing.assert_allclose(psi.T @ np.sqrt(dense_walk(world)[1]), 0.0, atol=1e-6)
    assert ((leading.omega > 0) & (leading.omega < 1)).all()


def test_blocks_and_threads_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.random_maze(50, 50)
    sample = fp.diffusion.choose_landmarks(world, 120)
    whole = fp.extend(world, sample, 4, tau=6, n_jobs=1)

    def hundred_rows(columns: Columns) -> list[tuple[int, int]]:
        n_states = columns.degrees.size
        return [(first, min(first + 100, n_states)) for first in range(0, n_states, 100)]

    monkeypatch.setattr(Columns, "blocks", hundred_rows)
    in_blocks = fp.extend(world, sample, 4, tau=6, n_jobs=1)
    np.testing.assert_allclose(in_blocks, whole, rtol=1e-10)
    np.testing.assert_array_equal(fp.extend(world, sample, 4, tau=6, n_jobs=2), in_blocks)


@pytest.mark.parametrize(("tau", "sparse"), [(4, True), (24, False)])
def test_sparse_and_filled_products_are_the_dense_formula(tau: int, sparse: bool) -> None:
    # A twentieth of the entries decides which products are formed.
    world = fp.random_maze(35, 35)
    sample = fp.diffusion.choose_landmarks(world, 40)
    columns = columns_of(Walk.of(world), sample, tau)
    assert (columns.matrix.nnz < 0.05 * world.n_states * 40) == sparse
    found = fp.extend(world, sample, 4, tau=tau, remainder=False)
    np.testing.assert_allclose(found, dense_nystrom(world, sample, 4, tau), rtol=1e-6, atol=1e-9)


def test_dropped_tails_of_long_walks_do_not_matter() -> None:
    world = fp.random_maze(50, 50)
    walk, sample, tau = Walk.of(world), fp.diffusion.choose_landmarks(world, 60), 200
    cut = columns_of(walk, sample, tau)
    moves = walk.moves
    pointers, ends, values = walk_ends(moves.indptr, moves.indices, moves.data, walk.stay, walk.leave, sample, tau, 0.0)
    root = np.sqrt(walk.leaving)
    data = values / root[ends] * np.repeat(root[sample], np.diff(pointers))
    matrix = csr_array(csc_array((data, ends, pointers), shape=(world.n_states, sample.size)))
    whole = Columns(matrix, sample, walk.leaving, tau)
    assert cut.matrix.nnz < whole.matrix.nnz
    np.testing.assert_allclose(cut.matrix.toarray(), whole.matrix.toarray(), rtol=0, atol=1e-15)
    np.testing.assert_allclose(low_rank(cut).scores(4), low_rank(whole).scores(4), rtol=1e-4)


def test_tau_shrinks_to_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.open_room(60, 60)
    walk, sample = Walk.of(world), fp.diffusion.choose_landmarks(world, 36)
    assert affordable_tau(walk, sample, 500) == 500
    monkeypatch.setattr(lowrank, "MOST_ENTRIES", 36 * 1500)
    tau = affordable_tau(walk, sample, 500)
    assert 16 <= tau < 100
    assert columns_of(walk, sample, tau).matrix.nnz < 1.2 * 36 * 1500
    assert fp.extend(world, sample, 4).tau == affordable_tau(walk, sample, 1200)


def test_tau_is_at_least_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.open_room(20, 20)
    monkeypatch.setattr(lowrank, "MOST_ENTRIES", 1)
    assert affordable_tau(Walk.of(world), np.arange(10), 500) == 1
