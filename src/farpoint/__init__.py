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
    "World": "worlds",
    "Log": "worlds",
    "four_rooms": "worlds",
    "grid": "worlds",
    "maze": "worlds",
    "open_room": "worlds",
    "random_maze": "worlds",
    "ring": "worlds",
    "Goals": "diffusion",
    "Scores": "diffusion",
    "difficulty": "diffusion",
    "diffusion_distance": "diffusion",
    "extend": "diffusion",
    "find_goals": "diffusion",
    "score": "diffusion",
    "spectrum": "diffusion",
    "stationary": "diffusion",
    "GraphOptions": "options",
    "LearnedOptions": "options",
    "Option": "options",
    "OptionSet": "options",
    "discover": "options",
    "ContinuousMaze": "envs",
    "OptionsWrapper": "envs",
    "record_log": "envs",
    "DiscoveringWrapper": "exploration",
    "Exploration": "exploration",
    "explore": "exploration",
    "learn_from_scratch": "exploration",
    "best_option_probability": "measures",
    "cover_time": "measures",
    "steps_between_states": "measures",
    "visitation": "measures",
    "aggregate": "aggregation",
    "learn": "agents",
    "learn_episodes": "agents",
    "train_tabular": "agents",
    "SMDPDQN": "deep",
    "learn_eigenfunctions": "deep",
    "learn_options": "deep",
    "engine": "engines",
}
_MODULES = (
    "agents",
    "aggregation",
    "blas",
    "compiling",
    "deep",
    "diffusion",
    "display",
    "engines",
    "envs",
    "errors",
    "exploration",
    "files",
    "measures",
    "options",
    "paper",
    "report",
    "simulation",
    "studio",
    "worlds",
)

if TYPE_CHECKING:
    from farpoint import agents as agents
    from farpoint import aggregation as aggregation
    from farpoint import blas as blas
    from farpoint import compiling as compiling
    from farpoint import deep as deep
    from farpoint import diffusion as diffusion
    from farpoint import display as display
    from farpoint import engines as engines
    from farpoint import envs as envs
    from farpoint import errors as errors
    from farpoint import exploration as exploration
    from farpoint import files as files
    from farpoint import measures as measures
    from farpoint import options as options
    from farpoint import paper as paper
    from farpoint import report as report
    from farpoint import simulation as simulation
    from farpoint import studio as studio
    from farpoint import worlds as worlds
    from farpoint.agents import learn, learn_episodes, train_tabular
    from farpoint.aggregation import aggregate
    from farpoint.deep import SMDPDQN, learn_eigenfunctions, learn_options
    from farpoint.diffusion import (
        Goals,
        Scores,
        difficulty,
        diffusion_distance,
        extend,
        find_goals,
        score,
        spectrum,
        stationary,
    )
    from farpoint.engines import engine
    from farpoint.envs import ContinuousMaze, OptionsWrapper, record_log
    from farpoint.exploration import DiscoveringWrapper, Exploration, explore, learn_from_scratch
    from farpoint.measures import best_option_probability, cover_time, steps_between_states, visitation
    from farpoint.options import GraphOptions, LearnedOptions, Option, OptionSet, discover
    from farpoint.worlds import Log, World, four_rooms, grid, maze, open_room, random_maze, ring

__all__ = [
    "SMDPDQN",
    "ContinuousMaze",
    "DiscoveringWrapper",
    "Exploration",
    "Goals",
    "GraphOptions",
    "LearnedOptions",
    "Log",
    "Option",
    "OptionSet",
    "OptionsWrapper",
    "Scores",
    "World",
    "aggregate",
    "best_option_probability",
    "cover_time",
    "difficulty",
    "diffusion_distance",
    "discover",
    "engine",
    "explore",
    "extend",
    "find_goals",
    "four_rooms",
    "grid",
    "learn",
    "learn_eigenfunctions",
    "learn_episodes",
    "learn_from_scratch",
    "learn_options",
    "maze",
    "open_room",
    "random_maze",
    "record_log",
    "ring",
    "score",
    "spectrum",
    "stationary",
    "steps_between_states",
    "train_tabular",
    "visitation",
]


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
