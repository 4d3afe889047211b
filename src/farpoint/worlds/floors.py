"""Floors: maps of two dimensions, one byte per cell, and the numbers of their states (floor cells row by row).

Nothing here takes memory for each state: the number of the first state of every row is all that is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from farpoint.errors import NotConnected, listed
from farpoint.worlds.arrays import read_only

# Floors are read in pieces of about so many cells.
_CELLS_PER_PIECE = 1 << 20
# Up to here scipy's labels are made at once; beyond, their four bytes per cell would be most of the memory.
_FEW_CELLS = 1 << 16


def as_bytes(floor: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the cells of a floor as bytes that cannot be written; nothing is copied.

    >>> as_bytes(np.array([[True, False]]))
    array([[1, 0]], dtype=uint8)
    """
    return read_only(np.asarray(floor).view(np.uint8))


def row_pieces(floor: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of about a million cells each.

    >>> list(row_pieces(np.ones((3, 4), dtype=bool)))
    [(0, 3)]
    """
    rows = max(1, _CELLS_PER_PIECE // max(floor.shape[1], 1))
    for first in range(0, floor.shape[0], rows):
        yield first, min(first + rows, floor.shape[0])


def row_starts(floor: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of the first state of every row, and last the number of states.

    >>> row_starts(np.array([[True, False], [True, True]]))
    array([0, 1, 3])
    """
    starts = np.zeros(floor.shape[0] + 1, dtype=np.int64)
    for first, last in row_pieces(floor):
        np.sum(floor[first:last], axis=1, dtype=np.int64, out=starts[first + 1 : last + 1])
    return read_only(np.cumsum(starts))


def count_moves(floor: NDArray[np.bool_]) -> int:
    """Return the number of moves between adjacent cells, in both directions.

    >>> count_moves(np.ones((2, 3), dtype=bool))
    14
    """
    pairs = 0
    for first, last in row_pieces(floor):
        here = floor[first:last]
        pairs += int(np.count_nonzero(here[:, 1:] & here[:, :-1]))
        below = floor[first + 1 : last + 1]
        pairs += int(np.count_nonzero(here[: len(below)] & below))
    return 2 * pairs


def connected_floor(floor: NDArray[np.bool_], largest_component: bool) -> NDArray[np.bool_]:
    """Return the floor if it is connected, or its largest component if ``largest_component``."""
    if floor.all():
        return floor
    if floor.ndim != 2 or floor.size <= _FEW_CELLS:
        component, n_components = ndimage.label(floor)
        sizes = np.bincount(component.ravel())[1:]
    else:
        from farpoint.worlds.floor_kernels import component_sizes

        component, label_sizes = component_sizes(as_bytes(floor))
        labels = np.flatnonzero(label_sizes)
        sizes, n_components = label_sizes[labels], labels.size
    if n_components <= 1:
        return floor
    if not largest_component:
        raise NotConnected(
            f"world must be connected; got {n_components} components (sizes {listed(np.sort(sizes)[::-1])}). "
            "Pass largest_component=True to keep the largest."
        )
    if component.ndim == floor.ndim:
        return np.asarray(component == 1 + sizes.argmax())
    from farpoint.worlds.floor_kernels import keep_component

    kept = np.zeros(floor.shape, dtype=np.uint8)
    keep_component(as_bytes(floor), component, int(labels[sizes.argmax()]), kept)
    return kept.view(np.bool_)


def cell_of(floor: NDArray[np.bool_], starts: NDArray[np.int64], state: int) -> tuple[int, int]:
    """Return the row and column of a state.

    >>> floor = np.array([[True, False], [True, True]])
    >>> cell_of(floor, row_starts(floor), 2)
    (1, 1)
    """
    row = int(np.searchsorted(starts, state, side="right")) - 1
    return row, int(np.flatnonzero(floor[row])[state - starts[row]])


def state_of(floor: NDArray[np.bool_], starts: NDArray[np.int64], row: int, col: int) -> int:
    """Return the state of a floor cell.

    >>> floor = np.array([[True, False], [True, True]])
    >>> state_of(floor, row_starts(floor), 1, 1)
    2
    """
    return int(starts[row]) + int(np.count_nonzero(floor[row, :col]))


def states_of(floor: NDArray[np.bool_], starts: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the states of floor cells, one row (row, column) each.

    >>> floor = np.array([[True, False], [True, True]])
    >>> states_of(floor, row_starts(floor), np.array([[1, 1], [0, 0]]))
    array([2, 0])
    """
    states = np.empty(len(cells), dtype=np.int64)
    for row in np.unique(cells[:, 0]):
        here = cells[:, 0] == row
        states[here] = starts[row] + np.cumsum(floor[row])[cells[here, 1]] - 1
    return states


def cells_of_all(floor: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the place of every floor cell along each axis; what `numpy.argwhere` does in a quarter of the memory."""
    cells = np.empty((int(np.count_nonzero(floor)), floor.ndim), dtype=np.int32)
    for axis, length in enumerate(floor.shape):
        along = np.arange(length, dtype=np.int32).reshape([-1 if other == axis else 1 for other in range(floor.ndim)])
        cells[:, axis] = np.broadcast_to(along, floor.shape)[floor]
    return read_only(cells)
