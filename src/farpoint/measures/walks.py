"""Measures by simulation: cover time, visitation counts, and when each state is first visited.

Every walk has a random stream of its own, drawn from the seed and the walk's number, so that results do not depend on
how many workers there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import allocation_free
from farpoint.display import Plottable, Tabular
from farpoint.errors import InvalidInput, check_integer, check_memory
from farpoint.measures.statistics import Estimate, estimate
from farpoint.measures.steps import check_crossable
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world, option_table
from farpoint.options.probability import probability_text, resolve_option_probability
from farpoint.parallel import parallel_map
from farpoint.simulation.kernels import PRIMITIVE, Stream, draw_start, next_random_state, terminal
from farpoint.simulation.tables import Episodes, OptionTable, WorldTable, episodes_of, streams, world_table
from farpoint.worlds import World, WorldLike, as_world


@dataclass(frozen=True, eq=False, repr=False)
class CoverTime(Plottable, Tabular):
    """Steps until every state has been visited: the mean of the sampled walks and its 95 % bootstrap interval.

    Attributes
    ----------
    mean, low, high : float
    walks : array of int
        The steps of each walk.
    option_probability : float
        Probability that a decision is an option; 0 without options.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.cover_time(fp.grid((2,)))
    CoverTime(1.00 [1.00, 1.00] steps, 100 walks)
    >>> cover = fp.cover_time(fp.grid((4,)), None, n_runs=50)
    >>> cover.low <= cover.mean <= cover.high
    True
    """

    mean: float
    low: float
    high: float
    walks: NDArray[np.int64]
    option_probability: float = 0.0

    def __repr__(self) -> str:
        steps = Estimate(self.mean, self.low, self.high)
        return f"CoverTime({steps} steps, {self.walks.size} walks{probability_text(self.option_probability)})"

    def columns(self) -> dict[str, Any]:
        """Return one row per walk: its number and its steps."""
        return {"run": np.arange(self.walks.size), "steps": self.walks}


def cover_time(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    start: int | None = None,
    n_runs: int = 100,
    option_probability: float | None = None,
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
    option_probability : float, optional
        Probability that a decision is an option, where one can start; default: that of the options,
        `OptionSet.option_probability`.
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
    agent = random_agent(world, options, option_probability)
    walks = covering_walks(agent, first, n_runs, max_steps, seed, n_jobs)
    if (walks < 0).any():
        raise InvalidInput(
            f"max_steps must be enough to visit every state; got {max_steps}, and {(walks < 0).sum()} of {n_runs} "
            "walks did not end."
        )
    found = estimate(walks, "mean", seed=seed)
    return CoverTime(found.value, found.low, found.high, walks, agent[2])


def covering_walks(
    agent: tuple[Any, ...], start: int, n_runs: int, max_steps: int, seed: int, n_jobs: int
) -> NDArray[np.int64]:
    """Return the steps of each walk until it has visited every state; -1 where ``max_steps`` do not suffice."""
    shared = (*agent, start, max_steps)
    return np.array(
        list(parallel_map(_cover_steps, shared, streams(seed, n_runs), n_jobs=n_jobs, label="cover time")),
        dtype=np.int64,
    )


def visitation(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    start: int | None = None,
    n_steps: int = 1_000,
    n_runs: int = 100,
    option_probability: float | None = None,
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
    agent = random_agent(world, options, option_probability)
    counts = np.zeros(world.n_states)
    for of_run in parallel_map(
        _visit_counts, (*agent, first, n_steps), streams(seed, n_runs), n_jobs=n_jobs, label="visits"
    ):
        counts += of_run
    return counts / n_runs


def random_agent(world: World, options: OptionSet | None, option_probability: float | None) -> tuple[Any, ...]:
    """Return what the kernels need of an agent that acts at random."""
    chance = resolve_option_probability(option_probability, options)
    return world_table(world), option_table(world, options), chance


def check_start(world: World, start: int | None) -> int:
    """Return the state to start in: the one given, or the world's own, or the first."""
    if start is None:
        return world.start if world.start is not None else 0
    return check_integer("start", start, 0, world.n_states - 1)


