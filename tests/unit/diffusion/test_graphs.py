"""Scores of any walk: exact and with a tolerance, with restarts, in blocks that are kept, and estimated by probes."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import farpoint as fp
from farpoint.diffusion.graphs import (
    GraphPlan,
    JumpTables,
    ProbePlan,
    local_plan,
    power_scores,
    push_scores,
    squaring_seconds,
    updates_per_state,
)
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, WrongCheckpoint
from farpoint.files import read_arrays
from tests.helpers import brute
from tests.helpers.envs import make
from tests.helpers.graphs import directed_graph, with_episodes, without_map


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("tolerance", [0.3, 1e-2, 1e-4])
def test_the_true_error_is_within_the_bound_and_the_tolerance(graph: bool, tolerance: float) -> None:
    world = fp.random_maze(60, 60, seed=2)
    t = 40
    exact = fp.score(world, t, "local")
    found = fp.score(without_map(world) if graph else world, t, "local", tolerance=tolerance)
    assert found.error_bound is not None
    error = np.abs(found - exact)
    assert (error <= found.error_bound + 1e-13 * exact).all()
    assert (found.error_bound <= tolerance * found).all()
    assert error.max() > 0


def test_a_tolerance_keeps_the_goals_and_costs_less() -> None:
    world = fp.random_maze(150, 150)
    exact = fp.find_goals(world, fp.score(world, 60, "local"))
    found = fp.find_goals(world, fp.score(world, 60, tolerance=1e-3))
    assert np.isin(found.states, exact.states).mean() >= 0.99
    assert np.isin(exact.states, found.states).mean() >= 0.99
    walk = Walk.of(world)
    assert local_plan(walk, 60, 1e-3).seconds < 0.5 * local_plan(walk, 60).seconds


def test_scattered_states_are_put_into_a_better_order(tmp_path: Path) -> None:
    world = without_map(fp.random_maze(270, 270))
    shuffled = np.random.default_rng(0).permutation(world.n_states)
    mixed = fp.World.from_graph(world.adjacency[shuffled][:, shuffled])
    expected = np.asarray(fp.score(world, 6, "local"))
    for number, (graph, scores) in enumerate([(world, expected), (mixed, expected[shuffled])]):
        found = fp.score(graph, 6, "local", checkpoint=tmp_path / str(number))
        np.testing.assert_allclose(found, scores, rtol=1e-12)
        (piece,) = (tmp_path / str(number)).glob("block-*.npz")
        _, block = read_arrays(piece, "farpoint-score-piece")
        np.testing.assert_array_equal(np.sort(block["scores"]), np.sort(found))
        in_order = np.array_equal(block["scores"], found)
        assert in_order == (graph is world)


@pytest.mark.parametrize("graph", [False, True])
def test_an_interrupted_score_goes_on_without_computing_a_block_twice(graph: bool, tmp_path: Path) -> None:
    world = fp.random_maze(600, 600)
    world = without_map(world) if graph else world
    n_blocks = 5 if graph else 6
    folder = tmp_path / "blocks"

    def interrupt(done: int, total: int) -> None:
        assert total == n_blocks
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fp.score(world, 2, "local", checkpoint=folder, progress=interrupt, n_jobs=1)
    kept = {path.name: path.stat().st_mtime_ns for path in folder.glob("block-*.npz")}
    assert len(kept) == 3

    reported: list[tuple[int, int]] = []
    found = fp.score(world, 2, "local", checkpoint=folder, progress=lambda *at: reported.append(at))
    assert reported == [(done, n_blocks) for done in range(4, n_blocks + 1)]
    blocks = {path.name: path.stat().st_mtime_ns for path in folder.glob("block-*.npz")}
    assert len(blocks) == n_blocks
    assert kept.items() <= blocks.items()
    np.testing.assert_array_equal(found, fp.score(world, 2, "local"))

    # A damaged block is computed again; a folder of another score is refused.
    (folder / sorted(blocks)[1]).write_bytes(b"damaged")
    np.testing.assert_array_equal(fp.score(world, 2, "local", checkpoint=folder), found)
    for t, tolerance, what in ((3, None, "t"), (2, 1e-3, "tolerance")):
        with pytest.raises(WrongCheckpoint, match=rf"checkpoint must be a folder of this score; .*\b{what}\b"):
            fp.score(world, t, "local", tolerance=tolerance, checkpoint=folder)
    with pytest.raises(WrongCheckpoint, match=r"another .*world"):
        fp.score(fp.ring(), 2, "local", checkpoint=folder)


@pytest.mark.parametrize("graph", [False, True])
def test_the_bound_knows_of_rounding(graph: bool) -> None:
    # After 2000 steps in a small room the walk has mixed: what is left of the score is rounding.
    room = fp.open_room(10, 10)
    world, t = (without_map(room) if graph else room), 2000
    exact = np.asarray(fp.score(room, t, "spectral"))
    found = fp.score(world, t, "local", tolerance=1e-3)
    assert found.error_bound is not None
    assert (np.abs(found - exact) <= found.error_bound).all()
    assert (found.error_bound > 1e-3 * exact).all()


def test_a_checkpoint_leaves_the_choice_of_solver(tmp_path: Path) -> None:
    assert fp.score(fp.ring(), 4.5, checkpoint=tmp_path / "unused").solver == "spectral"
    assert not (tmp_path / "unused").exists()


EPISODIC = {
    "four_rooms": with_episodes(fp.four_rooms()),
    "windy": with_episodes(fp.maze(wind=0.3), n_starts=1),
    "many starts": with_episodes(directed_graph(1), terminal=10, n_starts=40),
    "everywhere": with_episodes(fp.ring(), terminal=0, n_starts=192),
    "lake": fp.World.from_env(make("FrozenLake8x8-v1")),
}


@pytest.mark.parametrize("name", EPISODIC)
@pytest.mark.parametrize("t", [1, 4, 13])
def test_restarts_score_as_all_weights_written_out_do(name: str, t: int) -> None:
    world = EPISODIC[name]
    assert world.restart is not None
    assert world.starts is not None
    weights = brute.restart_weights(world.adjacency.toarray(), world.restart, world.starts)
    exact = brute.walk_score(weights, t)
    np.testing.assert_allclose(fp.score(world, t, "local", form="walk"), exact, rtol=1e-10, atol=1e-14)
    some = np.array([0, world.n_states - 1, 5])
    np.testing.assert_allclose(
        GraphPlan(Walk.of(world), t, None).following().at(some)[0], exact[some], rtol=1e-10, atol=1e-14
    )
    found = fp.score(world, t, "local", form="symmetrized")
    np.testing.assert_allclose(found, brute.score(weights + weights.T, t), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("form", ["walk", "symmetrized"])
@pytest.mark.parametrize("tolerance", [0.3, 1e-2, 1e-4])
def test_the_true_error_with_restarts_is_within_the_bound_and_the_tolerance(form: str, tolerance: float) -> None:
    # Large enough that a walk of 25 steps leaves most of it alone, so that dropping mass matters.
    world = with_episodes(fp.random_maze(45, 45, seed=2), terminal=5, n_starts=30)
    exact = fp.score(world, 25, "local", form=form)
    found = fp.score(world, 25, "local", form=form, tolerance=tolerance)
    assert found.error_bound is not None
    error = np.abs(found - exact)
    assert (error <= found.error_bound + 1e-13 * exact).all()
    assert (found.error_bound <= tolerance * found).all()
    assert error.max() > 0


def test_tables_of_restarts_that_would_not_fit_are_refused() -> None:
    # More states than a dense power is taken of.
    world = with_episodes(fp.open_room(60, 60))
    with pytest.raises(InvalidInput, match=r"within 4 GiB; got 400000 × 3600\. Use solver='probes'"):
        fp.score(world, 400_000, "local")


def test_very_long_walks_on_a_small_world_are_squared_matrices() -> None:
    world = fp.four_rooms()
    for t in (10_000, 123_457, 10**9):
        exact = fp.score(world, t, "spectral")
        np.testing.assert_allclose(fp.score(without_map(world), t, "local"), exact, rtol=1e-6, atol=1e-25)
        assert fp.score(world, t).max() < 1e-3


def test_walks_that_would_take_for_ever_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"t must be small enough"):
        fp.score(fp.random_maze(150, 150), 10**9, "local")
    with pytest.raises(InvalidInput, match=r"t must be small enough for probes"):
        fp.score(fp.random_maze(150, 150), 10**9, "probes")


def test_the_time_that_maps_take_follows_cells_and_sums() -> None:
    # Half a nanosecond for each of 200 × 201 cells and each of the 5 + 13 + 25 + 41 states of four diamonds.
    walk = Walk.of(fp.open_room(200, 200))
    assert local_plan(walk, 4).seconds == pytest.approx(0.5e-9 * 200 * 201 * (5 + 13 + 25 + 41))
    # Eight polynomials are 1.6 times as dear a sum: squares of 2 … 9 cells a side, and four times that of the last for
    # clearing and adding up.
    squares = sum(side**2 for side in range(2, 10)) + 4 * 9**2
    assert local_plan(walk, 8).seconds == pytest.approx(0.5e-9 * 200 * 201 * 1.6 * squares)
    # To a tolerance far less, and in half the time where numbers of 32 bits will do.
    exact, rough, fine = (local_plan(walk, 60, tolerance).seconds for tolerance in (None, 1e-3, 1e-6))
    assert rough < 0.15 * exact
    assert 2.0 * rough < fine < exact


def test_moves_that_are_followed_by_hand() -> None:
    # From the end of a path of 4 states one move leads on in the first step, of 2 states 3 in the second, of 3 states 5
    # in the third; from a state in the middle 2, 5 and then all 6.
    assert updates_per_state(fp.grid((4,)).adjacency, 3) == (2 * (1 + 3 + 5) + 2 * (2 + 5 + 6)) / 4


def test_moves_that_are_followed_in_a_network_of_small_diameter_are_counted_in_little_memory() -> None:
    n_states, t, rng = 60_000, 13, np.random.default_rng(0)
    graph = csr_array(
        (np.ones(3 * n_states), (np.tile(np.arange(n_states), 3), rng.integers(n_states, size=3 * n_states)))
    )
    moves = csr_array(graph + graph.T)
    tracemalloc.start()
    found = updates_per_state(moves, t)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All 32 sampled states at once would meet ten million moves in one step, in five arrays of whole numbers.
    assert peak < 60 * 2**20
    samples = np.linspace(0, n_states - 1, num=32).astype(np.int64)
    distances = dijkstra(moves, indices=samples, unweighted=True)
    degrees = np.diff(moves.indptr)
    expected = sum(float((degrees * (distances <= step)).sum()) for step in range(t)) / 32
    assert found == expected


@pytest.mark.parametrize("t", [1, 2, 5, 30])
@pytest.mark.parametrize("wind", [0.0, 0.3])
def test_sparse_powers_are_dense_ones(t: int, wind: float) -> None:
    world = fp.maze(wind=wind)
    weights = world.adjacency.toarray()
    exact = brute.score(weights, t) if world.symmetric else brute.walk_score(weights, t)
    np.testing.assert_allclose(power_scores(Walk.of(world), t), exact, rtol=1e-10, atol=1e-15)


def test_small_worlds_need_no_compiler() -> None:
    code = (
        "import sys, farpoint as fp, networkx as nx\n"
        "fp.score(fp.maze(), 4), fp.score(fp.random_maze(40, 40), 4, tolerance=1e-3)\n"
        "fp.score(fp.World.from_graph(nx.barabasi_albert_graph(200, 2, seed=0)), 4)\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_tables_of_restarts_by_hand() -> None:
    # A path of three states that begins again in its first one, with a quarter of what leaves each.
    world = replace(fp.grid((3,)), restart=np.full(3, 0.25), starts=np.array([1.0, 0.0, 0.0]))
    tables = JumpTables.of(Walk.of(world), 2)
    np.testing.assert_allclose(tables.out, [[0.125, 0.125, 0.125]])
    # Where a walk without jumps is that begins in the first state, after no step and after one.
    np.testing.assert_allclose(tables.arrived, [[[1.0, 0.0, 0.0]], [[0.5, 0.375, 0.0]]])
    np.testing.assert_allclose(tables.highest, [[1.0], [0.5]])
    np.testing.assert_allclose(tables.back, [[[0.125]], [[0.125 * 0.875]]])
    assert tables.gram.shape == (3, 3)
    np.testing.assert_allclose(tables.gram[:2, :2], [[1.0, 0.5], [0.5, 0.25 + 0.375**2]])


def test_what_a_dense_power_costs_by_hand() -> None:
    # Twice log₂ 2 products of 10⁶ sums, a fifth of a nanosecond each: 0.4 ms. More than 2500 states are too many.
    assert squaring_seconds(Walk.of(fp.open_room(10, 10)), 1) == pytest.approx(4e-4)
    assert squaring_seconds(Walk.of(fp.open_room(50, 50)), 1) < 10.0
    assert squaring_seconds(Walk.of(fp.open_room(41, 61)), 1) == np.inf


def test_one_step_with_restarts_by_hand() -> None:
    world = replace(fp.grid((3,)), restart=np.full(3, 0.25), starts=np.array([1.0, 0.0, 0.0]))
    walk = Walk.of(world)
    tables = JumpTables.of(walk, 1)
    scores, lost, peaks = np.empty(1), np.empty(1), np.empty(1)
    push_scores(
        walk.moves.indptr, walk.moves.indices, walk.moves.data, walk.stay, walk.leave, tables.out, tables.arrived,
        tables.back, tables.highest, tables.gram, walk.pi, np.array([2]), 1, 0.0, scores, lost, peaks,
    )  # fmt: skip
    # From the last state: half stays, three quarters of the other half go back one, a quarter begins again.
    after = np.array([0.125, 0.375, 0.5])
    np.testing.assert_allclose(scores, ((after - walk.pi) ** 2).sum(), rtol=1e-14)
    assert lost.tolist() == [0.0]
    assert peaks.tolist() == [0.5]


def estimated(plan: ProbePlan) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The estimates of a plan and their standard errors."""
    shared = plan.shared()
    squares, fourths = (sum(arrays) for arrays in zip(*map(shared.block, plan.tasks), strict=True))
    found = plan.found(squares, fourths)
    assert found.standard_error is not None
    return found.scores, found.standard_error


