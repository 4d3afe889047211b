"""Decisions of a planner, by networkx and by hand."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.measures import decisions_between_states


def test_without_options_decisions_are_moves() -> None:
    world = fp.four_rooms()
    lengths = dict(nx.all_pairs_shortest_path_length(nx.from_scipy_sparse_array(world.adjacency)))
    found = decisions_between_states(world)
    assert all(found[s, x] == lengths[s][x] for s in range(104) for x in range(104))
    assert (decisions_between_states(world, fp.discover(world, "none")) == found).all()


@pytest.mark.parametrize("method", ["diffusion", "cover", "bottleneck"])
def test_options_are_edges_of_length_one(method: str) -> None:
    # Options that start anywhere, in one state only, and in a region.
    world = fp.maze()
    options = fp.discover(world, method, n_options=6)
    graph = nx.from_scipy_sparse_array(world.adjacency, create_using=nx.DiGraph)
    for option in options:
        assert option.goal is not None
        graph.add_edges_from((int(s), option.goal) for s in np.flatnonzero(option.initiation) if s != option.goal)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    found = decisions_between_states(world, options, targets=[3, 77, 140], n_jobs=2)
    assert found.tolist() == [[lengths[s][x] for x in (3, 77, 140)] for s in range(148)]


def test_an_option_that_climbs_ends_at_either_top() -> None:
    # Heights 2 1 0 1 2: from the middle an option comes to either end with chance one half, elsewhere to the nearer.
    world = fp.grid((5,))
    options = fp.OptionSet(world, np.array([0]), climbs=np.array([[2.0, 1.0, 0.0, 1.0, 2.0]]))
    found = decisions_between_states(world, options, targets=[0])[:, 0]
    # From the third: two moves. From the last: four moves; no option leads from it.
    assert found.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    longer = fp.grid((7,))
    options = fp.OptionSet(longer, np.array([0]), climbs=np.array([[3.0, 2.0, 1.0, 0.0, 1.0, 2.0, 3.0]]))
    found = decisions_between_states(longer, options, targets=[0])[:, 0]
    # Beside the middle: the option, one decision instead of two moves. In the middle: step aside and take it; taken at
    # once it leads to the other end half of the time, 1 + 6 / 2 decisions.
    assert found[2:4].tolist() == [1.0, 2.0]


def test_what_is_out_of_reach_is_infinite() -> None:
    world = fp.World.from_graph(nx.path_graph(3, create_using=nx.DiGraph))
    found = decisions_between_states(world, fp.OptionSet(world, np.array([2])))
    assert found.tolist() == [[0.0, 1.0, 1.0], [np.inf, 0.0, 1.0], [np.inf, np.inf, 0.0]]


def test_lengths_of_choices_do_not_count() -> None:
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 7.0, "length")
    assert decisions_between_states(fp.World.from_graph(graph), targets=[3])[0, 0] == 3.0


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="targets must have at least one state"):
        decisions_between_states(fp.four_rooms(), targets=[])
    with pytest.raises(InvalidInput, match="options must belong to this world"):
        decisions_between_states(fp.four_rooms(), fp.discover(fp.maze(), n_options=2))
