"""Worlds in files: every field of a world in one ``.npz`` file, without pickle."""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds.array_keys import ArrayKey

if TYPE_CHECKING:
    from farpoint.worlds.world import World

_KIND = "farpoint-world"
_ARRAYS = ("choice_ptr", "actions", "weights", "lengths", "positions", "targets", "restart", "starts", "observations")
_MATRIX = ("data", "indices", "indptr")


def save_world(world: World, path: str | PathLike[str]) -> None:
    """Write a world; see `World.save`."""
    arrays: dict[str, NDArray[Any]] = {f"transitions.{part}": getattr(world.transitions, part) for part in _MATRIX}
    arrays |= {name: value for name in _ARRAYS if (value := getattr(world, name)) is not None}
    if world.labels is not None:
        text = json.dumps([_encoded(label) for label in world.labels])
        arrays["labels"] = np.frombuffer(text.encode(), dtype=np.uint8)
    facts = {"name": world.name, "start": world.start, "n_states": world.n_states, "parts": sorted(arrays)}
    write_arrays(path, _KIND, facts, arrays)


def read_saved(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the fields of the world that a file holds.

    Raises
    ------
    InvalidFile
        If the file is missing, damaged, or not a file of a world.
    """
    facts, arrays = read_arrays(path, _KIND)
    try:
        if set(facts["parts"]) != set(arrays):
            raise ValueError("some of its arrays are missing")
        shape = (len(arrays["transitions.indptr"]) - 1, int(facts["n_states"]))
        values: dict[str, Any] = {name: arrays.get(name) for name in _ARRAYS}
        values["transitions"] = csr_array(tuple(arrays[f"transitions.{part}"] for part in _MATRIX), shape=shape)
        values["name"], values["start"] = facts["name"], facts["start"]
        if "labels" in arrays:
            values["labels"] = tuple(_decoded(one) for one in json.loads(arrays["labels"].tobytes()))
        return values
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InvalidFile(f"{path} must hold all parts of a world; it is damaged ({error}).") from error


def _encoded(label: Hashable) -> Any:
    """Return a label as JSON: numbers and texts as they are, what JSON does not have as a list of kind and content."""
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or isinstance(label, (bool, int, float, str)):
        return label
    if isinstance(label, ArrayKey):
        return ["array", [base64.b64encode(label).decode(), label.dtype, list(label.shape)]]
    if isinstance(label, bytes):
        return ["bytes", base64.b64encode(label).decode()]
    if isinstance(label, tuple):
        return ["tuple", [_encoded(part) for part in label]]
    if isinstance(label, frozenset):
        return ["frozenset", sorted((_encoded(part) for part in label), key=json.dumps)]
    raise InvalidInput(
        f"labels must be numbers, texts, bytes or tuples of these to be saved; got {type(label).__name__}. Save "
        "dataclasses.replace(world, labels=None)."
    )


def _array_key(text: str, dtype: str, shape: list[int]) -> ArrayKey:
    key = ArrayKey(base64.b64decode(text), dtype, tuple(shape))
    # Nothing but whole numbers, and as many of them as there are bytes for.
    if np.dtype(dtype).kind not in "iub" or key.array.nbytes != len(key):
        raise ValueError("a label is not the array that it says")
    return key


def _decoded(value: Any) -> Hashable:
    if not isinstance(value, list):
        return value  # type: ignore[no-any-return]
    kind, content = value
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "array":
        return _array_key(*content)
    make: Any = {"tuple": tuple, "frozenset": frozenset}[kind]
    whole: Hashable = make(_decoded(part) for part in content)
    return whole
