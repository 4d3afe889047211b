"""The score extended from a sample: against a dense version of the same formula, and against f_t itself."""

from __future__ import annotations

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

import farpoint as fp
from farpoint.diffusion import nystrom
from farpoint.diffusion.nystrom import Columns, affordable_tau, columns_of, low_rank, walk_ends
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, UnknownName
from tests.helpers import brute
from tests.helpers.nystrom import dense_nystrom, dense_walk, random_sample, weighted_graph

WORLDS = [fp.four_rooms, fp.ring, fp.maze]
Array = NDArray[np.float64]


@pytest.mark.parametrize("tau", [1, 3, 6])
@pytest.mark.parametrize("t", [1, 4, 2.5])
@pytest.mark.parametrize("world", [fp.four_rooms(), weighted_graph(3)], ids=["four_rooms", "weighted"])
def test_nystrom_is_the_dense_formula(world: fp.World, t: float, tau: int) -> None:
    sample = random_sample(world, 0.25, seed=1)
    found = fp.extend(world, sample, t, tau=tau, remainder=False)
    np.testing.assert_allclose(found, dense_nystrom(world, sample, t, tau), rtol=1e-6, atol=1e-9)


def test_rank_keeps_the_leading_components() -> None:
    world = fp.maze()
    sample = random_sample(world, 0.3, seed=0)
    found = fp.extend(world, sample, 4, tau=8, rank=7, remainder=False)
    assert found.details["rank"] == 7
    np.testing.assert_allclose(found, dense_nystrom(world, sample, 4, 8, rank=7), rtol=1e-7, atol=1e-12)


