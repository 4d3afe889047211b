"""How often a random decision should be an option, by how much there is to look at around the goals.

A random walk needs about d² steps to come as far as d. An agent that takes the next option sooner than that never sees
what lies d away from the goals, so the more spread the goals are, the more often it can afford an option. The rule and
its numbers are measured in docs/choices.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.options.map_routes import LARGE_MAP, MapDistances
from farpoint.worlds import World
from farpoint.worlds.map_world import MapWorld

# What the paper's agent has, and what its own measures and its learning keep. No rule takes options more often.
PAPER_OPTION_PROBABILITY = 0.5
# Of options that are not on the states of a world, of which no distances are known.
DEFAULT_OPTION_PROBABILITY = 0.05
# Random walks look around for this many times the mean of d² between two options …
_LOOKING_AROUND = 2.0
# … but in an episode there are this many options, if it is long enough.
_PER_EPISODE = 2.0


def usual_option_probability(world: World, goals: NDArray[np.int64]) -> float:
    """Return 1 / (1 + 2 d²), d² the mean squared number of moves from a state to the nearest goal; at most ½.

    In a world with episodes of at most T steps, at least 2 / T. 0 without goals.
    """
    if goals.size == 0:
        return 0.0
    moves = moves_to_nearest(world, goals)
    squared = float(np.square(moves[np.isfinite(moves)]).mean())
    chance = 1.0 / (1.0 + _LOOKING_AROUND * squared)
    if world.restart is not None:
        # Where an episode is cut off after T steps, the restart of every state is 1 / T.
        cut_off = world.restart[world.restart < 1.0]
        chance = max(chance, _PER_EPISODE * float(cut_off.max(initial=0.0)))
    return min(chance, PAPER_OPTION_PROBABILITY)


def moves_to_nearest(world: World, goals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the number of moves, in either direction, between each state and the goal nearest to it."""
    if isinstance(world, MapWorld) and world.n_states > LARGE_MAP:
        distances = MapDistances(world)
        distances.come_nearer(goals)
        return distances.of_all()
    from farpoint.options.search_kernels import come_nearer

    graph, moves = world.neighbors, np.full(world.n_states, np.inf)
    for goal in goals:
        come_nearer(graph.indptr, graph.indices, int(goal), moves)
    return moves
