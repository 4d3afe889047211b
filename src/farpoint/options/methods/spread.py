"""Goals that are spread over the whole world: each the farthest from those before it."""

from __future__ import annotations

import numpy as np

from farpoint.diffusion import Goals
from farpoint.options.map_routes import LARGE_MAP, MapDistances, map_cells
from farpoint.worlds import World
from farpoint.worlds.map_world import MapWorld


def farthest_first(world: World, goals: Goals, n_goals: int) -> Goals:
    """Return the highest of the goals and ``n_goals`` − 1 others, each the one farthest from all that were taken.

    Distances are moves in either direction; of equally far goals the highest is taken. The order stays that of
    ``goals``. The K searches together cost little more than one, for each goes only where it leads nearer.
    """
    if isinstance(world, MapWorld) and world.n_states > LARGE_MAP:
        return _farthest_on_map(world, goals, n_goals)
    from farpoint.options.search_kernels import come_nearer

    graph, moves = world.neighbors, np.full(world.n_states, np.inf)
    taken = np.zeros(len(goals), dtype=bool)
    for _ in range(n_goals):
        farthest = int(np.where(taken, -1.0, moves[goals.states]).argmax())
        taken[farthest] = True
        come_nearer(graph.indptr, graph.indices, int(goals.states[farthest]), moves)
    return goals.where(taken)


def _farthest_on_map(world: MapWorld, goals: Goals, n_goals: int) -> Goals:
    distances, cells = MapDistances(world), map_cells(world, goals.states)
    taken = np.zeros(len(goals), dtype=bool)
    for _ in range(n_goals):
        farthest = int(np.where(taken, -1.0, distances.at(cells)).argmax())
        taken[farthest] = True
        distances.come_nearer(goals.states[[farthest]])
    return goals.where(taken)
