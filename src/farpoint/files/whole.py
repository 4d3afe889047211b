"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from farpoint.errors import OutputError, check_path
from farpoint.files.unfinished import unfinished_file


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[Path]:
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
    ...     with whole_file(f"{folder}/note.txt") as temporary:
    ...         _ = temporary.write_text("complete")
    ...     Path(f"{folder}/note.txt").read_text()
    'complete'
    """
    target = regular_target(path)
    try:
        with unfinished_file(target) as temporary:
            yield temporary
            _flush(temporary)
            os.replace(temporary, target)
    except OSError as error:
        raise OutputError(f"{path} must be a file that can be written; got {error.strerror or error}.") from error


def regular_target(path: str | PathLike[str]) -> Path:
    """Return where ``path`` leads, through all symbolic links; fail if something other than a regular file is there.

    >>> regular_target("/dev/null")
    Traceback (most recent call last):
    farpoint.errors.OutputError: /dev/null must be a regular file or not exist; got something else.
    """
    try:
        target = Path(os.path.realpath(check_path("path", path)))
        is_other = target.exists() and not target.is_file()
    except OSError as error:
        raise OutputError(f"{path!r} must be a file that can be written; got {error}.") from error
    if is_other:
        raise OutputError(f"{path} must be a regular file or not exist; got something else.")
    return target


def _flush(path: Path) -> None:
    """Wait until the disk has the content: otherwise a power failure could leave the name without it."""
    opened = os.open(path, os.O_RDWR)
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
