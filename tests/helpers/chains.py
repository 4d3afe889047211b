"""Expected steps of an agent that acts at random, by a chain that is written out state by state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import farpoint as fp


def joint_chain(
    world: fp.World, options: fp.OptionSet, target: int, option_probability: float = 0.5
) -> NDArray[np.float64]:
    """Expected steps by the chain over (state, what is being followed)."""
    n, k = world.n_states, len(options)
    moves = world.transitions.toarray()
    weights = np.ones(world.n_choices) if world.weights is None else world.weights
    size = n * (k + 1)  # index (k, s): deciding in s; (o, s): following option o in s
    system, right = np.eye(size), np.zeros(size)
    deciding = k * n
    for s in range(n):
        if s == target:
            continue
        choices = np.array(list(world.choices(s)))
        startable = [o for o in range(k) if options[o].initiation[s]]
        share = 1.0 - option_probability if startable else 1.0
        right[deciding + s] = share
        taken = weights[choices] / weights[choices].sum()
        system[deciding + s, deciding : deciding + n] -= share * (taken @ moves[choices])
        for o in startable:
            system[deciding + s, o * n + s] -= option_probability / len(startable)
        for o in range(k):
            chances = options[o].policy(s)
            if chances.any():
                right[o * n + s] = 1.0
                system[o * n + s, o * n : o * n + n] -= chances @ moves[choices]
            else:
                system[o * n + s, deciding + s] -= 1.0
    for o in range(k + 1):
        system[o * n + target] = 0.0
        system[o * n + target, o * n + target] = 1.0
    return np.asarray(np.linalg.solve(system, right)[deciding:])
