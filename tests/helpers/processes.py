"""Which processes a test has started, and which of them it has left."""

from __future__ import annotations

from pathlib import Path

import psutil


def started(known_of: Path | None = None) -> set[psutil.Process]:
    """Return the processes that this one has started, and all that have the name of a folder in their command.

    Python's own trackers of shared resources are left out: they stay until the interpreter ends.
    """
    found = set(psutil.Process().children(recursive=True))
    if known_of is not None:
        found |= {one for one in psutil.process_iter() if any(str(known_of) in word for word in _command(one))}
    return {one for one in found if not any("resource_tracker" in word for word in _command(one))}


def left_of(processes: set[psutil.Process]) -> list[list[str]]:
    """Return the commands of those processes that have not ended within a minute."""
    _, alive = psutil.wait_procs(processes, timeout=60)
    return [_command(one) for one in alive]


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []
