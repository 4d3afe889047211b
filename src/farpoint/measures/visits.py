"""When an agent that acts at random first comes to each state, episodes included."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.engines import each
from farpoint.errors import check_integer, check_memory
from farpoint.measures.walks import check_start
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.tables import option_table
from farpoint.simulation.tables import Episodes, episodes_of, streams, usual_or, world_table
from farpoint.worlds import World, WorldLike, as_world


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
    chance = usual_or(option_probability, options)
    n_steps, n_runs = check_integer("n_steps", n_steps, 1), check_integer("n_runs", n_runs, 1)
    check_memory("n_runs", n_runs, 16 * n_runs * world.n_states)
    table = world_table(world, episodic=world.restart is not None)
    shared = (table, option_table(world, options), chance, *_episodes(world, n_steps), n_steps)
    runs = each(_one_run, shared, streams(seed, n_runs), n_jobs=n_jobs, label="first visits")
    first = np.array(list(runs), dtype=np.float64)
    first[first < 0] = np.inf
    return first


def _episodes(world: World, n_steps: int) -> Episodes:
    """Return the world's episodes, or one that begins in its start and lasts for all steps."""
    if world.restart is not None:
        return episodes_of(world, n_steps)
    return Episodes(np.where(np.arange(world.n_states) < check_start(world, None), 0.0, np.inf), n_steps)


def _one_run(shared: tuple[Any, ...], stream: np.uint64) -> NDArray[np.int64]:
    from farpoint.measures.walk_kernels import first_visits as visit

    table, options, chance, start_cdf, max_steps, n_steps = shared
    return visit(table, options, chance, start_cdf, max_steps, n_steps, stream)
