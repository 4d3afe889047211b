"""Compiled following of an option by many masses at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled


@compiled(nogil=True)
def push_down(
    order: NDArray[np.int64],
    choice_ptr: NDArray[Any],
    next_state: NDArray[Any],
    chances: NDArray[np.float64],
    mass: NDArray[np.float64],
) -> None:
    """Turn the mass that starts in each state (rows) into the mass that ever visits it, in place, a column at a time.

    ``order`` holds the states from the highest potential down, so that all that can arrive in a state has arrived
    before it is passed on.
    """
    n_columns = mass.shape[1]
    for state in order:
        for choice in range(choice_ptr[state], choice_ptr[state + 1]):
            chance = chances[choice]
            if chance > 0.0:
                after = next_state[choice]
                for column in range(n_columns):
                    mass[after, column] += chance * mass[state, column]
