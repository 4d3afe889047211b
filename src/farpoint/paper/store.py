"""Results of functions, computed once and kept in a folder while the code behind them is unchanged."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from numpy.typing import NDArray

import farpoint
from farpoint.compiling import file_digest, files_behind
from farpoint.errors import InvalidFile, OutputError
from farpoint.files import read_arrays, remove_unfinished, write_arrays

Arrays = dict[str, NDArray[Any]]
ScaleT = TypeVar("ScaleT")

_KIND = "farpoint-results"
# What shows results, and this module, which keeps them.
_SHOWING = ("cli", "display.py", "paper/store.py", "report", "studio")


class Call(NamedTuple):
    """A function and all its parameters but ``n_jobs``, on which results do not depend."""

    function: Callable[..., Arrays]
    params: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, function: Callable[..., Arrays], **params: Any) -> Call:
        """Return a call; parameters that are not given have their defaults.

        >>> def double(number, times=1): ...
        >>> Call.of(double, number=2) == Call.of(double, number=2, times=1)
        True
        """
        bound = inspect.signature(function).bind_partial(**params)
        bound.apply_defaults()
        bound.arguments.pop("n_jobs", None)
        return cls(function, tuple(sorted(bound.arguments.items())))

    @property
    def name(self) -> str:
        """A name for files and progress: readable, and different for different parameters."""
        kind = self.function.__name__
        digest = hashlib.blake2b(json.dumps([kind, self.params]).encode(), digest_size=4).hexdigest()
        words = [value for _, value in sorted(self.params, reverse=True) if isinstance(value, str)]
        times = [f"{value:g}" for name, value in self.params if name == "t"]
        return "-".join([kind, *words, *times, digest]).replace("/", "_")


class Results(Generic[ScaleT]):
    """What functions return, each computed when it is first asked for and then kept.

    Parameters
    ----------
    scale : object
        How much work the run does. Whoever asks takes parameters from here.
    folder : Path, optional
        Results are kept here, so that a run continues where it was stopped. Default: in memory alone.
    n_jobs : int
        For functions that take ``n_jobs``.

    Attributes
    ----------
    kept : dictionary from `Call` to (arrays, seconds)
    progress : function of str
        Called with the name of a computation before it begins.

    Raises
    ------
    OutputError
        If the folder cannot be written.

    Examples
    --------
    >>> import numpy as np
    >>> def double(number):
    ...     print("computing")
    ...     return {"doubled": np.array(2 * number)}
    >>> results = Results("full")
    >>> results.get(double, number=2)
    computing
    {'doubled': array(4)}
    >>> results.get(double, number=2)
    {'doubled': array(4)}
    """

    def __init__(self, scale: ScaleT, folder: Path | None = None, *, n_jobs: int = -1) -> None:
        self.scale, self.folder, self.n_jobs = scale, folder, n_jobs
        self.kept: dict[Call, tuple[Arrays, float]] = {}
        self.progress: Callable[[str], object] = lambda name: None
        self._asked: dict[Call, float] = {}
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                remove_unfinished(folder)
            except OSError as error:
                raise OutputError(f"folder {folder} must be one that can be written; got {error.strerror}.") from error

    def get(self, function: Callable[..., Arrays], **params: Any) -> Arrays:
        """Return what a function returns for these parameters: what is kept, or computed now."""
        call = Call.of(function, **params)
        if call not in self.kept:
            self.kept[call] = self._load(call) or self._compute(call)
        arrays, self._asked[call] = self.kept[call]
        return arrays

    @contextmanager
    def asked(self) -> Iterator[dict[Call, float]]:
        """Give a dictionary that collects what is asked for in the ``with`` block, and the seconds that each took."""
        before, self._asked = self._asked, {}
        try:
            yield self._asked
        finally:
            self._asked = before

    def _compute(self, call: Call) -> tuple[Arrays, float]:
        self.progress(call.name)
        workers = {"n_jobs": self.n_jobs} if "n_jobs" in inspect.signature(call.function).parameters else {}
        began = time.perf_counter()
        arrays = call.function(**dict(call.params), **workers)
        seconds = time.perf_counter() - began
        if self.folder is not None:
            facts = {**_facts(call), "seconds": seconds}
            write_arrays(self._path(call), _KIND, facts, arrays, compressed=True)
        return arrays, seconds

    def _load(self, call: Call) -> tuple[Arrays, float] | None:
        """Return what a folder holds of a call, or None if it must be computed (again)."""
        if self.folder is None:
            return None
        try:
            facts, arrays = read_arrays(self._path(call), _KIND)
        except InvalidFile:
            return None
        seconds = facts.pop("seconds", None)
        if facts != json.loads(json.dumps(_facts(call))) or not isinstance(seconds, float):
            return None
        return arrays, seconds

    def _path(self, call: Call) -> Path:
        assert self.folder is not None
        return self.folder / f"{call.name}.npz"


def _facts(call: Call) -> dict[str, object]:
    module = Path(inspect.getfile(call.function))
    return {"version": code_version(module), "function": call.function.__name__, "params": call.params}


@cache
def code_version(module: Path) -> str:
    """Return the version of the package with a digest of the code of a module and of everything that it imports.

    Docstrings and comments do not count, nor does what only shows results: pages, pictures, the command and the Studio
    discard nothing.

    >>> code_version(Path(__file__)) == code_version(Path(__file__).with_name("computation.py"))
    False
    """
    package = Path(farpoint.__file__).parent
    # A module outside the package imports from its own top folder and from the package.
    tops = [package] if package in module.parents else [package, module.parents[1]]
    shows = {package / name for name in _SHOWING}
    files = sorted(file for file in files_behind([module], *tops) if shows.isdisjoint([file, *file.parents]))
    digest = hashlib.blake2b("".join(map(file_digest, files)).encode(), digest_size=6)
    return f"{farpoint.__version__}-{digest.hexdigest()}"
