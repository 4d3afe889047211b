"""Worlds from samples of continuous states, and the state nearest to an observation."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidInput, MissingExtra, NotConnected, UnknownName
from farpoint.worlds import samples

Array = NDArray[np.float64]


def square(n: int = 2000, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(size=(n, 2))


def walled_walk(n_steps: int = 20_000, seed: int = 0) -> tuple[Array, Array]:
    """A walk in the unit square with a wall, 0.45 < x < 0.55, that is open only above y = 0.8."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(scale=0.04, size=(n_steps, 2))
    path = np.empty((n_steps + 1, 2))
    path[0] = 0.2
    for number, step in enumerate(steps):
        there = np.clip(path[number] + step, 0.0, 1.0)
        inside = 0.45 < there[0] < 0.55 or (path[number, 0] < 0.5) != (there[0] < 0.5)
        open_here = min(path[number, 1], there[1]) > 0.8
        path[number + 1] = path[number] if inside and not open_here else there
    return path[:-1], path[1:]


def brute_nearest(states: Array, points: Array) -> NDArray[np.int64]:
    return np.asarray(((points[:, None] - states[None]) ** 2).sum(axis=2).argmin(axis=1))


def test_corners_of_a_square_are_its_far_points() -> None:
    world = fp.World.from_samples(square(5000), n_states=400, n_neighbors=10)
    assert world.symmetric
    assert world.n_states == 400
    assert world.observations is not None
    goals = fp.find_goals(world, fp.score(world, t=40)).most_prominent(4)
    found = world.observations[goals.states]
    for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert np.abs(found - corner).max(axis=1).min() < 0.15


def test_temporal_neighbors_know_the_wall_and_the_kernel_does_not() -> None:
    before, after = walled_walk()
    low = {}
    for neighbors in ("temporal", "kernel"):
        world = fp.World.from_samples(before, after, n_states=150, neighbors=neighbors)
        assert world.observations is not None
        left = world.observations[:, 0] < 0.5
        low_down = world.observations[:, 1] < 0.6
        edges = world.adjacency.tocoo()
        crossing = left[edges.row] != left[edges.col]
        low[neighbors] = int((crossing & low_down[edges.row] & low_down[edges.col]).sum())
    assert low["kernel"] > 10
    assert low["temporal"] == 0


def test_temporal_weights_are_counts_of_the_log() -> None:
    # Every point its own cell, typed by hand: 0–1 twice, 1–2 once, nothing between 0 and 2.
    before = np.array([[0.0], [1.0], [1.0], [2.0]])
    after = np.array([[1.0], [0.0], [2.0], [2.0]])
    world = fp.World.from_samples(before, after, neighbors="temporal", alpha=0.0)
    weights = world.adjacency.toarray()
    np.testing.assert_allclose(weights / weights[1, 2], [[0, 2, 0], [2, 0, 1], [0, 1, 0]])


def test_kernel_weights_are_the_formula() -> None:
    points = square(40, seed=3)
    found = samples.kernel_graph(points, 5).toarray()
    away = np.linalg.norm(points[:, None] - points[None], axis=2)
    scale = np.sort(away, axis=1)[:, 5]
    nearest = np.argsort(away, axis=1)[:, 1:6]
    joined = np.zeros((40, 40), dtype=bool)
    joined[np.arange(40)[:, None], nearest] = True
    joined |= joined.T
    np.testing.assert_allclose(found, np.where(joined, np.exp(-(away**2) / np.outer(scale, scale)), 0.0), rtol=1e-10)


def test_alpha_divides_by_the_density() -> None:
    weights = samples.kernel_graph(square(60, seed=4), 6)
    dense = weights.toarray()
    q = dense.sum(axis=1)
    for alpha in (0.0, 0.5, 1.0):
        expected = dense / np.outer(q, q) ** alpha
        found = samples.normalized(weights, alpha).toarray()
        np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-12, atol=0)


