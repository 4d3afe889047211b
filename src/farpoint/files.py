"""The only module that writes files: complete or not at all, and checked when they are read back.

A file appears under its name only when it is complete (`atomic_write`). Arrays are stored in ``.npz`` files without
pickle, with a header that names their kind and version and a digest of the content. A `Checkpoint` is a folder of the
finished pieces of a long computation, which can then be interrupted. A `results_folder` shows all results of a command
or none.

Unfinished files and folders are locked by the process that writes them (``flock``). The lock ends with the process, so
the next process can remove what a killed one left. Where locks are missing (Windows, some network disks), nothing of
another process is removed.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import itertools
import json
import math
import os
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farpoint.errors import InvalidFile, OutputError, WrongCheckpoint, check_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_UNFINISHED = ".farpoint-unfinished"
_REPLACED = ".farpoint-replaced"
_ABOUT = "about.json"
_NO_LOCK = -1
_LOOK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Compressed arrays may be this much larger than their file; zeros shrink a thousandfold, which no result of ours does.
_LARGEST_RATIO, _ROOM = 200, 2**26


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[Path]:
    """Give an empty temporary file beside ``path``, which replaces ``path`` when the block succeeds.

    Otherwise it is removed; if the process is killed, the next one that writes the same file removes it. The temporary
    file has the same ending, and symbolic links are followed.

    Raises
    ------
    OutputError
        If the file cannot be written, or ``path`` exists and is not a regular file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/note.txt") as temporary:
    ...         _ = temporary.write_text("complete")
    ...     Path(f"{folder}/note.txt").read_text()
    'complete'
    """
    target = _regular_target(path)
    try:
        # Another thread or process may be writing the same file: it has the numbers before.
        names = (target.with_name(f"{_UNFINISHED}-{number}-{target.name}") for number in itertools.count())
        temporary, lock = next((name, lock) for name in names if (lock := _claim(name, _new_file)) is not None)
        try:
            yield temporary
            # Otherwise a power failure could leave the name without the content.
            _flush(temporary, os.O_RDWR)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                # Once it is renamed, another thread or process may have a file of that name.
                if _is_held(lock, temporary):
                    temporary.unlink()
            raise
        finally:
            _release(lock)
        with suppress(OSError):  # not every system can flush a folder
            _flush(target.parent, os.O_RDONLY)
    except OSError as error:
        raise OutputError(f"{path} must be a file that can be written; got {error.strerror or error}.") from error


def _regular_target(path: str | PathLike[str]) -> Path:
    """Return where ``path`` leads, through all symbolic links; fail if something other than a regular file is there."""
    try:
        target = Path(os.path.realpath(check_path("path", path)))
        is_other = target.exists() and not target.is_file()
    except OSError as error:
        raise OutputError(f"{path!r} must be a file that can be written; got {error}.") from error
    if is_other:
        raise OutputError(f"{path} must be a regular file or not exist; got something else.")
    return target


def _flush(path: Path, flags: int) -> None:
    opened = os.open(path, flags)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/page.html", "<p>π</p>")
    ...     Path(f"{folder}/page.html").read_text(encoding="utf-8")
    '<p>π</p>'
    """
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_rows(path: str | PathLike[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV; the header names the keys of all rows. Without rows the file is empty.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rows(f"{folder}/table.csv", [{"world": "ring", "t": 4}])
    ...     Path(f"{folder}/table.csv").read_text().splitlines()
    ['world,t', 'ring,4']
    """
    with atomic_write(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(dict.fromkeys(key for row in rows for key in row)))
        if rows:
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
        A name without an ending has ``.npz`` added, here and in `read_arrays`.
    kind : str
        What the file is, for example ``"farpoint-options"``; `read_arrays` asks for the same.
    facts : mapping
    arrays : mapping of arrays
    version : int
        Version of the kind; `read_arrays` refuses another one.
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
    with atomic_write(array_path(path)) as temporary, temporary.open("wb") as file:
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

    path = array_path(path)
    if path.suffix == ".npy" and path.exists():
        raise InvalidFile(f"{path} must be a .npz file of {kind}; got a .npy file, which holds one array only.")
    try:
        with _open_regular(path) as opened:
            _check_sizes(opened)
            with np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
        found, its_version = header.get("format"), header.get("version")
        digest, facts = header.pop("digest", None), header.get("facts")
        whole = isinstance(facts, dict) and digest == _digest(header, arrays)
    except FileNotFoundError as error:
        raise InvalidFile(
            f"{path} must be a file of {kind}; got no file of that name in {path.absolute().parent}."
        ) from error
    except KeyError as error:
        raise InvalidFile(f"{path} must be a file of {kind}; got another kind of .npz file.") from error
    except Exception as error:  # on damaged bytes numpy and zipfile raise almost anything, a SyntaxError included
        raise InvalidFile(f"{path} must be a whole .npz file of {kind}; it is damaged or of another kind.") from error
    if found != kind:
        raise InvalidFile(f"{path} must be a file of {kind}; got another kind of .npz file.")
    if its_version != version:
        older = isinstance(its_version, int) and its_version < version
        advice = "An older Farpoint wrote it: make it again." if older else "Update Farpoint to read it."
        raise InvalidFile(f"{path} must be of version {version}; got version {its_version}. {advice}")
    if not whole:
        raise InvalidFile(f"{path} must be whole; it is damaged (its contents were changed).")
    return facts, arrays


def array_path(path: str | PathLike[str]) -> Path:
    """Return where arrays of this name are written and read: a name without an ending has ``.npz`` added.

    If something exists under the very name, that is used.

    >>> array_path("world").name, array_path("world.npz").name, array_path("world.v2").name
    ('world.npz', 'world.npz', 'world.v2')
    """
    given = check_path("path", path)
    # ``folder/`` and ``..`` name folders, which are refused later.
    if given.suffix or not given.name or os.path.lexists(given):
        return given
    return given.with_name(f"{given.name}.npz")


def _open_regular(path: str | PathLike[str]) -> BufferedReader:
    """Open a file for reading; fail if it is a pipe, which would wait for a writer, or a device."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return Path(path).open("rb")


def _check_sizes(opened: BufferedReader) -> None:
    """Fail before anything is unpacked if arrays are larger than the file can hold, or than their headers say."""
    from numpy.lib import format as npy

    room = _ROOM + _LARGEST_RATIO * os.fstat(opened.fileno()).st_size
    with zipfile.ZipFile(opened) as archive:
        members = archive.infolist()
        if len({member.filename.removesuffix(".npy") for member in members}) < len(members):
            raise ValueError("two of its arrays have the same name")
        for member in members:
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
    from numpy.lib.format import dtype_to_descr

    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {dtype_to_descr(array.dtype)} {array.shape}".encode())
        # Read where it lies: a copy of large arrays would double the memory.
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


class Checkpoint:
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
    ...     Checkpoint(folder, "score", {"t": 4}).save("block-0", {"scores": np.ones(2)})
    ...     print(Checkpoint(folder, "score", {"t": 4}).load("block-0"))
    ...     Checkpoint(folder, "score", {"t": 13})
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
            content = path.read_bytes()
        except (OSError, OutputError) as error:
            raise OutputError(f"checkpoint must be a folder that can be written; got {folder} ({error}).") from error
        there = _json_object(content)
        if there is None and self._has_pieces():
            write_text(path, json.dumps(self._about))
        elif there is None:
            raise WrongCheckpoint(
                f"checkpoint must be a folder of this {what}; got {folder} with an {_ABOUT} that is damaged or of "
                f"another program. Delete that file, or use another folder."
            )
        elif there != self._about:
            names = there.keys() | self._about.keys()
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
            facts, arrays = read_arrays(self.folder / f"{name}.npz", self._kind)
        except InvalidFile:
            return None
        return arrays if facts == self._facts(name) else None

    def save(self, name: str, arrays: Arrays) -> None:
        """Keep a finished piece."""
        if self.folder is not None:
            write_arrays(self.folder / f"{name}.npz", self._kind, self._facts(name), arrays)

    def _facts(self, name: str) -> dict[str, Any]:
        # A piece that was renamed, or copied from another folder, is not this piece.
        return {"piece": name, "about": self._about}

    def _has_pieces(self) -> bool:
        """Return whether some piece is of this computation."""
        assert self.folder is not None
        return any(path.stem in self for path in self.folder.glob("*.npz"))


def _json_object(content: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@contextmanager
def results_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder; when the block succeeds its files are moved into ``target``, otherwise they are removed.

    A ``target`` that cannot be written, or that another run is writing to, is an error before the block begins, so that
    no work is lost. What a killed run left there is removed.

    Files are moved one after the other. If a move fails, those before it are undone, and ``target`` is as it was. If
    the process is killed between two moves, every file is complete, but some are old and some new.

    Raises
    ------
    OutputError
        If the folder cannot be written, is in use by another run, or holds something that is not a regular file under
        the name of a result.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     with results_folder(Path(base) / "out") as folder:
    ...         write_text(folder / "page.html", "<p>complete</p>")
    ...     sorted(path.name for path in (Path(base) / "out").iterdir())
    ['page.html']
    """
    temporary, made = target / _UNFINISHED, list[Path]()
    with ExitStack() as stack:
        stack.callback(_remove_empty, made)
        try:
            for folder in reversed([target, *target.parents]):
                if not folder.exists():
                    folder.mkdir(exist_ok=True)
                    made.append(folder)
            remove_unfinished(target)
            lock = _claim(temporary, _new_folder)
        except OSError as error:
            raise _cannot_write(target, error) from error
        if lock is None:
            raise OutputError(
                f"output folder {target} must be used by one run at a time; got another run at work in it. Wait for "
                "it, or use another folder."
            )
        stack.callback(_remove_held, lock, temporary)
        yield temporary
        if not _is_held(lock, temporary):
            raise OutputError(f"output folder {target} must stay while results are written; got a folder that is gone.")
        _move_all(temporary, target)


def _move_all(source: Path, target: Path) -> None:
    """Move files and folders, in the order of their names; fail before the first if something is in the way."""
    undo, replaced = ExitStack(), list[Path]()
    with undo:
        try:
            moves = [(path, _destination(path, target / path.name)) for path in sorted(source.iterdir())]
            for path, destination in moves:
                if os.path.lexists(destination):
                    replaced.append(_kept_aside(destination, source / f"{_REPLACED}-{len(replaced)}"))
                    undo.callback(_restore, replaced[-1], destination, target)
                else:
                    undo.callback(_remove, destination)
                _move(path, destination, target)
        except OSError as error:
            raise _cannot_write(target, error) from error
        undo.pop_all()
    for path in replaced:
        _remove(path)


def _kept_aside(path: Path, aside: Path) -> Path:
    try:
        os.link(path, aside)
    except OSError:  # on another disk, or a disk without links
        shutil.copy2(path, aside)
    return aside


def _restore(aside: Path, destination: Path, target: Path) -> None:
    # Where that fails too, the new file stays, which is complete.
    with suppress(OSError, OutputError):
        _move(aside, destination, target)


def _move(path: Path, destination: Path, target: Path) -> None:
    if destination.parent == target.resolve():
        os.replace(path, destination)
    else:  # through a symbolic link, perhaps onto another disk
        with atomic_write(destination) as temporary:
            shutil.copyfile(path, temporary)
        _remove(path)


def _destination(path: Path, wanted: Path) -> Path:
    if path.is_dir():
        if os.path.lexists(wanted):
            raise OutputError(f"{wanted} must not exist; got something of that name.")
        return wanted.parent.resolve() / wanted.name
    if wanted.is_dir():
        raise OutputError(f"{wanted} must be a file or not exist; got a folder.")
    return _regular_target(wanted)


def _cannot_write(target: Path, error: OSError) -> OutputError:
    return OutputError(f"output folder {target} must be one that can be written; got {error.strerror}.")


def _remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it, as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _remove_empty(folders: list[Path]) -> None:
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:  # not empty: it holds results
            return


def remove_unfinished(folder: Path) -> None:
    """Remove what killed processes left in a folder, and nothing of those that are at work.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / ".farpoint-unfinished-0-page.html").write_text("half a pa")
    ...     remove_unfinished(Path(folder))
    ...     list(Path(folder).iterdir())
    []
    """
    for path in list(folder.glob(f"{_UNFINISHED}*")):
        _remove_if_left(path)


def _new_file(path: Path) -> int:
    opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    if fcntl is None:  # there an open file cannot be renamed
        os.close(opened)
        return _NO_LOCK
    return opened


def _new_folder(path: Path) -> int:
    os.mkdir(path)
    if fcntl is None:
        return _NO_LOCK
    try:
        return os.open(path, _LOOK)
    except OSError:
        _remove(path)
        raise


def _claim(path: Path, make: Callable[[Path], int]) -> int | None:
    """Make ``path`` and return the lock on it; return None if another process is at work on one of that name."""
    while True:
        try:
            lock = make(path)
        except FileExistsError:
            if not _remove_if_left(path):
                return None
            continue
        # Before it is locked, another process may take it for one that was left, and remove it.
        if fcntl is None or (_lock(lock) is not False and _is_held(lock, path)):
            return lock
        os.close(lock)


def _remove_if_left(path: Path) -> bool:
    """Remove ``path`` if no process holds it; return whether it is gone."""
    if fcntl is None:
        return False
    try:
        lock = os.open(path, _LOOK)
    except OSError:
        return not os.path.lexists(path)
    try:
        if not _lock(lock):
            return False
        if _is_held(lock, path):
            _remove(path)
        return not os.path.lexists(path)
    finally:
        os.close(lock)


def _remove_held(lock: int, folder: Path) -> None:
    """Remove the folder that is locked; one of its name may be another process's if somebody removed it meanwhile."""
    if _is_held(lock, folder):
        _remove(folder)
    _release(lock)


def _lock(opened: int) -> bool | None:
    """Return whether the lock is ours now; None where there are no locks."""
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_held(lock: int, path: Path) -> bool:
    """Return whether ``path`` is what was opened to lock it."""
    if lock == _NO_LOCK:
        return True
    try:
        return os.path.samestat(os.fstat(lock), os.lstat(path))
    except OSError:
        return False


def _release(lock: int) -> None:
    if lock != _NO_LOCK:
        with suppress(OSError):
            os.close(lock)
