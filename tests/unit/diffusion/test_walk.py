"""The lazy walk, its restarts kept apart, against all weights written out."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

import farpoint as fp
from farpoint.diffusion.walk import Jumps, Walk
from farpoint.errors import InvalidInput, NotConnected
from tests.helpers import brute
from tests.helpers.envs import make
from tests.helpers.graphs import directed_graph, with_episodes

Weights = NDArray[np.float64]


def corridor_with_an_end() -> fp.World:
    """0 – 1 – 2 – 3, where 3 ends an episode and 0 or 1 begins one."""
    moves = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    moves[3] = 0.0
    world = fp.World.from_graph(moves)
    return replace(world, restart=np.array([0.1, 0.1, 0.1, 1.0]), starts=np.array([0.75, 0.25, 0.0, 0.0]))


EPISODIC = {
    "corridor": corridor_with_an_end(),
    "four_rooms": with_episodes(fp.four_rooms()),
    "windy": with_episodes(fp.maze(wind=0.3), n_starts=1),
    "directed": with_episodes(directed_graph(1), terminal=10, n_starts=40),
    "lake": fp.World.from_env(make("FrozenLake-v1")),
}
episodic = pytest.mark.parametrize("name", EPISODIC)


def written_out(world: fp.World) -> Weights:
    assert world.restart is not None
    assert world.starts is not None
    return brute.restart_weights(world.adjacency.toarray(), world.restart, world.starts)


def test_a_walk_with_restarts_by_hand() -> None:
    walk = Walk.of(corridor_with_an_end())
    # A tenth of the weight that leaves 1 (which is 2) goes to the starts: 0.15 to 0, and 0.05 back to 1 itself.
    expected = [
        [0.075, 0.9 + 0.025, 0.0, 0.0],
        [0.9 + 0.15, 0.05, 0.9, 0.0],
        [0.15, 0.9 + 0.05, 0.0, 0.9],
        [0.75, 0.25, 0.0, 0.0],
    ]
    np.testing.assert_allclose(walk.weights().toarray(), expected, rtol=1e-15)
    np.testing.assert_allclose(walk.leaving, [1.0, 2.0, 2.0, 1.0], rtol=1e-15)
    np.testing.assert_allclose(walk.forward(np.array([0.0, 1.0, 0.0, 0.0])), [0.2625, 0.5125, 0.225, 0.0], rtol=1e-15)


@episodic
def test_weights_degrees_steps_and_stationary_distribution_are_those_written_out(name: str) -> None:
    world = EPISODIC[name]
    walk, weights = Walk.of(world), written_out(EPISODIC[name])
    assert walk.jumps is not None
    assert walk.jumps.rank == 1
    assert not walk.symmetric
    np.testing.assert_allclose(walk.weights().toarray(), weights, rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(walk.leaving, weights.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(walk.entering, weights.sum(axis=0), rtol=1e-13)
    mass = np.random.default_rng(0).random((world.n_states, 3))
    np.testing.assert_allclose(walk.forward(mass), brute.walk(weights) @ mass, rtol=1e-13)
    np.testing.assert_allclose(walk.forward(mass[:, 0]), brute.walk(weights) @ mass[:, 0], rtol=1e-13)
    pi = brute.stationary(weights)
    np.testing.assert_allclose(walk.pi, pi, rtol=1e-9, atol=1e-15)
    assert walk.pi_squared == pytest.approx(pi @ pi, rel=1e-9)
    np.testing.assert_allclose(fp.diffusion.lazy_walk(world).toarray(), brute.walk(weights), rtol=1e-13, atol=1e-16)


@episodic
def test_the_symmetrized_walk_has_the_weights_of_both_directions(name: str) -> None:
    weights = written_out(EPISODIC[name])
    both = weights + weights.T
    walk = Walk.of(EPISODIC[name]).symmetrized()
    assert walk.symmetric
    assert walk.jumps is not None
    assert walk.jumps.rank == 2
    np.testing.assert_allclose(walk.weights().toarray(), both, rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(walk.leaving, both.sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(walk.entering, walk.leaving, rtol=1e-13)
    np.testing.assert_allclose(walk.pi, both.sum(axis=1) / both.sum(), rtol=1e-13)
    mass = np.random.default_rng(0).random(len(both))
    np.testing.assert_allclose(walk.forward(mass), brute.walk(both) @ mass, rtol=1e-13)
    assert walk.symmetrized() is walk


def test_without_episodes_the_walk_is_the_graph() -> None:
    for world in (fp.ring(), fp.maze(wind=0.4), directed_graph(0)):
        walk, weights = Walk.of(world), world.adjacency.toarray()
        assert walk.jumps is None
        assert walk.symmetric == world.symmetric
        np.testing.assert_array_equal(walk.weights().toarray(), weights)
        mass = np.random.default_rng(1).random((world.n_states, 2))
        np.testing.assert_allclose(walk.forward(mass), brute.walk(weights) @ mass, rtol=1e-14)
        np.testing.assert_allclose(walk.pi, brute.stationary(weights), rtol=1e-9)
    ring = fp.ring()
    assert ring.floor is not None
    assert Walk.of(ring).floor is ring.floor
    assert Walk.of(with_episodes(ring)).floor is None


def test_a_step_backward_is_the_transpose_of_one_forward() -> None:
    for world in (fp.ring(), fp.maze(wind=0.4), *EPISODIC.values(), fp.open_room(80, 90)):
        walk = Walk.of(world).written_out()
        rng = np.random.default_rng(0)
        mass, values = rng.random((walk.n_states, 3)), rng.random((walk.n_states, 3))
        np.testing.assert_allclose(values.T @ walk.forward(mass), walk.backward(values).T @ mass, rtol=1e-12)
    with pytest.raises(InvalidInput, match="values must be an array of one row per state"):
        walk.backward(np.ones(3))


def test_a_world_has_one_walk() -> None:
    world = fp.four_rooms()
    assert Walk.of(world) is Walk.of(world)
    assert Walk.of(replace(world, name="other")) is not Walk.of(world)


def test_the_walk_of_a_large_map_keeps_nothing_of_the_size_of_its_graph() -> None:
    world = fp.random_maze(300, 400, seed=1)
    walk, graph = Walk.of(world), Walk.of(fp.World.from_graph(fp.random_maze(300, 400, seed=1).adjacency))
    for what in ("leaving", "entering", "stay", "leave", "pi"):
        np.testing.assert_array_equal(getattr(walk, what), getattr(graph, what))
    assert walk.pi_squared == pytest.approx(graph.pi_squared, rel=1e-13)
    assert (walk.n_states, walk.n_moves, walk.fingerprint) == (graph.n_states, graph.n_moves, graph.fingerprint)
    np.testing.assert_array_equal(walk.forward(walk.pi), graph.forward(graph.pi))
    # One byte for each cell is the map itself; all that was asked for is gone again.
    assert world.floor is not None
    held = [*vars(walk).values(), *vars(world.floor).values(), *vars(world).values()]
    assert max(one.nbytes for one in held if isinstance(one, np.ndarray)) == world.floor.size
    assert walk.matrix is None
    assert not {"adjacency", "table", "neighbors"} & vars(world).keys()


def test_the_fingerprint_sees_every_weight() -> None:
    world = EPISODIC["four_rooms"]
    assert world.restart is not None
    assert world.starts is not None
    same = Walk.of(replace(world, name="other")).fingerprint
    walk = Walk.of(world)
    others = [
        Walk.of(fp.four_rooms()),
        Walk.of(replace(world, restart=0.5 * world.restart)),
        Walk.of(replace(world, starts=np.roll(world.starts, 1))),
        walk.symmetrized(),
        replace(walk, jumps=Jumps(walk.jumps.into, walk.jumps.out)),  # type: ignore[union-attr]
    ]
    assert walk.fingerprint == same
    assert len({same, *(other.fingerprint for other in others)}) == 1 + len(others)


def a_world_of_many_starts() -> fp.World:
    # A circle of 21 000 states, half of which begin episodes: 220 million pairs of a state and a start.
    n = 21_000
    around = np.arange(n)
    circle = csr_array((np.ones(n), (around, (around + 1) % n)), shape=(n, n))
    starts = np.zeros(n)
    starts[::2] = 2.0 / n
    return replace(fp.World.from_graph(circle + circle.T), restart=np.full(n, 0.01), starts=starts)


def test_many_starts_are_scored_without_being_written_out() -> None:
    world = a_world_of_many_starts()
    walk = Walk.of(world)
    with pytest.raises(InvalidInput, match=r"at most 200,000,000 entries .* got 220,500,000\. Use score"):
        walk.weights()
    tracemalloc.start()
    scores = fp.score(world, 4, form="walk")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Written out, the weights alone would take 2.6 GB.
    assert peak < 50e6
    assert (scores.solver, scores.form) == ("local", "walk")
    np.testing.assert_allclose(walk.forward(walk.pi), walk.pi, rtol=1e-10)
    some = np.array([0, 1, 7000, 20_999])
    mass = np.zeros((walk.n_states, some.size))
    mass[some, np.arange(some.size)] = 1.0
    for _ in range(4):
        mass = walk.forward(mass)
    np.testing.assert_allclose(scores[some], ((mass - walk.pi[:, None]) ** 2).sum(axis=0), rtol=1e-11)


def test_a_walk_must_end_in_one_set_of_states() -> None:
    fork = fp.World.from_graph([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    assert Walk.of(fork).stationary_problem == "a walk must end in one set of states; got 2."
    with pytest.raises(NotConnected, match=r"one set of states; got 2\. .* use form='symmetrized'"):
        fp.stationary(fork)
    # Restarts lead back from both ends.
    again = replace(fork, restart=np.array([0.0, 1.0, 1.0]), starts=np.array([1.0, 0.0, 0.0]))
    assert Walk.of(again).stationary_problem == ""
    np.testing.assert_allclose(fp.stationary(again), [0.5, 0.25, 0.25], rtol=1e-14)


@pytest.mark.parametrize("restart", [1e-9, 1e-15, 1e-20, 1e-290])
def test_restarts_however_rare_leave_the_walk_what_it_is(restart: float) -> None:
    for world in (fp.grid((2,)), fp.maze()):
        starts = np.eye(world.n_states)[0]
        rare = Walk.of(replace(world, restart=np.full(world.n_states, restart), starts=starts))
        np.testing.assert_allclose(rare.pi, fp.stationary(world), rtol=1e5 * restart + 1e-12)
        np.testing.assert_allclose(rare.forward(rare.pi), rare.pi, rtol=1e-12)


def test_where_algorithm_2_is_not_defined() -> None:
    never_entered = fp.World.from_graph([[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    assert "got none into state 0" in Walk.of(never_entered).polar_problem
    two_sources = nx.DiGraph([(0, 1), (1, 0), (1, 4), (2, 3), (3, 2), (3, 4), (4, 5), (5, 4)])
    assert "at most one set of states may have no way in" in Walk.of(fp.World.from_graph(two_sources)).polar_problem
    for world in (fp.ring(), fp.maze(wind=0.3), EPISODIC["corridor"]):
        assert Walk.of(world).polar_problem == ""


def test_restarts_connect_what_moves_do_not() -> None:
    two = fp.World.from_matrix(np.eye(4)[[1, 0, 3, 2]], np.arange(5))
    with pytest.raises(NotConnected, match=r"2 components \(sizes 2, 2\)"):
        Walk.of(two)
    joined = replace(two, restart=np.full(4, 0.1), starts=np.array([0.5, 0.0, 0.5, 0.0]))
    np.testing.assert_allclose(Walk.of(joined).pi, brute.stationary(written_out(joined)), rtol=1e-9)
    # Without a restart that leads from one to the other they stay apart.
    apart = replace(two, restart=np.array([0.1, 0.1, 0.0, 0.0]), starts=np.array([1.0, 0.0, 0.0, 0.0]))
    with pytest.raises(NotConnected, match=r"2 components \(sizes 2, 2\)"):
        Walk.of(apart)


def test_what_is_no_world() -> None:
    with pytest.raises(InvalidInput, match="world must be a World, or the name of one"):
        fp.score(np.eye(3))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at least 2 states"):
        Walk.of(fp.grid((1,)))
