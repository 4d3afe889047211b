"""Results in a folder: one ``.npz`` a part, written whole or not at all, so that a run can go on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import farpoint
from farpoint.errors import OutputError
from farpoint.experiments.parts import Arrays, Part

# What a file raises that is no archive, no longer one, or one of something else.
_UNREADABLE = (
    OSError,
    KeyError,
    ValueError,
    TypeError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def code_version() -> str:
    """Return the version with a digest of the program: results of older code are not taken for those of newer."""
    digest = hashlib.blake2b(digest_size=6)
    for file in sorted(Path(farpoint.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return f"{farpoint.__version__}-{digest.hexdigest()}"


class Store:
    """The results that a folder holds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder), version="1")
    ...     part = Part.of("stationary", world="ring")
    ...     store.save(part, {"pi": np.ones(3)}, seconds=0.5)
    ...     store.load(part)
    ({'pi': array([1., 1., 1.])}, 0.5)
    """

    def __init__(self, folder: Path, version: str) -> None:
        self.folder = folder
        self.version = version
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"folder {folder} must be one that can be written; got {error.strerror}.") from error

    def load(self, part: Part) -> tuple[Arrays, float] | None:
        """Return the arrays of a part and the seconds they took, or None if they must be computed (again)."""
        try:
            with self._path(part).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                arrays = {name: file[name] for name in file.files if name != "header"}
            version, params = header["version"], header["params"]
            names, seconds = header["arrays"], float(header["seconds"])
        except _UNREADABLE:
            return None
        if version != self.version or params != json.loads(json.dumps(part.params)) or names != sorted(arrays):
            return None
        return arrays, seconds

    def save(self, part: Part, arrays: Arrays, seconds: float) -> None:
        """Write the arrays of a part."""
        header = {
            "version": self.version,
            "kind": part.kind,
            "params": part.params,
            "arrays": sorted(arrays),
            "seconds": seconds,
        }
        target = self._path(part)
        unfinished = target.with_suffix(".unfinished")
        try:
            with unfinished.open("wb") as file:
                content: dict[str, Any] = {"header": np.array(json.dumps(header)), **arrays}
                np.savez_compressed(file, **content)
            os.replace(unfinished, target)
        except OSError as error:
            raise OutputError(f"{target} must be a file that can be written; got {error.strerror}.") from error
        finally:
            unfinished.unlink(missing_ok=True)

    def _path(self, part: Part) -> Path:
        return self.folder / f"{part.name}.npz"
