"""The finished pieces of a long computation in a folder, so that it can be interrupted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farpoint.errors import InvalidFile, OutputError, WrongCheckpoint, check_path
from farpoint.files.arrays import read_arrays, write_arrays
from farpoint.files.unfinished import remove_unfinished
from farpoint.files.whole import write_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

_ABOUT = "about.json"


class PieceFolder:
    """The finished pieces of one computation in a folder; without a folder, a place that keeps nothing.

    Parameters
    ----------
    folder : path or None
    what : str
        What is computed, for error messages: ``"score"``, ``"training"``.
    about : mapping
        Everything that decides the result (anything that JSON holds). A folder of another computation is refused.

    Raises
    ------
    WrongCheckpoint
        If the folder belongs to another computation.
    OutputError
        If the folder cannot be written.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     PieceFolder(folder, "score", {"t": 4}).save("block-0", {"scores": np.ones(2)})
    ...     print(PieceFolder(folder, "score", {"t": 4}).load("block-0"))
    ...     PieceFolder(folder, "score", {"t": 13})
    Traceback (most recent call last):
    farpoint.errors.WrongCheckpoint: checkpoint must be a folder of this score; got ... with another t. Give each ...
    """

    def __init__(self, folder: str | PathLike[str] | None, what: str, about: Mapping[str, Any]) -> None:
        self.folder = None if folder is None else check_path("checkpoint", folder)
        self._kind = f"farpoint-{what}-piece"
        if self.folder is None:
            return
        self._about = json.loads(json.dumps(about))
        path = self.folder / _ABOUT
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_unfinished(self.folder)
            if not path.exists():
                write_text(path, json.dumps(self._about))
            there = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, OutputError) as error:
            raise OutputError(f"checkpoint must be a folder that can be written; got {folder} ({error}).") from error
        if there != self._about:
            names = there.keys() | self._about.keys() if isinstance(there, dict) else set()
            different = sorted(name for name in names if there.get(name) != self._about.get(name))
            raise WrongCheckpoint(
                f"checkpoint must be a folder of this {what}; got {folder} with another {', '.join(different)}. Give "
                f"each {what} a folder of its own."
            )

    def __contains__(self, name: str) -> bool:
        return self.load(name) is not None

    def load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Return the arrays of a finished piece; None where it is missing or damaged, and must be computed again."""
        if self.folder is None:
            return None
        try:
            facts, arrays = read_arrays(self._path(name), self._kind)
        except InvalidFile:
            return None
        return arrays if facts == self._facts(name) else None

    def save(self, name: str, arrays: Arrays) -> None:
        """Keep a finished piece."""
        if self.folder is not None:
            write_arrays(self._path(name), self._kind, self._facts(name), arrays)

    def _facts(self, name: str) -> dict[str, Any]:
        # A piece that was renamed, or copied from another folder, is not this piece.
        return {"piece": name, "about": self._about}

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name}.npz"
