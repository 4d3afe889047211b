"""Options to the local maxima of betweenness (Şimşek and Barto, 2008)."""

from __future__ import annotations

import numpy as np

from farpoint.diffusion import find_goals
from farpoint.options import centrality
from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.request import DiscoveryRequest, goal_states
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World

# Exact up to so many states; beyond, so many sources.
_EXACT_STATES = 20_000
_SOURCES = 1_000


def betweenness_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return options to the states that more shortest routes pass than their neighbors, the highest first.

    An option starts wherever its goal can be reached, and ends there. Of worlds of more than 20 000 states the
    betweenness is that of 1 000 sources. If there are fewer local maxima than options, the states of highest
    betweenness fill up.
    """
    n_options = count_options(world, request)
    n_sources = None if world.n_states <= _EXACT_STATES else _SOURCES
    found = centrality.betweenness(world, n_sources=n_sources, seed=request.seed, n_jobs=request.n_jobs)
    allowed = goal_states(world)
    maxima = find_goals(world, found).states
    maxima = maxima[np.isin(maxima, allowed)]
    others = allowed[np.argsort(-found[allowed], kind="stable")]
    goals = np.concatenate([maxima, others[~np.isin(others, maxima)]])[:n_options]
    n_maxima = min(maxima.size, n_options)
    record = {
        "n_sources": n_sources or world.n_states,
        "choice": f"of {maxima.size} local maxima of betweenness the {n_maxima} highest"
        + (f", and the {n_options - n_maxima} highest other states" if n_options > n_maxima else ""),
        "heights": found[goals],
    }
    return OptionSet(world, goals, "betweenness", record)
