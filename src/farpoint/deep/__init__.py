"""What needs torch: neural eigenfunctions, durations in Stable-Baselines3's agents.

Install it with ``pip install 'farpoint[deep]'``. Importing this package does not import torch; the first use of one of
its names does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from farpoint.errors import MissingExtra

if TYPE_CHECKING:
    from farpoint.deep.eigenfunctions import Eigenfunctions, learn_eigenfunctions
    from farpoint.deep.sb3 import (
        DurationCallback,
        DurationReplayBuffer,
        DurationRolloutBuffer,
        MaskableDurationRolloutBuffer,
        set_option_probability,
    )
    from farpoint.deep.similarity import cosine_similarities

_HOME = {
    "DurationCallback": "sb3",
    "DurationReplayBuffer": "sb3",
    "DurationRolloutBuffer": "sb3",
    "Eigenfunctions": "eigenfunctions",
    "MaskableDurationRolloutBuffer": "sb3",
    "cosine_similarities": "similarity",
    "learn_eigenfunctions": "eigenfunctions",
    "set_option_probability": "sb3",
}
_PACKAGES = {"torch": "torch", "stable_baselines3": "stable-baselines3", "sb3_contrib": "sb3-contrib"}

__all__ = [
    "DurationCallback",
    "DurationReplayBuffer",
    "DurationRolloutBuffer",
    "Eigenfunctions",
    "MaskableDurationRolloutBuffer",
    "cosine_similarities",
    "learn_eigenfunctions",
    "set_option_probability",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'farpoint.deep' has no attribute {name!r}")
    try:
        module = importlib.import_module(f"farpoint.deep.{_HOME[name]}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES:
            raise
        raise MissingExtra(
            f"{_PACKAGES[package]} must be installed for {name}. Run: pip install 'farpoint[deep]'"
        ) from error
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
