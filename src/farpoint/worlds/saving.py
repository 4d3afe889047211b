"""Worlds in files: a map as bits or a table of choices, and every other field, in one ``.npz`` file without pickle."""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable, Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds.choices import ChoiceTable
from farpoint.worlds.floors import Floor
from farpoint.worlds.state_index import ArrayKey

if TYPE_CHECKING:
    from farpoint.worlds.world import World

_KIND = "farpoint-world"
_ARRAYS = ("positions", "targets", "restart", "starts", "observations", "scale")
_FACTS = ("name", "start", "keyed_by", "notes")
_TABLE = ("choice_ptr", "actions", "weights", "lengths")
_MATRIX = ("data", "indices", "indptr")


def save_world(world: World, path: str | PathLike[str]) -> None:
    """Write a world; see `World.save`."""
    given, source = world.given(), world.source
    facts = {name: given[name] for name in _FACTS}
    if isinstance(source, Floor):
        facts["shape"] = source.shape
        arrays: dict[str, NDArray[Any]] = {"floor": source.bits}
    else:
        facts["n_states"] = world.n_states
        arrays = {f"transitions.{part}": getattr(source.transitions, part) for part in _MATRIX}
        arrays |= {name: value for name in _TABLE if (value := getattr(source, name)) is not None}
    arrays |= {name: value for name in _ARRAYS if (value := given.get(name)) is not None}
    if world.labels is not None:
        arrays["labels"] = encode_labels(world.labels)
    write_arrays(path, _KIND, {**facts, "parts": sorted(arrays)}, arrays)


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
        # Files of older versions have neither notes nor the origin of labels.
        values: dict[str, Any] = {name: facts[name] for name in _FACTS if name in facts or name in ("name", "start")}
        values |= {name: arrays[name] for name in _ARRAYS if name in arrays}
        values["source"] = _read_floor(facts, arrays) if "floor" in arrays else _read_table(facts, arrays)
        if "labels" in arrays:
            values["labels"] = tuple(decode_labels(arrays["labels"]))
        return values
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidFile(f"{path} must hold all parts of a world; it is damaged ({error}).") from error


def _read_floor(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Floor:
    n_rows, n_cols = (int(length) for length in facts["shape"])
    if min(n_rows, n_cols) < 1 or arrays["floor"].shape != (-(-n_rows * n_cols // 8),):
        raise ValueError("its map has another shape")
    # Checked like any other map: it must be connected.
    return Floor(Floor.of_bits(arrays["floor"], (n_rows, n_cols)).cells)


def _read_table(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ChoiceTable:
    shape = (len(arrays["transitions.indptr"]) - 1, int(facts["n_states"]))
    matrix = csr_array(tuple(arrays[f"transitions.{part}"] for part in _MATRIX), shape=shape)
    return ChoiceTable(matrix, arrays["choice_ptr"], *(arrays.get(name) for name in _TABLE[1:]))


def encode_labels(labels: Iterable[Any]) -> NDArray[np.uint8]:
    """Return labels as JSON text in an array, without pickle."""
    return np.frombuffer(json.dumps([_encoded(label) for label in labels]).encode(), dtype=np.uint8)


def decode_labels(array: NDArray[np.uint8]) -> list[Hashable]:
    """Return the labels that `encode_labels` wrote.

    >>> decode_labels(encode_labels([3, "a", (0, b"b"), frozenset({1})]))
    [3, 'a', (0, b'b'), frozenset({1})]
    """
    return [_decoded(label) for label in json.loads(array.tobytes())]


def _encoded(label: Any) -> Any:
    """Return a label as JSON: numbers and texts as they are, everything else as a list of kind and content."""
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or isinstance(label, (bool, int, float, str)):
        return label
    if isinstance(label, ArrayKey):
        return ["array", [base64.b64encode(label.content).decode(), label.dtype, list(label.shape)]]
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


def _decoded(value: Any) -> Hashable:
    if not isinstance(value, list):
        return value  # type: ignore[no-any-return]
    kind, content = value
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "array":
        text, dtype, shape = content
        key = ArrayKey(base64.b64decode(text), dtype, tuple(shape))
        # Nothing but whole numbers, and as many of them as there are bytes for.
        if np.dtype(dtype).kind not in "iub" or key.array.nbytes != len(key.content):
            raise ValueError("a label is not the array that it says")
        return key
    make: Any = {"tuple": tuple, "frozenset": frozenset}[kind]
    whole: Hashable = make(_decoded(part) for part in content)
    return whole