def test_remainder_is_the_missing_share_by_least_squares() -> None:
    world = fp.maze()
    sample = random_sample(world, 0.2, seed=2)
    walk, degrees = dense_walk(world)
    low = np.asarray(fp.extend(world, sample, 4, tau=24, remainder=False))
    first = np.sqrt(degrees / degrees.sum())
    kernel = np.linalg.matrix_power(walk, 24) - np.outer(first, first)
    # The range of Q is the range of its columns: the projection needs no eigenvectors.
    basis, _ = np.linalg.qr(kernel[:, sample])
    missing = (1.0 - (basis**2).sum(axis=1) - first**2) / degrees
    true = brute.score(world.adjacency.toarray(), 4)
    factor = np.linalg.lstsq(missing[sample, None], (true - low)[sample], rcond=None)[0][0]
    assert factor > 0
    np.testing.assert_allclose(fp.extend(world, sample, 4, tau=24), low + factor * missing, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("t", [1, 4, 13])
def test_all_states_give_the_score_itself(make: type, t: int) -> None:
    world = make()
    found = fp.extend(world, np.arange(world.n_states), t, tau=1)
    np.testing.assert_allclose(found, fp.score(world, t=t), rtol=1e-8, atol=1e-12)
    assert found.details["error_estimate"] < 1e-8


@pytest.mark.parametrize("t", [4, 13])
@pytest.mark.parametrize("make", WORLDS)
def test_half_of_the_states_tell_the_rest(make: type, t: int) -> None:
    world = make()
    true = fp.score(world, t=t)
    draws = [fp.extend(world, random_sample(world, 0.5, seed), t) for seed in range(10)]
    assert np.mean([np.corrcoef(found, true)[0, 1] for found in draws]) > 0.99


@pytest.mark.parametrize("t", [4, 13])
@pytest.mark.parametrize("make", WORLDS)
def test_a_tenth_tells_more_than_the_degrees(make: type, t: int) -> None:
    world = make()
    true = fp.score(world, t=t)
    draws = [fp.extend(world, random_sample(world, 0.1, seed), t) for seed in range(10)]
    mean = np.mean([np.corrcoef(found, true)[0, 1] for found in draws])
    degrees = np.corrcoef(1 / brute_degrees(world), true)[0, 1]
    assert mean > max(0.93, degrees + 0.05)


def brute_degrees(world: fp.World) -> Array:
    return np.asarray(world.adjacency.toarray().sum(axis=1))


def test_ring_does_not_depend_on_the_basis_of_repeated_eigenvalues() -> None:
    # A quarter turn maps the ring onto itself and mixes the eigenvectors of each repeated eigenvalue.
    world = fp.ring()
    assert world.positions is not None
    cells = {tuple(cell): state for state, cell in enumerate(world.positions.tolist())}
    row, column = (world.positions.min(axis=0) + world.positions.max(axis=0)) // 2
    turned = np.array([cells[(c - column + row, row - r + column)] for r, c in cells])
    sample = random_sample(world, 0.3, seed=5)
    for method in ("nystrom", "harmonics"):
        found = fp.extend(world, sample, 4, method=method, tau=6)
        again = fp.extend(world, turned[sample], 4, method=method, tau=6)
        np.testing.assert_allclose(again[turned], found, rtol=1e-7, atol=1e-10)


def test_harmonics_is_the_dense_formula() -> None:
    world = fp.four_rooms()
    sample = random_sample(world, 0.4, seed=0)
    walk, degrees = dense_walk(world)
    kernel = np.linalg.matrix_power(walk, 3)[:, sample]
    values, vectors = np.linalg.eigh(kernel[sample])
    keep = values > 1e-4 * values.max()
    known = brute.score(world.adjacency.toarray(), 4)[sample] * np.sqrt(degrees[sample])
    weights = vectors[:, keep] @ (vectors[:, keep].T @ known / values[keep])
    found = fp.extend(world, sample, 4, method="harmonics", tau=3)
    np.testing.assert_allclose(found, kernel @ weights / np.sqrt(degrees), rtol=1e-8, atol=1e-12)
    assert found.details["rank"] == keep.sum()


def test_harmonics_of_a_well_determined_sample_agree_with_the_score_there() -> None:
    world = fp.maze()
    sample = fp.diffusion.choose_landmarks(world, 30)
    found = fp.extend(world, sample, 13, method="harmonics", tau=4)
    np.testing.assert_allclose(found[sample], fp.score(world, t=13)[sample], rtol=1e-9)


def test_error_estimate_is_the_error_where_all_are_checked() -> None:
    world = fp.maze()
    sample = random_sample(world, 0.1, seed=3)
    outside = np.setdiff1d(np.arange(world.n_states), sample)
    for method in ("nystrom", "harmonics"):
        found = fp.extend(world, sample, 4, method=method)
        error = (found - brute.score(world.adjacency.toarray(), 4))[outside]
        assert found.details["error_estimate"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-9)


def test_error_estimate_is_near_the_error_where_some_are_checked() -> None:
    world = fp.random_maze(45, 45)
    true = fp.score(world, t=4)
    for share in (0.03, 0.1):
        sample = random_sample(world, share, seed=0)
        found = fp.extend(world, sample, 4)
        outside = np.setdiff1d(np.arange(world.n_states), sample)
        assert found.details["error_estimate"] == pytest.approx(
            np.sqrt(np.mean((found - true)[outside] ** 2)), rel=0.25
        )


def test_fraction_of_t_has_no_error_estimate() -> None:
    world = fp.ring()
    assert np.isnan(fp.extend(world, fp.diffusion.choose_landmarks(world, 50), 2.5).details["error_estimate"])


def test_record_survives_copies_and_pickles() -> None:
    world = fp.ring()
    found = fp.extend(world, fp.diffusion.choose_landmarks(world, 40), 4)
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert (other.t, other.solver) == (4.0, "nystrom")
        for name in ("tau", "rank", "error_estimate"):
            assert other.details[name] == found.details[name]
        np.testing.assert_array_equal(other.details["sample"], fp.diffusion.choose_landmarks(world, 40))
        np.testing.assert_array_equal(other, found)


def test_a_world_that_forgets_at_once_has_no_far_points() -> None:
    # Two states: the lazy walk is uniform after one step, and every f_t is 0.
    found = fp.extend(fp.grid((2,)), [0, 1], 4)
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
    assert found.details["rank"] == 0
    # A complete graph mixes as fast from everywhere.
    world = fp.World.from_graph(np.ones((12, 12)) - np.eye(12))
    for t in (1, 4):
        found = fp.extend(world, [0, 3, 7], t)
        np.testing.assert_allclose(found, fp.score(world, t=t), rtol=0.2)


def test_bad_input_is_refused() -> None:
    world = fp.ring()
    with pytest.raises(InvalidInput, match="sample must hold different states; got 3, 2 different"):
        fp.extend(world, [1, 2, 2])
    with pytest.raises(InvalidInput, match=r"sample must lie in 0 … 191; got 192"):
        fp.extend(world, [1, 192])
    with pytest.raises(InvalidInput, match="sample must have from 2 to"):
        fp.extend(world, [1])
    with pytest.raises(UnknownName, match="method must be one of nystrom, harmonics; got 'nystrm'"):
        fp.extend(world, [1, 2], method="nystrm")
    with pytest.raises(InvalidInput, match="tau must be at least 1"):
        fp.extend(world, [1, 2], tau=0)
    with pytest.raises(InvalidInput, match="rank must be at most 2"):
        fp.extend(world, [1, 2], rank=3)
    with pytest.raises(InvalidInput, match="t must be a finite number above 0"):
        fp.extend(world, [1, 2], t=0)
    with pytest.raises(InvalidInput, match="t must be a whole number with method='harmonics'"):
        fp.extend(world, [1, 2], t=2.5, method="harmonics")
    with pytest.raises(InvalidInput, match="world must be symmetric to extend a score"):
        fp.extend(fp.four_rooms(wind=0.3), [1, 2])


def plane(n_points: int = 3000, n_states: int = 250) -> fp.World:
    return fp.World.from_samples(np.random.default_rng(1).uniform(size=(n_points, 2)), n_states=n_states)


def test_extend_to_is_the_score_at_the_states() -> None:
    world = plane()
    assert world.observations is not None
    for t in (4, 13):
        scores = fp.score(world, t=t)
        np.testing.assert_allclose(fp.diffusion.extend_to(world, scores, world.observations), scores, rtol=0, atol=1e-8)


def test_extend_to_predicts_states_that_were_left_out() -> None:
    # A smooth function of the plane: between the states it must be near its own values.
    world = plane()
    assert world.observations is not None
    unseen = np.random.default_rng(7).uniform(0.05, 0.95, size=(500, 2))

    def smooth(points: Array) -> Array:
        return np.asarray(2.0 + np.sin(3 * points[:, 0]) * np.cos(2 * points[:, 1]))

    found = fp.diffusion.extend_to(world, smooth(world.observations), unseen)
    assert np.abs(found - smooth(unseen)).max() < 0.05
    nearest = smooth(world.observations)[world.nearest_states(unseen)]
    assert np.sqrt(np.mean((found - smooth(unseen)) ** 2)) < 0.3 * np.sqrt(np.mean((nearest - smooth(unseen)) ** 2))


def test_extend_to_refuses_what_it_cannot_place() -> None:
    world = plane(500, 50)
    scores = fp.score(world)
    assert fp.diffusion.extend_to(world, scores, [0.5, 0.5]).shape == (1,)
    with pytest.raises(InvalidInput, match="observations must have 2 numbers each; got 3"):
        fp.diffusion.extend_to(world, scores, np.zeros((4, 3)))
    with pytest.raises(InvalidInput, match="scores must have one finite entry per state"):
        fp.diffusion.extend_to(world, scores[:-1], [0.5, 0.5])
    with pytest.raises(InvalidInput, match="world must have observations"):
        fp.diffusion.extend_to(fp.ring(), fp.score(fp.ring()), [0.5, 0.5])


def test_extending_very_long_walks_ends() -> None:
    world = fp.four_rooms()
    extended = fp.extend(world, fp.diffusion.choose_landmarks(world, 30), 5000)
    assert np.abs(np.asarray(extended)).max() < 1e-12


def test_four_steps_unless_told_otherwise() -> None:
    world = fp.open_room(5, 6)
    sample = np.arange(0, 30, 2)
    found = fp.extend(world, sample)
    assert found.t == 4
    np.testing.assert_array_equal(found, fp.extend(world, sample, 4))


def test_walks_that_would_take_for_ever_are_refused() -> None:
    world = fp.ring()
    with pytest.raises(InvalidInput, match=r"tau must be small enough .*; got 1000000000"):
        fp.extend(world, [0, 50, 100], t=4, tau=10**9)
    assert fp.extend(world, [0, 50, 100], t=4, tau=1000).details["tau"] == 1000


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
    columns = leading.columns
    psi = (columns.matrix - np.outer(columns.first, columns.first[columns.sample])) @ leading.mix
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
    monkeypatch.setattr(nystrom, "MOST_ENTRIES", 36 * 1500)
    tau = affordable_tau(walk, sample, 500)
    assert 16 <= tau < 100
    assert columns_of(walk, sample, tau).matrix.nnz < 1.2 * 36 * 1500
    assert fp.extend(world, sample, 4).details["tau"] == affordable_tau(walk, sample, 1200)


def test_tau_is_at_least_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.open_room(20, 20)
    monkeypatch.setattr(nystrom, "MOST_ENTRIES", 1)
    assert affordable_tau(Walk.of(world), np.arange(10), 500) == 1


@pytest.mark.parametrize("make", [fp.four_rooms, fp.ring, fp.maze])
def test_farthest_landmarks_cover_within_twice_the_best(make: type) -> None:
    # Gonzalez: every state is no farther from the points than the points are from each other.
    world = make()
    steps = dict(nx.all_pairs_shortest_path_length(nx.from_scipy_sparse_array(world.adjacency)))
    away = np.array([[steps[u][v] for v in range(world.n_states)] for u in range(world.n_states)])
    points = fp.diffusion.choose_landmarks(world, 12, seed=4)
    between = away[np.ix_(points, points)] + 10**6 * np.eye(12, dtype=int)
    assert away[points].min(axis=0).max() <= between.min()


@pytest.mark.parametrize("method", ["farthest", "random"])
def test_landmarks_are_different_states_and_follow_the_seed(method: str) -> None:
    world = fp.maze()
    for n in (1, 2, 20, world.n_states):
        points = fp.diffusion.choose_landmarks(world, n, method, seed=1)
        assert np.unique(points).size == n == points.size
        np.testing.assert_array_equal(points, fp.diffusion.choose_landmarks(world, n, method, seed=1))
    assert not np.array_equal(
        fp.diffusion.choose_landmarks(world, 20, method, seed=1),
        fp.diffusion.choose_landmarks(world, 20, method, seed=2),
    )


def test_bad_choices_of_landmarks_are_refused() -> None:
    with pytest.raises(UnknownName, match="method must be one of farthest, random"):
        fp.diffusion.choose_landmarks(fp.ring(), 3, "best")
    with pytest.raises(InvalidInput, match="n_landmarks must be at most 192"):
        fp.diffusion.choose_landmarks(fp.ring(), 193)


def test_at_least_one_landmark_and_at_most_all_states() -> None:
    world = fp.open_room(3, 3)
    assert fp.diffusion.choose_landmarks(world, 9, "random").tolist() == list(range(9))
    for wrong, rule in ((0, "at least 1"), (10, "at most 9")):
        with pytest.raises(InvalidInput, match=f"n_landmarks must be {rule}; got {wrong}"):
            fp.diffusion.choose_landmarks(world, wrong)


def test_seeds_are_not_negative() -> None:
    with pytest.raises(InvalidInput, match="seed must be at least 0; got -1"):
        fp.diffusion.choose_landmarks(fp.open_room(3, 3), 2, seed=-1)
