"""Calls of the operating system that fail on purpose, and what is in a folder afterwards."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# What changes files, or is needed to: ``open`` is every way to open a file, ``os.rename`` also replaces one.
_CALLS = frozenset({"open", "os.rename", "os.link", "os.mkdir", "fcntl.flock"})
_armed: list[NthCall] = []


class NthCall:
    """Do something at the ``number``-th call, from 1 on, that concerns a folder or what is in it."""

    def __init__(self, number: int, folder: Path, action: Callable[[], None]) -> None:
        self.left = number
        self.folder = str(folder)
        self.action = action
        self.call = ""

    @property
    def happened(self) -> bool:
        return bool(self.call)

    def see(self, event: str, args: tuple[Any, ...]) -> None:
        if event != "fcntl.flock":
            paths = [os.fspath(part) for part in args[:2] if isinstance(part, (str, os.PathLike))]
            if not any(isinstance(path, str) and os.path.abspath(path).startswith(self.folder) for path in paths):
                return
        self.left -= 1
        if self.left == 0:
            self.call = f"{event} {args[0]}"
            # The action may call the operating system itself.
            _armed.clear()
            self.action()


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _armed and event in _CALLS:
        _armed[0].see(event, args)


sys.addaudithook(_hook)


@contextmanager
def nth_call(number: int, folder: Path, action: Callable[[], None]) -> Iterator[NthCall]:
    """Do something at the n-th call inside the block; an error that it raises is the error of that call."""
    fault = NthCall(number, folder, action)
    _armed.append(fault)
    try:
        yield fault
    finally:
        _armed.clear()


@contextmanager
def files_of_at_most(n_bytes: int) -> Iterator[None]:
    """Make every write beyond this size fail, also of libraries that are not written in Python."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def content_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, hidden ones too, with its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
