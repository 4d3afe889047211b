"""Maps from arrays, ``.npy`` files and PNG pictures."""

from __future__ import annotations

import zlib
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidFile, InvalidInput, InvalidMap, check_path
from farpoint.worlds.arrays import read_only, whole_numbers
from farpoint.worlds.maps import world_from_floor
from farpoint.worlds.world import World

# Pixels at least so bright, of 0 … 1, are floor.
_BRIGHT = 0.5
ENDINGS = (".npy", ".png")
# What readers of broken files raise.
UNREADABLE = (OSError, ValueError, EOFError, SyntaxError, zlib.error)


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
    if isinstance(cells, (str, PathLike)):
        path = check_path("cells", cells)
        cells, name = read_floor(path), path.stem if name is None else name
    floor = as_floor(cells)
    first = None if start is None else tuple(_cells("start", start, floor)[0].tolist())
    ends = None if targets is None else _cells("targets", targets, floor)
    name = "map" if name is None else name
    return world_from_floor(floor, wind, first, ends, name=name, largest_component=largest_component)


def _cells(what: str, cells: ArrayLike, floor: NDArray[np.bool_]) -> NDArray[np.int64]:
    places = np.atleast_2d(whole_numbers(what, cells, np.int64))
    if places.ndim != 2 or places.shape[1] != 2 or not ((places >= 0) & (places < floor.shape)).all():
        raise InvalidInput(f"{what} must be cells (row, column) of a map of {floor.shape}; got {cells!r}.")
    if not floor[tuple(places.T)].all():
        raise InvalidInput(f"{what} must be floor; got {cells!r}, where there is wall.")
    return places


def as_floor(cells: Any) -> NDArray[np.bool_]:
    """Return a map as an array of True (floor) and False; what is so already is not copied.

    >>> as_floor(np.array([[0, 255]], dtype=np.uint8))
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
    if not array.any():
        raise InvalidMap("cells must have floor; got walls only. Floor is what is not 0.")
    array = np.ascontiguousarray(array)
    if array.dtype == np.uint8:
        # Zeros and ones are a map as they are, which matters where a file is larger than memory.
        array = array.view(np.bool_) if array.max() == 1 else array != 0
    return read_only(array.view())


def read_floor(path: str | PathLike[str]) -> NDArray[Any]:
    """Return the map in a file: a ``.npy`` memory-mapped, of a PNG the bright pixels.

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
    """Return which pixels of a PNG are bright; what goes wrong is one of `UNREADABLE`.

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
    # Gray, or red, green and blue; the last of two or four is opacity: what is seen through is wall.
    colors = pixels[..., : 3 if pixels.shape[2] >= 3 else 1].mean(axis=2)
    opaque = pixels[..., -1] >= _BRIGHT if pixels.shape[2] in (2, 4) else True
    return np.asarray((colors >= _BRIGHT) & opaque)
