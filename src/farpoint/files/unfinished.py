"""Unfinished files and folders: each is locked by the process that writes it, so that the next one can tell whether
that process is still there.

The lock is the operating system's (``flock``): it ends with the process, however that ends. Where there are no such
locks (Windows, some network disks), nothing of another process is removed.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = ".farpoint-unfinished"
_NO_LOCK = -1
_LOOK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextmanager
def unfinished_file(target: Path) -> Iterator[Path]:
    """Give a new empty file beside ``target``, with the same ending, that the block renames; remove it on an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, unfinished_file(Path(folder) / "page.html") as temporary:
    ...     temporary.name
    '.farpoint-unfinished-0-page.html'
    """
    # Another thread or process may be writing the same file: it has the numbers before.
    names = (target.with_name(f"{_PREFIX}-{number}-{target.name}") for number in itertools.count())
    temporary, lock = next((name, lock) for name in names if (lock := _claim(name, _new_file)) is not None)
    try:
        yield temporary
    except BaseException:
        # Once it is renamed, another thread or process may have a file of that name.
        if lock == _NO_LOCK or _is_same(lock, temporary):
            with suppress(OSError):
                temporary.unlink()
        raise
    finally:
        _release(lock)


@contextmanager
def unfinished_folder(target: Path) -> Iterator[Path | None]:
    """Give a new empty folder inside ``target`` and remove it afterwards; None while another process has one there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, unfinished_folder(Path(folder)) as one:
    ...     with unfinished_folder(Path(folder)) as another:
    ...         print(one.name, another)
    .farpoint-unfinished None
    """
    temporary = target / _PREFIX
    lock = _claim(temporary, _new_folder)
    if lock is None:
        yield None
        return
    try:
        yield temporary
    finally:
        # Where somebody removed the whole target meanwhile, one of this name may be another process's.
        if lock == _NO_LOCK or _is_same(lock, temporary):
            shutil.rmtree(temporary, ignore_errors=True)
        _release(lock)


def has_unfinished(folder: Path) -> bool:
    """Return whether a process that writes into this folder is at work, or was killed at it."""
    return (folder / _PREFIX).exists()


def remove_unfinished(folder: Path) -> None:
    """Remove what killed processes left in a folder, and nothing of those that are at work.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / ".farpoint-unfinished-0-page.html").write_text("half a pa")
    ...     remove_unfinished(Path(folder))
    ...     list(Path(folder).iterdir())
    []
    """
    for path in list(folder.glob(f"{_PREFIX}*")):
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
        with suppress(OSError):
            path.rmdir()
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
        if fcntl is None or (_lock(lock) is not False and _is_same(lock, path)):
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
        if _is_same(lock, path):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()
        return not os.path.lexists(path)
    finally:
        os.close(lock)


def _lock(opened: int) -> bool | None:
    """Return whether the lock is ours now; None where there are no locks."""
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _release(lock: int) -> None:
    if lock != _NO_LOCK:
        with suppress(OSError):
            os.close(lock)


def _is_same(opened: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), os.lstat(path))
    except OSError:
        return False
