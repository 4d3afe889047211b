"""Where options end and how often they visit states on the way."""

from __future__ import annotations

import networkx as nx
import numpy as np

import farpoint as fp
from farpoint.options.following import Following


def test_an_option_ends_where_it_comes_to_only() -> None:
    # From 1 and 2 no way leads to 0: the option to 0 can start there only, and 1 and 2 are none of its ends.
    world = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)]))
    options = fp.OptionSet(world, np.array([0, 2]))
    assert Following(options[0]).ends.tolist() == [0]
    assert Following(options[1]).ends.tolist() == [2]
    # A unit of mass from each state: each visits itself, 1 is passed from 0, and all of it comes to 2.
    assert Following(options[1]).visits(np.ones((3, 1)))[:, 0].tolist() == [1.0, 2.0, 3.0]
