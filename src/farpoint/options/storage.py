"""Options in a file: one ``.npz``, no pickle, with a version and the fingerprint of the world they belong to."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from farpoint.errors import InvalidFile, OutputError
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World

FORMAT = "farpoint-options"
VERSION = 1
_OPTIONAL = ("starts", "climbs")
# What numpy and zipfile raise on bytes that are no archive, or no longer one.
_UNREADABLE = (
    OSError,
    ValueError,
    AttributeError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def save_options(options: OptionSet, path: str | PathLike[str]) -> None:
    """Write ``options`` to ``path``; an existing file is replaced only when the new one is complete."""
    target = Path(path)
    arrays = {name: value for name, value in options.record.items() if isinstance(value, np.ndarray)}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "method": options.method,
        "world": options.world.name,
        "n_states": options.world.n_states,
        "fingerprint": options.world.fingerprint,
        "record": {name: value for name, value in options.record.items() if name not in arrays},
    }
    content: dict[str, Any] = {"goals": options.goals}
    content |= {name: value for name in _OPTIONAL if (value := getattr(options, name)) is not None}
    content |= {f"record.{name}": value for name, value in arrays.items()}
    header["arrays"] = {name: _digest(value) for name, value in content.items()}
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with part.open("xb") as file:
            np.savez(file, header=np.array(json.dumps(header)), **content)
        os.replace(part, target)
    except OSError as error:
        raise OutputError(f"{target} must be a file that can be written; got {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


def _digest(array: Any) -> str:
    # Read where it lies: a copy of what large options climb would double the memory.
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return hashlib.blake2b(raw.data, digest_size=8).hexdigest()


def load_options(path: str | PathLike[str], world: World) -> OptionSet:
    """Return the options that `OptionSet.save` wrote, on the same world.

    Raises
    ------
    InvalidFile
        If the file is missing, damaged, not one of ours, of a newer version, or of another world.

    Examples
    --------
    >>> import tempfile, os, farpoint as fp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rooms.npz")
    ...     fp.discover(fp.four_rooms(), n_options=5).save(path)
    ...     fp.load_options(path, fp.maze())
    Traceback (most recent call last):
    farpoint.errors.InvalidFile: ... must hold options of this world (maze, 148 states); got options of four_rooms ...
    """
    header, arrays = _read(Path(path))
    if header.get("format") != FORMAT:
        raise InvalidFile(f"{path} must be a file of Farpoint options; got another kind of .npz.")
    if header.get("version") != VERSION:
        raise InvalidFile(
            f"{path} must be of version {VERSION}; got version {header.get('version')}. Update Farpoint to read it."
        )
    if header.get("fingerprint") != world.fingerprint:
        raise InvalidFile(
            f"{path} must hold options of this world ({world.name}, {world.n_states} states); got options of "
            f"{header.get('world')} ({header.get('n_states')} states). Load them with the world they were found in."
        )
    if header.get("arrays") != {name: _digest(array) for name, array in arrays.items()}:
        raise InvalidFile(f"{path} must hold the options whole; it is damaged (arrays are missing or changed).")
    try:
        record = dict(header["record"])
        record |= {name.removeprefix("record."): array for name, array in arrays.items() if name.startswith("record.")}
        return OptionSet(world, arrays["goals"], str(header["method"]), record, *map(arrays.get, _OPTIONAL))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFile(f"{path} must hold the options whole; it is damaged ({error}).") from error


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
        if not isinstance(header, dict):
            raise ValueError("its header is not a table")
    except FileNotFoundError as error:
        raise InvalidFile(f"{path} must be a file of Farpoint options; got no file of that name.") from error
    except KeyError as error:
        raise InvalidFile(f"{path} must be a file of Farpoint options; got another kind of .npz.") from error
    except _UNREADABLE as error:
        raise InvalidFile(f"{path} must be a whole .npz file of Farpoint options; it is damaged or foreign.") from error
    return header, arrays
