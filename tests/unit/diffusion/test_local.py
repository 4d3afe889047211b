"""The local solver on maps and on graphs, exact and with a tolerance, in blocks that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import farpoint as fp
from farpoint.diffusion.scores import lattice as lattice_module
from farpoint.diffusion.scores import local as local_module
from farpoint.diffusion.scores.lattice import lattice_of
from farpoint.diffusion.scores.local import local_scores, local_seconds
from farpoint.errors import InvalidInput


def without_map(world: fp.World) -> fp.World:
    """The same graph, of which nobody knows that it is a map."""
    return fp.World.from_graph(world.adjacency)


def powers(world: fp.World, t: int) -> NDArray[np.float64]:
    """‖Wᵗe_s − π‖² by dense matrix powers."""
    walk = np.linalg.matrix_power(fp.diffusion.lazy_walk(world).toarray(), t)
    return np.asarray(((walk - fp.stationary(world)[:, None]) ** 2).sum(axis=0))


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
    found, bounds = local_scores(world, t)
    assert bounds is None
    np.testing.assert_allclose(found, powers(world, t), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("t", [1, 4, 13])
def test_map_and_graph_kernels_agree_across_blocks(t: int, monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.random_maze(61, 47, seed=3)
    assert lattice_of(world, t) is not None
    assert lattice_of(without_map(world), t) is None
    whole, _ = local_scores(world, t)
    monkeypatch.setattr(lattice_module, "_CELLS_A_BLOCK", 333)
    monkeypatch.setattr(local_module, "_STATES_A_BLOCK", 100)
    np.testing.assert_array_equal(local_scores(world, t)[0], whole)
    np.testing.assert_allclose(local_scores(without_map(world), t)[0], whole, rtol=1e-12)
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(local_scores(world, t, n_jobs=n_jobs)[0], whole)


def test_a_graph_that_is_a_map_is_found_out() -> None:
    world = fp.random_maze(20, 30)
    same = fp.World.from_graph(world.adjacency, positions=world.positions)
    assert same.floor is not None
    assert world.floor is not None
    assert same.floor.sum() == world.floor.sum() == world.n_states
    weights = world.adjacency.copy()
    weights.data = np.full(weights.nnz, 2.0)
    assert fp.World.from_graph(weights, positions=world.positions).floor is None
    # One door closed: two floor cells side by side without a move between them.
    cut = sparse.lil_array(world.adjacency)
    here, there = world.adjacency.tocoo().row[40], world.adjacency.tocoo().col[40]
    cut[here, there] = cut[there, here] = 0
    closed = fp.World.from_graph(sparse.csr_array(cut), positions=world.positions)
    assert closed.floor is None
    np.testing.assert_allclose(fp.score(closed, 4, "local"), powers(closed, 4), rtol=1e-11)
    assert fp.four_rooms(wind=0.1).floor is None
    assert fp.grid((3, 3, 3)).floor is None
    assert fp.World.from_graph(world.adjacency, positions=world.positions[::-1]).floor is None  # type: ignore[index]


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("tolerance", [0.3, 1e-2, 1e-4])
def test_the_true_error_is_within_the_bound_and_the_tolerance(graph: bool, tolerance: float) -> None:
    world = fp.random_maze(60, 60, seed=2)
    t = 40
    exact, _ = local_scores(world, t)
    found = fp.score(without_map(world) if graph else world, t, "local", tolerance=tolerance)
    assert found.error_bound is not None
    error = np.abs(found - exact)
    assert (error <= found.error_bound + 1e-13 * exact).all()
    assert (found.error_bound <= tolerance * found).all()
    assert error.max() > 0


def test_a_tolerance_keeps_the_goals_and_costs_less() -> None:
    world = fp.random_maze(150, 150)
    exact = fp.find_goals(world, local_scores(world, 60)[0])
    found = fp.find_goals(world, fp.score(world, 60, tolerance=1e-3))
    assert np.isin(found.states, exact.states).mean() >= 0.99
    assert np.isin(exact.states, found.states).mean() >= 0.99
    assert local_seconds(world, 60, 1e-3) < 0.5 * local_seconds(world, 60)


def test_tiles_that_lose_too_much_are_followed_farther(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_module.Lattice, "reach", property(lambda self: 0.5))
    world = fp.open_room(60, 60)
    found = fp.score(world, 40, "local", tolerance=1e-3)
    assert found.error_bound is not None
    assert (found.error_bound <= 1e-3 * found).all()


def test_scattered_states_are_put_into_a_better_order(monkeypatch: pytest.MonkeyPatch) -> None:
    world = without_map(fp.random_maze(80, 80))
    shuffled = np.random.default_rng(0).permutation(world.n_states)
    mixed = fp.World.from_graph(world.adjacency[shuffled][:, shuffled])
    expected = np.asarray(fp.score(world, 6, "local"))[shuffled]
    monkeypatch.setattr(local_module, "_WORTH_ORDERING", 100)
    monkeypatch.setattr(local_module, "_FAR", 100)
    assert local_module._better_order(mixed.adjacency) is not None
    assert local_module._better_order(world.adjacency) is None
    np.testing.assert_allclose(fp.score(mixed, 6, "local"), expected, rtol=1e-12)


@pytest.mark.parametrize("graph", [False, True])
def test_an_interrupted_score_goes_on_without_computing_a_block_twice(
    graph: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lattice_module, "_CELLS_A_BLOCK", 500)
    monkeypatch.setattr(local_module, "_STATES_A_BLOCK", 300)
    world = fp.random_maze(50, 60)
    world = without_map(world) if graph else world
    name = "_graph_block" if graph else "lattice_block"
    real = getattr(local_module, name)
    computed: list[tuple[int, int]] = []

    def counted(shared: Any, block: tuple[int, int]) -> Any:
        if len(computed) == 4:
            raise KeyboardInterrupt
        computed.append(block)
        return real(shared, block)

    monkeypatch.setattr(local_module, name, counted)
    with pytest.raises(KeyboardInterrupt):
        fp.score(world, 4, "local", checkpoint=tmp_path / "blocks", n_jobs=1)
    assert len(list((tmp_path / "blocks").glob("block-*.npz"))) == 4

    def rest(shared: Any, block: tuple[int, int]) -> Any:
        computed.append(block)
        return real(shared, block)

    monkeypatch.setattr(local_module, name, rest)
    seen: list[tuple[int, int]] = []
    found = fp.score(world, 4, "local", checkpoint=tmp_path / "blocks", progress=lambda *at: seen.append(at))
    assert len(computed) == len(set(computed)) == seen[-1][1]
    assert seen[0][0] == 5
    assert seen[-1][0] == seen[-1][1]
    np.testing.assert_array_equal(found, local_scores(world, 4)[0])

    # A damaged block is computed again; a folder of another score is refused.
    next((tmp_path / "blocks").glob("block-*.npz")).write_bytes(b"damaged")
    np.testing.assert_array_equal(fp.score(world, 4, "local", checkpoint=tmp_path / "blocks"), found)
    with pytest.raises(InvalidInput, match="checkpoint must be a folder of this score"):
        fp.score(world, 5, "local", checkpoint=tmp_path / "blocks")


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


def test_what_goes_with_which_solver() -> None:
    world = fp.ring()
    with pytest.raises(InvalidInput, match="tolerance must go with solver='local'; got solver='spectral'"):
        fp.score(world, 4, "spectral", tolerance=1e-3)
    with pytest.raises(InvalidInput, match="tolerance must be a number from 1e-10 to 1; got 0"):
        fp.score(world, 4, tolerance=0.0)
    with pytest.raises(InvalidInput, match="n_probes must go with solver='probes'"):
        fp.score(world, 4, "local", n_probes=10)
    with pytest.raises(InvalidInput, match="checkpoint must go with t"):
        fp.discover(world, n_options=4, checkpoint="here")
