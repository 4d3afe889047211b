"""Routes on a sampled graph and the wrapper in which options on observations are actions."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.counter import Counter, UpTo

ROOMS = """
#######
#..#..#
#.....#
#..#..#
#######"""


def rooms_options(goals: list[int], radius: float = 0.4) -> tuple[fp.ContinuousMaze, fp.GraphOptions]:
    env = fp.ContinuousMaze(ROOMS, step=0.3, noise=0.05)
    world = fp.World.from_map(ROOMS)
    assert world.positions is not None
    control = fp.options.direction_controller(env.displacements)
    return env, fp.GraphOptions(world, world.positions[:, ::-1] + 0.5, goals, control, radius=radius)


def test_distances_are_those_of_networkx() -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(size=(30, 2))
    graph = nx.gnp_random_graph(30, 0.15, seed=1, directed=True)
    edges = nx.to_scipy_sparse_array(graph, weight=None)
    world = fp.World.from_graph(edges, largest_component=True)
    places = places[: world.n_states]
    weighted = nx.DiGraph()
    for begin, end in zip(*world.adjacency.nonzero(), strict=True):
        weighted.add_edge(begin, end, weight=float(np.linalg.norm(places[begin] - places[end])))
    options = fp.GraphOptions(world, places, [3, 7], lambda here, there: 0, radius=0.0)
    for number, goal in enumerate((3, 7)):
        expected = nx.single_source_dijkstra_path_length(weighted.reverse(), goal)
        for state in range(world.n_states):
            assert options.distances[number, state] == pytest.approx(expected.get(state, np.inf))
            if state in expected:
                route = options[number].route(places[state])
                lengths = [weighted.edges[pair]["weight"] for pair in itertools.pairwise(route)]
                assert sum(lengths) == pytest.approx(expected[state])
            elif state != goal:
                assert not options[number].can_start(places[state])


def test_options_reach_their_goals_through_the_door_in_spite_of_noise() -> None:
    env, options = rooms_options([0, 12])
    for seed in range(20):
        for option in options:
            observation, _ = env.reset(seed=seed)
            steps = 0
            while (action := option.act(observation)) is not None and steps < 100:
                observation, *_ = env.step(action)
                steps += 1
            assert np.linalg.norm(observation - option.goal) <= 0.4


def test_option_ends_at_its_goal_and_cannot_start_there() -> None:
    _, options = rooms_options([0])
    assert options[0].act([1.5, 1.6]) is None
    assert not options[0].can_start([1.5, 1.6])
    assert options[0].can_start([5.5, 1.5])
    assert len(options[:]) == 1
    with pytest.raises(IndexError):
        options[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observations": np.zeros((3, 2))}, r"one row a state \(13\); got shape \(3, 2\)"),
        ({"goals": [13]}, "goals must lie in 0 … 12; got 13"),
        ({"goals": np.empty(0, dtype=int)}, "goals must be at least one"),
        ({"radius": -1.0}, "radius must be a finite number of at least 0; got -1.0"),
    ],
)
def test_wrong_graphs_are_named(change: dict[str, Any], message: str) -> None:
    world = fp.World.from_map(ROOMS)
    given = {"observations": world.positions, "goals": [0], "controller": lambda a, b: 0, "radius": 0.1, **change}
    with pytest.raises(InvalidInput, match=message):
        fp.GraphOptions(world, **given)


def test_controller_needs_a_row_an_action() -> None:
    with pytest.raises(InvalidInput, match="displacements must have one row an action"):
        fp.options.direction_controller([1.0, 2.0])


def test_options_can_be_pickled() -> None:
    corridor = fp.World.from_map(".....")
    middles = np.asarray(corridor.positions)[:, ::-1] + 0.5
    control = fp.options.direction_controller(fp.ContinuousMaze(".....").displacements)
    options = pickle.loads(pickle.dumps(fp.GraphOptions(corridor, middles, [4], control, radius=0.3)))
    assert options[0].act([0.5, 0.5]) == 0


def test_option_as_action_sums_discounted_rewards() -> None:
    env = fp.GoalOptionsWrapper(Counter(), [UpTo(3), UpTo(9)], gamma=0.5)
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(2)
    # 1 + 0.5·2 + 0.25·3, by hand.
    assert (observation[0], reward, terminated, truncated) == (3.0, 2.75, False, False)
    assert (info["duration"], info["gamma_k"], info["discount"], info["reward_sum"]) == (3, 0.125, 0.125, 6.0)
    assert (info["option"], info["steps"], info["action_mask"].tolist()) == (0, 3, [1, 1, 0, 1])
    _, reward, *_, info = env.step(0)
    assert (reward, info["duration"], info["gamma_k"], info["option"], info["episode_steps"]) == (2.0, 1, 0.5, -1, 4)
    _, _, terminated, _, info = env.step(3)
    assert (terminated, info["duration"], env.total_steps) == (True, 7, 11)


def test_option_stops_with_the_episode_and_at_its_longest() -> None:
    short = fp.GoalOptionsWrapper(Counter(limit=4), [UpTo(9)])
    short.reset()
    _, _, terminated, truncated, info = short.step(2)
    assert (terminated, truncated, info["duration"]) == (False, True, 4)
    cut = fp.GoalOptionsWrapper(Counter(), [UpTo(9)], max_length=5)
    cut.reset()
    observation, _, terminated, truncated, info = cut.step(2)
    assert (observation[0], terminated, truncated, info["duration"]) == (5.0, False, False, 5)


def test_option_that_cannot_start_is_refused_or_replaced() -> None:
    env = fp.GoalOptionsWrapper(Counter(), [UpTo(0)])
    with pytest.raises(InvalidInput, match="must be reset"):
        env.step(0)
    env.reset()
    with pytest.raises(InvalidInput, match="option 0 must be one that can start here"):
        env.step(2)
    with pytest.raises(InvalidInput, match="action must lie in 0 … 2; got 3"):
        env.step(3)
    lenient = fp.GoalOptionsWrapper(Counter(), [UpTo(0)], unavailable="random")
    lenient.reset(seed=0)
    *_, info = lenient.step(2)
    assert (info["option"], info["duration"]) == (-1, 1)


def test_continuous_actions_are_refused() -> None:
    with pytest.raises(InvalidInput, match="discrete actions from 0; got Box"):
        fp.GoalOptionsWrapper(fp.ContinuousMaze(actions="box"), [])


def test_both_kinds_of_options_pass_through_the_wrapper() -> None:
    env, options = rooms_options([12])
    wrapped = fp.GoalOptionsWrapper(env, options, gamma=0.9)
    wrapped.reset(seed=0, options={"start": (1.5, 1.5)})
    observation, _, _, _, info = wrapped.step(8)
    assert np.linalg.norm(observation - options[0].goal) <= 0.4
    # At least as many steps as the way through the door takes in a straight line.
    assert info["duration"] >= (np.hypot(2, 1) + np.hypot(2, 1) - 0.8) / 0.45
