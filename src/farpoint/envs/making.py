"""Gymnasium environments by name."""

from __future__ import annotations

import warnings
from typing import Any

from farpoint.errors import MissingExtra, UnknownName


def make_env(name: str, **settings: Any) -> Any:
    """Return the Gymnasium environment of this name; those of MiniGrid need the extra ``envs``.

    >>> make_env("FrozenLake-v1").action_space.n
    np.int64(4)
    """
    import gymnasium

    if name.startswith(("MiniGrid", "BabyAI")):
        check_minigrid()
    with warnings.catch_warnings():
        # Gymnasium recommends newer versions of an environment; this one was chosen.
        warnings.simplefilter("ignore")
        try:
            return gymnasium.make(name, **settings)
        except Exception as error:  # the module of an environment may raise anything
            raise UnknownName(f"environment must be registered in Gymnasium; got {name!r} ({error}).") from error


def check_minigrid() -> None:
    """Import MiniGrid, which registers its environments; fail with how to install it if it is missing."""
    try:
        import minigrid  # noqa: F401
    except ImportError as error:
        raise MissingExtra("minigrid must be installed for this world. Run: pip install 'farpoint[envs]'") from error
