"""Worlds on a grid of cells, in any number of dimensions: text maps, floors, moves and wind.

A *floor* is an array of bool with one axis per dimension, True where an agent can stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_array, csr_array

from farpoint.errors import InvalidFile, InvalidMap, NotConnected, check_fraction, listed
from farpoint.worlds.arrays import read_only
from farpoint.worlds.builders import Known
from farpoint.worlds.world import World

WALL, FLOOR, START, TARGET = "#", ". ", "S", "G"
# States that fill less than one cell in so many of the rectangle around them are not treated as a map.
_SPARSEST = 64
# What a world of open floor takes while it is made, about.
BYTES_PER_CELL = 120


def world_from_map(text: str, wind: float, *, largest_component: bool, name: str) -> World:
    """Return the world that a text map shows; see `World.from_map`."""
    parsed = parse_map(text)
    return world_from_floor(
        parsed.floor, wind, parsed.start, parsed.targets, largest_component=largest_component, name=name
    )


def world_from_floor(
    floor: NDArray[np.bool_],
    wind: float = 0.0,
    start: tuple[int, ...] | None = None,
    targets: NDArray[np.int64] | None = None,
    *,
    name: str,
    largest_component: bool = False,
) -> World:
    """Return the world of a floor, with the cells of its start and targets where these are floor that was kept.

    ``targets`` has one row per target, with its place along each axis.
    """
    wind = check_fraction("wind", wind)
    floor = connected_floor(floor, largest_component)
    transitions, choice_ptr, actions = grid_choices(floor, wind)

    def states(cells: NDArray[np.int64]) -> NDArray[np.int64]:
        kept = cells[floor[tuple(cells.T)]]
        flat = np.ravel_multi_index(tuple(kept.T), floor.shape)
        return np.asarray(np.searchsorted(np.flatnonzero(floor), flat))

    starts = states(np.array([start])) if start is not None else np.zeros(0, dtype=np.int64)
    ends = states(targets) if targets is not None and len(targets) else np.zeros(0, dtype=np.int64)
    still = wind == 0.0
    return World(
        transitions,
        choice_ptr,
        actions=actions,
        positions=_cells(floor),
        start=int(starts[0]) if starts.size else None,
        targets=ends if ends.size else None,
        name=name,
    ).knowing(
        Known(
            symmetric=True if still else None,
            connected=True,
            floor=read_only(floor) if still and floor.ndim == 2 else None,
        )
    )


def _cells(floor: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the place of every floor cell along each axis; what `numpy.argwhere` does in a quarter of the memory."""
    cells = np.empty((int(floor.sum()), floor.ndim), dtype=np.int32)
    for axis, length in enumerate(floor.shape):
        along = np.arange(length, dtype=np.int32).reshape([-1 if other == axis else 1 for other in range(floor.ndim)])
        cells[:, axis] = np.broadcast_to(along, floor.shape)[floor]
    return read_only(cells)


@dataclass(frozen=True)
class ParsedMap:
    """The content of a text map; ``targets`` has one row per target."""

    floor: NDArray[np.bool_]
    start: tuple[int, ...] | None
    targets: NDArray[np.int64]


