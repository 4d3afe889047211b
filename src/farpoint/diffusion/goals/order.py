"""The order of far points: highest first, and the same whatever solver or machine computed the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

# Scores of states that mirror each other differ by rounding only, about 1e-15 of their size; scores that
# differ otherwise do so by far more. Any tolerance between gives the same goals on the paper's worlds.
SAME_SCORE = 1e-9


def descending(values: Any, states: Any, tolerance: float = SAME_SCORE, xp: Any = np) -> Any:
    """Return the order of descending value; values that are equal up to rounding come in the order of their states.

    ``xp`` is the module of the arrays: numpy, or cupy for arrays on a GPU.

    >>> descending(np.array([1.0, 2.0, 2.0 + 1e-15]), np.array([5, 3, 4]))
    array([1, 2, 0])
    """
    order = xp.argsort(-values)
    ordered = values[order]
    drops = ordered[:-1] - ordered[1:] > tolerance * xp.maximum(xp.abs(ordered[:-1]), xp.abs(ordered[1:]))
    # Values in runs of equal ones are sorted again, by state, so that the order does not depend on the solver.
    tied = xp.zeros(values.size, dtype=bool)
    tied[1:] |= ~drops
    tied[:-1] |= ~drops
    run = xp.zeros(values.size, dtype=np.int64)
    xp.cumsum(drops, out=run[1:])
    among, run = order[tied], run[tied]
    if bool((states[1:] > states[:-1]).all()):
        # The order of states is that of their places: one number holds run and place, and sorting numbers is fast.
        order[tied] = xp.sort(run * values.size + among) % values.size
    else:
        order[tied] = among[xp.lexsort(xp.stack([states[among], run]))]
    return order
