"""Maps: texts, arrays, ``.npy`` files and PNG pictures as worlds, and worlds as texts."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import (
    InvalidFile,
    InvalidInput,
    InvalidMap,
    check_fraction,
    check_integer,
    check_memory,
    check_path,
)
from farpoint.worlds.arrays import whole_numbers
from farpoint.worlds.choices import ChoiceTable
from farpoint.worlds.floors import Floor, MappedFile, as_cells, cells_of_all, connected_cells
from farpoint.worlds.world import World, world_of_floor

WALL, FLOOR, START, TARGET = "#", ". ", "S", "G"
# Approximate peak bytes per cell while a world is made: with all moves written out, and of a map.
BYTES_PER_CELL = 120
BYTES_PER_MAP_CELL = 8
# Pixels at least this bright, from 0 to 1, are floor.
_BRIGHT = 0.5
_SYMBOLS_AT_ONCE = 2**20
ENDINGS = (".npy", ".png")
# Raised by readers of broken files.
UNREADABLE = (OSError, ValueError, EOFError, SyntaxError, zlib.error)

Cell = tuple[int, ...]


def world_from_map(text: str, wind: float, *, largest_component: bool = False, name: str) -> World:
    """Return the world that a text map shows; see `World.from_map`."""
    parsed = parse_map(text)
    return world_from_floor(
        parsed.floor, wind, parsed.start, parsed.targets, largest_component=largest_component, name=name
    )


def world_from_array(
    cells: Any,
    wind: float,
    *,
    start: ArrayLike | None,
    targets: ArrayLike | None,
    largest_component: bool,
    name: str | None,
) -> World:
    """Return the world of an array or file; see `World.from_array`."""
    file = None
    if isinstance(cells, (str, PathLike)):
        path = check_path("cells", cells)
        name = path.stem if name is None else name
        # Looked at before it is opened, so that any later change is found.
        file = MappedFile.now(str(path.resolve())) if path.suffix.lower() == ".npy" else None
        cells = read_floor(path)
    given = as_cells(cells)
    first = None if start is None else tuple(_floor_cells("start", start, given)[0].tolist())
    ends = None if targets is None else _floor_cells("targets", targets, given)
    if file is None and np.may_share_memory(given, cells):
        # The caller may change the array later.
        given = given.copy()
    name = "map" if name is None else name
    return world_from_floor(given, wind, first, ends, largest_component=largest_component, name=name, file=file)


def world_from_floor(
    floor: NDArray[np.bool_],
    wind: float = 0.0,
    start: Cell | None = None,
    targets: NDArray[np.int64] | None = None,
    *,
    name: str,
    largest_component: bool = False,
    file: MappedFile | None = None,
) -> World:
    """Return the world of a floor in any number of dimensions; the array must not change afterwards.

    ``targets`` has one row per target, with its place along each axis. Start and targets outside the component that is
    kept are dropped. ``file`` is the file that the floor is mapped from.
    """
    wind = check_fraction("wind", wind)
    kept = connected_cells(floor, largest_component)
    notes = []
    if kept is not floor:
        notes.append(f"kept {np.count_nonzero(kept)} of {np.count_nonzero(floor)} states: the largest component")
    if start is not None and not kept[start]:
        notes.append(f"dropped the start {start}: it is outside the largest component")
        start = None
    inside = targets if targets is None else targets[kept[tuple(targets.T)]]
    if targets is not None and inside is not None and len(inside) < len(targets):
        notes.append(f"dropped {len(targets) - len(inside)} of {len(targets)} targets: outside the largest component")
    # Only maps of two dimensions have a start and targets.
    plane = Floor.of_own(kept, file if kept is floor else None) if kept.ndim == 2 else None
    first = None if start is None or plane is None else int(plane.states(np.array([start]))[0])
    ends = None if inside is None or plane is None or not len(inside) else plane.states(inside)
    if wind == 0.0 and plane is not None:
        return world_of_floor(plane, first, ends, name, tuple(notes))
    facts: dict[str, Any] = {"start": first, "targets": ends, "name": name, "notes": tuple(notes)}
    world = World(ChoiceTable.of_cells(kept, wind), positions=cells_of_all(kept), **facts)
    # Known without a computation.
    world.__dict__["component_sizes"] = (world.n_states,)
    if wind == 0.0:
        world.__dict__["symmetric"] = True
    return world


def _floor_cells(what: str, cells: ArrayLike, floor: NDArray[np.bool_]) -> NDArray[np.int64]:
    places = np.atleast_2d(whole_numbers(what, cells, np.int64))
    if places.ndim != 2 or places.shape[1] != 2 or not ((places >= 0) & (places < floor.shape)).all():
        raise InvalidInput(f"{what} must be cells (row, column) of a map of {floor.shape}; got {cells!r}.")
    if not floor[tuple(places.T)].all():
        raise InvalidInput(f"{what} must be floor; got {cells!r}, where there is wall.")
    return places


@dataclass(frozen=True)
class ParsedMap:
    """The content of a text map; ``targets`` has one row per target."""

    floor: NDArray[np.bool_]
    start: Cell | None
    targets: NDArray[np.int64]


def read_map(path: str | PathLike[str]) -> str:
    """Return the text of a map file; any line endings, with or without a byte order mark.

    Raises
    ------
    InvalidFile
        If it cannot be read, or is not a text.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            return read_text(file, str(path))
    except InvalidInput:
        raise
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{path} must be a text map; it cannot be read ({error}).") from error


