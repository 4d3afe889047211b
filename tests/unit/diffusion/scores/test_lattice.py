"""The local solver on maps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import farpoint as fp
from farpoint.diffusion.scores.lattice import LatticeScores, degrees_of_rows, lattice_scores
from farpoint.diffusion.scores.lattice_kernels import diamond_scores
from farpoint.diffusion.scores.local import LocalScores, StateScores
from farpoint.diffusion.scores.plain_lattice import plain_scores
from farpoint.diffusion.walk import Walk
from tests.helpers import brute
from tests.helpers.graphs import without_map


@given(
    rows=st.integers(2, 25),
    cols=st.integers(2, 25),
    wall=st.floats(0, 0.5),
    seed=st.integers(0, 999),
    t=st.integers(1, 9),
)
def test_maps_score_as_matrix_powers_do(rows: int, cols: int, wall: float, seed: int, t: int) -> None:
    world = fp.random_maze(rows, cols, wall=wall, seed=seed)
    if world.n_states < 2:
        return
    found, bounds = LocalScores.of(Walk.of(world), t).compute()
    assert bounds is None
    np.testing.assert_allclose(found, brute.score(world.adjacency.toarray(), t), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("t", [1, 4, 13])
def test_map_and_graph_kernels_agree_across_blocks(t: int) -> None:
    world = fp.random_maze(61, 47, seed=3)
    lattice = lattice_scores(world.floor, t)
    assert lattice is not None
    assert lattice_scores(without_map(world).floor, t) is None
    whole, _ = lattice.block((0, 61))
    cuts = [*range(0, 61, 7), 61]
    in_blocks = [lattice.block(block)[0] for block in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(in_blocks), whole)
    np.testing.assert_array_equal(fp.score(world, t, "local"), whole)
    states = StateScores(Walk.of(without_map(world)), t)
    cuts = [*range(0, world.n_states, 100), world.n_states]
    in_blocks = [states.block(block)[0] for block in pairwise(cuts)]
    np.testing.assert_allclose(np.concatenate(in_blocks), whole, rtol=1e-12)


def test_numbers_do_not_depend_on_the_workers() -> None:
    world = fp.random_maze(300, 450)
    plan = LocalScores.of(Walk.of(world), 4)
    assert plan.lattice is not None
    assert len(plan.lattice.blocks()) == 3
    whole, _ = plan.lattice.block((0, 300))
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(plan.compute(n_jobs=n_jobs)[0], whole)


def test_one_door_closed_is_no_longer_a_map() -> None:
    # Two floor cells side by side without a move between them.
    world = fp.random_maze(20, 30)
    cut = sparse.lil_array(world.adjacency)
    here, there = world.adjacency.tocoo().row[40], world.adjacency.tocoo().col[40]
    cut[here, there] = cut[there, here] = 0
    closed = fp.World.from_graph(sparse.csr_array(cut), positions=world.positions)
    assert closed.floor is None
    np.testing.assert_allclose(fp.score(closed, 4, "local"), brute.score(cut.toarray(), 4), rtol=1e-11)


def test_a_small_map_is_followed_as_a_graph() -> None:
    # Most of the diamond of 13 steps would be walls.
    assert lattice_scores(fp.open_room(6, 6).floor, 2) is not None
    assert lattice_scores(fp.open_room(6, 6).floor, 13) is None
    assert lattice_scores(fp.grid((9,)).floor, 1) is None
    assert lattice_scores(fp.World.from_map("." * 50).floor, 2) is None


def test_tiles_that_lose_too_much_are_followed_farther(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LatticeScores, "reach", property(lambda self: 0.5))
    world = fp.open_room(60, 60)
    found = fp.score(world, 40, "local", tolerance=1e-3)
    assert found.error_bound is not None
    assert (found.error_bound <= 1e-3 * found).all()


@pytest.mark.parametrize("t", [1, 2, 3, 4])
def test_all_kernels_give_the_same_bits(t: int, monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.random_maze(70, 90, seed=t)
    lattice = lattice_scores(world.floor, t)
    assert lattice is not None
    found = {}
    kinds = (("plain", plain_scores, 10**9), ("compiled", diamond_scores, 10**9), ("unrolled", None, 0))
    for name, kernel, worth_unrolling in kinds:
        monkeypatch.setattr("farpoint.diffusion.scores.lattice.kernel_for", lambda plan, kernel=kernel: kernel)
        monkeypatch.setattr("farpoint.diffusion.scores.lattice.WORTH_UNROLLING", worth_unrolling)
        found[name] = lattice.block((0, 70))[0]
    np.testing.assert_array_equal(found["plain"], found["compiled"])
    np.testing.assert_array_equal(found["unrolled"], found["compiled"])
    np.testing.assert_allclose(found["plain"], brute.score(world.adjacency.toarray(), t), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("t", [12, 30])
def test_plain_and_compiled_walks_lose_the_same(t: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lattice = lattice_scores(fp.random_maze(40, 50, seed=2).floor, t, 1e-2)
    assert lattice is not None
    found = []
    for kernel in (plain_scores, diamond_scores):
        monkeypatch.setattr("farpoint.diffusion.scores.lattice.kernel_for", lambda plan, kernel=kernel: kernel)
        found.append(lattice.block((3, 29)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_degrees_of_any_rows() -> None:
    floor = fp.random_maze(9, 12, seed=1).floor
    assert floor is not None
    padded = np.pad(floor.astype(int), 1)
    degrees = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) * floor
    wide = np.pad(degrees, ((4, 4), (0, 1)))
    for first, last in ((0, 9), (-3, 2), (5, 13), (-4, 13), (4, 5)):
        found = degrees_of_rows(floor.view(np.uint8), first, last).reshape(last - first, 13)
        np.testing.assert_array_equal(found, wide[first + 4 : last + 4])
