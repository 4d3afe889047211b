"""Floors: maps of two dimensions, one byte per cell, and the numbers of their states.

States are the floor cells, row by row. Nothing here takes memory for each state: the number of the first state of every
row is all that is kept, and degrees and neighbors are made for a range of rows at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.compiling import compiled
from farpoint.errors import InvalidFile, InvalidMap, NotConnected, listed
from farpoint.worlds.arrays import frozen, read_only

# Floors are read in pieces of about this many cells.
CELLS_PER_PIECE = 1 << 20
# States that fill less than one cell in this many of the rectangle around them are not treated as a map.
_SPARSEST = 64


@dataclass(frozen=True)
class MappedFile:
    """A file that is memory-mapped, as it was when it was opened."""

    path: str
    size: int
    mtime_ns: int

    @classmethod
    def now(cls, path: str) -> MappedFile:
        """Return the file as it is now."""
        try:
            status = os.stat(path)
        except OSError as error:
            raise InvalidFile(f"{path} must be a map in a .npy file; it cannot be read ({error}).") from error
        return cls(path, status.st_size, status.st_mtime_ns)

    def check(self) -> None:
        """Fail if the file changed: reading a shortened file would end the process (SIGBUS)."""
        if MappedFile.now(self.path) != self:
            raise InvalidFile(
                f"{self.path} must stay as it was when the world was made of it; got a changed file. Make the world "
                "again with World.from_array, or pass the array to keep a copy of it."
            )


class Floor:
    """The connected floor of a map: True where an agent can stand. Moves lead up, left, right and down.

    Parameters
    ----------
    cells : array of bool or uint8, shape (n_rows, n_cols)
        Not 0 where there is floor. Copied.
    largest_component : bool
        Keep only the largest connected component instead of refusing a map with several.

    Raises
    ------
    InvalidMap
        Another type or number of dimensions, no floor.
    NotConnected
        Floor in several components, unless ``largest_component``.

    Examples
    --------
    >>> floor = Floor(np.array([[True, False], [True, True]]))
    >>> floor.n_states, floor.n_moves, floor.row_starts
    (3, 4, array([0, 1, 3]))
    >>> floor.states(np.array([[1, 1]]))
    array([2])
    """

    def __init__(self, cells: Any, *, largest_component: bool = False) -> None:
        kept = connected_cells(as_cells(cells), largest_component)
        self._keep(kept.copy() if np.may_share_memory(kept, cells) else kept, None)

    def _keep(self, cells: NDArray[np.bool_], file: MappedFile | None) -> Floor:
        self._cells, self._file = np.ascontiguousarray(cells).view(), file
        self._cells.setflags(write=False)
        return self

    @classmethod
    def of_own(cls, cells: NDArray[np.bool_], file: MappedFile | None = None) -> Floor:
        """Return the floor of connected cells without checking or copying them; nobody else may write to the array.

        ``file`` is the one that the cells are memory-mapped from. The floor then travels to other processes as the path
        of the file, and every use of it after a change of the file fails.
        """
        return cls.__new__(cls)._keep(cells, file)

    @classmethod
    def of_bits(cls, bits: NDArray[np.uint8], shape: tuple[int, int]) -> Floor:
        """Return the floor that `bits` and `shape` describe, unchecked."""
        cells = np.unpackbits(bits, count=shape[0] * shape[1]).view(np.bool_)
        return cls.of_own(cells.reshape(shape))

    def __reduce__(self) -> tuple[Any, ...]:
        if self._file is not None:
            return _opened, (self._file,)
        return Floor.of_bits, (self.bits, self.shape)

    @property
    def path(self) -> str | None:
        """The file that the map is read from; None in memory."""
        return None if self._file is None else self._file.path

    @property
    def cells(self) -> NDArray[np.bool_]:
        """The map, read-only; of a file, after a check that it did not change."""
        if self._file is not None:
            self._file.check()
        return self._cells

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.cells, dtype=dtype, copy=copy)

    @property
    def bytes(self) -> NDArray[np.uint8]:
        """The map as zeros and ones, read-only and not copied."""
        return read_only(self.cells.view(np.uint8))

    @property
    def bits(self) -> NDArray[np.uint8]:
        """The map, one bit per cell."""
        return np.packbits(self.cells)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n_rows, n_cols = self._cells.shape
        return int(n_rows), int(n_cols)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self._cells.size)

    @cached_property
    def row_starts(self) -> NDArray[np.int64]:
        """The first state of every row, and last the number of states."""
        return row_starts(self.cells)

    @property
    def n_states(self) -> int:
        """Number of floor cells."""
        return int(self.row_starts[-1])

    @property
    def n_moves(self) -> int:
        """Number of moves between adjacent cells, in both directions."""
        return int(self.degree_sums[0])

    @cached_property
    def degree_sums(self) -> tuple[float, float]:
        """Σ d and Σ d² over all states, d the number of adjacent floor cells."""
        counts = np.zeros(5, dtype=np.int64)
        for first, last in row_pieces(self.cells):
            degrees = self.degrees(first, last)
            counts += [np.count_nonzero(degrees == degree) for degree in range(5)]
        return float(counts @ np.arange(5)), float(counts @ np.arange(5) ** 2)

    def degrees(self, first_row: int, last_row: int) -> NDArray[np.uint8]:
        """Return the degrees of the cells in some rows, flat with one column of wall after each row.

        0 on walls and in rows beyond the map, which may be asked for.

        >>> Floor(np.ones((2, 2), dtype=bool)).degrees(-1, 2)
        array([0, 0, 0, 2, 2, 0, 2, 2, 0], dtype=uint8)
        """
        n_rows, n_cols = self.shape
        # One row more on either side, for the degrees of the outermost.
        inside = slice(max(first_row - 1, 0), max(min(last_row + 1, n_rows), 0))
        cells = np.zeros((last_row - first_row + 2, n_cols + 1), dtype=np.uint8)
        cells[inside.start - first_row + 1 : inside.stop - first_row + 1, :-1] = self.cells[inside]
        flat = cells.ravel()
        degrees = np.zeros_like(flat)
        for shift in (1, n_cols + 1):
            degrees[shift:] += flat[:-shift]
            degrees[:-shift] += flat[shift:]
        degrees *= flat
        return degrees[n_cols + 1 : -(n_cols + 1)]

    def ranges(self) -> list[range]:
        """Return the states of about a million cells each, whole rows, in order."""
        starts = self.row_starts
        bands = [range(int(starts[first]), int(starts[last])) for first, last in row_pieces(self.cells)]
        return [band for band in bands if band]

    def neighbors(self, states: range) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return ``indptr`` and ``indices`` of the neighbors of states that begin and end with a row.

        The neighbors of ``states[k]`` are ``indices[indptr[k]:indptr[k + 1]]``, ascending: up, left, right, down.

        >>> Floor(np.ones((2, 2), dtype=bool)).neighbors(range(0, 4))
        (array([0, 2, 4, 6, 8], dtype=int32), array([1, 2, 0, 3, 0, 3, 1, 2], dtype=int32))
        """
        # Among rows without a state: the last that begins there, the first that ends there.
        first = int(np.searchsorted(self.row_starts, states.start, side="right")) - 1
        last = int(np.searchsorted(self.row_starts, states.stop, side="left"))
        indptr = np.empty(len(states) + 1, dtype=np.int32)
        indices = np.empty(4 * len(states) + 4, dtype=np.int32 if self.n_states < 2**31 else np.int64)
        count = _moves_of_rows(self.bytes, self.row_starts, first, last, indptr, indices)
        return read_only(indptr), read_only(indices[:count])

    def moves_in_pieces(self) -> tuple[Iterable[NDArray[Any]], Iterable[NDArray[Any]], Iterable[NDArray[Any]]]:
        """Return ``indptr``, ``indices`` and ``data`` of the adjacency in pieces, for digests."""

        def ends() -> Iterator[NDArray[np.int64]]:
            yield np.zeros(1, dtype=np.int64)
            before = 0
            for states in self.ranges():
                piece = self.neighbors(states)[0][1:].astype(np.int64) + before
                before = int(piece[-1])
                yield piece

        indices = (self.neighbors(states)[1] for states in self.ranges())
        ones = (np.ones(len(piece)) for piece in in_pieces(self.n_moves))
        return ends(), indices, ones

    def adjacency(self) -> csr_array:
        """Return the moves between states, each of weight 1; the next states of a state ascend.

        >>> Floor(np.ones((1, 3), dtype=bool)).adjacency().toarray()
        array([[0., 1., 0.],
               [1., 0., 1.],
               [0., 1., 0.]])
        """
        next_state = adjacent_states(self.cells)
        is_open = next_state >= 0
        indices, n_states = next_state[is_open], len(next_state)
        index_type = np.int32 if indices.size < 2**31 else np.int64
        indptr = np.zeros(n_states + 1, dtype=index_type)
        np.cumsum(is_open.sum(axis=1), out=indptr[1:])
        return frozen(csr_array((np.ones(indices.size), indices, indptr), (n_states, n_states)), index_type)

    def states(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the states of floor cells, one row (row, column) each, unchecked.

        >>> Floor(np.array([[True, False], [True, True]])).states(np.array([[1, 1], [0, 0]]))
        array([2, 0])
        """
        states = np.empty(len(places), dtype=np.int64)
        here = self.cells
        for row in np.unique(places[:, 0]):
            own = places[:, 0] == row
            states[own] = self.row_starts[row] + np.cumsum(here[row])[places[own, 1]] - 1
        return states

    def __repr__(self) -> str:
        return f"Floor({self.n_states} states on {self.shape[0]} × {self.shape[1]} cells)"


def _opened(file: MappedFile) -> Floor:
    """Return the floor of a file that is mapped in another process."""
    file.check()
    return Floor.__new__(Floor)._keep(as_cells(np.load(file.path, mmap_mode="r", allow_pickle=False)), file)


def in_pieces(size: int) -> list[range]:
    """Return 0 … size - 1 in ranges of about a million.

    >>> in_pieces(3)
    [range(0, 3)]
    """
    return [range(first, min(first + CELLS_PER_PIECE, size)) for first in range(0, size, CELLS_PER_PIECE)]


def as_cells(cells: Any) -> NDArray[np.bool_]:
    """Return a map as an array of bool; bool, and bytes of 0 and 1, are not copied.

    >>> as_cells(np.array([[0, 255]], dtype=np.uint8))
    array([[False,  True]])
    """
    if isinstance(cells, np.ma.MaskedArray):
        raise InvalidMap("cells must not be a masked array; got one. Fill it first: cells.filled(0).")
    try:
        array = np.asarray(cells)
    except (TypeError, ValueError) as error:
        raise InvalidMap(f"cells must be an array of two dimensions; got {type(cells).__name__} ({error}).") from error
    if array.dtype not in (np.bool_, np.uint8):
        raise InvalidMap(f"cells must be of bool or uint8, not 0 where there is floor; got {array.dtype}.")
    if array.ndim != 2 or array.size == 0:
        raise InvalidMap(f"cells must be a map of two dimensions; got shape {array.shape}.")
    # Bools of a file may be any byte, and kernels add them.
    numbers = np.ascontiguousarray(array).view(np.uint8)
    largest = int(numbers.max())
    if largest == 0:
        raise InvalidMap("cells must have floor; got walls only. Floor is what is not 0.")
    return numbers.view(np.bool_) if largest == 1 else numbers != 0


def row_pieces(floor: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of about a million cells each.

    >>> list(row_pieces(np.ones((3, 4), dtype=bool)))
    [(0, 3)]
    """
    rows = max(1, CELLS_PER_PIECE // max(floor.shape[1], 1))
    for first in range(0, floor.shape[0], rows):
        yield first, min(first + rows, floor.shape[0])


def row_starts(cells: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of the first state of every row, and last the number of states.

    >>> row_starts(np.array([[True, False], [True, True]]))
    array([0, 1, 3])
    """
    starts = np.zeros(cells.shape[0] + 1, dtype=np.int64)
    for first, last in row_pieces(cells):
        np.sum(cells[first:last], axis=1, dtype=np.int64, out=starts[first + 1 : last + 1])
    numbers = np.cumsum(starts)
    numbers.setflags(write=False)
    return numbers


def adjacent_states(cells: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the state beside each state in every direction, or −1 where there is wall; any number of dimensions.

    In d dimensions column 0 … d − 1 is a step back along axis 0 … d − 1 and column d … 2d − 1 a step forward along axis
    d − 1 … 0; in two dimensions that is up, left, right, down. In this order the states of a row ascend.

    >>> adjacent_states(np.ones((1, 2), dtype=bool))
    array([[-1, -1,  1, -1],
           [-1,  0, -1, -1]], dtype=int32)
    """
    n_states, n_axes = int(cells.sum()), cells.ndim
    number = np.full(cells.shape, -1, dtype=np.int32 if cells.size < 2**31 else np.int64)
    number[cells] = np.arange(n_states, dtype=number.dtype)
    next_state = np.empty((n_states, 2 * n_axes), dtype=number.dtype)
    for axis in range(n_axes):
        all_but_first = (slice(None),) * axis + (slice(1, None),)
        all_but_last = (slice(None),) * axis + (slice(None, -1),)
        for action, to, source in (
            (axis, all_but_first, all_but_last),
            (2 * n_axes - 1 - axis, all_but_last, all_but_first),
        ):
            neighbor = np.full_like(number, -1)
            neighbor[to] = number[source]
            next_state[:, action] = neighbor[cells]
    return next_state


def connected_cells(cells: NDArray[np.bool_], largest_component: bool) -> NDArray[np.bool_]:
    """Return the cells if they are connected, or the largest component if ``largest_component``.

    Cells are labeled a piece of the map at a time, and labels are joined along the rows where pieces meet; where cells
    are dropped they are labeled a second time. The four bytes per cell of all labels would be most of the memory.
    """
    if cells.all():
        return cells
    pieces = list(row_pieces(cells))
    offsets, sizes, joined, above = [0], list[NDArray[Any]](), list[NDArray[Any]](), None
    for first, last in pieces:
        labels, count = ndimage.label(cells[first:last])
        sizes.append(np.bincount(labels.ravel(), minlength=count + 1)[1:])
        if above is not None:
            touching = (above > 0) & (labels[0] > 0)
            pairs = np.stack([above[touching] + offsets[-2], labels[0][touching] + offsets[-1]]) - 1
            joined.append(np.unique(pairs, axis=1))
        above = labels[-1].astype(np.int64)
        offsets.append(offsets[-1] + count)
    links = np.concatenate([np.empty((2, 0), dtype=np.int64), *joined], axis=1)
    graph = coo_array((np.ones(links.shape[1], dtype=np.int8), tuple(links)), shape=(offsets[-1], offsets[-1]))
    n_components, component = connected_components(graph, directed=False)
    if n_components == 1:
        return cells
    totals = np.bincount(component, weights=np.concatenate(sizes)).astype(np.int64)
    if not largest_component:
        raise NotConnected(
            f"world must be connected; got {n_components} components (sizes {listed(np.sort(totals)[::-1])}). "
            "Pass largest_component=True to keep the largest."
        )
    stays, kept = component == totals.argmax(), np.empty(cells.shape, dtype=bool)
    for (first, last), begin, end in zip(pieces, offsets[:-1], offsets[1:], strict=True):
        if len(pieces) > 1:
            labels, _ = ndimage.label(cells[first:last])
        kept[first:last] = np.append(False, stays[begin:end])[labels]
    return kept


def detect_floor(positions: NDArray[Any], moves: csr_array) -> Floor | None:
    """Return the map if the moves are those between adjacent cells, each of weight 1, states row by row; else None.

    >>> import farpoint as fp
    >>> detect_floor(fp.ring().positions, fp.ring().adjacency)
    Floor(192 states on 17 × 17 cells)
    """
    cells = positions.astype(np.int64) - positions.min(axis=0)
    shape = tuple(int(length) for length in cells.max(axis=0) + 1)
    if shape[0] * shape[1] > _SPARSEST * len(cells) or (moves.data != 1.0).any():
        return None
    flat = cells[:, 0] * shape[1] + cells[:, 1]
    if (np.diff(flat) <= 0).any():
        return None
    begins = np.repeat(np.arange(len(flat)), np.diff(moves.indptr))
    adjacent = np.abs(cells[begins] - cells[moves.indices]).sum(axis=1) == 1
    floor = np.zeros(shape, dtype=bool)
    floor[cells[:, 0], cells[:, 1]] = True
    # As many moves as there are pairs of adjacent cells, and no others: then it is all of them.
    n_pairs = 2 * int((floor[1:] & floor[:-1]).sum() + (floor[:, 1:] & floor[:, :-1]).sum())
    return Floor.of_own(floor) if bool(adjacent.all()) and n_pairs == moves.nnz else None


def cells_of_all(floor: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the place of every floor cell along each axis; `numpy.argwhere` in a quarter of the memory."""
    cells = np.empty((int(np.count_nonzero(floor)), floor.ndim), dtype=np.int32)
    for axis, length in enumerate(floor.shape):
        along = np.arange(length, dtype=np.int32).reshape([-1 if other == axis else 1 for other in range(floor.ndim)])
        cells[:, axis] = np.broadcast_to(along, floor.shape)[floor]
    return read_only(cells)


@compiled(nogil=True, interpret_up_to=5_000)
def _moves_of_rows(
    floor: NDArray[np.uint8],
    row_starts: NDArray[np.int64],
    first: int,
    last: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
) -> int:
    """Write the neighbors of the states in some rows of a map, ascending; return how many there are."""
    rows, width = floor.shape
    walls = np.zeros(width, dtype=np.uint8)
    base = row_starts[first]
    # Of 64 bits also where it is interpreted: a sum with bytes would be a byte.
    count = np.int64(0)
    indptr[0] = 0
    for row in range(first, last):
        here = floor[row]
        up = floor[row - 1] if row > 0 else walls
        down = floor[row + 1] if row + 1 < rows else walls
        state = row_starts[row]
        above = row_starts[max(row - 1, 0)]
        below = row_starts[row + 1]
        left = np.uint8(0)
        # Everything is written always, and counted only where it is: nothing for the processor to guess wrongly.
        for col in range(width):
            own = here[col]
            right = here[col + 1] if col + 1 < width else np.uint8(0)
            indices[count] = above
            count += own & up[col]
            indices[count] = state - 1
            count += own & left
            indices[count] = state + 1
            count += own & right
            indices[count] = below
            count += own & down[col]
            state += own
            indptr[state - base] = count
            above += up[col]
            below += down[col]
            left = own
    return int(count)
