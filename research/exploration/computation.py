"""What is computed for each place: explorations, learning from scratch, and tasks that come after an exploration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.agents import learn_episodes
from farpoint.engines import each
from farpoint.exploration import Exploration, explore, learn_from_scratch
from farpoint.options import OptionSet, discover
from farpoint.paper.framework import Arrays
from farpoint.worlds import World
from research.exploration.places import make_env, make_place
from research.exploration.plan import explorer_of
from research.exploration.wrapped import learned_under_wrapper

# Points of the curve of coverage.
N_POINTS = 200
# The most steps of a task that comes later.
TASK_STEPS = 100_000


@cache
def _layouts(name: str, n_layouts: int) -> list[World]:
    """Return a world in all its layouts, made once and not by every worker."""
    return [make_place(name, layout) for layout in range(n_layouts)]


def _runs(
    n_jobs: int,
    one_run: Callable[..., Arrays],
    world: str,
    n_runs: int,
    n_layouts: int,
    first_seed: int = 0,
    **how: Any,
) -> Arrays:
    """Return what every run gives, each with its own seed, over the layouts in turn."""
    worlds = [world] * n_layouts if world.startswith("gym:") else _layouts(world, n_layouts)
    tasks = [(first_seed + run, run % n_layouts) for run in range(n_runs)]
    # What is stepped in Python gains nothing from threads.
    in_python = world.startswith("gym:") or one_run is learned_under_wrapper
    runs = list(each(_numbered_run, (one_run, worlds, how), tasks, n_jobs=n_jobs, processes=in_python))
    return {name: np.array([run[name] for run in runs]) for name in runs[0]}


def _numbered_run(shared: tuple[Callable[..., Arrays], list[Any], dict[str, Any]], task: tuple[int, int]) -> Arrays:
    (one_run, worlds, how), (run, layout) = shared, task
    return one_run(worlds[layout], layout=layout, seed=run, **how)


def _explore(n_jobs: int, n_steps: int, **settings: Any) -> Arrays:
    """Return, for each run, the steps until half, nine tenths and all states were seen and until a target was."""
    found = _runs(n_jobs, _explored, n_steps=n_steps, **settings)
    return {**found, "points": np.linspace(0, n_steps, N_POINTS)}


def _explored(
    world: World,
    *,
    layout: int,
    method: str,
    probability: float,
    n_options: int,
    n_steps: int,
    episode: int,
    seed: int,
    **how: Any,
) -> Arrays:
    found = explore(
        world,
        n_steps,
        n_options=n_options,
        option_probability=probability,
        max_episode_steps=episode,
        seed=seed,
        **{**explorer_of(method), **how},
    )
    return {
        "half": np.array(found.steps_until(-(-world.n_states // 2))),
        "most": np.array(found.steps_until(int(np.ceil(0.9 * world.n_states)))),
        "all": np.array(found.steps_until(world.n_states)),
        "target": np.array(_first_target(world, found)),
        "share": np.searchsorted(found.coverage, np.linspace(0, n_steps, N_POINTS), side="right") / world.n_states,
        "n_states": np.array(world.n_states),
    }


def _first_target(world: World, found: Exploration) -> float:
    """Return after how many steps a target of the world was first seen."""
    names = world.labels or range(world.n_states)
    targets = {names[state] for state in ([] if world.targets is None else world.targets.tolist())}
    # States are numbered in the order in which they were seen.
    seen = [found.coverage[number] for number, name in enumerate(found.labels) if name in targets]
    return float(min(seen, default=np.inf))


def _learned(
    world: World | str,
    *,
    layout: int,
    method: str,
    probability: float,
    n_options: int,
    n_steps: int,
    episode: int | None = None,
    seed: int,
) -> Arrays:
    """Return the steps until the first reward and until the best decisions were near-optimal."""
    how: dict[str, Any] = {"max_episode_steps": episode} if isinstance(world, World) else {"layout": layout}
    env = world if isinstance(world, World) else make_env(world.removeprefix("gym:"))
    learned = learn_from_scratch(
        env, n_steps, option_probability=probability, n_options=n_options, seed=seed, **explorer_of(method), **how
    )
    return {
        "first_target": np.array(learned.first_reward),
        "near_optimal": np.array(learned.near_optimal),
        "n_seen": np.array(learned.exploration.n_states),
        "n_states": np.array(world.n_states if isinstance(world, World) else np.nan),
        "n_steps": np.array(n_steps),
    }


def _later(
    world: World, *, layout: int, method: str, probability: float, n_tasks: int, n_steps: int, episode: int, seed: int
) -> Arrays:
    """Return the steps of all tasks together that come after one exploration, with the options of one method.

    Diffusion and novelty explore by their own goals, the others are given what diffusion has seen; all then have as
    many options as `Exploration.options`. The tasks are the same for all of them: random targets, learned in the world
    as it was seen.
    """
    explorer = method if method in ("diffusion", "novelty") else "diffusion"
    found = explore(world, n_steps, explorer, max_episode_steps=episode, seed=seed)
    options = _options_of(found, method, seed)
    targets = np.random.default_rng(seed).choice(world.n_states, size=n_tasks, replace=False)
    first, near = (np.full(n_tasks, float(TASK_STEPS)) for _ in range(2))
    for task, target in enumerate(targets.tolist()):
        # A target that was not seen, or in which every episode begins, counts with all steps for every method.
        known = [state for state, name in enumerate(found.world.labels or ()) if name == target]
        if known and target != world.start:
            result = learn_episodes(
                found.world, options, targets=known, n_steps=TASK_STEPS, n_runs=1, seed=seed + task,
                option_probability=probability, n_jobs=1,
            )  # fmt: skip
            first[task] = min(result.first_target[0], TASK_STEPS)
            near[task] = min(result.near_optimal[0], TASK_STEPS)
    return {
        "first_target": first.sum(),
        "near_optimal": near.sum(),
        "n_options": np.array(len(options)),
        "n_seen": np.array(found.world.n_states),
    }


def _options_of(found: Exploration, method: str, seed: int) -> OptionSet:
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


KINDS: Mapping[str, Callable[..., Arrays]] = {
    "explore": _explore,
    "learn": partial(_runs, one_run=_learned),
    "wrap": partial(_runs, one_run=learned_under_wrapper),
    "later": partial(_runs, one_run=_later),
}
