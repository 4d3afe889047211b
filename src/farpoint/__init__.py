"""Farpoint finds the far points of a world and turns them into skills.

>>> import farpoint as fp
>>> world = fp.four_rooms()
>>> options = fp.discover(world, t=4)
>>> len(options)
20
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import gymnasium

__version__ = "0.1.0"


def _names_of(stub: Path) -> tuple[set[str], dict[str, str]]:
    """Return the modules that a stub names, and the module of every other name in it."""
    imports = [node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    modules = {alias.name for node in imports if not node.module for alias in node.names}
    return modules, {alias.name: node.module for node in imports if node.module for alias in node.names}


# Names are imported when first used, so that ``import farpoint`` and ``farpoint --help`` stay fast.
_MODULES, _HOME = _names_of(Path(__file__).with_suffix(".pyi"))
__all__ = sorted(_HOME)

# Importing the package is what `gymnasium.register_envs(farpoint)` asks for.
gymnasium.register(id="farpoint/ContinuousMaze-v0", entry_point="farpoint.envs.continuous_maze:ContinuousMaze")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"farpoint.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'farpoint' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"farpoint.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
