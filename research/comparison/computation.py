"""What is measured with one method in one world."""

from __future__ import annotations

import time

import numpy as np

from farpoint.agents import learn
from farpoint.errors import InvalidInput
from farpoint.measures import best_option_probability, compare, decisions_between_states
from farpoint.options import OptionSet, discover
from farpoint.paper.store import Arrays
from farpoint.worlds import World
from research.comparison.plan import METHODS, N_OPTIONS, Results, make_world

# An agent that has not visited every state by then counts as this long.
_LONGEST_COVER = 300_000
_EPISODIC_STEPS = 100_000
_N_TARGETS = 5
_MAX_STEPS = 100


def measures_of(
    family: str, world_name: str, method: str, n_runs: int, n_episodes: int, n_cover_runs: int, n_jobs: int = -1
) -> Arrays:
    """Return what is measured with one method in one world."""
    world = make_world(family, world_name)
    options, _ = discovered(world, method, N_OPTIONS)
    chance = _probability(world, options, method, n_jobs)
    found = {"n_options": float(len(options)), "p": chance}
    if world.restart is not None:
        (row,) = compare(
            world, [options], n_runs=2 * n_runs, max_steps=_EPISODIC_STEPS, option_probability=chance, n_jobs=n_jobs
        ).rows
        assert row.first_target is not None
        found["target"] = row.first_target.value
    else:
        found |= _in_a_world(world, options, chance, n_runs, n_episodes, n_cover_runs, n_jobs)
    return {name: np.array(value) for name, value in found.items()}


def seconds_of(family: str, world_name: str) -> Arrays:
    """Return the seconds that every method takes to discover options in one world, one after the other in one process.

    Ratios between methods are then never of two runs on different days.
    """
    found = {}
    for method in METHODS:
        if method == "none":
            continue
        # The first time compiles, and a world caches what it computes: a new one for the time that counts.
        discovered(make_world(family, world_name), method, 2)
        _, found[method] = discovered(make_world(family, world_name), method, N_OPTIONS)
    return {method: np.array(seconds) for method, seconds in found.items()}


def discovered(world: World, method: str, most: int) -> tuple[OptionSet, float]:
    """Return at most this many options, fewer where a method has no more in a small world, and the seconds they took.

    Attempts with too many options do not count.
    """
    n_options = min(most, world.n_states // 3)
    while True:
        began = time.perf_counter()
        try:
            return discover(world, method, n_options=n_options, n_jobs=1), time.perf_counter() - began
        except InvalidInput:
            if n_options == 1:
                raise
            n_options -= 1


def _probability(world: World, options: OptionSet, method: str, n_jobs: int) -> float:
    """Return the best probability for these options: found with farpoint options, and searched for with the others.

    In environments, where episodes begin anew, all follow the same rule.
    """
    if method == "farpoint" or world.restart is not None or not len(options):
        return options.option_probability
    return best_option_probability(world, options, n_jobs=n_jobs)


def _in_a_world(
    world: World, options: OptionSet, chance: float, n_runs: int, n_episodes: int, n_cover_runs: int, n_jobs: int
) -> dict[str, float]:
    (row,) = compare(
        world, [options], n_runs=n_cover_runs, max_steps=_LONGEST_COVER, option_probability=chance, n_jobs=n_jobs
    ).rows
    assert row.steps is not None
    assert row.cover is not None
    start = 0 if world.start is None else world.start
    others = np.delete(np.arange(world.n_states), start)
    targets = np.random.default_rng(0).choice(others, size=min(_N_TARGETS, others.size), replace=False)
    learning = learn(
        world, options, start=start, targets=np.sort(targets), option_probability=chance, n_runs=n_runs,
        n_episodes=n_episodes, max_steps=_MAX_STEPS, n_jobs=n_jobs,
    )  # fmt: skip
    return {
        "steps": row.steps.mean,
        "decisions": float(decisions_between_states(world, options, n_jobs=n_jobs).mean()),
        "cover": row.cover.value,
        "learning": float(learning.run_means.mean()),
    }


def measured(results: Results, family: str, world: str, method: str, measure: str) -> float:
    """Return what was measured with one method in one world; nan where that measure is of other worlds."""
    scale = results.scale
    if measure == "seconds":
        arrays, name = results.get(seconds_of, family=family, world_name=world), method
    else:
        sizes = {"n_runs": scale.n_runs, "n_episodes": scale.n_episodes, "n_cover_runs": scale.n_cover_runs}
        arrays, name = results.get(measures_of, family=family, world_name=world, method=method, **sizes), measure
    return float(arrays[name]) if name in arrays else float("nan")
