"""Worlds as flat arrays."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.simulation.tables import streams, world_table
from tests.helpers.graphs import directed_graph


@pytest.mark.parametrize("world", [fp.four_rooms(wind=0.3), directed_graph(2), fp.ring()], ids=str)
def test_running_sums_are_those_of_each_choice_and_each_state(world: fp.World) -> None:
    table = world_table(world)
    for choice in range(world.n_choices):
        entries = slice(table.next_ptr[choice], table.next_ptr[choice + 1])
        expected = np.cumsum(world.transitions[[choice]].data)
        np.testing.assert_allclose(table.next_cdf[entries][:-1], expected[:-1], atol=1e-12)
        assert table.next_cdf[entries][-1] == np.inf
    if world.weights is None:
        assert table.choice_cdf.size == 0
        return
    for state in range(world.n_states):
        choices = slice(table.choice_ptr[state], table.choice_ptr[state + 1])
        expected = np.cumsum(world.weights[choices]) / world.weights[choices].sum()
        np.testing.assert_allclose(table.choice_cdf[choices][:-1], expected[:-1], atol=1e-12)
        assert table.choice_cdf[choices][-1] == np.inf


def test_a_state_without_choices_is_refused_unless_episodes_end() -> None:
    dead_end = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 0), (1, 2)]))
    with pytest.raises(
        InvalidInput, match="every state must have a choice for an agent to be simulated; got none in 2"
    ):
        world_table(dead_end)
    assert world_table(dead_end, episodic=True).choice_ptr.tolist() == [0, 1, 3, 3]


def test_streams_are_those_of_the_seed() -> None:
    np.testing.assert_array_equal(streams(5, 3), streams(5, 7)[:3])
    assert np.unique(np.concatenate([streams(seed, 100) for seed in range(5)])).size == 500
