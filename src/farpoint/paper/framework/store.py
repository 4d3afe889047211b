"""Results in a folder, one file per part, so that a run can continue where it was stopped."""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import farpoint
from farpoint.compiling import file_digest, files_behind
from farpoint.errors import InvalidFile, OutputError
from farpoint.files import read_arrays, remove_unfinished, write_arrays
from farpoint.paper.framework.part import Arrays, Part

if TYPE_CHECKING:
    from farpoint.paper.framework.suite import Suite

_KIND = "farpoint-results"
# Packages that show results, and the framework, which passes them on.
_SHOWING = ("cli", "display", "paper/framework", "report", "studio")


def code_version(suite: Suite[Any]) -> str:
    """Return the version of the package with a digest of the code that computes the parts of a suite.

    That is the modules of its kinds and everything that they import. Docstrings and comments do not count, nor does
    what only shows results: pages, pictures, the command and the Studio discard nothing.
    """
    package = Path(farpoint.__file__).parent
    modules = {Path(inspect.getfile(getattr(function, "func", function))) for function in suite.kinds.values()}
    # A suite outside the package imports from its own top folder and from the package.
    tops = {module.parents[1] for module in modules if package not in module.parents}
    digest = hashlib.blake2b(digest_size=6)
    shows = {package / name for name in _SHOWING}
    for file in sorted(file for file in files_behind(modules, package, *tops) if shows.isdisjoint(file.parents)):
        digest.update(file_digest(file).encode())
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
