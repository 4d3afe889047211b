"""Routes on a sampled graph, followed by a controller in the continuous space."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput

ROOMS = """
#######
#..#..#
#.....#
#..#..#
#######"""


def rooms() -> fp.World:
    """The map with the middle of each cell as the observation of its state."""
    world = fp.World.from_map(ROOMS)
    assert world.positions is not None
    return replace(world, observations=world.positions[:, ::-1] + 0.5)


def rooms_options(goals: list[int], radius: float = 0.4) -> tuple[fp.ContinuousMaze, fp.GraphOptions]:
    env = fp.ContinuousMaze(ROOMS, step=0.3, noise=0.05)
    control = fp.options.direction_controller(env.displacements)
    return env, fp.GraphOptions(fp.OptionSet(rooms(), np.array(goals)), control, radius=radius)


def test_routes_are_the_shortest_of_networkx() -> None:
    places = np.random.default_rng(0).uniform(size=(30, 2))
    graph = nx.gnp_random_graph(30, 0.15, seed=1, directed=True)
    world = fp.World.from_graph(nx.to_scipy_sparse_array(graph, weight=None), largest_component=True)
    places = places[: world.n_states]
    edges = world.adjacency.tocoo()
    lengths = np.linalg.norm(places[edges.row] - places[edges.col], axis=1)
    world = replace(world, observations=places, lengths=lengths)
    weighted = nx.DiGraph()
    for begin, end, length in zip(edges.row, edges.col, lengths, strict=True):
        weighted.add_edge(begin, end, weight=float(length))
    options = fp.GraphOptions(fp.OptionSet(world, np.array([3, 7])), lambda here, there: 0, radius=0.0)
    for number, goal in enumerate((3, 7)):
        expected = nx.single_source_dijkstra_path_length(weighted.reverse(), goal)
        for state in range(world.n_states):
            if state in expected:
                route = options[number].route(places[state])
                taken = [weighted.edges[pair]["weight"] for pair in itertools.pairwise(route)]
                assert sum(taken) == pytest.approx(expected[state])
                assert options[number].can_start(places[state]) == (state != goal)
            else:
                assert not options[number].can_start(places[state])
                assert options[number].act(places[state]) is None


def test_the_controller_is_asked_for_the_way_to_the_next_state_of_the_route() -> None:
    asked: list[tuple[Any, Any]] = []

    def controller(here: Any, there: Any) -> int:
        asked.append((here.tolist(), there.tolist()))
        return 5

    options = fp.GraphOptions(fp.OptionSet(rooms(), np.array([12])), controller, radius=0.3)
    # From a place in the cell left of the door the route leads through it; state 6 is the door.
    assert options.act(0, [2.4, 2.7]) == 5
    assert asked == [([2.4, 2.7], [3.5, 2.5])]


def test_options_reach_their_goals_through_the_door_in_spite_of_noise() -> None:
    env, options = rooms_options([0, 12])
    for seed in range(20):
        for number, option in enumerate(options):
            observation, _ = env.reset(seed=seed)
            steps = 0
            while (action := option.act(observation)) is not None and steps < 100:
                observation, *_ = env.step(action)
                steps += 1
            assert np.linalg.norm(observation - option.goal) <= 0.4
            assert options.reached(number, observation)


def test_option_ends_at_its_goal_and_cannot_start_there() -> None:
    _, options = rooms_options([0])
    assert options[0].act([1.5, 1.6]) is None
    assert options[0].ended([1.5, 1.6])
    assert not options[0].can_start([1.5, 1.6])
    assert options[0].can_start([5.5, 1.5])
    assert len(options[:]) == 1
    with pytest.raises(IndexError):
        options[1]


def test_answers_for_all_options_are_those_of_each_option() -> None:
    _, options = rooms_options([0, 5, 12])
    for place in np.random.default_rng(2).uniform([1.0, 1.0], [6.0, 4.0], size=(100, 2)):
        assert options.can_start(place).tolist() == [option.can_start(place) for option in options]
        assert options.ended(place).tolist() == [option.ended(place) for option in options]
        assert [options.act(k, place) for k in range(3)] == [option.act(place) for option in options]
        near = np.linalg.norm(options.goals - place, axis=1) <= 0.4
        assert [options.reached(k, place) for k in range(3)] == near.tolist()
        assert options.ended(place).tolist() == near.tolist()


def test_a_slice_is_a_set_of_the_same_kind() -> None:
    _, options = rooms_options([0, 5, 12])
    some = options[1:]
    assert isinstance(some, fp.GraphOptions)
    assert (some.radius, some.options.goals.tolist()) == (0.4, [5, 12])
    np.testing.assert_array_equal(some.goals, options.goals[1:])
    assert repr(some) == "GraphOptions(2 goals, 13 states, radius=0.4)"


def test_wrong_graphs_are_named() -> None:
    def control(here: Any, there: Any) -> int:
        return 0

    world = rooms()
    without, climbing = fp.OptionSet(fp.World.from_map(ROOMS), np.array([0])), fp.discover(world, "eigen", n_options=2)
    with pytest.raises(InvalidInput, match="options must be an OptionSet on a world with observations"):
        fp.GraphOptions(without, control, radius=0.1)
    with pytest.raises(InvalidInput, match="options must be an OptionSet on a world with observations"):
        fp.GraphOptions([0], control, radius=0.1)  # type: ignore[arg-type]
    for options in (climbing, fp.discover(world, "cover", n_options=2)):
        with pytest.raises(InvalidInput, match="options must lead to goals from everywhere"):
            fp.GraphOptions(options, control, radius=0.1)
    with pytest.raises(InvalidInput, match=r"radius must be a finite number of at least 0; got -1\.0"):
        fp.GraphOptions(fp.OptionSet(world, np.array([0])), control, radius=-1.0)


def test_controller_needs_a_row_per_action() -> None:
    with pytest.raises(InvalidInput, match="displacements must have one row per action"):
        fp.options.direction_controller([1.0, 2.0])


def test_options_can_be_pickled() -> None:
    _, options = rooms_options([12])
    again = pickle.loads(pickle.dumps(options))
    assert again[0].act([1.5, 2.5]) == options[0].act([1.5, 2.5]) == 0


def test_short_steps_point_as_well_as_long_ones() -> None:
    # The first action moves a tenth as far as the second, and the third not at all; only the direction counts.
    control = fp.options.direction_controller([[1.0, 0.0], [10.0, 10.0], [0.0, 0.0]])
    assert control(np.zeros(2), np.array([3.0, 1.0])) == 0
    assert control(np.zeros(2), np.array([3.0, 2.0])) == 1
