"""Archives changed on purpose, and what lies in a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def names(folder: Path) -> list[str]:
    """Return the names of what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Write the archive again with something changed, by numpy itself."""
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(path, **arrays)
