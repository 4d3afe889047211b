"""How soon a task is learned while exploring: model-based replay (`learn_from_scratch`) with each method's options."""

from __future__ import annotations

import math

from farpoint.exploration import learn_from_scratch
from research.exploration.places import make_env, make_place
from research.exploration.plan import (
    ENVIRONMENT_PLACES,
    LEARNING_PLACES,
    N_OPTIONS,
    explorer_of,
    finite,
    named,
    seeds_of,
)
from research.runner import Row

_PLACES = named((*LEARNING_PLACES, *ENVIRONMENT_PLACES))


def measure_learning(
    place: str, method: str, probability: float | None, stage: str, n_runs: int, limit: int
) -> list[Row]:
    """Return the steps of each run until the first reward and until its best decisions were near-optimal.

    In an environment that is stepped as it is nobody knows what is optimal; None there.
    """
    where, rows = _PLACES[place], []
    for seed in seeds_of(stage, n_runs):
        layout = seed % where.n_layouts
        how = {"option_probability": probability, "n_options": N_OPTIONS, "seed": seed, **explorer_of(method)}
        if where.world.startswith("gym:"):
            env = make_env(where.world.removeprefix("gym:"), "full")
            learned = learn_from_scratch(env, limit, layout=layout, **how)
        else:
            world = make_place(where.world, layout)
            learned = learn_from_scratch(world, limit, max_episode_steps=where.episode, **how)
        near = math.inf if math.isnan(learned.near_optimal) else learned.near_optimal
        rows.append(
            {
                "seed": seed,
                "layout": layout,
                **finite({"first": learned.first_reward, "near_optimal": near}),
                "n_seen": learned.exploration.n_states,
            }
        )
    return rows
