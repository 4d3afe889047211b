"""The least expected length of the way to a goal, on graphs and on maps, and what happens on the way."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import cast

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import farpoint as fp
from farpoint.compiling import Kernel
from farpoint.errors import InvalidInput
from farpoint.options import map_routes, probability, routes
from farpoint.options.following import Following, push_down
from farpoint.options.map_routes import lower_distances_on_map, mark_moves, ways_on
from farpoint.options.methods import spread
from farpoint.options.routes import move_matrix, moves_up_to, primitive_moves, steps_to
from tests.helpers import brute


@given(seed=st.integers(0, 10_000), directed=st.booleans())
def test_steps_equal_networkx_shortest_paths(seed: int, directed: bool) -> None:
    graph = nx.gnp_random_graph(25, 0.12, seed=seed, directed=directed)
    world = fp.World.from_graph(graph, largest_component=True)
    goal = seed % world.n_states
    graph = graph.subgraph(world.labels or ())
    assert world.labels is not None
    lengths = nx.single_source_shortest_path_length(graph.reverse() if directed else graph, world.labels[goal])
    expected = [lengths.get(label, np.inf) for label in world.labels]
    np.testing.assert_array_equal(steps_to(world, goal), expected)


@pytest.mark.parametrize("world", [fp.four_rooms(wind=0.1), fp.four_rooms(wind=1 / 3), fp.random_maze(7, 7, wind=0.7)])
def test_expected_steps_in_wind_equal_value_iteration(world: fp.World) -> None:
    for goal in (0, world.n_states // 2, world.n_states - 1):
        expected = brute.expected_steps(world.transitions, world.choice_ptr, goal)
        np.testing.assert_allclose(steps_to(world, goal), expected, rtol=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("wind", [0.02, 0.1])
def test_expected_steps_do_not_depend_on_rare_gusts(wind: float, seed: int) -> None:
    # A policy that waits for gusts has expectations beyond any double; the search must not begin with one.
    world = fp.random_maze(16, 16, wind=wind, seed=seed)
    for goal in (0, world.n_states // 2, world.n_states - 1):
        expected = brute.expected_steps(world.transitions, world.choice_ptr, goal)
        np.testing.assert_allclose(steps_to(world, goal), expected, rtol=1e-7)


def test_a_goal_that_wind_puts_out_of_reach() -> None:
    with pytest.raises(InvalidInput, match="nearly unreachable"):
        steps_to(fp.open_room(60, 3, wind=0.999), 0)


def test_states_that_cannot_be_sure_of_the_goal_are_left_out() -> None:
    # 0: one choice, to the goal 2 or into the trap 3. 1: a safe choice (to 2) and a risky one. 3: stays.
    transitions = sparse.csr_array([[0, 0, 0.5, 0.5], [0, 0, 1, 0], [0, 0, 0.9, 0.1], [0, 1, 0, 0], [0, 0, 0, 1.0]])
    world = fp.World.from_matrix(transitions, np.array([0, 1, 3, 4, 5]))
    np.testing.assert_array_equal(steps_to(world, 2), [np.inf, 1, 0, np.inf])


def test_waiting_for_luck_has_the_geometric_mean() -> None:
    # From 0 the only choice succeeds with probability ¼: 4 steps on average.
    world = fp.World.from_matrix(sparse.csr_array([[0.75, 0.25], [0.0, 1.0]]), np.array([0, 1, 2]))
    np.testing.assert_allclose(steps_to(world, 1), [4.0, 0.0])


def test_a_single_route_needs_only_what_is_nearer_to_the_goal() -> None:
    world = fp.open_room(60, 60)
    near = moves_up_to(world, 60 * 30 + 25, 60 * 30 + 45)
    steps = steps_to(world, 60 * 30 + 45)
    known = np.isfinite(near)
    assert known[steps <= 20].all()
    assert not known[steps > 21].any()
    np.testing.assert_array_equal(near[known], steps[known])
    assert moves_up_to(fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2)])), 2, 0)[1:].tolist() == [np.inf, np.inf]


@given(seed=st.integers(0, 10_000), directed=st.booleans())
def test_lengths_of_routes_equal_networkx_dijkstra(seed: int, directed: bool) -> None:
    graph = nx.gnp_random_graph(25, 0.15, seed=seed, directed=directed)
    rng = np.random.default_rng(seed)
    for _, _, edge in graph.edges(data=True):
        # A few lengths only, so that there are ties and zig-zags shorter than the direct edge.
        edge["length"] = float(rng.choice([0.3, 1.0, 1.0, 2.5]))
    plain = fp.World.from_graph(nx.DiGraph(graph) if directed else graph, largest_component=True)
    assert plain.labels is not None
    edges = plain.adjacency.tocoo()
    lengths = [
        graph.edges[plain.labels[u], plain.labels[v]]["length"] for u, v in zip(edges.row, edges.col, strict=True)
    ]
    world = replace(plain, source=replace(plain.table, lengths=np.array(lengths)))
    goal = seed % world.n_states
    inside = graph.subgraph(plain.labels)
    expected = nx.single_source_dijkstra_path_length(
        inside.reverse() if directed else inside, plain.labels[goal], weight="length"
    )
    found = steps_to(world, goal)
    np.testing.assert_allclose(found, [expected.get(label, np.inf) for label in plain.labels], rtol=1e-12)
    option = fp.OptionSet(world, np.array([goal]))[0]
    for state in np.flatnonzero(np.isfinite(found))[:5]:
        route = option.route(int(state), seed=seed)
        taken = [graph.edges[plain.labels[u], plain.labels[v]]["length"] for u, v in pairwise(route)]
        assert route[-1] == goal
        assert sum(taken) == pytest.approx(found[state], rel=1e-12)


def test_of_several_choices_between_two_states_the_shortest_counts() -> None:
    # 0 has two choices into 1, of lengths 5 and 2, and one of length 9 straight to 2; 1 has one of length 3.
    world = fp.World.from_matrix(
        sparse.csr_array([[0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0.0]]),
        np.array([0, 3, 4, 5]),
        lengths=np.array([5.0, 2.0, 9.0, 3.0, 1.0]),
    )
    np.testing.assert_array_equal(steps_to(world, 2), [5.0, 3.0, 0.0])
    option = fp.OptionSet(world, np.array([2]))[0]
    np.testing.assert_array_equal(option.policy(0), [0.0, 1.0, 0.0])
    assert option.route(0).tolist() == [0, 1, 2]


@pytest.mark.parametrize("wind", [0.2, 0.6])
def test_expected_lengths_in_wind_equal_value_iteration(wind: float) -> None:
    world = fp.open_room(6, 5, wind=wind)
    lengths = np.random.default_rng(0).uniform(0.5, 3.0, world.n_choices)
    world = replace(world, source=replace(world.table, lengths=lengths))
    for goal in (0, 14, 29):
        expected = brute.expected_steps(world.transitions, world.choice_ptr, goal, np.asarray(world.lengths))
        np.testing.assert_allclose(steps_to(world, goal), expected, rtol=1e-8)


def test_equal_lengths_change_nothing_but_the_unit() -> None:
    plain = fp.maze()
    world = replace(plain, source=replace(plain.table, lengths=np.full(plain.n_choices, 2.5)))
    for goal in (0, 70):
        np.testing.assert_allclose(steps_to(world, goal), 2.5 * steps_to(plain, goal), rtol=1e-14)
        ours, theirs = fp.OptionSet(world, np.array([goal]))[0], fp.OptionSet(plain, np.array([goal]))[0]
        np.testing.assert_array_equal(ours.choice_probabilities(), theirs.choice_probabilities())


@given(rows=st.integers(1, 14), cols=st.integers(2, 14), wall=st.floats(0, 0.5), seed=st.integers(0, 999))
def test_a_route_on_a_map_is_that_on_its_graph(rows: int, cols: int, wall: float, seed: int) -> None:
    floor = np.random.default_rng(seed).random((rows, cols)) >= wall
    floor[0, 0] = True
    world = fp.World.from_array(floor, largest_component=True)
    # Without positions, so that it is not known to be a map.
    graph = fp.World(world.table)
    start, goal = np.random.default_rng(seed).integers(world.n_states, size=2).tolist()
    route = fp.OptionSet(world, np.array([goal]))[0].route(start, seed=seed)
    np.testing.assert_array_equal(route, fp.OptionSet(graph, np.array([goal]))[0].route(start, seed=seed))
    known = fp.OptionSet(graph, np.array([goal]))[0]
    assert known.potential[start] == route.size - 1
    np.testing.assert_array_equal(route, known.route(start, seed=seed))
    length = nx.shortest_path_length(nx.from_scipy_sparse_array(world.adjacency), start, goal)
    assert route.size == length + 1


def test_all_shortest_routes_are_drawn() -> None:
    option = fp.OptionSet(fp.open_room(4, 4), np.array([15]))[0]
    assert len({tuple(option.route(0, seed=seed)) for seed in range(400)}) == 20


def test_a_route_longer_than_allowed_is_refused() -> None:
    option = fp.OptionSet(fp.open_room(1, 30), np.array([29]))[0]
    assert option.route(0, max_steps=29).size == 30
    with pytest.raises(InvalidInput, match="max_steps must be enough"):
        option.route(0, max_steps=28)
    with pytest.raises(InvalidInput, match="initiation set"):
        fp.OptionSet(fp.open_room(1, 30), np.array([29]), initiation=np.array([3]))[0].route(4)


def test_large_maps_have_the_distances_of_their_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.random_maze(50, 60, seed=9)
    goals = np.sort(fp.find_goals(world, fp.score(world, 4)).states)[::7]
    few = fp.discover(world, n_options=9).goals
    expected = routes.steps_to(world, 77), probability.moves_to_nearest(world, goals)
    for module in (routes, probability, spread):
        monkeypatch.setattr(module, "LARGE_MAP", 10)
    np.testing.assert_array_equal(routes.steps_to(world, 77), expected[0])
    np.testing.assert_array_equal(probability.moves_to_nearest(world, goals), expected[1])
    np.testing.assert_array_equal(fp.discover(world, n_options=9).goals, few)


def test_cells_of_states_in_any_order() -> None:
    world = fp.ring()
    assert world.floor is not None
    assert world.positions is not None
    states = np.array([100, 3, 191, 3])
    expected = world.positions[states] @ [world.floor.shape[1], 1]
    np.testing.assert_array_equal(map_routes.map_cells(world.floor, states), expected)


def test_many_goals_cost_nothing_until_they_are_used() -> None:
    world = fp.random_maze(700, 700)
    options = fp.OptionSet(world, np.arange(100_000))
    assert len(options) == 100_000
    assert options[99_999].goal == 99_999
    assert not {"transitions", "adjacency", "positions"} & vars(world).keys()


def test_primitive_choices_are_drawn_by_their_weights() -> None:
    weights = np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 1.0], [0.0, 2.0, 0.0]])
    expected = [[0.0, 1.0, 0.0], [0.75, 0.0, 0.25], [0.0, 1.0, 0.0]]
    np.testing.assert_allclose(primitive_moves(fp.World.from_graph(weights)).toarray(), expected, rtol=1e-15)


def test_without_weights_and_restarts_they_are_the_walk_without_laziness() -> None:
    for world in (fp.maze(), fp.four_rooms(wind=0.3)):
        lazy = fp.diffusion.lazy_walk(world).toarray().T
        np.testing.assert_allclose(primitive_moves(world).toarray(), 2 * lazy - np.eye(world.n_states), atol=1e-14)


def test_a_policy_is_a_matrix_of_moves() -> None:
    world = fp.four_rooms(wind=0.3)
    option = fp.discover(world)[0]
    moves = move_matrix(world, option.choice_probabilities()).toarray()
    for state in range(world.n_states):
        expected = option.policy(state) @ world.transitions[list(world.choices(state))].toarray()
        np.testing.assert_allclose(moves[state], expected, atol=1e-15)


def test_an_option_ends_where_it_comes_to_only() -> None:
    # From 1 and 2 no way leads to 0: the option to 0 can start there only, and 1 and 2 are none of its ends.
    world = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)]))
    options = fp.OptionSet(world, np.array([0, 2]))
    assert Following(options[0]).ends.tolist() == [0]
    assert Following(options[1]).ends.tolist() == [2]
    # A unit of mass from each state: each visits itself, 1 is passed from 0, and all of it comes to 2.
    assert Following(options[1]).visits(np.ones((3, 1)))[:, 0].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("seed", range(4))
def test_kernels_of_maps_give_the_same_interpreted_and_compiled(seed: int) -> None:
    world = fp.random_maze(20 + 5 * seed, 24, seed=seed)
    assert world.floor is not None
    cells, width = world.floor.bytes.ravel(), world.floor.shape[1]
    start, goal = np.random.default_rng(seed).choice(np.flatnonzero(cells), 2).tolist()
    kernels = mark_moves, ways_on, lower_distances_on_map
    results = []
    for kind in ("interpreted", "compiled"):
        search, lead_on, lower = (cast(Kernel, kernel).version(kind) for kernel in kernels)
        marks, ways = np.zeros(cells.size, dtype=np.uint8), np.zeros(4, dtype=np.int64)
        n_moves = search(cells, width, start, goal, marks)
        counts = lead_on(cells, width, start, n_moves, marks, ways)
        moves = np.full(cells.size, cells.size, dtype=np.int32)
        lower(cells, width, np.array([start]), moves)
        assert moves[goal] == n_moves
        results.append((n_moves, *counts, *marks, *ways, *moves))
    np.testing.assert_array_equal(results[0], results[1])


def test_visits_are_the_same_interpreted_and_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.random_maze(12, 12, seed=0)
    mass = np.random.default_rng(0).random((world.n_states, 3))
    results = []
    for kind in ("interpreted", "compiled"):
        monkeypatch.setattr("farpoint.options.following.push_down", cast(Kernel, push_down).version(kind))
        results.append(Following(fp.discover(world, n_options=2)[1]).visits(mass))
    np.testing.assert_array_equal(results[0], results[1])