def read_text(file: TextIO, name: str) -> str:
    """Return the text of an open file; stop where it cannot be a map, for a device or a pipe may never end.

    >>> import io
    >>> read_text(io.StringIO("S..G"), "line")
    'S..G'
    """
    pieces, size = list[str](), 0
    while piece := file.read(_SYMBOLS_AT_ONCE):
        size += len(piece)
        check_memory(name, f"more than {size} symbols", BYTES_PER_MAP_CELL * size)
        if "\0" in piece:
            raise InvalidMap(f"{name} must be a text map; got one with a zero byte.")
        pieces.append(piece)
    return "".join(pieces)


def parse_map(text: str) -> ParsedMap:
    """Return the floor, start and targets of a text map; lines are counted from 1 in errors."""
    if not isinstance(text, str):
        raise InvalidMap(f"map must be a text; got {type(text).__name__}.")
    # Editors of some systems begin a text with a byte order mark.
    lines = text.removeprefix("\ufeff").splitlines()
    filled = [number for number, line in enumerate(lines) if line]
    if not filled:
        raise InvalidMap("map must have at least one line; got an empty text.")
    first = filled[0] + 1
    lines = lines[filled[0] : filled[-1] + 1]
    width = len(lines[0])
    for row, line in enumerate(lines):
        if len(line) != width:
            raise InvalidMap(
                f"map must have lines of equal length; got {len(line)} characters in line {first + row} and "
                f"{width} in line {first}. Fill the short line with '#'."
            )
    # One byte per cell; what is not ASCII becomes a question mark, which is no symbol of a map.
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


def read_floor(path: str | PathLike[str]) -> NDArray[Any]:
    """Return the map in a file: a ``.npy`` file memory-mapped, or the bright pixels of a PNG.

    Raises
    ------
    InvalidFile
        If it cannot be read, or is of another kind.
    """
    file = check_path("path", path)
    try:
        if file.suffix.lower() == ".npy":
            return np.load(file, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
        if file.suffix.lower() == ".png":
            return picture_floor(file)
    except UNREADABLE as error:
        raise InvalidFile(f"{file} must be a map in a .npy or PNG file; it cannot be read ({error}).") from error
    raise InvalidFile(f"{file} must be a map in a .npy or .png file; got {file.suffix!r}.")


def picture_floor(picture: Path | BinaryIO) -> NDArray[np.bool_]:
    """Return which pixels of a PNG are bright; problems raise one of `UNREADABLE`.

    >>> import io
    >>> from matplotlib.image import imsave
    >>> file = io.BytesIO()
    >>> imsave(file, np.array([[0, 255]]), cmap="gray")
    >>> picture_floor(io.BytesIO(file.getvalue()))
    array([[False,  True]])
    """
    from matplotlib.image import imread

    pixels = np.asarray(imread(picture, format="png"), dtype=np.float64)
    if pixels.ndim == 2:
        return np.asarray(pixels >= _BRIGHT)
    # Gray, or red, green and blue; the last of two or four channels is opacity: transparent pixels are wall.
    colors = pixels[..., : 3 if pixels.shape[2] >= 3 else 1].mean(axis=2)
    opaque = pixels[..., -1] >= _BRIGHT if pixels.shape[2] in (2, 4) else True
    return np.asarray((colors >= _BRIGHT) & opaque)


def map_text(world: World, marks: Mapping[int, str]) -> str:
    """Return the map of a world with a border of walls; see `World.to_text`."""
    if not world.on_grid:
        raise InvalidInput(f"world must have a whole row and column per state to be a map; got {world!r} without.")
    assert world.positions is not None
    if not isinstance(marks, Mapping):
        raise InvalidInput(f"marks must be a mapping from states to characters; got {marks!r}.")
    positions = world.positions.astype(np.int64)
    cells = positions - positions.min(axis=0) + 1
    n_rows, n_cols = (cells.max(axis=0) + 2).tolist()
    # Characters take four bytes each in the array, and one more in the text.
    check_memory("positions", f"{n_rows} × {n_cols} cells from the first to the last", 5 * n_rows * n_cols)
    canvas = np.full((n_rows, n_cols), "#", dtype="<U1")
    canvas[cells[:, 0], cells[:, 1]] = "."
    for state, mark in marks.items():
        state = check_integer("marked state", state, 0, world.n_states - 1)
        if not isinstance(mark, str) or len(mark) != 1:
            raise InvalidInput(f"mark must be one character; got {mark!r} for state {state}.")
        canvas[tuple(cells[state])] = mark
    return "\n".join("".join(row) for row in canvas)
