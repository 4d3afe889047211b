"""Measures by simulation: the same steps between states, cover time, visitation counts.

Every walk has a random stream of its own, drawn from the seed and the walk's number, so that results do not depend on
how many workers there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.display import Drawn, Framed
from farpoint.engines import each
from farpoint.errors import InvalidInput, check_integer, check_memory
from farpoint.measures.statistics import estimate
from farpoint.measures.steps import check_crossable, check_targets
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.probability import PAPER_OPTION_PROBABILITY
from farpoint.options.tables import option_table
from farpoint.simulation.tables import check_option_probability, streams, world_table
from farpoint.worlds import World, WorldLike, as_world


@dataclass(frozen=True, eq=False)
class SampledSteps(Framed):
    """Steps to each target by simulation: the mean over starts, and its standard error over runs.

    Examples
    --------
    >>> import farpoint as fp
    >>> sampled = fp.measures.sample_steps_between_states(fp.grid((4,)), None, n_runs=50, seed=1)
    >>> sampled.per_target.shape, sampled.standard_error.shape
    ((4,), (4,))
    """

    per_target: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    targets: NDArray[np.int64]

    def columns(self) -> dict[str, Any]:
        """Return one row per target: the mean steps to it, and their standard error."""
        return {"target": self.targets, "steps": self.per_target, "standard_error": self.standard_error}


def sample_steps_between_states(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    targets: ArrayLike | None = None,
    n_runs: int = 30,
    option_probability: float = PAPER_OPTION_PROBABILITY,
    seed: int = 0,
    max_steps: int = 100_000_000,
    n_jobs: int = -1,
) -> SampledSteps:
    """Return the quantity of `steps_between_states` by simulation, ``n_runs`` walks from every state to each target.

    A walk that has not arrived after ``max_steps`` is an error: options can make a state nearly unreachable.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.grid((5,))
    >>> exact = fp.steps_between_states(world, None)
    >>> sampled = fp.measures.sample_steps_between_states(world, None, n_runs=400, seed=2)
    >>> bool((abs(sampled.per_target - exact.per_target) < 4 * sampled.standard_error).all())
    True
    """
    world = as_world(world)
    check_crossable(world)
    check_same_world(world, options)
    n_runs = check_integer("n_runs", n_runs, 2)
    chosen = check_targets(world, targets)
    max_steps = check_integer("max_steps", max_steps, 1)
    check_memory("n_runs", n_runs, 8 * n_runs * chosen.size)
    agent = _random_agent(world, options, option_probability)
    tasks = list(zip(chosen.tolist(), streams(seed, chosen.size), strict=True))
    walks = each(_sampled_steps, (*agent, n_runs, max_steps), tasks, n_jobs=n_jobs, label="walks")
    samples = np.array(list(walks))
    if np.isnan(samples).any():
        raise InvalidInput(
            f"max_steps must be enough to reach every target; got {max_steps}, and some walk did not end."
        )
    return SampledSteps(samples.mean(axis=1), samples.std(axis=1, ddof=1) / np.sqrt(n_runs), chosen)


@dataclass(frozen=True, eq=False)
class CoverTime(Drawn, Framed):
    """Steps until every state has been visited: the mean of the sampled walks and its 95 % bootstrap interval.

    Examples
    --------
    >>> import farpoint as fp
    >>> cover = fp.cover_time(fp.grid((4,)), None, n_runs=50)
    >>> cover.low <= cover.mean <= cover.high
    True
    """

    mean: float
    low: float
    high: float
    walks: NDArray[np.int64]

    def columns(self) -> dict[str, Any]:
        """Return one row per walk: its number and its steps."""
        return {"run": np.arange(self.walks.size), "steps": self.walks}


def cover_time(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    start: int | None = None,
    n_runs: int = 100,
    option_probability: float = PAPER_OPTION_PROBABILITY,
    seed: int = 0,
    max_steps: int = 10_000_000,
    n_jobs: int = -1,
) -> CoverTime:
    """Return the expected number of steps in which an agent that acts at random visits every state.

    Parameters
    ----------
    world, options
        As in `steps_between_states`.
    start : int, optional
        Default: the world's start, or state 0.
    n_runs, seed : int
        Number of sampled walks, and their seed.
    option_probability : float
        Probability that a decision is an option, where one can start.
    max_steps : int
        A walk that needs more is an error: options can make a state nearly unreachable.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> alone, helped = fp.cover_time(world), fp.cover_time(world, fp.discover(world))
    >>> helped.high < alone.low
    True
    """
    world = as_world(world)
    check_crossable(world)
    check_same_world(world, options)
    n_runs = check_integer("n_runs", n_runs, 2)
    first = check_start(world, start)
    max_steps = check_integer("max_steps", max_steps, 1)
    agent = _random_agent(world, options, option_probability)
    every = each(_cover_steps, (*agent, first, max_steps), streams(seed, n_runs), n_jobs=n_jobs, label="cover time")
    walks = np.array(list(every))
    if (walks < 0).any():
        raise InvalidInput(
            f"max_steps must be enough to visit every state; got {max_steps}, and {(walks < 0).sum()} of {n_runs} "
            "walks did not end."
        )
    found = estimate(walks, "mean", seed=seed)
    return CoverTime(found.value, found.low, found.high, walks)


def visitation(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    start: int | None = None,
    n_steps: int = 1_000,
    n_runs: int = 100,
    option_probability: float = PAPER_OPTION_PROBABILITY,
    seed: int = 0,
    n_jobs: int = -1,
) -> NDArray[np.float64]:
    """Return how often an agent that acts at random visits each state in ``n_steps`` steps, averaged over runs.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.visitation(fp.grid((5,)), None, start=0, n_steps=40, n_runs=10).sum() == 40
    np.True_
    """
    world = as_world(world)
    check_same_world(world, options)
    first = check_start(world, start)
    n_steps, n_runs = check_integer("n_steps", n_steps, 1), check_integer("n_runs", n_runs, 1)
    agent = _random_agent(world, options, option_probability)
    counts = np.zeros(world.n_states)
    for of_run in each(_visit_counts, (*agent, first, n_steps), streams(seed, n_runs), n_jobs=n_jobs, label="visits"):
        counts += of_run
    return counts / n_runs


def _sampled_steps(shared: tuple[Any, ...], task: tuple[int, np.uint64]) -> NDArray[np.float64]:
    from farpoint.measures.walk_kernels import sampled_steps

    world, table, option_probability, n_runs, max_steps = shared
    target, stream = task
    return sampled_steps(world, table, option_probability, target, n_runs, max_steps, stream)


def _cover_steps(shared: tuple[Any, ...], stream: np.uint64) -> int:
    from farpoint.measures.walk_kernels import cover_steps

    world, table, option_probability, first, max_steps = shared
    return cover_steps(world, table, option_probability, first, max_steps, stream)


def _visit_counts(shared: tuple[Any, ...], stream: np.uint64) -> NDArray[np.int64]:
    from farpoint.measures.walk_kernels import visit_counts

    world, table, option_probability, first, n_steps = shared
    return visit_counts(world, table, option_probability, first, n_steps, stream)


def _random_agent(world: World, options: OptionSet | None, option_probability: float) -> tuple[Any, ...]:
    """Return what the kernels need of an agent that acts at random."""
    chance = check_option_probability(option_probability)
    return world_table(world), option_table(world, options), chance


def check_start(world: World, start: int | None) -> int:
    """Return the state to start in: the one given, or the world's own, or the first."""
    if start is None:
        return world.start if world.start is not None else 0
    return check_integer("start", start, 0, world.n_states - 1)
