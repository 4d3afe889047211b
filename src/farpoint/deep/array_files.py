"""Arrays and a few words in one ``.npz``: no pickle, written whole or not at all, refused when damaged."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidFile, OutputError

# What numpy and zipfile raise on bytes that are no archive, or no longer one.
_UNREADABLE = (OSError, ValueError, TypeError, AttributeError, EOFError, NotImplementedError, RuntimeError)
_BROKEN = (zipfile.BadZipFile, zlib.error)


def _digest(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return a digest of the words, and of the name, type, shape and content of every array."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def write_arrays(path: Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a header of plain values and arrays; an existing file is replaced only when the new one is complete."""
    told = {**header, "digest": _digest(header, arrays)}
    part = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with part.open("xb") as file:
            np.savez(file, header=np.array(json.dumps(told)), **arrays)  # type: ignore[arg-type]
        os.replace(part, path)
    except OSError as error:
        raise OutputError(f"{path} must be a file that can be written; got {error.strerror}.") from error
    finally:
        with suppress(OSError):
            part.unlink()


def read_arrays(path: Path, kind: str, version: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and arrays that `write_arrays` wrote, if they are of this kind and version and whole."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
        if not isinstance(header, dict):
            raise ValueError("its header is not a table")
    except FileNotFoundError as error:
        raise InvalidFile(f"{path} must be a file of {kind}; got no file of that name.") from error
    except KeyError as error:
        raise InvalidFile(f"{path} must be a file of {kind}; got another kind of .npz.") from error
    except (*_UNREADABLE, *_BROKEN) as error:
        raise InvalidFile(f"{path} must be a whole .npz file of {kind}; it is damaged or foreign.") from error
    if header.get("format") != kind:
        raise InvalidFile(f"{path} must be a file of {kind}; got another kind of .npz.")
    if header.get("version") != version:
        raise InvalidFile(
            f"{path} must be of version {version}; got version {header.get('version')}. Update Farpoint to read it."
        )
    told = header.pop("digest", None)
    if told != _digest(header, arrays):
        raise InvalidFile(f"{path} must be whole; it is damaged (arrays are missing or changed).")
    return header, arrays
