"""Tasks that come after one exploration: what the options that were found are worth to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.agents import learn_episodes
from farpoint.exploration import Exploration, explore
from farpoint.options import OptionSet, discover
from research.exploration.places import make_place
from research.exploration.plan import LATER_PLACES, LATER_STEPS, N_TASKS, named, seeds_of
from research.runner import Row

_PLACES = named(LATER_PLACES)


def measure_later(place: str, method: str, probability: float | None, stage: str, n_runs: int, limit: int) -> list[Row]:
    """Return the steps of all tasks together that come after one exploration, with the options of one method.

    Diffusion and novelty explore by their own goals, the others are given what diffusion has seen; all then have as
    many options as `Exploration.options`. The tasks are the same for all of them: random targets, learned in the world
    as it was seen, each with an equal share of the ``limit``.
    """
    where, rows = _PLACES[place], []
    for seed in seeds_of(stage, n_runs):
        layout = seed % where.n_layouts
        world = make_place(where.world, layout)
        explorer = method if method in ("diffusion", "novelty") else "diffusion"
        found = explore(world, LATER_STEPS[place], explorer, max_episode_steps=where.episode, seed=seed)
        options = options_of(found, method, seed)
        task_steps = limit // N_TASKS
        targets = np.random.default_rng(seed).choice(world.n_states, size=N_TASKS, replace=False)
        first, near = (np.full(N_TASKS, float(task_steps)) for _ in range(2))
        for task, target in enumerate(targets.tolist()):
            # A target that was not seen, or in which every episode begins, counts with all steps for every method.
            known = [state for state, name in enumerate(found.world.labels or ()) if name == target]
            if known and target != world.start:
                result = learn_episodes(
                    found.world, options, targets=known, n_steps=task_steps, n_runs=1, seed=seed + task,
                    option_probability=probability, n_jobs=1,
                )  # fmt: skip
                first[task] = min(result.first_target[0], task_steps)
                near[task] = min(result.near_optimal[0], task_steps)
        rows.append(
            {
                "seed": seed,
                "layout": layout,
                "first": first.sum(),
                "near_optimal": near.sum(),
                "n_options": len(options),
                "n_seen": found.world.n_states,
            }
        )
    return rows


def options_of(found: Exploration, method: str, seed: int) -> OptionSet:
    """Return as many options of a method as there are far points in what was seen."""
    far = found.options
    if method == "diffusion":
        return far
    if method == "novelty":
        return OptionSet(found.world, _least_visited(found, len(far)), "novelty")
    return discover(found.world, method, n_options=None if method == "none" else len(far), seed=seed)


def _least_visited(found: Exploration, count: int) -> NDArray[np.int64]:
    number = {name: state for state, name in enumerate(found.world.labels or ())}
    order = np.argsort(found.visits, kind="stable")
    return np.array([number[found.labels[state]] for state in order if found.labels[state] in number][:count])
