"""The local solver on graphs and maps: exact and with a tolerance, with restarts, in blocks that are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.scores.bounds import (
    check_tolerance,
    distance_bound,
    loss_bound,
    product_bound,
    rounding_bound,
    worth_stating,
)
from farpoint.diffusion.scores.local import JumpTables, LocalScores, StateScores, squaring_is_cheaper
from farpoint.diffusion.scores.walk_kernels import jumping_scores
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
    plan = LocalScores.of(Walk.of(world), 60)
    assert plan.with_tolerance(1e-3).seconds < 0.5 * plan.seconds


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
        with pytest.raises(WrongCheckpoint, match=f"checkpoint must be a folder of this score; .* another {what}"):
            fp.score(world, t, "local", tolerance=tolerance, checkpoint=folder)
    with pytest.raises(WrongCheckpoint, match="another world"):
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
    np.testing.assert_allclose(StateScores(Walk.of(world), t).at(some)[0], exact[some], rtol=1e-10, atol=1e-14)
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


def test_the_time_that_maps_take_follows_cells_and_diamonds() -> None:
    # Half a nanosecond for each of 200 × 201 cells and each of the 5 + 13 + 25 + 41 states of four diamonds, and four
    # times that for each of the 2 · 5² states of a diamond of five steps, for clearing and adding up.
    walk = Walk.of(fp.open_room(200, 200))
    assert LocalScores.of(walk, 4).seconds == pytest.approx(0.5e-9 * 200 * 201 * (84 + 4 * 50))
    # Where a kernel is written out for t, nothing is cleared.
    large = Walk.of(fp.open_room(600, 600))
    assert LocalScores.of(large, 4).seconds == pytest.approx(0.5e-9 * 600 * 601 * 84)
    # To a tolerance far less, and in half the time where numbers of 32 bits will do.
    exact, rough, fine = (LocalScores.of(walk, 40, tolerance).seconds for tolerance in (None, 1e-3, 1e-6))
    assert rough < 0.1 * exact
    assert 2.0 * rough < fine < exact


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


def test_a_dense_power_is_cheaper_by_hand() -> None:
    # Twice log₂ 2 products of 10⁶ sums, a fifth of a nanosecond each: 0.4 ms. More than 2500 states are too many.
    walk = Walk.of(fp.open_room(10, 10))
    assert squaring_is_cheaper(walk, 4.1e-4, 1)
    assert not squaring_is_cheaper(walk, 3.9e-4, 1)
    assert squaring_is_cheaper(Walk.of(fp.open_room(50, 50)), 1e9, 1)
    assert not squaring_is_cheaper(Walk.of(fp.open_room(41, 61)), 1e9, 1)


def test_one_step_with_restarts_by_hand() -> None:
    world = replace(fp.grid((3,)), restart=np.full(3, 0.25), starts=np.array([1.0, 0.0, 0.0]))
    walk = Walk.of(world)
    tables = JumpTables.of(walk, 1)
    scores, lost, peaks = np.empty(1), np.empty(1), np.empty(1)
    jumping_scores(
        walk.moves.indptr, walk.moves.indices, walk.moves.data, walk.stay, walk.leave, tables.out, tables.arrived,
        tables.back, tables.highest, tables.gram, walk.pi, np.array([2]), 1, 0.0, scores, lost, peaks,
    )  # fmt: skip
    # From the last state: half stays, three quarters of the other half go back one, a quarter begins again.
    after = np.array([0.125, 0.375, 0.5])
    np.testing.assert_allclose(scores, ((after - walk.pi) ** 2).sum(), rtol=1e-14)
    assert lost.tolist() == [0.0]
    assert peaks.tolist() == [0.5]


def test_the_loss_of_mass_costs_twice_the_peak_and_its_square() -> None:
    # 2 · ½ · ¼ + 1/16
    assert loss_bound(np.array([0.25]), np.array([0.5])).tolist() == [0.3125]


def test_rounding_grows_with_steps_edges_and_terms() -> None:
    # ε = (1 + 3) · (1 + 1) / 2⁵³ = 2⁻⁵⁰, ‖p − π‖ = ½, ‖π‖ = ½: 2 ε · ½ · 3/2 + (ε² + 8 / 2⁵³) · 9/4
    found = rounding_bound(np.array([0.25]), 1, 1, 8, 0.25)
    np.testing.assert_allclose(found, (1.5 + 2.25) * 2.0**-50, rtol=1e-14)
    # A score of 0, and one that rounding has made negative: (ε² + 8 / 2⁵³) · 1
    np.testing.assert_allclose(rounding_bound(np.array([0.0, -1e-20]), 1, 1, 8, 0.25), 2.0**-50, rtol=1e-14)
    # With π known to ¼ only, ε = ¼: 2 · ¼ · ½ · 3/2 + 9/64, but for the units.
    np.testing.assert_allclose(rounding_bound(np.array([0.25]), 1, 1, 8, 0.25, 0.25), 0.375 + 9 / 64, rtol=1e-12)


def test_products_round_four_units_per_state_and_step() -> None:
    # 4 · (13 + 3) · 2 / 2⁵³ = 2⁻⁴⁶, and twice 2⁻⁴⁷ of π: 2⁻⁴⁵. Then 2 · ½ · 2⁻⁴⁵ and a square.
    np.testing.assert_allclose(product_bound(np.array([0.25]), 2, 13, 2.0**-47), 2.0**-45, rtol=1e-12)
    assert distance_bound(np.array([0.25, -1.0]), 0.5).tolist() == [0.75, 0.25]


def test_only_rounding_beyond_a_billionth_is_stated() -> None:
    scores, small, large = np.array([1.0, 0.0]), np.array([1e-9, 0.9e-9]), np.array([0.0, 1.1e-9])
    assert worth_stating(small, scores, 1.0) is None
    assert worth_stating(large, scores, 1.0) is large


def test_tolerances_lie_between_rounding_and_one() -> None:
    assert check_tolerance(1e-10) == 1e-10
    for wrong in (0.9e-10, 1.0, 2.0, True, "small", float("nan")):
        with pytest.raises(InvalidInput, match="tolerance must be a number from 1e-10 to 1"):
            check_tolerance(wrong)