def test_both_is_the_sum_and_falls_back_to_the_kernel() -> None:
    before, after = walled_walk(3000)
    edges = {
        word: {
            frozenset((tuple(world.observations[u]), tuple(world.observations[v])))
            for u, v in nx.from_scipy_sparse_array(world.adjacency).edges
        }
        for word in ("temporal", "kernel", "both")
        if (world := fp.World.from_samples(before, after, n_states=80, neighbors=word)).observations is not None
    }
    assert edges["both"] >= edges["temporal"] | edges["kernel"]
    alone = fp.World.from_samples(before, n_states=80)
    kernel = fp.World.from_samples(before, n_states=80, neighbors="kernel")
    assert alone.fingerprint == kernel.fingerprint


@pytest.mark.parametrize("dimensions", [1, 3, 30])
def test_nearest_states_against_every_distance(dimensions: int) -> None:
    rng = np.random.default_rng(2)
    world = fp.World.from_samples(rng.normal(size=(500, dimensions)), n_states=100)
    assert world.observations is not None
    points = rng.normal(size=(333, dimensions))
    expected = brute_nearest(np.asarray(world.observations), points)
    np.testing.assert_array_equal(world.nearest_states(points), expected)
    np.testing.assert_array_equal(world.nearest_states(world.observations), np.arange(world.n_states))
    assert world.nearest_states(points[0]).tolist() == [expected[0]]


def test_nearest_states_of_more_points_than_are_looked_up_at_once() -> None:
    world = fp.World.from_samples(np.arange(10.0)[:, None])
    points = np.random.default_rng(0).uniform(0.0, 9.0, size=250_000)
    np.testing.assert_array_equal(world.nearest_states(points[:, None]), np.rint(points))


def test_farthest_representatives_cover_better_than_kmeans_seeds() -> None:
    # A dense cluster and a thin rest.
    points = np.concatenate([0.05 * square(3000), square(300, seed=1)])

    def reach(word: str) -> float:
        world = fp.World.from_samples(points, n_states=60, representatives=word, n_neighbors=20)
        states = np.asarray(world.observations)
        return float(np.linalg.norm(points - states[brute_nearest(states, points)], axis=1).max())

    assert reach("farthest") < reach("kmeans++")


def test_representatives_are_observations_and_follow_the_seed() -> None:
    points = square(3000)
    rows = {tuple(row) for row in points.tolist()}
    for word in ("farthest", "kmeans++"):
        worlds = [fp.World.from_samples(points, n_states=50, seed=s, representatives=word) for s in (1, 1, 2)]
        kept = [np.asarray(world.observations) for world in worlds]
        assert {tuple(row) for row in kept[0].tolist()} <= rows
        np.testing.assert_array_equal(kept[0], kept[1])
        assert not np.array_equal(kept[0], kept[2])


def test_of_very_many_observations_some_are_drawn() -> None:
    points = square(150_000)
    rows = set(map(tuple, points.tolist()))
    worlds = [fp.World.from_samples(points, n_states=20, seed=seed) for seed in (1, 1, 2)]
    kept = [np.asarray(world.observations) for world in worlds]
    assert {tuple(row) for row in kept[0].tolist()} <= rows
    np.testing.assert_array_equal(kept[0], kept[1])
    assert not np.array_equal(kept[0], kept[2])


def test_lengths_are_distances_and_positions_are_y_and_x() -> None:
    world = fp.World.from_samples(square(200), n_states=50)
    assert world.observations is not None
    edges = world.adjacency.tocoo()
    expected = np.linalg.norm(world.observations[edges.row] - world.observations[edges.col], axis=1)
    np.testing.assert_allclose(np.asarray(world.lengths), expected, rtol=1e-14)
    # x to the right, y upwards, as of the same points in networkx; rows are counted downwards.
    np.testing.assert_array_equal(world.positions, world.observations[:, ::-1] * [-1, 1])
    graph = nx.complete_graph(world.n_states)
    nx.set_node_attributes(graph, dict(enumerate(world.observations.tolist())), "pos")
    np.testing.assert_array_equal(fp.World.from_graph(graph).positions, world.positions)
    assert not world.on_grid
    assert fp.World.from_samples(np.random.default_rng(0).normal(size=(50, 3))).positions is None


