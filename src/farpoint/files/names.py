"""Names of files that hold arrays."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from farpoint.errors import check_path

_ENDING = ".npz"


def array_path(path: str | PathLike[str]) -> Path:
    """Return where arrays of this name are written and read: a name without an ending has ``.npz`` added.

    Something that exists under the very name is meant as it is.

    >>> array_path("world").name, array_path("world.npz").name, array_path("world.v2").name
    ('world.npz', 'world.npz', 'world.v2')
    """
    given = check_path("path", path)
    # ``folder/`` and ``..`` name folders, which are refused later.
    if given.suffix or not given.name or os.path.lexists(given):
        return given
    return given.with_name(given.name + _ENDING)
