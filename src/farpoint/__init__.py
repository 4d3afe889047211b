"""Farpoint finds the far points of a world and turns them into skills.

>>> import farpoint as fp
>>> world = fp.four_rooms()
>>> options = fp.discover(world, t=4)
>>> len(options)
20
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when first used, so that ``import farpoint`` and ``farpoint --help`` stay fast.
_HOME = {
    "Domain": "domain",
    "four_rooms": "domain",
    "grid": "domain",
    "maze": "domain",
    "open_room": "domain",
    "random_maze": "domain",
    "ring": "domain",
    "world": "domain",
    "Goals": "diffusion",
    "Scores": "diffusion",
    "Spectrum": "diffusion",
    "difficulty": "diffusion",
    "diffusion_distance": "diffusion",
    "diffusion_map": "diffusion",
    "find_goals": "diffusion",
    "lazy_walk": "diffusion",
    "normalized_laplacian": "diffusion",
    "score": "diffusion",
    "score_bound": "diffusion",
    "spectrum": "diffusion",
    "stationary": "diffusion",
    "Option": "options",
    "OptionSet": "options",
    "discover": "options",
    "load_options": "options",
}

if TYPE_CHECKING:
    from farpoint.diffusion import (
        Goals,
        Scores,
        Spectrum,
        difficulty,
        diffusion_distance,
        diffusion_map,
        find_goals,
        lazy_walk,
        normalized_laplacian,
        score,
        score_bound,
        spectrum,
        stationary,
    )
    from farpoint.domain import Domain, four_rooms, grid, maze, open_room, random_maze, ring, world
    from farpoint.options import Option, OptionSet, discover, load_options

__all__ = [
    "Domain",
    "Goals",
    "Option",
    "OptionSet",
    "Scores",
    "Spectrum",
    "difficulty",
    "diffusion_distance",
    "diffusion_map",
    "discover",
    "find_goals",
    "four_rooms",
    "grid",
    "lazy_walk",
    "load_options",
    "maze",
    "normalized_laplacian",
    "open_room",
    "random_maze",
    "ring",
    "score",
    "score_bound",
    "spectrum",
    "stationary",
    "world",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'farpoint' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"farpoint.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
