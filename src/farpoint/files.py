"""The only place that writes files: whole or not at all, and read back checked.

Every file appears under its name only when it is complete (`whole_file`). Arrays are kept in ``.npz`` files without
pickle, with a header that names their kind and version and a digest of everything in them. A `PieceFolder` keeps the
finished pieces of one long computation, so that it can be interrupted; a `results_folder` shows all results of a
command or none.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from farpoint.errors import InvalidFile, OutputError, WrongCheckpoint, check_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

_ABOUT = "about.json"
# Compressed arrays may be this much larger than their file; zeros shrink a thousandfold, which no result of ours does.
_LARGEST_RATIO, _ROOM = 200, 2**26


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a temporary file beside ``path``; it replaces ``path`` when the block succeeds and is removed otherwise.

    The temporary file has the same ending, and symbolic links are followed.

    Raises
    ------
    OutputError
        If the file cannot be written, or ``path`` exists and is not a regular file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/note.txt") as temporary:
    ...         _ = temporary.write_text("complete")
    ...     Path(f"{folder}/note.txt").read_text()
    'complete'
    """
    target = Path(os.path.realpath(check_path("path", path)))
    if os.path.exists(target) and not target.is_file():
        raise OutputError(f"{path} must be a regular file or not exist; got something else.")
    temporary = target.with_name(f".{secrets.token_hex(4)}.{target.name}")
    try:
        yield temporary
        os.replace(temporary, target)
    except OSError as error:
        raise OutputError(f"{path} must be a file that can be written; got {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/page.html", "<p>π</p>")
    ...     Path(f"{folder}/page.html").read_text(encoding="utf-8")
    '<p>π</p>'
    """
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_rows(path: str | PathLike[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV; the keys of the first row are the header.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rows(f"{folder}/table.csv", [{"world": "ring", "t": 4}])
    ...     Path(f"{folder}/table.csv").read_text().splitlines()
    ['world,t', 'ring,4']
    """
    with whole_file(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_arrays(
    path: str | PathLike[str],
    kind: str,
    facts: Mapping[str, Any],
    arrays: Arrays,
    *,
    version: int = 1,
    compressed: bool = False,
) -> None:
    """Write named arrays and a table of plain facts (anything that JSON holds) to one ``.npz`` file.

    Parameters
    ----------
    path : path
    kind : str
        What the file is, for example ``"farpoint-options"``; `read_arrays` asks for the same.
    facts : mapping
    arrays : mapping of arrays
    version : int
        Of the kind: another version is refused by `read_arrays`.
    compressed : bool

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(f"{folder}/a.npz", "example", {"t": 4}, {"scores": np.ones(3)})
    ...     read_arrays(f"{folder}/a.npz", "example")
    ({'t': 4}, {'scores': array([1., 1., 1.])})
    """
    import numpy as np

    header = {"format": kind, "version": version, "facts": dict(facts)}
    header["digest"] = _digest(header, arrays)
    save = np.savez_compressed if compressed else np.savez
    with whole_file(path) as temporary, temporary.open("xb") as file:
        save(file, header=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]


def read_arrays(
    path: str | PathLike[str], kind: str, *, version: int = 1
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the facts and arrays that `write_arrays` wrote.

    Raises
    ------
    InvalidFile
        If the file is missing, damaged, of another kind or of another version.
    """
    import numpy as np

    path = check_path("path", path)
    if path.suffix == ".npy":
        raise InvalidFile(f"{path} must be a .npz file of {kind}; got a .npy file, which holds one array only.")
    try:
        with Path(path).open("rb") as opened:
            _check_sizes(opened)
            with np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
        found, its_version = header.get("format"), header.get("version")
        digest, facts = header.pop("digest", None), header.get("facts")
    except FileNotFoundError as error:
        raise InvalidFile(f"{path} must be a file of {kind}; got no file of that name.") from error
    except KeyError as error:
        raise InvalidFile(f"{path} must be a file of {kind}; got another kind of .npz file.") from error
    except Exception as error:  # on damaged bytes numpy and zipfile raise almost anything, a SyntaxError included
        raise InvalidFile(f"{path} must be a whole .npz file of {kind}; it is damaged or of another kind.") from error
    if found != kind:
        raise InvalidFile(f"{path} must be a file of {kind}; got another kind of .npz file.")
    if its_version != version:
        raise InvalidFile(
            f"{path} must be of version {version}; got version {its_version}. Update Farpoint to read it."
        )
    if not isinstance(facts, dict) or digest != _digest(header, arrays):
        raise InvalidFile(f"{path} must be whole; it is damaged (its contents were changed).")
    return facts, arrays


def _check_sizes(opened: BinaryIO) -> None:
    """Fail before anything is unpacked if arrays are larger than the file can hold, or than their headers say."""
    from numpy.lib import format as npy

    room = _ROOM + _LARGEST_RATIO * os.fstat(opened.fileno()).st_size
    with zipfile.ZipFile(opened) as archive:
        for member in archive.infolist():
            room -= member.file_size
            if room < 0 or (member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size):
                raise ValueError("its arrays are larger than the file can hold")
            with archive.open(member) as file:
                read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
                shape, _, dtype = read_header[npy.read_magic(file)](file)
                if math.prod(shape) * dtype.itemsize != member.file_size - file.tell():
                    raise ValueError("an array is not as large as its header says")
    opened.seek(0)


def _digest(header: Mapping[str, Any], arrays: Arrays) -> str:
    """Return a digest of the header, and of the name, type, shape and content of every array."""
    import numpy as np

    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        # Read where it lies: a copy of large arrays would double the memory.
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


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
        self._about = json.loads(json.dumps(about))
        if self.folder is None:
            return
        path = self.folder / _ABOUT
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
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


@contextmanager
def results_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder; when the block succeeds its files are moved into ``target``, otherwise they are removed.

    A ``target`` that cannot be written is an error before the block begins, so that no work is lost.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     with results_folder(Path(base) / "out") as folder:
    ...         write_text(folder / "page.html", "<p>complete</p>")
    ...     sorted(path.name for path in (Path(base) / "out").iterdir())
    ['page.html']
    """
    made: list[Path] = []
    try:
        for folder in reversed([target, *target.parents]):
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
        temporary = Path(tempfile.mkdtemp(dir=target, prefix=".unfinished-"))
    except OSError as error:
        _remove_empty(made)
        raise OutputError(f"output folder {target} must be one that can be written; got {error.strerror}.") from error
    try:
        yield temporary
        _move_files(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        _remove_empty(made)


def _move_files(source: Path, target: Path) -> None:
    files = sorted(source.iterdir())
    for file in files:
        if (target / file.name).is_dir():
            raise OutputError(f"{target / file.name} must be a file or not exist; got a folder.")
    try:
        for file in files:
            os.replace(file, target / file.name)
    except OSError as error:
        raise OutputError(f"output folder {target} must be one that can be written; got {error.strerror}.") from error


def _remove_empty(folders: list[Path]) -> None:
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:  # not empty: it holds results
            return
