"""The local solver on maps, and the lazy walk as a sum of Chebyshev polynomials."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy import sparse

import farpoint as fp
from farpoint.diffusion.bounds import rounding_bound
from farpoint.diffusion.graphs import GraphPlan
from farpoint.diffusion.maps import LARGEST_UNROLLED, Expansion, MapPlan
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput
from tests.helpers import brute
from tests.helpers.graphs import without_map


def plan_of(world: fp.World, t: int, tolerance: float | None = None) -> MapPlan:
    """The plan of a map, also where it is so small that the solver takes another way."""
    assert world.floor is not None
    return MapPlan(world.floor, t, tolerance, *world.floor.degree_sums)


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
    (found,) = plan_of(world, t).block((0, rows))
    np.testing.assert_allclose(found, brute.score(world.adjacency.toarray(), t), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("t", [1, 4, 13])
def test_map_and_graph_kernels_agree_across_blocks(t: int) -> None:
    world = fp.random_maze(61, 47, seed=3)
    assert MapPlan.of(world.floor, t) is not None
    assert MapPlan.of(without_map(world).floor, t) is None
    (whole,) = plan_of(world, t).block((0, 61))
    cuts = [*range(0, 61, 7), 61]
    in_blocks = [plan_of(world, t).block(block)[0] for block in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(in_blocks), whole)
    states = GraphPlan(Walk.of(without_map(world)), t, None).shared()
    cuts = [*range(0, world.n_states, 100), world.n_states]
    in_blocks = [states.block(block)[0] for block in pairwise(cuts)]
    np.testing.assert_allclose(np.concatenate(in_blocks), whole, rtol=1e-12)


def test_numbers_do_not_depend_on_the_workers() -> None:
    world = fp.random_maze(300, 450)
    assert len(plan_of(world, 4).tasks) == 8
    (whole,) = plan_of(world, 4).block((0, 300))
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(fp.score(world, 4, "local", n_jobs=n_jobs), whole)


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
    # Most of the square around a walk of 13 steps would be walls.
    assert MapPlan.of(fp.open_room(6, 6).floor, 2) is not None
    assert MapPlan.of(fp.open_room(6, 6).floor, 13) is None
    assert MapPlan.of(fp.grid((9,)).floor, 1) is None
    assert MapPlan.of(fp.World.from_map("." * 50).floor, 2) is None


@pytest.mark.parametrize("n_rows", [30, 20])
def test_states_beyond_the_tolerance_are_expanded_further(n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MapPlan, "first_error", property(lambda self: 0.1))
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
    found, bounds = plan_of(world, t, tolerance).block((0, size))
    expected = brute.score(world.adjacency.toarray(), t)
    assert (np.abs(found - expected) <= bounds + 1e-13).all()
    assert (bounds <= tolerance * found + 1e-14).all()


def test_expanded_scores_do_not_depend_on_the_block() -> None:
    # In the corners of this room scores are small, and are expanded twice.
    world = fp.random_maze(61, 47, seed=3)
    for t, tolerance in ((30, 1e-3), (30, 1e-6), (13, 0.1)):
        plan = plan_of(world, t, tolerance)
        whole = np.array(plan.block((0, 61)))
        pieces = [plan.block(block) for block in pairwise([*range(0, 61, 7), 61])]
        np.testing.assert_array_equal(np.concatenate([np.array(piece) for piece in pieces], axis=1), whole)


# Larger t have longer loops to compile.
@pytest.mark.parametrize("t", [1, 6, 20, 100, *(pytest.param(t, marks=pytest.mark.slow) for t in (2, 3, 4, 5))])
def test_all_kernels_agree_within_the_rounding_of_their_sums(t: int, monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.random_maze(70, 90, seed=t)
    walk = Walk.of(without_map(world))
    (pushed,) = GraphPlan(walk, t, None).shared().block((0, world.n_states))
    allowed = rounding_bound(pushed, t, 4, world.n_states, walk.pi_squared)
    (found,) = plan_of(world, t).block((0, 70))
    assert (np.abs(found - pushed) <= allowed).all()
    if t <= LARGEST_UNROLLED:
        monkeypatch.setattr("farpoint.diffusion.maps.LARGEST_UNROLLED", 0)
        (expanded,) = plan_of(world, t).block((0, 70))
        assert (np.abs(expanded - pushed) <= allowed).all()


def test_a_block_with_its_halo_has_the_scores_of_the_whole() -> None:
    world = fp.random_maze(61, 47, seed=3)
    assert world.floor is not None
    cells, sums = world.floor.cells, world.floor.degree_sums
    for t, tolerance in ((1, None), (6, None), (30, 1e-3), (30, 1e-6)):
        plan = plan_of(world, t, tolerance)
        expected = np.zeros(cells.shape)
        expected[cells] = plan.block((0, 61))[0]
        halo = fp.diffusion.block_halo(t, tolerance)
        for rows, cols in ((slice(20, 35), slice(11, 40)), (slice(0, 9), slice(30, 47))):
            around = [slice(max(one.start - halo, 0), one.stop + halo) for one in (rows, cols)]
            found = fp.diffusion.block_scores(cells[tuple(around)], t, sums, tolerance=tolerance)
            inside = tuple(
                slice(one.start - wide.start, one.stop - wide.start)
                for one, wide in zip((rows, cols), around, strict=True)
            )
            np.testing.assert_array_equal(found[inside], expected[rows, cols])
    assert (fp.diffusion.block_scores(np.zeros((3, 4), dtype=bool), 2, sums) == 0.0).all()
    with pytest.raises(InvalidInput, match=r"degree_sums must be Σ d and Σ d² of the whole map; got \(5, 3\)"):
        fp.diffusion.block_scores(cells, 2, (5, 3))


@pytest.mark.parametrize("t", [1, 2, 3, 17, 60])
def test_coefficients_are_those_of_numpy(t: int) -> None:
    power = np.array([1.0])
    for _ in range(t):
        power = chebyshev.chebmul(power, [0.5, 0.5])
    np.testing.assert_allclose(Expansion.to(t, 0.0).coefficients, power, rtol=1e-12)


@pytest.mark.parametrize("t", [1, 5, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("error", [0.3, 1e-4, 1e-12])
def test_it_is_the_shortest_sum_that_leaves_out_little_enough(t: int, error: float) -> None:
    short = Expansion.to(t, error)
    assert short.left_out <= error
    assert short.coefficients.sum() + short.left_out == pytest.approx(1.0, abs=1e-14)
    if short.degree > 1:
        assert short.left_out + short.coefficients[-1] > error
    assert short.degree <= min(t, 8 * np.sqrt(t))


@pytest.mark.parametrize("error", [0.2, 1e-3, 1e-8, 0.0])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_bound_holds_on_any_graph(error: float, kind: type) -> None:
    for seed in range(5):
        adjacency = nx.to_numpy_array(nx.connected_watts_strogatz_graph(40, 4, 0.5, seed=seed))
        degrees = adjacency.sum(axis=1)
        walk = adjacency / degrees[:, None]
        t = 30
        expansion = Expansion.to(t, error)
        # Of p / d, by rows; each vector begins in one state.
        before: NDArray[Any] = np.diag(1.0 / degrees).astype(kind)
        now: NDArray[Any] = (walk @ np.diag(1.0 / degrees)).astype(kind)
        total = (expansion.coefficients[0] * before + expansion.coefficients[1] * now).astype(kind)
        for coefficient in expansion.coefficients[2:].astype(kind):
            before, now = now, (2 * walk.astype(kind)) @ now - before
            total += coefficient * now
        exact = np.diag(degrees) @ np.linalg.matrix_power(0.5 * (np.eye(40) + walk), t) @ np.diag(1.0 / degrees)
        found = np.linalg.norm(np.diag(degrees) @ total - exact, axis=0)
        assert (found <= expansion.error(degrees, degrees.max(), float(np.finfo(kind).epsneg)) + 1e-15).all()


@pytest.mark.slow
@pytest.mark.parametrize(("t", "tolerance"), [(4, None), (13, None), (30, 1e-3)])
def test_dask_computes_the_blocks_of_a_map_with_the_same_bits(t: int, tolerance: float | None) -> None:
    da = pytest.importorskip("dask.array")
    world = fp.random_maze(310, 240, seed=5)
    assert world.floor is not None
    cells = da.from_array(world.floor.cells, chunks=(90, 100))
    inside = da.pad(cells, 1).astype("u1")
    degrees = (inside[:-2, 1:-1] + inside[2:, 1:-1] + inside[1:-1, :-2] + inside[1:-1, 2:]) * cells
    sums = tuple(float(one) for one in da.compute(degrees.sum(dtype="f8"), (degrees.astype("f8") ** 2).sum()))
    assert sums == world.floor.degree_sums
    scores = da.map_overlap(
        fp.diffusion.block_scores,
        cells,
        t=t,
        degree_sums=sums,
        tolerance=tolerance,
        depth=fp.diffusion.block_halo(t, tolerance),
        boundary=False,
        dtype="f8",
    ).compute()
    np.testing.assert_array_equal(scores[world.floor.cells], fp.score(world, t, "local", tolerance=tolerance))
    assert (scores[~world.floor.cells] == 0.0).all()
