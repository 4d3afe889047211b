"""Goals that are spread over the whole world: each the farthest from those before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import Goals
from farpoint.options.map_routes import LARGE_MAP, MapDistances, map_cells
from farpoint.options.routes import lower_distances, moves_to_any
from farpoint.worlds import World
from farpoint.worlds.floors import Floor


def farthest_first(world: World, goals: Goals, n_goals: int) -> Goals:
    """Return the highest of the goals and ``n_goals`` − 1 others, each the one farthest from all that were taken.

    Distances are moves in either direction; of equally far goals the highest is taken. The order stays that of
    ``goals``. The K searches together cost little more than one, for each goes only where it leads nearer.
    """
    if world.n_states > LARGE_MAP and world.floor is not None:
        return _farthest_on_map(world.floor, goals, n_goals)
    return goals.where(_far_from_each_other(world, goals.states, n_goals, np.empty(0, dtype=np.int64)))


def _farthest_on_map(floor: Floor, goals: Goals, n_goals: int) -> Goals:
    distances, cells = MapDistances(floor), map_cells(floor, goals.states)
    taken = np.zeros(len(goals), dtype=bool)
    for _ in range(n_goals):
        farthest = int(np.where(taken, -1.0, distances.at(cells)).argmax())
        taken[farthest] = True
        distances.come_nearer(goals.states[[farthest]])
    return goals.where(taken)


def spread_states(
    world: World, allowed: NDArray[np.int64], n_states: int, far_from: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return some of the allowed states, in order, each the farthest from those in ``far_from`` and all taken before.

    Without such states the first of those allowed is taken first.

    Examples
    --------
    >>> import farpoint as fp
    >>> spread_states(fp.grid((9,)), np.arange(9), 3)
    array([0, 4, 8])
    """
    begin = np.empty(0, dtype=np.int64) if far_from is None else far_from
    return allowed[_far_from_each_other(world, allowed, min(n_states, allowed.size), begin)]


def _far_from_each_other(
    world: World, states: NDArray[np.int64], number: int, far_from: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which of the states are taken, one after the other the farthest from ``far_from`` and those taken."""
    graph, moves = world.neighbors, moves_to_any(world.neighbors, far_from.tolist())
    taken = np.zeros(states.size, dtype=bool)
    for _ in range(number):
        farthest = int(np.where(taken, -1.0, moves[states]).argmax())
        taken[farthest] = True
        lower_distances(graph.indptr, graph.indices, int(states[farthest]), moves)
    return taken
