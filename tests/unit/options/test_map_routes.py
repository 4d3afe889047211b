"""Routes and distances on the map alone: the same as on the graph."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options import map_routes, probability, routes
from farpoint.options.methods import spread
from farpoint.worlds.map_world import MapWorld


@given(rows=st.integers(1, 14), cols=st.integers(2, 14), wall=st.floats(0, 0.5), seed=st.integers(0, 999))
def test_a_route_on_a_map_is_that_on_its_graph(rows: int, cols: int, wall: float, seed: int) -> None:
    floor = np.random.default_rng(seed).random((rows, cols)) >= wall
    floor[0, 0] = True
    world = fp.World.from_array(floor, largest_component=True)
    graph = replace(world, name="graph")
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
    assert isinstance(world, MapWorld)
    states = np.array([100, 3, 191, 3])
    expected = world.positions[states] @ [world.map.shape[1], 1]
    np.testing.assert_array_equal(map_routes.map_cells(world, states), expected)


def test_many_goals_cost_nothing_until_they_are_used() -> None:
    world = fp.random_maze(700, 700)
    options = fp.OptionSet(world, np.arange(100_000))
    assert len(options) == 100_000
    assert options[99_999].goal == 99_999
    assert not {"transitions", "adjacency", "positions"} & vars(world).keys()
