"""What page and server agree on: limits, and messages of a header of JSON and arrays as they lie in memory.

A frame is the length of the header (4 bytes, little-endian), the header, spaces up to a multiple of 8, and the arrays
one after another, each padded to a multiple of 8, so that the browser looks at them without copying. The header lists
their names, types and lengths under ``arrays``.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput

# Of a map; larger ones are for the command line.
MOST_CELLS = 4_000_000
MOST_FILE_BYTES = 8 * 2**20
MOST_PANELS = 4
LONGEST_T = 1_000
# Beyond this a method discovers 20 options, the curve is computed in a process, and edits wait for a rest.
MANY_STATES = 6_000
OPTIONS_OF_MANY = 20
MOST_TABLE_STATES = 50_000
# The t of the curve of goals, a factor of about 1.26 apart.
CURVE = (
    1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 126, 160, 200, 250, 320, 400, 500, 630, 800, 1000,
)  # fmt: skip
# Sent to the page once, with its settings: it has no copies of its own.
LIMITS = {
    "cells": MOST_CELLS,
    "fileBytes": MOST_FILE_BYTES,
    "panels": MOST_PANELS,
    "t": LONGEST_T,
    "manyStates": MANY_STATES,
    "optionsOfMany": OPTIONS_OF_MANY,
    "tableStates": MOST_TABLE_STATES,
    "curve": CURVE,
}
_ALIGNMENT = 8
# The types that a frame may carry: their names are those of the browser's typed arrays.
_TYPES = {"u1": np.uint8, "i4": np.int32, "f4": np.float32, "f8": np.float64}
_LONGEST_HEADER = 2**20


def pack_frame(header: dict[str, Any], **arrays: NDArray[Any] | bytes) -> bytes:
    """Return a frame; numbers that JSON does not have become null.

    >>> frame = pack_frame({"kind": "score", "t": 4.0}, scores=np.ones(3, dtype=np.float32))
    >>> unpack_frame(frame)
    ({'kind': 'score', 't': 4.0}, {'scores': array([1., 1., 1.], dtype=float32)})
    """
    parts, listed = [], []
    for name, value in arrays.items():
        array = np.frombuffer(value, dtype=np.uint8) if isinstance(value, bytes) else np.ascontiguousarray(value)
        code = array.dtype.str[1:]
        if code not in _TYPES:
            raise InvalidInput(f"array must be of type {', '.join(_TYPES)}; got {array.dtype} for {name}.")
        listed.append([name, code, int(array.size)])
        parts.append(array.tobytes() + bytes(-array.nbytes % _ALIGNMENT))
    text = json.dumps(finite({**header, "arrays": listed}), separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % _ALIGNMENT)
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])


def unpack_frame(frame: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a frame.

    Raises
    ------
    InvalidInput
        If it is not one.
    """
    length = int.from_bytes(frame[:4], "little")
    if len(frame) < 4 + length or length > _LONGEST_HEADER:
        raise InvalidInput(f"message must be a whole frame; got {len(frame)} bytes.")
    try:
        header = json.loads(frame[4 : 4 + length])
        listed = header.pop("arrays")
        arrays, offset = {}, 4 + length
        for name, code, size in listed:
            array = np.frombuffer(frame, _TYPES[code], count=size, offset=offset)
            arrays[str(name)] = array
            offset += array.nbytes + -array.nbytes % _ALIGNMENT
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"message must be a frame of this server's page; got one that is not ({error}).") from error
    return header, arrays


def finite(value: Any) -> Any:
    """Return a value in which numbers that JSON does not have are None.

    >>> finite({"a": [1.5, float("inf")], "b": np.float64(2)})
    {'a': [1.5, None], 'b': 2.0}
    """
    if isinstance(value, dict):
        return {str(name): finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    if isinstance(value, np.generic):
        return finite(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
