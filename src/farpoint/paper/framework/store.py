"""Results in a folder, one file per part, so that a run can continue where it was stopped."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import farpoint
from farpoint.errors import InvalidFile, OutputError
from farpoint.files import read_arrays, remove_unfinished, write_arrays
from farpoint.paper.framework.part import Arrays, Part

_KIND = "farpoint-results"


def code_version() -> str:
    """Return the version of the package with a digest of its code, so that results of other code are not reused."""
    digest = hashlib.blake2b(digest_size=6)
    for file in sorted(Path(farpoint.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return f"{farpoint.__version__}-{digest.hexdigest()}"


class Store:
    """The results in a folder.

    Parameters
    ----------
    folder : Path
    version : str
        Results of another version are computed again.

    Raises
    ------
    OutputError
        If the folder cannot be written.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder), version="1")
    ...     part = Part.of("stationary", world_name="ring")
    ...     store.save(part, {"pi": np.ones(3)}, seconds=0.5)
    ...     store.load(part)
    ({'pi': array([1., 1., 1.])}, 0.5)
    """

    def __init__(self, folder: Path, version: str) -> None:
        self.folder = folder
        self.version = version
        try:
            folder.mkdir(parents=True, exist_ok=True)
            remove_unfinished(folder)
        except OSError as error:
            raise OutputError(f"folder {folder} must be one that can be written; got {error.strerror}.") from error

    def load(self, part: Part) -> tuple[Arrays, float] | None:
        """Return the arrays of a part and the seconds they took, or None if they must be computed (again)."""
        try:
            facts, arrays = read_arrays(self._path(part), _KIND)
        except InvalidFile:
            return None
        seconds = facts.pop("seconds", None)
        if facts != json.loads(json.dumps(self._facts(part))) or not isinstance(seconds, float):
            return None
        return arrays, seconds

    def save(self, part: Part, arrays: Arrays, seconds: float) -> None:
        """Write the arrays of a part."""
        facts = {**self._facts(part), "seconds": float(seconds)}
        write_arrays(self._path(part), _KIND, facts, arrays, compressed=True)

    def _facts(self, part: Part) -> dict[str, object]:
        return {"version": self.version, "kind": part.kind, "params": part.params}

    def _path(self, part: Part) -> Path:
        return self.folder / f"{part.name}.npz"
