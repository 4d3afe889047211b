"""A folder for results in which nothing half-written is ever seen."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from farpoint.errors import OutputError


@contextmanager
def results_folder(target: Path) -> Iterator[Path]:
    """Give a scratch folder; when the block ends well, its files are moved into ``target``, otherwise they are dropped.

    That ``target`` can be written is found out at once, before any work is done.
    """
    made: list[Path] = []
    try:
        for folder in reversed([target, *target.parents]):
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
        scratch = Path(tempfile.mkdtemp(dir=target, prefix=".unfinished-"))
    except OSError as error:
        _remove_empty(made)
        raise OutputError(f"output folder {target} must be one that can be written; got {error.strerror}.") from error
    try:
        yield scratch
        _move(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        _remove_empty(made)


def _move(scratch: Path, target: Path) -> None:
    files = sorted(scratch.iterdir())
    for file in files:
        if (target / file.name).is_dir():
            raise OutputError(f"{target / file.name} must be a file or free; got a folder.")
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
