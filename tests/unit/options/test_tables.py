"""Options as flat arrays."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options.tables import option_table

SETS = {
    "diffusion": fp.discover(fp.maze()),
    "windy eigenoptions": fp.discover(fp.four_rooms(wind=0.3), "eigen", n_options=5),
    "cover": fp.discover(fp.ring(), "cover", n_options=6),
    "one way": fp.OptionSet(fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)])), np.array([0, 1, 2])),
}


@pytest.mark.parametrize("name", SETS)
def test_a_table_holds_initiation_sets_and_policies(name: str) -> None:
    options = SETS[name]
    table = option_table(options.world, options)
    taken = table.taken(np.arange(options.world.n_choices))
    for number, option in enumerate(options):
        np.testing.assert_array_equal(taken[number], option.choice_probabilities() > 0)
    for state in range(options.world.n_states):
        assert table.initiation(state).tolist() == [bool(option.initiation[state]) for option in options]
    np.testing.assert_array_equal(table.goals, options.goals)


def test_states_where_the_same_options_start_are_one_group() -> None:
    assert np.unique(SETS["diffusion"].table.group).size == 1
    # Six options that start in six states, or fewer where two share one: a group each, and one for all other states.
    cover = SETS["cover"]
    assert cover.initiation is not None
    assert np.unique(cover.table.group).size == 1 + np.unique(cover.initiation).size


def test_no_options_and_too_many() -> None:
    empty = option_table(fp.maze(), None)
    assert empty.taken(np.arange(4)).shape == (0, 4)
    assert empty.initiation(0).size == 0
    world = fp.open_room(500, 500)
    with pytest.raises(InvalidInput, match=r"options × choices must fit in 4 GiB of bits to be simulated; got 40000 ×"):
        option_table(world, fp.OptionSet(world, np.arange(40_000)))
