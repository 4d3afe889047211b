"""The local solver on maps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import farpoint as fp
from farpoint.diffusion.scores.lattice import LatticeScores, degree_sums, degrees_of_rows, lattice_scores
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
    assert len(plan.lattice.blocks()) == 8
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


@pytest.mark.parametrize("n_rows", [30, 20])
def test_states_beyond_the_tolerance_are_expanded_further(n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LatticeScores, "first_error", property(lambda self: 0.1))
    world = fp.open_room(n_rows, 40)
    found = fp.score(world, 40, "local", tolerance=1e-3)
    assert found.error_bound is not None
    assert (found.error_bound <= 1e-3 * found).all()
    expected = brute.score(world.adjacency.toarray(), 40)
    assert (np.abs(found - expected) <= found.error_bound).all()


@given(
    size=st.integers(8, 20), wall=st.floats(0, 0.4), seed=st.integers(0, 999), t=st.integers(1, 40),
    tolerance=st.sampled_from([0.3, 1e-2, 1e-3, 1e-5, 1e-9]),
)  # fmt: skip
def test_expanded_scores_are_right_to_their_bound(size: int, wall: float, seed: int, t: int, tolerance: float) -> None:
    world = fp.random_maze(size, size + 3, wall=wall, seed=seed)
    assert world.floor is not None
    cells = world.floor.astype(np.uint8)
    # Also where the map is so small that the solver would take another way.
    lattice = LatticeScores(cells, t, tolerance, *degree_sums(cells))
    found, bounds = lattice.block((0, size))
    expected = brute.score(world.adjacency.toarray(), t)
    assert bounds is not None
    assert (np.abs(found - expected) <= bounds + 1e-13).all()
    assert (bounds <= tolerance * found + 1e-14).all()


def test_expanded_scores_do_not_depend_on_the_block() -> None:
    # In the corners of this room scores are small, and are expanded twice.
    world = fp.random_maze(61, 47, seed=3)
    for t, tolerance in ((30, 1e-3), (30, 1e-6), (13, 0.1)):
        lattice = lattice_scores(world.floor, t, tolerance)
        assert lattice is not None
        whole = np.concatenate([one[None] for one in lattice.block((0, 61)) if one is not None])
        pieces = [lattice.block(block) for block in pairwise([*range(0, 61, 7), 61])]
        np.testing.assert_array_equal(np.concatenate([np.array(piece) for piece in pieces], axis=1), whole)


# Larger t have longer loops to compile.
@pytest.mark.parametrize("t", [1, *(pytest.param(t, marks=pytest.mark.slow) for t in (2, 3, 4))])
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


def test_degrees_of_any_rows() -> None:
    floor = fp.random_maze(9, 12, seed=1).floor
    assert floor is not None
    padded = np.pad(floor.astype(int), 1)
    degrees = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) * floor
    wide = np.pad(degrees, ((4, 4), (0, 1)))
    for first, last in ((0, 9), (-3, 2), (5, 13), (-4, 13), (4, 5)):
        found = degrees_of_rows(floor.view(np.uint8), first, last).reshape(last - first, 13)
        np.testing.assert_array_equal(found, wide[first + 4 : last + 4])
