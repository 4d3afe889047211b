from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options.routes import steps_near_routes, steps_to
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


@pytest.mark.parametrize("wind", [0.1, 1 / 3, 0.7])
def test_expected_steps_in_wind_equal_value_iteration(wind: float) -> None:
    world = fp.four_rooms(wind=wind)
    for goal in (0, 50, 103):
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


def test_a_route_that_does_not_end() -> None:
    world = fp.open_room(12, 12, wind=0.9)
    option = fp.OptionSet(world, np.array([0]), "random")[0]
    with pytest.raises(InvalidInput, match="max_steps must be enough for the option to end; got 500"):
        option.route(143, max_steps=500)


def test_states_that_cannot_be_sure_of_the_goal_are_left_out() -> None:
    # 0: one choice, to the goal 2 or into the trap 3. 1: a safe choice (to 2) and a risky one. 3: stays.
    transitions = sparse.csr_array([[0, 0, 0.5, 0.5], [0, 0, 1, 0], [0, 0, 0.9, 0.1], [0, 1, 0, 0], [0, 0, 0, 1.0]])
    world = fp.World(transitions, np.array([0, 1, 3, 4, 5]))
    np.testing.assert_array_equal(steps_to(world, 2), [np.inf, 1, 0, np.inf])


def test_waiting_for_luck_has_the_geometric_mean() -> None:
    # From 0 the only choice succeeds with probability ¼: 4 steps on average.
    world = fp.World(sparse.csr_array([[0.75, 0.25], [0.0, 1.0]]), np.array([0, 1, 2]))
    np.testing.assert_allclose(steps_to(world, 1), [4.0, 0.0])


def test_route_lengths_in_wind_average_to_the_expected_steps() -> None:
    world = fp.four_rooms(wind=1 / 3)
    option = fp.discover(world)[0]
    start = world.start
    assert start is not None
    lengths = [option.route(start, seed=seed).size - 1 for seed in range(400)]
    error = np.std(lengths) / np.sqrt(len(lengths))
    assert abs(np.mean(lengths) - option.expected_steps[start]) < 4 * error


def test_ties_are_broken_uniformly() -> None:
    world = fp.open_room(3, 3)
    option = fp.discover(world)[0]
    assert option.goal == 0
    np.testing.assert_allclose(option.policy(8), [0.5, 0.5])
    np.testing.assert_allclose(option.policy(0), [0, 0])
    ways = {tuple(option.route(8, seed=seed)) for seed in range(100)}
    assert len(ways) == 6  # all monotone paths from corner to corner


@pytest.mark.parametrize("world", [fp.maze(), fp.four_rooms(wind=0.3)], ids=str)
def test_policy_of_a_state_is_its_part_of_the_whole(world: fp.World) -> None:
    option = fp.discover(world)[1]
    whole = option.choice_probabilities()
    for state in range(world.n_states):
        choices = world.choices(state)
        np.testing.assert_allclose(option.policy(state), whole[choices.start : choices.stop])
        assert option.terminates(state) == (state == option.goal)


def test_option_that_cannot_start_here() -> None:
    world = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)]))
    option = fp.OptionSet(world, np.array([0]), "random")[0]
    assert option.initiation.tolist() == [True, False, False]
    with pytest.raises(InvalidInput, match="must be in the option's initiation set; got 2"):
        option.route(2)
    with pytest.raises(InvalidInput, match="from_state must be at most 2; got 7"):
        option.route(7)


def test_routes_are_kept_in_a_bounded_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farpoint.options.option_set._CACHE_BYTES", 0)
    options = fp.discover(fp.maze())
    made: list[int] = []

    def counted(world: fp.World, goal: int) -> NDArray[np.float64]:
        made.append(goal)
        return steps_to(world, goal)

    monkeypatch.setattr("farpoint.options.option_set.steps_to", counted)
    for _ in range(2):
        for option in options:
            assert option.potential.min() == 0
    assert len(options._potentials._kept) == 2
    assert made == 2 * options.goals.tolist()
    assert options[-1].potential.min() == 0
    assert len(made) == 2 * len(options)


@given(seed=st.integers(0, 10_000), directed=st.booleans())
def test_a_single_route_is_the_one_that_the_potential_gives(seed: int, directed: bool) -> None:
    graph = nx.gnp_random_graph(25, 0.12, seed=seed, directed=directed)
    world = fp.World.from_graph(graph, largest_component=True)
    goal, start = seed % world.n_states, seed // 7 % world.n_states
    searched, known = (fp.OptionSet(world, np.array([goal]), "random")[0] for _ in range(2))
    if np.isfinite(known.potential[start]):
        np.testing.assert_array_equal(searched.route(start, seed=seed), known.route(start, seed=seed))
        assert "potential" not in vars(searched)
    else:
        with pytest.raises(InvalidInput, match="initiation set"):
            searched.route(start)


def test_a_single_route_looks_at_few_states() -> None:
    world = fp.open_room(60, 60)
    near = steps_near_routes(world, 60 * 30 + 5, 60 * 30 + 45)
    steps = steps_to(world, 60 * 30 + 45)
    known = np.isfinite(near)
    assert known.sum() < world.n_states / 3
    np.testing.assert_array_equal(near[known], steps[known])
    assert np.isinf(steps_near_routes(fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2)])), 2, 0)).all()


def test_an_option_can_be_sent_elsewhere() -> None:
    option = fp.discover(fp.maze(), "cover", n_options=2)[0]
    same = pickle.loads(pickle.dumps(option))
    np.testing.assert_array_equal(same.potential, option.potential)
    np.testing.assert_array_equal(same.initiation, option.initiation)
    assert same.goal == option.goal
