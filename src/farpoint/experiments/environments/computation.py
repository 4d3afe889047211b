"""What is computed for each environment: learning with the options of one method."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np

from farpoint.agents import learn_episodes
from farpoint.experiments.framework import Arrays
from farpoint.options import discover
from farpoint.worlds import World


def _episodes(
    n_jobs: int,
    env: str,
    method: str,
    n_options: int,
    n_runs: int,
    n_steps: int,
    layout: int,
    option_probability: float | None,
    slippery: bool | None = None,
) -> Arrays:
    """Return the steps until a target is first reached and until the greedy policy is near-optimal, for each run.

    Each run draws random options of its own.
    """
    world = _world(env, layout, slippery)
    count = min(n_options, len(discover(world, t=1)))
    learn = partial(learn_episodes, world, n_steps=n_steps, option_probability=option_probability)
    if method == "random":
        results = [
            learn(discover(world, method, n_options=count, seed=run), n_runs=1, seed=run, n_jobs=1)
            for run in range(n_runs)
        ]
    else:
        options = discover(world, method, n_options=None if method == "none" else count)
        results = [learn(options, n_runs=n_runs, n_jobs=n_jobs)]
    return {
        "first_target": np.concatenate([result.first_target for result in results]),
        "near_optimal": np.concatenate([result.near_optimal for result in results]),
        "n_states": np.array(world.n_states),
        "n_options": np.array(0 if method == "none" else count),
    }


@lru_cache(maxsize=4)
def _world(env: str, layout: int, slippery: bool | None) -> World:
    import gymnasium

    if env.startswith("MiniGrid"):
        import minigrid  # noqa: F401 - registers its environments
    with warnings.catch_warnings():
        # Gymnasium recommends newer versions of an environment; this one was chosen.
        warnings.simplefilter("ignore")
        made = gymnasium.make(env) if slippery is None else gymnasium.make(env, is_slippery=slippery)
    return World.from_env(made, seed=layout)


KINDS: Mapping[str, Callable[..., Arrays]] = {"episodes": _episodes}
