"""Folders that show all results of a command or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from farpoint.errors import OutputError
from farpoint.files.unfinished import remove_unfinished, unfinished_folder
from farpoint.files.whole import regular_target, whole_file


@contextmanager
def results_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder; when the block succeeds its files are moved into ``target``, otherwise they are removed.

    A ``target`` that cannot be written, or that another run is writing to, is an error before the block begins, so that
    no work is lost. What a killed run left there is removed.

    Raises
    ------
    OutputError
        If the folder cannot be written, is in use by another run, or holds something that is not a regular file under
        the name of a result.

    Examples
    --------
    >>> import tempfile
    >>> from farpoint.files import write_text
    >>> with tempfile.TemporaryDirectory() as base:
    ...     with results_folder(Path(base) / "out") as folder:
    ...         write_text(folder / "page.html", "<p>complete</p>")
    ...     sorted(path.name for path in (Path(base) / "out").iterdir())
    ['page.html']
    """
    made: list[Path] = []
    with ExitStack() as stack:
        stack.callback(_remove_empty, made)
        try:
            for folder in reversed([target, *target.parents]):
                if not folder.exists():
                    folder.mkdir(exist_ok=True)
                    made.append(folder)
            remove_unfinished(target)
            temporary = stack.enter_context(unfinished_folder(target))
        except OSError as error:
            raise _cannot_write(target, error) from error
        if temporary is None:
            raise OutputError(
                f"output folder {target} must be used by one run at a time; got another run at work in it. Wait for "
                "it, or use another folder."
            )
        yield temporary
        _move_all(temporary, target)


def _move_all(source: Path, target: Path) -> None:
    """Move files and folders, in the order of their names; fail before the first if something is in the way.

    If a move fails, those that were not there before are removed again; files that were replaced are whole, and new.
    """
    appeared: list[Path] = []
    try:
        moves = [(path, _destination(path, target / path.name)) for path in sorted(source.iterdir())]
        for path, destination in moves:
            if not destination.exists():
                appeared.append(destination)
            if destination.parent == target.resolve():
                os.replace(path, destination)
            else:  # through a symbolic link, perhaps onto another disk
                with whole_file(destination) as temporary:
                    shutil.copyfile(path, temporary)
    except (OSError, OutputError) as error:
        for path in appeared:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()
        if isinstance(error, OutputError):
            raise
        raise _cannot_write(target, error) from error


def _cannot_write(target: Path, error: OSError) -> OutputError:
    return OutputError(f"output folder {target} must be one that can be written; got {error.strerror}.")


def _destination(path: Path, wanted: Path) -> Path:
    if path.is_dir():
        if os.path.lexists(wanted):
            raise OutputError(f"{wanted} must not exist; got something of that name.")
        return wanted.parent.resolve() / wanted.name
    if wanted.is_dir():
        raise OutputError(f"{wanted} must be a file or not exist; got a folder.")
    return regular_target(wanted)


def _remove_empty(folders: list[Path]) -> None:
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:  # not empty: it holds results
            return