@pytest.mark.parametrize("wind", [0.0, 0.2])
def test_the_estimate_is_within_its_standard_error(wind: float) -> None:
    world = fp.random_maze(40, 40, wind=wind)
    exact = fp.score(world, 30, "local")
    found = fp.score(world, 30, "probes", n_probes=400, seed=1)
    assert found.standard_error is not None
    deviation = (found - exact) / found.standard_error
    # Of a normal variable 4.55 % lie beyond 2; neighbors are alike, so the share over states is rougher than that.
    assert (np.abs(deviation) > 2).mean() < 0.12
    assert np.abs(deviation).max() < 6
    assert abs(deviation.mean()) < 1.0
    np.testing.assert_allclose(np.median(found.standard_error / found), np.sqrt(2 / 400), rtol=0.15)


def test_the_same_seed_gives_the_same_estimate_on_any_number_of_workers() -> None:
    world = fp.random_maze(30, 30)
    one = fp.score(world, 9, "probes", n_probes=20, seed=5, n_jobs=1)
    np.testing.assert_array_equal(fp.score(world, 9, "probes", n_probes=20, seed=5, n_jobs=3), one)
    assert not np.array_equal(fp.score(world, 9, "probes", n_probes=20, seed=6), one)


@pytest.mark.parametrize("symmetrized", [False, True])
def test_restarts_are_part_of_the_walk(symmetrized: bool) -> None:
    world = with_episodes(fp.maze(), terminal=4, n_starts=9)
    walk = Walk.of(world).symmetrized() if symmetrized else Walk.of(world)
    exact = brute.walk_score(walk.weights().toarray(), 12)
    found, error = estimated(ProbePlan(walk, 12, 2000, seed=3))
    assert np.abs((found - exact) / error).max() < 6
    assert error.max() < 0.05 * exact.max()


