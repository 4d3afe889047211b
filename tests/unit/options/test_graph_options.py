"""Routes on a sampled graph, followed by a controller; from a log, success is measured and failing edges avoided."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options.practicing import Rehearsal, practice, reroute
from farpoint.worlds import SampleLog

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


PRACTICE_ROOMS = """
#######
#..#..#
#.....#
#..#..#
#######"""


def recorded(n_steps: int = 20_000, **settings: Any) -> tuple[fp.ContinuousMaze, SampleLog]:
    env = fp.ContinuousMaze(PRACTICE_ROOMS, start="random", **settings)
    return env, fp.envs.record_samples(env, n_steps, seed=0)


def discovered(log: SampleLog) -> fp.OptionSet:
    return fp.discover(fp.World.from_samples(log, n_states=60, neighbors="temporal"), n_options=3)


@pytest.mark.parametrize("actions", ["directions", "box"])
def test_options_from_a_log_alone_reach_their_goals(actions: str) -> None:
    env, log = recorded(actions=actions)
    options = fp.GraphOptions.learn(log, discovered(log), radius=0.4, n_trials=10, max_steps=100)
    assert options.success is not None
    assert (options.success >= 0.9).all()
    # What was rehearsed in the log holds in the maze.
    tried = fp.GraphOptions.learn(log, discovered(log), radius=0.4, env=env, n_trials=10, max_steps=100, wander=3)
    assert tried.success is not None
    assert (tried.success >= 0.9).all()
    assert repr(tried).startswith("GraphOptions(3 goals, 60 states, radius=0.4, success ")


def test_the_same_seed_gives_the_same_options() -> None:
    _, log = recorded(4_000)
    one, two = (fp.GraphOptions.learn(log, discovered(log), radius=0.3, n_trials=4, seed=1) for _ in range(2))
    np.testing.assert_array_equal(one.options.world.lengths, two.options.world.lengths)
    np.testing.assert_array_equal(one.success, two.success)
    some = one[1:]
    assert some.success is not None
    assert one.success is not None
    np.testing.assert_array_equal(some.success, one.success[1:])


def square() -> fp.World:
    """Four places, nearly a square: 0 – 1 – 3 along the top, 0 – 2 – 3 along the left and the bottom."""
    matrix = csr_array(np.array([[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]], dtype=float))
    places = np.array([[0.0, 0.0], [1.0, 0.0], [-0.2, 1.1], [1.0, 1.1]])
    world = replace(fp.World.from_graph(matrix), observations=places)
    before, after = world.choice_states, world.transitions.indices
    return replace(world, lengths=np.linalg.norm(places[before] - places[after], axis=1))


class Blocked:
    """The square as a place for trials: actions are targets, and nobody gets from 0 to 1."""

    def begin(self, rng: np.random.Generator) -> Any:
        self.here = np.array([0.0, 0.0])
        return self.here

    def step(self, action: Any, rng: np.random.Generator) -> tuple[Any, bool]:
        target = np.asarray(action)
        if not (np.allclose(self.here, [0, 0]) and np.allclose(target, [1, 0])):
            self.here = target
        return self.here, False


def go(here: Any, target: Any) -> Any:
    return target


@pytest.mark.parametrize("max_steps", [50, 300])
def test_routes_go_around_edges_that_fail(max_steps: int) -> None:
    # The way by 1 is the shorter one.
    options = fp.GraphOptions(fp.OptionSet(square(), np.array([3])), go, radius=0.1)
    assert options[0].route([0.0, 0.0]).tolist() == [0, 1, 3]
    found = practice(options, Blocked(), n_trials=2, max_steps=max_steps, seed=0)
    assert found.success.tolist() == [0.0]
    # One try for every twenty steps at the same place.
    assert found.tried.sum() == 2 * -(-max_steps // 20)
    assert found.followed.sum() == 0
    around = fp.GraphOptions(reroute(options.options, found.tried, found.followed), go, radius=0.1)
    assert around[0].route([0.0, 0.0]).tolist() == [0, 2, 3]
    # With few tries the edge is longer, with many it is gone.
    assert around.options.world.n_choices == (8 if max_steps == 50 else 7)
    again = practice(around, Blocked(), n_trials=2, max_steps=50, seed=0)
    assert again.success.tolist() == [1.0]
    assert again.tried.sum() == again.followed.sum() == 4


def test_an_edge_without_a_way_around_is_not_cut() -> None:
    line = fp.World.from_graph(np.array([[0.0, 1.0], [1.0, 0.0]]))
    options = fp.OptionSet(replace(line, observations=np.array([[0.0], [1.0]])), np.array([1]))
    kept = reroute(options, np.array([50, 0]), np.array([0, 0]))
    assert kept.world.n_choices == 2
    assert kept.world.lengths is not None
    assert kept.world.lengths.tolist() == [51.0, 1.0]


def test_a_trial_that_begins_at_the_goal_does_not_count() -> None:
    options = fp.GraphOptions(fp.OptionSet(square(), np.array([0])), go, radius=0.1)
    assert np.isnan(practice(options, Blocked(), n_trials=2, max_steps=9, seed=0).success).all()


def test_a_rehearsal_goes_where_logged_steps_went() -> None:
    log = SampleLog(np.array([[0.0], [9.0]]), np.array([0, 0]), np.array([[1.0], [8.0]]))
    place, rng = Rehearsal(log), np.random.default_rng(0)
    assert place.begin(rng) in log.observations
    assert place.step(0, rng)[0] in log.next_observations


def test_wrong_arguments_are_named() -> None:
    _, log = recorded(500)
    world = fp.World.from_samples(log, n_states=10)
    options = fp.OptionSet(world, np.array([0]))
    with pytest.raises(InvalidInput, match="env must be a Gymnasium environment or None; got 5"):
        fp.GraphOptions.learn(log, options, radius=0.1, env=5)
    with pytest.raises(InvalidInput, match="log must have observations of 2 numbers"):
        fp.GraphOptions.learn(([[0.0]], [0], [[1.0]]), options, radius=0.1)
    with pytest.raises(InvalidInput, match="n_trials must be at least 1"):
        fp.GraphOptions.learn(log, options, radius=0.1, n_trials=0)
    with pytest.raises(InvalidInput, match=r"success must be 1 shares of trials; got shape \(2,\)"):
        fp.GraphOptions(options, lambda here, there: 0, 0.1, np.ones(2))