def test_only_the_largest_part_stays() -> None:
    points = np.concatenate([square(300), 100.0 + square(80, seed=1)])
    with pytest.raises(NotConnected, match=r"graph of the samples must be connected; got 2 components \(sizes 300, 80"):
        fp.World.from_samples(points, n_neighbors=6, largest_component=False)
    world = fp.World.from_samples(points, n_neighbors=6)
    assert world.observations is not None
    assert world.n_states == 300
    assert world.notes == ("kept 300 of 380 states: the largest component",)
    assert (world.observations < 2).all()
    assert world.component_sizes == (300,)


def test_observations_survive_pickling_and_are_read_only() -> None:
    world = fp.World.from_samples(square(200), n_states=50)
    world.nearest_states([0.5, 0.5])
    again = pickle.loads(pickle.dumps(world))
    assert world.observations is not None
    np.testing.assert_array_equal(again.observations, world.observations)
    assert again.fingerprint == world.fingerprint
    assert not again.observations.flags.writeable
    assert fp.ring().observations is None


def test_logs_and_buffers_are_read() -> None:
    before, after = walled_walk(2000)
    plain = fp.World.from_samples(before, after, n_states=60)
    log = fp.Log([tuple(row) for row in before.tolist()], None, [tuple(row) for row in after.tolist()])
    held = SimpleNamespace(observations=before, next_observations=after)
    for source in (log, held, {"observations": before, "next_observations": after}):
        assert fp.World.from_samples(source, n_states=60).fingerprint == plain.fingerprint


def test_explored_cart_pole_makes_a_world() -> None:
    import gymnasium as gym

    log = fp.record_log(
        gym.make("CartPole-v1"), 1500, seed=0, state=lambda env, observation: tuple(observation.tolist())
    )
    world = fp.World.from_samples(log, n_states=100)
    assert world.observations is not None
    assert world.observations.shape == (world.n_states, 4)
    assert len(fp.find_goals(world, fp.score(world))) > 1


def test_bad_input_is_refused() -> None:
    points = square(50)
    with pytest.raises(UnknownName, match="neighbors must be one of temporal, kernel, both; got 'near'"):
        fp.World.from_samples(points, neighbors="near")
    with pytest.raises(UnknownName, match="representatives must be one of farthest"):
        fp.World.from_samples(points, representatives="best")
    with pytest.raises(InvalidInput, match="next_observations must be given for neighbors='temporal'"):
        fp.World.from_samples(points, neighbors="temporal")
    with pytest.raises(InvalidInput, match=r"next_observations must have the shape of observations \(50, 2\)"):
        fp.World.from_samples(points, points[:-1])
    with pytest.raises(InvalidInput, match=r"n_states must be at most the number of different points \(50\); got 51"):
        fp.World.from_samples(points, n_states=51)
    with pytest.raises(InvalidInput, match="alpha must be a number from 0 to 1"):
        fp.World.from_samples(points, alpha=2)
    with pytest.raises(InvalidInput, match=r"one row per observation; got shape \(\)"):
        fp.World.from_samples(np.array(3))
    with pytest.raises(InvalidInput, match="one row per observation"):
        fp.World.from_samples(points[:, 0])
    with pytest.raises(InvalidInput, match="observations must be finite; got 1 rows"):
        fp.World.from_samples(np.array([[0.0], [np.nan], [1.0]]))
    with pytest.raises(InvalidInput, match="observations must be numbers; got bytes"):
        fp.World.from_samples([b"a", b"b"])
    with pytest.raises(InvalidInput, match="all equally long"):
        fp.World.from_samples([[1.0, 2.0], [1.0]])
    with pytest.raises(InvalidInput, match="at least 2 different points; got 1"):
        fp.World.from_samples(np.zeros((5, 2)))
    with pytest.raises(InvalidInput, match="must connect at least two states"):
        fp.World.from_samples(points, points, neighbors="temporal")
    with pytest.raises(InvalidInput, match=r"observations must be one row of finite numbers per state \(2\)"):
        fp.World.from_matrix([[0, 1], [1, 0]], np.array([0, 1, 2]), observations=np.zeros((3, 1)))
    with pytest.raises(InvalidInput, match="world must have observations"):
        fp.ring().nearest_states([0.0])
    world = fp.World.from_samples(points)
    with pytest.raises(InvalidInput, match="all equally long"):
        world.nearest_states([[0.0, 1.0], [0.0]])
    with pytest.raises(InvalidInput, match="observations must be rows of numbers"):
        world.nearest_states(0.5)
    with pytest.raises(InvalidInput, match="observations must be finite"):
        world.nearest_states([np.nan, 0.0])


