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
from scipy.sparse import csr_array

from farpoint.errors import InvalidFile, InvalidMap, check_fraction
from farpoint.worlds.arrays import read_only
from farpoint.worlds.floors import cells_of_all, connected_floor, states_of
from farpoint.worlds.grids import grid_choices
from farpoint.worlds.known import Known
from farpoint.worlds.map_world import MapWorld
from farpoint.worlds.world import World

WALL, FLOOR, START, TARGET = "#", ". ", "S", "G"
# States that fill less than one cell in so many of the rectangle around them are not treated as a map.
_SPARSEST = 64
# What a world takes while it is made, about: of open floor whose moves are written out, and of a map.
BYTES_PER_CELL = 120
BYTES_PER_MAP_CELL = 8


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

    if wind == 0.0 and floor.ndim == 2:
        return _map_world(floor, start, targets, name)

    def states(cells: NDArray[np.int64]) -> NDArray[np.int64]:
        kept = cells[floor[tuple(cells.T)]]
        flat = np.ravel_multi_index(tuple(kept.T), floor.shape)
        return np.asarray(np.searchsorted(np.flatnonzero(floor), flat))

    starts = states(np.array([start])) if start is not None else np.zeros(0, dtype=np.int64)
    ends = states(targets) if targets is not None and len(targets) else np.zeros(0, dtype=np.int64)
    transitions, choice_ptr, actions = grid_choices(floor, wind)
    world = World(
        transitions,
        choice_ptr,
        actions=actions,
        positions=cells_of_all(floor),
        start=int(starts[0]) if starts.size else None,
        targets=ends if ends.size else None,
        name=name,
    )
    return world.knowing(Known(symmetric=True if wind == 0.0 else None, connected=True))


def _map_world(
    floor: NDArray[np.bool_], start: tuple[int, ...] | None, targets: NDArray[np.int64] | None, name: str
) -> MapWorld:
    plain = MapWorld.of(floor, name=name)
    if start is None and targets is None:
        return plain
    places = [np.empty((0, 2), dtype=np.int64) if cells is None else np.atleast_2d(cells) for cells in (start, targets)]
    # What was cut off with smaller components is no start and no target.
    first, ends = (states_of(floor, plain.row_starts, cells[floor[tuple(cells.T)]]) for cells in places)
    return MapWorld.of(
        floor, start=int(first[0]) if first.size else None, targets=ends if ends.size else None, name=name
    )


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
