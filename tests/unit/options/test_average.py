"""Average Options against all sets of medians."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.options.methods import average
from farpoint.options.methods.average import alternated_goals, median_costs
from tests.helpers import brute

# Rooms, a corridor, a tree, a ring, cliques, one-way moves around a circle.
WORLDS: dict[str, Callable[[], fp.World]] = {
    "corridor": lambda: fp.grid((13,)),
    "rooms": lambda: fp.World.from_map("...#...\n.......\n...#..."),
    "tree": lambda: fp.World.from_graph(nx.balanced_tree(2, 3)),
    "ring": lambda: fp.World.from_graph(nx.cycle_graph(12)),
    "cliques": lambda: fp.World.from_graph(nx.connected_caveman_graph(3, 5)),
    "one way": lambda: fp.World.from_graph(nx.cycle_graph(11, create_using=nx.DiGraph)),
    "random tree": lambda: fp.World.from_graph(nx.gn_graph(14, seed=3).to_undirected()),
}


def moves(world: fp.World) -> brute.Matrix:
    """d(s, x) by networkx."""
    graph = nx.from_scipy_sparse_array(world.adjacency, create_using=nx.DiGraph)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    return np.array([[lengths[s][x] for x in range(world.n_states)] for s in range(world.n_states)], dtype=float)


@pytest.mark.parametrize("n_options", [1, 2, 3])
@pytest.mark.parametrize("name", WORLDS)
def test_goals_are_the_best_of_all_sets(name: str, n_options: int) -> None:
    world = WORLDS[name]()
    options = fp.discover(world, "average", n_options=n_options)
    best = brute.best_medians(moves(world), n_options)
    assert options.record["value"] == pytest.approx(best, rel=1e-12)
    assert brute.decisions(moves(world), tuple(options.goals)) == pytest.approx(best, rel=1e-12)
    # What the measure says of the options themselves.
    assert fp.measures.decisions_between_states(world, options).mean() == pytest.approx(best, rel=1e-12)


def test_random_graphs() -> None:
    # A local search need not find the best set; it does in nine of these twelve, and comes near it in all.
    exact = 0
    for seed in range(12):
        world = fp.World.from_graph(nx.connected_watts_strogatz_graph(13, 4, 0.3, seed=seed))
        options = fp.discover(world, "average", n_options=3, seed=seed)
        best = brute.best_medians(moves(world), 3)
        assert best - 1e-12 <= options.record["value"] <= 1.01 * best
        exact += options.record["value"] <= best + 1e-12
    assert exact >= 9


def test_exchanges_improve_on_the_alternation_and_that_on_random_goals() -> None:
    world = fp.maze()
    rng = np.random.default_rng(0)
    costs = median_costs(world, np.arange(world.n_states), 19, rng)
    goals, fast = alternated_goals(costs, 19, rng)
    assert fast == costs.mean_steps(goals)[0]
    random = costs.mean_steps(np.random.default_rng(0).choice(world.n_states, 19, replace=False))[0]
    assert fp.discover(world, "average", n_options=19).record["value"] < fast < random


def test_exchanges_are_judged_one_by_one() -> None:
    costs = median_costs(fp.four_rooms(), np.arange(104), 3, np.random.default_rng(0))
    goals = np.array([5, 50, 90])
    replaced = costs.with_one_replaced(goals)[0]
    more = costs.with_one_more(goals)[0]
    for other in (0, 33, 77):
        assert more[other] == pytest.approx(costs.mean_steps(np.append(goals, other))[0], rel=1e-12)
        for place in range(3):
            trial = goals.copy()
            trial[place] = other
            assert replaced[place, other] == pytest.approx(costs.mean_steps(trial)[0], rel=1e-12)


def test_the_same_seed_gives_the_same_goals() -> None:
    world = fp.random_maze(20, 20, seed=100)
    found = [fp.discover(world, "average", n_options=7, seed=2, n_jobs=n_jobs).goals for n_jobs in (1, 2)]
    assert found[0].tolist() == found[1].tolist()


def test_a_sample_of_a_large_world(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.open_room(30, 30)
    whole = fp.discover(world, "average", n_options=4)
    assert "sample" not in whole.record["choice"]
    monkeypatch.setattr(average, "ALL_STATES", 400)
    monkeypatch.setattr(average, "TARGETS", 200)
    sampled = fp.discover(world, "average", n_options=4)
    assert sampled.record["choice"].endswith(", by a sample of 400 states as goals, of 200 as targets")
    # In a square room the four medians are the centers of its quarters; a sample comes near them.
    means = [fp.measures.decisions_between_states(world, one).mean() for one in (whole, sampled)]
    assert means[0] <= means[1] < 1.05 * means[0]
    # More goals than candidates are drawn by default, and than are exchanged.
    many = fp.discover(world, "average", n_options=401)
    assert np.unique(many.goals).size == 401
    assert "Fast Average Options found: " in many.record["choice"]
    assert many.record["value"] < sampled.record["value"]


def test_episodes_and_one_way_moves_are_crossed_both_ways() -> None:
    one_way = fp.World.from_graph(nx.path_graph(9, create_using=nx.DiGraph))
    options = fp.discover(one_way, "average", n_options=1)
    assert options.record["choice"].endswith(", on moves taken both ways")
    both = fp.discover(fp.World.from_graph(nx.path_graph(9)), "average", n_options=1)
    assert options.goals.tolist() == both.goals.tolist() == [4]
    assert options.record["value"] == both.record["value"]


def test_in_a_world_of_chance_the_value_is_a_bound() -> None:
    # A planner may turn back when the wind has blown, which the value does not count on.
    world = fp.four_rooms(wind=0.3)
    options = fp.discover(world, "average", n_options=6)
    exact = fp.measures.decisions_between_states(world, options).mean()
    assert exact < options.record["value"] < 1.1 * exact
