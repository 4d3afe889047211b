"""The run of an explorer: compiled in a world, step by step in an environment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_function, check_integer
from farpoint.exploration.env_runs import EnvRun
from farpoint.exploration.explorer import Explorer, ExploreSettings
from farpoint.exploration.sampled_runs import SampledRun, is_continuous
from farpoint.exploration.values import Rates
from farpoint.exploration.world_runs import WorldRun
from farpoint.worlds import World, as_world
from farpoint.worlds.keys import StateKey


def begin_run(
    env: Any,
    n_steps: int,
    settings: ExploreSettings,
    rates: Rates,
    seed: int,
    max_episode_steps: int | None = None,
    state: StateKey | None = None,
    layout: int | None = None,
    targets: NDArray[np.int64] | None = None,
    scale: ArrayLike | None = None,
) -> WorldRun | EnvRun:
    """Return an explorer that has seen nothing, in a world (or its name) or in an environment."""
    check_function("state", state)
    if isinstance(env, World) or not hasattr(env, "step"):
        world = as_world(env)
        if state is not None or layout is not None or scale is not None:
            raise InvalidInput(
                "state, layout and scale must go with an environment; got a world, which has its own states."
            )
        explorer = Explorer(settings, WorldRun.most_actions(world), seed, rates)
        return WorldRun(world, explorer, n_steps, max_episode_steps, targets)
    if max_episode_steps is not None or targets is not None:
        raise InvalidInput(
            "max_episode_steps and targets must go with a world; got an environment, which has its own. Wrap it in "
            "gymnasium.wrappers.TimeLimit for another limit."
        )
    layout = None if layout is None else check_integer("layout", layout, 0)
    sampled = state is None and is_continuous(env)
    explorer = Explorer(settings, EnvRun.most_actions(env), seed, rates, expected=sampled)
    if sampled:
        return SampledRun(env, explorer, n_steps, seed, scale, layout)
    if scale is not None:
        raise InvalidInput(f"scale must go with continuous observations and without state; got {scale!r}.")
    return EnvRun(env, explorer, n_steps, seed, state, layout)
