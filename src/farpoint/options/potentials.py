"""The lengths of routes to goals, kept while they fit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from farpoint.options.routes import steps_to
from farpoint.worlds import World
from farpoint.worlds.arrays import read_only

# Potentials are kept while they fit here (at least two, at most 256), so that K options never cost K × n_states.
_CACHE_BYTES = 256 * 2**20


class Potentials:
    """The length of the routes to each goal from everywhere: computed when needed, kept while they fit."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._room = int(np.clip(_CACHE_BYTES // (8 * world.n_states), 2, 256))
        self._kept: OrderedDict[int, NDArray[np.float64]] = OrderedDict()
        self._lock = Lock()

    def of(self, goal: int) -> NDArray[np.float64] | Callable[[], NDArray[np.float64]]:
        """Return the potential of a goal if it is there, or a function that computes it."""
        with self._lock:
            if goal in self._kept:
                self._kept.move_to_end(goal)
                return self._kept[goal]
        return partial(self._compute, goal)

    def _compute(self, goal: int) -> NDArray[np.float64]:
        with self._lock:
            if goal in self._kept:
                return self._kept[goal]
        potential = read_only(steps_to(self._world, goal))
        # Threads that simulate or solve share the set of options.
        with self._lock:
            self._kept[goal] = potential
            while len(self._kept) > self._room:
                self._kept.popitem(last=False)
        return potential
