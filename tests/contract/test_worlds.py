"""What every world and every method must satisfy; a new one is one more line in its list."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.options import METHODS

WORLDS: dict[str, Callable[[], fp.World]] = {
    "four_rooms": fp.four_rooms,
    "maze": fp.maze,
    "ring": fp.ring,
    "open_room": fp.open_room,
    "random_maze": lambda: fp.random_maze(12, 20),
    "grid_3d": lambda: fp.grid((4, 5, 6)),
    "windy": lambda: fp.four_rooms(wind=1 / 3),
    "tree": lambda: fp.World.from_graph(nx.balanced_tree(2, 5)),
    "karate": lambda: fp.World.from_graph(nx.karate_club_graph()),
    "one_way": lambda: fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)])),
}


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest) -> fp.World:
    return WORLDS[request.param]()


def test_world(world: fp.World) -> None:
    assert world.choice_ptr[0] == 0
    assert world.choice_ptr[-1] == world.n_choices
    np.testing.assert_allclose(world.transitions.sum(axis=1), 1.0)
    assert world.adjacency.has_canonical_format
    assert world.adjacency.diagonal().sum() == 0
    assert world.component_sizes == (world.n_states,)
    np.testing.assert_allclose(fp.diffusion.lazy_walk(world).sum(axis=0), 1.0)
    pi = fp.stationary(world)
    assert pi.sum() == pytest.approx(1)
    np.testing.assert_allclose(fp.diffusion.lazy_walk(world) @ pi, pi, atol=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_method(world: fp.World, method: str) -> None:
    options = fp.discover(world, method, seed=3)
    assert options.method == method
    assert (len(options) == 0) == (method == "none")
    for option in (options[0], options[-1]) if len(options) else ():
        assert option.initiation.shape == (world.n_states,)
        chances = option.choice_probabilities()
        sums = np.bincount(world.choice_states, weights=chances, minlength=world.n_states)
        moving = np.array([option.initiation[s] and not option.terminates(s) for s in range(world.n_states)])
        np.testing.assert_allclose(sums[moving], 1.0)
        starts = np.flatnonzero(option.initiation)
        route = option.route(int(starts[0]), seed=1)
        assert route[0] == starts[0]
        assert option.terminates(int(route[-1]))
        for here, there in itertools.pairwise(route):
            choices = world.choices(int(here))
            assert world.transitions[choices.start : choices.stop, [int(there)]].sum() > 0
    again = fp.discover(world, method, seed=3)
    np.testing.assert_array_equal(again.goals, options.goals)
