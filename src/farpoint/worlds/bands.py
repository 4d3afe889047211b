"""The neighbors of all states, band by band: slices of a graph, or made from a map as they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.worlds.arrays import read_only
from farpoint.worlds.floors import as_bytes, row_pieces

_STATES_PER_BAND = 1 << 18

Lists = tuple[NDArray[Any], NDArray[Any]]


class NeighborBands(Protocol):
    """States in ranges, and the neighbors of each range when they are needed."""

    @property
    def n_states(self) -> int:
        """Number of states."""

    def ranges(self) -> list[tuple[int, int]]:
        """Return the first state of every band and the one after its last."""

    def neighbors(self, states: tuple[int, int]) -> Lists:
        """Return ``indptr`` and ``indices``: those of state ``first + k`` are ``indices[indptr[k]:indptr[k + 1]]``."""


@dataclass(frozen=True)
class GraphBands:
    """Bands of a graph that is there.

    >>> import farpoint as fp
    >>> GraphBands(fp.grid((3,)).neighbors).neighbors((1, 3))[0]
    array([1, 3, 4], dtype=int32)
    """

    graph: csr_array

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.graph.shape[0])

    def ranges(self) -> list[tuple[int, int]]:
        """Return ranges of states."""
        size = _STATES_PER_BAND
        return [(first, min(first + size, self.n_states)) for first in range(0, self.n_states, size)]

    def neighbors(self, states: tuple[int, int]) -> Lists:
        """Return the neighbors of a range."""
        return self.graph.indptr[states[0] : states[1] + 1], self.graph.indices


@dataclass(frozen=True)
class FloorBands:
    """Bands of a map: whole rows, whose neighbors are made and forgotten.

    >>> import farpoint as fp
    >>> world = fp.open_room(2, 2)
    >>> FloorBands(world.floor, np.array([0, 2, 4])).neighbors((0, 4))[1]
    array([1, 2, 0, 3, 0, 3, 1, 2], dtype=int32)
    """

    floor: NDArray[np.bool_]
    starts: NDArray[np.int64]

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.starts[-1])

    def ranges(self) -> list[tuple[int, int]]:
        """Return the states of about a million cells each."""
        found = [(int(self.starts[first]), int(self.starts[last])) for first, last in row_pieces(self.floor)]
        return [(first, last) for first, last in found if first < last]

    def neighbors(self, states: tuple[int, int]) -> Lists:
        """Return the neighbors of a range that begins and ends with a row."""
        from farpoint.worlds.floor_kernels import moves_of_rows

        # Of rows without a state the last that begins there, or the first that ends there: either has all states.
        first = int(np.searchsorted(self.starts, states[0], side="right")) - 1
        last = int(np.searchsorted(self.starts, states[1], side="left"))
        size = states[1] - states[0]
        indptr = np.empty(size + 1, dtype=np.int32)
        indices = np.empty(4 * size + 4, dtype=np.int32 if self.n_states < 2**31 else np.int64)
        count = moves_of_rows(as_bytes(self.floor), self.starts, first, last, indptr, indices)
        return read_only(indptr), read_only(indices[:count])