def test_what_probes_cost_and_need() -> None:
    walk = Walk.of(fp.ring())
    assert ProbePlan(walk, 20, 256).seconds == pytest.approx(4 * ProbePlan(walk, 10, 128).seconds)
    with pytest.raises(InvalidInput, match="t must be a whole number with solver='probes'"):
        fp.score(fp.ring(), 2.5, "probes")
    with pytest.raises(InvalidInput, match="n_probes must be at least 2"):
        fp.score(fp.ring(), 4, n_probes=1)


def test_walks_that_would_take_too_long_are_refused_before_they_begin() -> None:
    # 3600 states are too many for a dense power.
    with pytest.raises(InvalidInput, match="t must be small enough for probes to be followed; got 1000000000"):
        fp.score(fp.open_room(60, 60), 10**9, "probes")


def test_probes_that_follow_restarts_step_by_step_are_near_the_exact_score() -> None:
    # So few steps that no power of the dense matrix is taken.
    world = with_episodes(fp.ring(), terminal=40, n_starts=20)
    assert world.restart is not None
    assert world.starts is not None
    walk = Walk.of(world)
    plan = ProbePlan(walk, 2, 64, seed=3)
    assert plan.shared().power is None
    weights = brute.restart_weights(world.adjacency.toarray(), world.restart, world.starts)
    found, error = estimated(plan)
    exact = brute.walk_score(weights, 2)
    # Both of the mean over all states, whose errors average out, and of each of them.
    assert found.mean() == pytest.approx(exact.mean(), rel=0.05)
    assert (np.abs(found - exact) <= 5.0 * error).all()
