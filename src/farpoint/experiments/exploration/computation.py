"""What is computed for each place: explorations by one method, and what they saw after how many steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from farpoint.engines import each
from farpoint.experiments.exploration.places import make_place
from farpoint.experiments.framework import Arrays
from farpoint.exploration import explore
from farpoint.exploration.steps import TERMINATED
from farpoint.worlds import World

# Points of the curve of coverage.
N_POINTS = 200


def _explore(
    n_jobs: int,
    world: str,
    method: str,
    probability: float,
    n_options: int,
    n_runs: int,
    n_steps: int,
    episode: int | None,
    n_layouts: int,
) -> Arrays:
    """Return, for each run, the steps until half, nine tenths and all states were seen and until a target was."""
    shared = (world, method, probability, n_options, n_steps, episode)
    runs = list(each(_one_run, shared, [(run, run % n_layouts) for run in range(n_runs)], n_jobs=n_jobs))
    found = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    return {**found, "points": np.linspace(0, n_steps, N_POINTS)}


def _one_run(shared: tuple[str, str, float, int, int, int | None], task: tuple[int, int]) -> Arrays:
    (name, method, probability, n_options, n_steps, episode), (run, layout) = shared, task
    world = make_place(name, layout)
    found = explore(
        world,
        n_steps,
        method,
        n_options=n_options,
        option_probability=probability,
        actions="uniform" if method == "none" else "least tried",
        max_episode_steps=episode,
        seed=run,
    )
    targets = _targets(world)
    ends = np.flatnonzero(found.steps.ended == TERMINATED)
    reached = (step for step in ends if found.labels[found.steps.after[step]] in targets)
    return {
        "half": np.array(found.steps_until(-(-world.n_states // 2))),
        "most": np.array(found.steps_until(int(np.ceil(0.9 * world.n_states)))),
        "all": np.array(found.steps_until(world.n_states)),
        "target": np.array(next(reached, np.inf) + 1.0),
        "share": np.searchsorted(found.coverage, np.linspace(0, n_steps, N_POINTS), side="right") / world.n_states,
        "n_states": np.array(world.n_states),
    }


def _targets(world: World) -> set[Any]:
    """Return what the explorer calls the states in which an episode ends well."""
    states = [] if world.targets is None else world.targets.tolist()
    return set(states if world.labels is None else [world.labels[state] for state in states])


KINDS: Mapping[str, Callable[..., Arrays]] = {"explore": _explore}
