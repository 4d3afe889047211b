"""One world of every kind: a new kind is one more line of `WORLDS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import issparse

import farpoint as fp
from farpoint.worlds.choices import ChoiceTable
from tests.helpers.envs import make


def _frozen_lake(*, is_slippery: bool) -> Any:
    return make("FrozenLake-v1", is_slippery=is_slippery)


def _laid_out() -> fp.World:
    graph = nx.random_geometric_graph(40, 0.3, seed=1)
    nx.set_node_attributes(graph, nx.spring_layout(graph, seed=1), "pos")
    return fp.World.from_graph(graph, largest_component=True)


def _map_as_graph() -> fp.World:
    rooms = fp.four_rooms()
    return fp.World.from_graph(rooms.adjacency, positions=rooms.positions)


def _one_way() -> fp.World:
    return fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)]))


def _two_ends() -> fp.World:
    """A walk from a state that nothing enters to one of two that nothing leaves: only symmetrized is it defined."""
    return fp.World.from_graph(nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1), (0, 3), (2, 4), (5, 0)]))


def _restarting() -> fp.World:
    """A weighted graph with episodes: two terminal states, a restart of its own in each state, and five starts."""
    rng = np.random.default_rng(5)
    graph = nx.connected_watts_strogatz_graph(40, 4, 0.2, seed=2)
    weights = nx.to_numpy_array(graph) * rng.uniform(0.5, 2.0, size=(40, 40))
    weights[[11, 29]] = 0.0
    plain = fp.World.from_graph(weights)
    restart = rng.uniform(0.0, 0.2, size=40)
    restart[[3, 4]] = 0.0
    restart[[11, 29]] = 1.0
    starts = np.zeros(40)
    starts[[0, 7, 12, 20, 33]] = [0.3, 0.25, 0.2, 0.15, 0.1]
    return fp.World.from_matrix(
        plain.transitions,
        plain.choice_ptr,
        weights=plain.weights,
        targets=np.array([11, 29]),
        restart=restart,
        starts=starts,
        name="restarting",
    )


def _log(*, is_slippery: bool, **settings: Any) -> fp.World:
    return fp.World.from_log(fp.record_log(_frozen_lake(is_slippery=is_slippery), 700, seed=3), **settings)


def _log_without_actions() -> fp.World:
    rng = np.random.default_rng(4)
    places = np.clip(np.cumsum(rng.choice([-1, 1], size=(3_000, 2)), axis=0) % 13, 3, 9).tolist()
    return fp.World.from_log([tuple(place) for place in places[:-1]], [tuple(place) for place in places[1:]])


def _samples(neighbors: str) -> fp.World:
    before, after = fp.ContinuousMaze("....\n.##.\n....").random_walk(4_000, seed=2)
    return fp.World.from_samples(before, after, n_states=60, neighbors=neighbors, seed=1)


_BUILDERS: dict[str, Callable[[], fp.World]] = {
    "four_rooms": fp.four_rooms,
    "maze": fp.maze,
    "ring": fp.ring,
    "open_room": lambda: fp.open_room(6, 9),
    "random_maze": lambda: fp.random_maze(12, 20),
    "array": lambda: fp.World.from_array(np.arange(70).reshape(7, 10) % 9 > 0, start=(0, 1), largest_component=True),
    "grid_3d": lambda: fp.grid((3, 4, 5)),
    "windy": lambda: fp.four_rooms(wind=1 / 3),
    "tree": lambda: fp.World.from_graph(nx.balanced_tree(2, 5)),
    "karate": lambda: fp.World.from_graph(nx.karate_club_graph()),
    "one_way": _one_way,
    "two_ends": _two_ends,
    "layout": _laid_out,
    "map_as_graph": _map_as_graph,
    "frozen_lake": lambda: fp.World.from_env(_frozen_lake(is_slippery=False)),
    "slippery_lake": lambda: fp.World.from_env(_frozen_lake(is_slippery=True)),
    "cliff": lambda: fp.World.from_env(make("CliffWalking-v1")),
    "door_key": lambda: fp.World.from_env(make("MiniGrid-DoorKey-5x5-v0")),
    "log": lambda: _log(is_slippery=False),
    "slippery_log": lambda: _log(is_slippery=True),
    "symmetrized_log": lambda: _log(is_slippery=True, symmetrize=True),
    "log_without_actions": _log_without_actions,
    "kernel_samples": lambda: _samples("kernel"),
    "temporal_samples": lambda: _samples("temporal"),
    "restarting": _restarting,
}
# Worlds cannot be changed, so that one of each is enough.
WORLDS: dict[str, Callable[[], fp.World]] = {name: cache(build) for name, build in _BUILDERS.items()}


def described(world: fp.World) -> Any:
    """Return what a world is, whatever the order of its states: moves by label and action, ends and starts."""
    labels = world.labels or range(world.n_states)
    moves = {}
    for choice, state in enumerate(world.choice_states.tolist()):
        row = world.transitions[[choice]].tocoo()
        led = {labels[place]: round(chance, 12) for place, chance in zip(row.col.tolist(), row.data, strict=True)}
        moves[labels[state], int(world.actions[choice])] = led
    ends = {labels[state] for state in np.flatnonzero(world.terminal)}
    assert world.starts is not None
    starts = {labels[state]: round(world.starts[state], 12) for state in np.flatnonzero(world.starts)}
    return set(labels), moves, ends, starts


def assert_same_world(one: fp.World, two: fp.World) -> None:
    """Fail unless two worlds are equal in every field, and in what follows from them."""
    assert type(one.source) is type(two.source)
    names = [item.name for kind in (fp.World, ChoiceTable) for item in fields(kind) if item.name != "source"]
    names += ["adjacency", "symmetric", "component_sizes", "fingerprint", "deterministic", "on_grid"]
    for name in names:
        _assert_same(name, getattr(one, name), getattr(two, name))
    _assert_same("floor", *(None if world.floor is None else world.floor.cells for world in (one, two)))


def _assert_same(name: str, one: Any, two: Any) -> None:
    if issparse(one):
        assert one.shape == two.shape, name
        for part in ("indptr", "indices", "data"):
            _assert_same(f"{name}.{part}", getattr(one, part), getattr(two, part))
    elif isinstance(one, np.ndarray):
        assert one.dtype == two.dtype, name
        np.testing.assert_array_equal(one, two, err_msg=name)
    else:
        assert one == two, name
