"""The methods of others: where their options start and end, on worlds where that can be said by hand."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.options.methods.bottleneck import normalized_cut
from farpoint.options.methods.louvain import communities
from farpoint.options.methods.successor import GAMMA, successor_features
from farpoint.options.methods.visits import random_routes

BARBELL = nx.barbell_graph(8, 3)  # two cliques, 0 … 7 and 11 … 18, joined by 8, 9, 10


def test_betweenness_finds_the_middle_of_a_barbell() -> None:
    options = fp.discover(fp.World.from_graph(BARBELL), "betweenness", n_options=3)
    assert options.goals[0] == 9
    assert "1 highest" in options.record["choice"]
    assert all(option.initiation.all() for option in options)


def test_the_first_cut_of_a_barbell() -> None:
    world = fp.World.from_graph(BARBELL)
    options = fp.discover(world, "bottleneck", n_options=2)
    # Each starts on its side and ends in the first state of the other.
    sides = [set(np.flatnonzero(option.initiation).tolist()) for option in options]
    assert sides[0].isdisjoint(sides[1])
    assert sides[0] | sides[1] == set(range(19))
    for option, own, other in zip(options, sides, reversed(sides), strict=True):
        assert option.goal in other
        assert any(option.goal in BARBELL[state] for state in own)
    # The best cut along the path is the best of all thresholds by brute force.
    weights = nx.to_numpy_array(BARBELL)
    best = min(
        nx.cut_size(BARBELL, side) * (1 / weights[side].sum() + 1 / np.delete(weights, side, axis=0).sum())
        for side in ([*range(8)], [*range(9)], [*range(10)], [*range(11)])
    )
    assert normalized_cut(world.neighbors).value == pytest.approx(best)


def test_skills_between_communities() -> None:
    world = fp.World.from_graph(nx.connected_caveman_graph(4, 6))
    levels = communities(world)
    assert levels[-1].max() + 1 >= 2
    # Levels are nested: states of one community are in one of the next level.
    for fine, coarse in pairwise(levels):
        assert all(np.unique(coarse[fine == number]).size == 1 for number in range(int(fine.max()) + 1))
    options = fp.discover(world, "louvain", n_options=2)
    for option in options:
        start = int(np.flatnonzero(option.initiation)[0])
        members = levels[-1]
        route = option.route(start)
        assert members[route[-1]] != members[start]
        assert (members[route[:-1]] == members[start]).all()  # it ends as soon as it has left


def test_more_skills_than_there_are() -> None:
    with pytest.raises(fp.errors.InvalidInput, match=r"pairs of neighboring communities; got 3, and there are 0\."):
        fp.discover(fp.World.from_graph(nx.complete_graph(5)), "louvain", n_options=3)


def test_the_successor_representation() -> None:
    world = fp.grid((4,))
    moves = np.array([[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]])
    assert np.allclose(successor_features(world), np.linalg.inv(np.eye(4) - GAMMA * moves))
    # A projection keeps distances about.
    large = fp.open_room(40, 40)
    assert successor_features(large).shape == (1600, 256)


def test_landmarks_are_one_per_clique() -> None:
    options = fp.discover(fp.World.from_graph(nx.connected_caveman_graph(5, 8)), "successor", n_options=5)
    assert sorted(goal // 8 for goal in options.goals.tolist()) == [0, 1, 2, 3, 4]


def test_the_middle_of_a_corridor_is_visited_most() -> None:
    world = fp.grid((21,))
    options = fp.discover(world, "visits", n_options=3)
    assert abs(int(options.goals[0]) - 10) <= 3
    assert options[0].initiation.any()
    routes = random_routes(world, 30, seed=1)
    assert all((np.diff(route) == 1).all() for route in routes)


def test_regions_are_saved_and_checked(tmp_path: object) -> None:
    world = fp.maze()
    options = fp.discover(world, "bottleneck", n_options=4)
    path = f"{tmp_path}/options.npz"
    options.save(path)
    again = fp.OptionSet.load(path, world)
    assert again.regions is not None
    assert options.regions is not None
    assert (again.regions == options.regions).all()
    assert options[1:3].regions is not None
    outside = int(np.flatnonzero(~options.regions[0])[0])
    with pytest.raises(fp.errors.InvalidInput, match="initiation set"):
        options[0].route(outside)
    with pytest.raises(fp.errors.InvalidInput, match=r"regions must be of shape \(1, 148\); got \(1, 2\)"):
        fp.OptionSet(world, np.array([0]), regions=np.ones((1, 2), dtype=bool))
    with pytest.raises(fp.errors.InvalidInput, match="regions must be an array of True and False"):
        fp.OptionSet(world, np.array([0]), regions=np.ones((1, 148)))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["betweenness", "bottleneck", "louvain", "successor", "visits", "farpoint"])
def test_no_option_leads_into_the_end_of_an_episode(method: str) -> None:
    import gymnasium as gym

    world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
    options = fp.discover(world, method, n_options=3)
    assert not world.terminal[options.goals].any()