@pytest.mark.parametrize(
    ("module", "points", "representatives"),
    [("neighbors", np.random.default_rng(0).normal(size=(50, 20)), "farthest"), ("cluster", square(50), "kmeans++")],
)
def test_missing_package_names_the_command(
    module: str, points: Array, representatives: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, f"sklearn.{module}", None)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[samples\]'"):
        fp.World.from_samples(points, n_states=20, representatives=representatives)


def test_few_dimensions_need_no_other_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.neighbors", None)
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    assert fp.World.from_samples(square(50), n_states=20).n_states == 20


def test_the_actions_of_a_log_are_kept() -> None:
    # Four directions on a plane, each step 1 long: the action of a move is the direction it goes.
    rng = np.random.default_rng(0)
    directions = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    before = rng.integers(0, 8, size=(3000, 2)).astype(float)
    actions = rng.integers(4, size=3000)
    after = before + directions[actions]
    world = fp.World.from_samples(before, after, actions, neighbors="temporal")
    assert world.actions is not None
    assert world.observations is not None
    moves = world.adjacency.tocoo()
    steps = world.observations[moves.col] - world.observations[moves.row]
    np.testing.assert_array_equal(directions[world.actions], steps)
    # A log has actions of its own; moves that were never seen have those that go that way.
    log = fp.worlds.Log(before, actions, after)
    both = fp.World.from_samples(log, neighbors="both", n_neighbors=4)
    assert both.actions is not None
    assert both.observations is not None
    moves = both.adjacency.tocoo()
    steps = both.observations[moves.col] - both.observations[moves.row]
    straight = np.abs(steps).sum(axis=1) == 1
    np.testing.assert_array_equal(directions[both.actions[straight]], steps[straight])
    assert (both.actions >= 0).all()


def test_actions_that_are_rows_of_floats_are_not_kept() -> None:
    before = np.random.default_rng(0).random((200, 2))
    with_actions = fp.World.from_samples(before, before + 0.01, before, n_states=20)
    without = fp.World.from_samples(before, before + 0.01, n_states=20)
    np.testing.assert_array_equal(with_actions.actions, without.actions)


def test_actions_that_are_none() -> None:
    before = np.random.default_rng(0).random((20, 2))
    with pytest.raises(InvalidInput, match=r"actions must be one per step \(20\); got shape \(3,\)"):
        fp.World.from_samples(before, before + 0.01, [0, 1, 2])
    with pytest.raises(InvalidInput, match="actions must go with next_observations"):
        fp.World.from_samples(before, actions=np.zeros(20, dtype=int))
    with pytest.raises(InvalidInput, match="actions must be whole numbers of at least 0; got -3"):
        fp.World.from_samples(before, before + 0.01, np.full(20, -3))
