"""Options to random states, and no options at all: what every method is compared with."""

from __future__ import annotations

import numpy as np

from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.request import DiscoveryRequest, goal_states
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World


def random_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return options to states drawn uniformly without replacement."""
    n_options = count_options(world, request)
    goals = np.random.default_rng(request.seed).choice(goal_states(world), size=n_options, replace=False)
    return OptionSet(world, np.sort(goals), "random", {"seed": request.seed})


def no_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return an empty set."""
    return OptionSet(world, np.empty(0, dtype=np.int64), "none")