def first_visits(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    option_probability: float | None = None,
    n_steps: int = 100_000,
    n_runs: int = 20,
    seed: int = 0,
    n_jobs: int = -1,
) -> NDArray[np.float64]:
    """Return the step at which an agent that acts at random first is in each state, for each run.

    In a world of an environment (`World.from_env`) episodes begin where it begins them, and end in its terminal states
    or at its time limit; elsewhere there is one episode, from the world's start (or state 0).

    Parameters
    ----------
    world, options
        As in `steps_between_states`; states need not be reachable from each other.
    option_probability : float, optional
        Probability that a decision is an option, where one can start; default: that of the options,
        `OptionSet.option_probability`.
    n_steps, n_runs : int
        Steps per run, over all its episodes; runs.
    seed, n_jobs : int

    Returns
    -------
    array, shape (n_runs, n_states)
        With inf where a state was not visited.

    Examples
    --------
    The end of a corridor, by random steps:

    >>> import farpoint as fp
    >>> visits = fp.measures.first_visits(fp.grid((10,)), n_runs=200)
    >>> visits[:, 0].max()
    np.float64(0.0)
    >>> bool(70 < visits[:, 9].mean() < 95)                     # in the mean, 9² steps
    True
    """
    world = as_world(world)
    check_same_world(world, options)
    chance = resolve_option_probability(option_probability, options)
    n_steps, n_runs = check_integer("n_steps", n_steps, 1), check_integer("n_runs", n_runs, 1)
    check_memory("n_runs", n_runs, 16 * n_runs * world.n_states)
    table = world_table(world, episodic=world.restart is not None)
    shared = (table, option_table(world, options), chance, _episodes(world, n_steps), n_steps)
    runs = parallel_map(_first_visits, shared, streams(seed, n_runs), n_jobs=n_jobs, label="first visits")
    first = np.array(list(runs), dtype=np.float64)
    first[first < 0] = np.inf
    return first


def _episodes(world: World, n_steps: int) -> Episodes:
    """Return the world's episodes, or one that begins in its start and lasts for all steps."""
    if world.restart is not None:
        return episodes_of(world, n_steps)
    return Episodes(np.array([check_start(world, None)]), np.array([np.inf]), n_steps)


# --- One walk of each kind, and its compiled loop; a walk has a random stream of its own ------------------------------


def _cover_steps(shared: tuple[Any, ...], seed: np.uint64) -> int:
    """Return the steps of one walk until it has visited every state, -1 if ``max_steps`` do not suffice."""
    world, options, option_probability, start, max_steps = shared
    seen = np.zeros(world.choice_ptr.size - 1, dtype=np.bool_)
    return _steps_until_all_seen(world, options, option_probability, start, max_steps, np.full(1, seed), seen)


def _visit_counts(shared: tuple[Any, ...], seed: np.uint64) -> NDArray[np.int64]:
    """Return how often one walk is in each state, the start not counted."""
    world, options, option_probability, start, n_steps = shared
    counts = np.zeros(world.choice_ptr.size - 1, dtype=np.int64)
    _count_visits(world, options, option_probability, start, n_steps, np.full(1, seed), counts)
    return counts


def _first_visits(shared: tuple[Any, ...], seed: np.uint64) -> NDArray[np.int64]:
    """Return the step at which one walk first is in each state, -1 where it never is."""
    world, options, option_probability, episodes, n_steps = shared
    first = np.full(world.choice_ptr.size - 1, -1, dtype=np.int64)
    _fill_first_visits(world, options, option_probability, episodes, n_steps, np.full(1, seed), first)
    return first


@allocation_free(nogil=True)
def _steps_until_all_seen(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start: int,
    max_steps: int,
    stream: Stream,
    seen: NDArray[np.bool_],
) -> int:
    seen[start] = True
    left = seen.size - 1
    state, option, steps = start, PRIMITIVE, 0
    while left > 0:
        if steps == max_steps:
            return -1
        state, option = next_random_state(world, options, state, option, option_probability, stream)
        steps += 1
        if not seen[state]:
            seen[state] = True
            left -= 1
    return steps


@allocation_free(nogil=True)
def _fill_first_visits(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    episodes: Episodes,
    n_steps: int,
    stream: Stream,
    first: NDArray[np.int64],
) -> None:
    state, option, used = draw_start(episodes.starts, episodes.start_cdf, stream), PRIMITIVE, 0
    first[state] = 0
    left = first.size - 1
    for step in range(1, n_steps + 1):
        if terminal(world, state) or used == episodes.max_steps:
            # The way back to a start is no step of the environment.
            state, option, used = draw_start(episodes.starts, episodes.start_cdf, stream), PRIMITIVE, 0
            if first[state] < 0:
                first[state] = step - 1
                left -= 1
        state, option = next_random_state(world, options, state, option, option_probability, stream)
        used += 1
        if first[state] < 0:
            first[state] = step
            left -= 1
        if left == 0:
            break


@allocation_free(nogil=True)
def _count_visits(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    start: int,
    n_steps: int,
    stream: Stream,
    counts: NDArray[np.int64],
) -> None:
    state, option = start, PRIMITIVE
    for _ in range(n_steps):
        state, option = next_random_state(world, options, state, option, option_probability, stream)
        counts[state] += 1
