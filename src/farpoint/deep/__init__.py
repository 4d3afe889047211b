"""What needs torch: neural eigenfunctions, learned option policies, DQN for options.

Install it with ``pip install 'farpoint[deep]'``. Importing this package does not import torch; the first use of one of
its names does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from farpoint.errors import MissingExtra

if TYPE_CHECKING:
    from farpoint.deep.eigenfunctions.functions import Eigenfunctions
    from farpoint.deep.eigenfunctions.learning import learn_eigenfunctions
    from farpoint.deep.goal_policies import learn_options
    from farpoint.deep.near_goals import learn_controller
    from farpoint.deep.smdp_dqn import SMDPDQN

_HOME = {
    "Eigenfunctions": "eigenfunctions.functions",
    "learn_controller": "near_goals",
    "learn_eigenfunctions": "eigenfunctions.learning",
    "learn_options": "goal_policies",
    "SMDPDQN": "smdp_dqn",
}
_PACKAGES = {"torch": "torch", "stable_baselines3": "stable-baselines3"}

__all__ = [
    "SMDPDQN",
    "Eigenfunctions",
    "learn_controller",
    "learn_eigenfunctions",
    "learn_options",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'farpoint.deep' has no attribute {name!r}")
    try:
        module = importlib.import_module(f"farpoint.deep.{_HOME[name]}")
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
        raise MissingExtra(
            f"{_PACKAGES[error.name]} must be installed for {name}. Run: pip install 'farpoint[deep]'"
        ) from error
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
