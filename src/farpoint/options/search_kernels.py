"""Breadth-first search, compiled where there is much of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled_when_worth


@compiled_when_worth()
def come_nearer(indptr: NDArray[Any], indices: NDArray[Any], source: int, moves: NDArray[np.float64]) -> None:
    """Lower ``moves`` to the number of moves from ``source`` wherever that is less; search only where it is."""
    queue = np.empty(indptr.size - 1, dtype=np.int32)
    queue[0] = source
    moves[source] = 0.0
    first, last = 0, 1
    while first < last:
        u = queue[first]
        first += 1
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            if moves[u] + 1.0 < moves[v]:
                moves[v] = moves[u] + 1.0
                queue[last] = v
                last += 1


def moves_to_goal(indptr: NDArray[Any], indices: NDArray[Any], goal: int) -> NDArray[np.float64]:
    """Return the least number of moves from every state to ``goal``, inf where there is no way.

    The graph is the reversed one: row s lists the states that have a move into s.
    """
    moves = np.full(indptr.size - 1, np.inf)
    come_nearer(indptr, indices, goal, moves)
    return moves