def read_map(path: str | PathLike[str]) -> str:
    """Return the text of a map file; any line endings, with or without a byte order mark.

    Raises
    ------
    InvalidFile
        If it cannot be read, or is not a text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{path} must be a text map; it cannot be read ({error}).") from error


def parse_map(text: str) -> ParsedMap:
    """Return the floor, start and targets of a text map; lines are counted from 1 in errors."""
    if not isinstance(text, str):
        raise InvalidMap(f"map must be a text; got {type(text).__name__}.")
    # Editors of some systems begin a text with a byte order mark.
    lines = text.removeprefix("\ufeff").splitlines()
    first = 1
    while lines and not lines[0]:
        lines.pop(0)
        first += 1
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InvalidMap("map must have at least one line; got an empty text.")
    width = len(lines[0])
    for row, line in enumerate(lines):
        if len(line) != width:
            raise InvalidMap(
                f"map must have lines of equal length; got {len(line)} characters in line {first + row} and "
                f"{width} in line {first}. Fill the short line with '#'."
            )
    # One byte per cell; what is not ASCII becomes a question mark, which no map has either.
    cells = np.frombuffer("".join(lines).encode("ascii", "replace"), dtype=np.uint8).reshape(len(lines), width)
    known = np.zeros(256, dtype=bool)
    known[[ord(symbol) for symbol in WALL + FLOOR + START + TARGET]] = True
    unknown = ~known[cells]
    if unknown.any():
        row, column = divmod(int(unknown.argmax()), width)
        raise InvalidMap(
            f"map must be made of '#' (wall), '.' or ' ' (floor), 'S' (start) and 'G' (target); "
            f"got {lines[row][column]!r} in line {first + row}, column {column + 1}."
        )
    starts = np.argwhere(cells == ord(START))
    if len(starts) > 1:
        raise InvalidMap(f"map must have at most one start 'S'; got {len(starts)}.")
    floor = cells != ord(WALL)
    if not floor.any():
        raise InvalidMap("map must have floor; got walls only. Mark floor with '.'.")
    return ParsedMap(floor, tuple(starts[0].tolist()) if len(starts) else None, np.argwhere(cells == ord(TARGET)))


def connected_floor(floor: NDArray[np.bool_], largest_component: bool) -> NDArray[np.bool_]:
    """Return the floor if it is connected, or its largest component if ``largest_component``."""
    if floor.all():
        return floor
    component, n_components = ndimage.label(floor)
    if n_components <= 1:
        return floor
    sizes = np.bincount(component.ravel())[1:]
    if not largest_component:
        raise NotConnected(
            f"world must be connected; got {n_components} components (sizes {listed(np.sort(sizes)[::-1])}). "
            "Pass largest_component=True to keep the largest."
        )
    return np.asarray(component == 1 + sizes.argmax())


def grid_choices(floor: NDArray[np.bool_], wind: float) -> tuple[csr_array, NDArray[Any], NDArray[np.int32]]:
    """Return the transitions, row groups and actions of the moves between adjacent cells of a floor.

    Of d dimensions, actions 0 … d − 1 step back along axis 0 … d − 1 and actions d … 2d − 1 step forward along
    axis d − 1 … 0; in two dimensions that is up, left, right, down. In this order the next states of a state
    ascend, so the adjacency needs no sorting. Wind blows forward along axis 0.
    """
    n_states = int(floor.sum())
    number = np.full(floor.shape, -1, dtype=np.int32 if floor.size < 2**31 else np.int64)
    number[floor] = np.arange(n_states, dtype=number.dtype)
    n_axes = floor.ndim

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
            next_state[:, action] = neighbor[floor]

    del number, neighbor
    open_move = next_state >= 0
    targets = next_state[open_move]
    n_choices = targets.size
    choice_ptr = np.zeros(n_states + 1, dtype=np.int32 if n_choices < 2**31 else np.int64)
    np.cumsum(open_move.sum(axis=1), out=choice_ptr[1:])
    actions = np.broadcast_to(np.arange(2 * n_axes, dtype=np.int32), open_move.shape)[open_move]
    # Read-only, so that the world need not copy them.
    choice_ptr, actions = read_only(choice_ptr), read_only(actions)
    if wind == 0.0:
        del next_state, open_move
        indptr = np.arange(n_choices + 1, dtype=choice_ptr.dtype)
        entries = (read_only(np.ones(n_choices)), read_only(targets), read_only(indptr))
        return csr_array(entries, shape=(n_choices, n_states)), choice_ptr, actions

    blown_to = np.repeat(next_state[:, -1], np.diff(choice_ptr))
    windy = np.flatnonzero(blown_to >= 0)
    kept = np.ones(n_choices)
    kept[windy] = 1.0 - wind
    rows = np.concatenate([np.arange(n_choices), windy])
    columns = np.concatenate([targets, blown_to[windy]])
    chances = np.concatenate([kept, np.full(windy.size, wind)])
    transitions = coo_array((chances, (rows, columns)), shape=(n_choices, n_states)).tocsr()
    transitions.eliminate_zeros()
    return transitions, choice_ptr, actions


def floor_of(positions: NDArray[Any], moves: csr_array) -> NDArray[np.bool_] | None:
    """Return the map if the moves are those between adjacent cells, each of weight 1, states row by row; else None.

    >>> import farpoint as fp
    >>> floor_of(fp.ring().positions, fp.ring().adjacency).sum()
    np.int64(192)
    """
    cells = positions - positions.min(axis=0)
    shape = tuple(int(length) for length in cells.max(axis=0) + 1)
    flat = cells[:, 0].astype(np.int64) * shape[1] + cells[:, 1]
    if shape[0] * shape[1] > _SPARSEST * len(flat) or (np.diff(flat) <= 0).any() or (moves.data != 1.0).any():
        return None
    begins = np.repeat(np.arange(len(flat)), np.diff(moves.indptr))
    adjacent = np.abs(cells[begins] - cells[moves.indices]).sum(axis=1) == 1
    floor = np.zeros(shape, dtype=bool)
    floor[cells[:, 0], cells[:, 1]] = True
    # As many moves as there are pairs of adjacent cells, and no others: then it is all of them.
    n_pairs = 2 * int((floor[1:] & floor[:-1]).sum() + (floor[:, 1:] & floor[:, :-1]).sum())
    return read_only(floor) if bool(adjacent.all()) and n_pairs == moves.nnz else None
