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
    "explore": "worlds",
    "four_rooms": "worlds",
    "grid": "worlds",
    "maze": "worlds",
    "nearest_state": "worlds",
    "open_room": "worlds",
    "random_maze": "worlds",
    "ring": "worlds",
    "named_world": "worlds",
    "ContinuousMaze": "envs.continuous_maze",
    "image_observations": "envs.images",
    "observe_walk": "envs.images",
    "engine": "engines",
    "ExtendedScores": "diffusion",
    "Goals": "diffusion",
    "Scores": "diffusion",
    "Spectrum": "diffusion",
    "difficulty": "diffusion",
    "diffusion_distance": "diffusion",
    "diffusion_map": "diffusion",
    "extend": "diffusion",
    "extend_to": "diffusion",
    "find_goals": "diffusion",
    "goals_of_partitions": "diffusion",
    "read_scores": "diffusion",
    "score_partitions": "diffusion",
    "write_partitions": "diffusion",
    "landmarks": "diffusion",
    "lazy_walk": "diffusion",
    "normalized_laplacian": "diffusion",
    "refine_goals": "diffusion",
    "score": "diffusion",
    "score_bound": "diffusion",
    "spectrum": "diffusion",
    "stationary": "diffusion",
    "Option": "options",
    "OptionSet": "options",
    "discover": "options",
    "load_options": "options",
    "Eigenfunctions": "deep",
    "cosine_similarities": "diffusion",
    "learn_eigenfunctions": "deep",
    "GoalOptionsWrapper": "envs.options_env",
    "GraphOptions": "options.graph_options",
    "LearnedOptions": "options.learned_options",
    "SMDPDQN": "deep",
    "direction_controller": "options.graph_options",
    "learn_options": "deep",
    "option_success": "envs.success",
    "CoverTime": "measures",
    "SampledSteps": "measures",
    "StepsBetweenStates": "measures",
    "cover_time": "measures",
    "sample_steps_between_states": "measures",
    "steps_between_states": "measures",
    "visitation": "measures",
    "LearningResult": "agents",
    "OptionsWrapper": "envs.wrapper",
    "EpisodicResult": "agents",
    "learn": "agents",
    "learn_episodes": "agents",
    "TabularAgent": "agents",
    "train_tabular": "agents",
}

if TYPE_CHECKING:
    from farpoint.agents import (
        EpisodicResult,
        LearningResult,
        TabularAgent,
        learn,
        learn_episodes,
        train_tabular,
    )
    from farpoint.deep import SMDPDQN, Eigenfunctions, learn_eigenfunctions, learn_options
    from farpoint.diffusion import (
        ExtendedScores,
        Goals,
        Scores,
        Spectrum,
        cosine_similarities,
        difficulty,
        diffusion_distance,
        diffusion_map,
        extend,
        extend_to,
        find_goals,
        goals_of_partitions,
        landmarks,
        lazy_walk,
        normalized_laplacian,
        read_scores,
        refine_goals,
        score,
        score_bound,
        score_partitions,
        spectrum,
        stationary,
        write_partitions,
    )
    from farpoint.engines import engine
    from farpoint.envs.continuous_maze import ContinuousMaze
    from farpoint.envs.images import image_observations, observe_walk
    from farpoint.envs.options_env import GoalOptionsWrapper
    from farpoint.envs.success import option_success
    from farpoint.envs.wrapper import OptionsWrapper
    from farpoint.measures import (
        CoverTime,
        SampledSteps,
        StepsBetweenStates,
        cover_time,
        sample_steps_between_states,
        steps_between_states,
        visitation,
    )
    from farpoint.options import Option, OptionSet, discover, load_options
    from farpoint.options.graph_options import GraphOptions, direction_controller
    from farpoint.options.learned_options import LearnedOptions
    from farpoint.worlds import (
        Log,
        World,
        explore,
        four_rooms,
        grid,
        maze,
        named_world,
        nearest_state,
        open_room,
        random_maze,
        ring,
    )

__all__ = [
    "SMDPDQN",
    "ContinuousMaze",
    "CoverTime",
    "Eigenfunctions",
    "EpisodicResult",
    "ExtendedScores",
    "GoalOptionsWrapper",
    "Goals",
    "GraphOptions",
    "LearnedOptions",
    "LearningResult",
    "Log",
    "Option",
    "OptionSet",
    "OptionsWrapper",
    "SampledSteps",
    "Scores",
    "Spectrum",
    "StepsBetweenStates",
    "TabularAgent",
    "World",
    "cosine_similarities",
    "cover_time",
    "difficulty",
    "diffusion_distance",
    "diffusion_map",
    "direction_controller",
    "discover",
    "engine",
    "explore",
    "extend",
    "extend_to",
    "find_goals",
    "four_rooms",
    "goals_of_partitions",
    "grid",
    "image_observations",
    "landmarks",
    "lazy_walk",
    "learn",
    "learn_eigenfunctions",
    "learn_episodes",
    "learn_options",
    "load_options",
    "maze",
    "named_world",
    "nearest_state",
    "normalized_laplacian",
    "observe_walk",
    "open_room",
    "option_success",
    "random_maze",
    "read_scores",
    "refine_goals",
    "ring",
    "sample_steps_between_states",
    "score",
    "score_bound",
    "score_partitions",
    "spectrum",
    "stationary",
    "steps_between_states",
    "train_tabular",
    "visitation",
    "write_partitions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'farpoint' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"farpoint.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
