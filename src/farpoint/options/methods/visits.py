"""Options to frequently visited states (Stolle and Precup, 2002)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.request import DiscoveryRequest, check_memory, goal_states
from farpoint.options.option import Option
from farpoint.options.option_set import OptionSet
from farpoint.options.routes import steps_to
from farpoint.worlds import World

# Tasks to solve; each is a random state to start from and one to come to.
_TASKS = 500
# Routes to one goal share their search.
_STARTS_PER_GOAL = 10


def visits_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return options to the states that the best routes of random tasks visit most often.

    After each choice the routes that pass the chosen state are put aside. An option starts in the states that precede
    its goal on those routes more often than the average one does, and, so that the set has no holes, wherever the goal
    is no farther away than from the farthest of those; it ends in its goal.

    Paper: tasks are learned by Q-learning. Here: solved exactly, so that the routes are the shortest.
    """
    n_options = count_options(world, request)
    check_memory(world, n_options, (n_options + 7) // 8)
    allowed = ~world.terminal
    routes = random_routes(world, _TASKS, seed=request.seed)
    ever = _counts(routes, world.n_states)
    remaining = routes
    goals: list[int] = []
    regions = np.empty((n_options, world.n_states), dtype=bool)
    while len(goals) < n_options:
        counts = np.where(allowed, _counts(remaining, world.n_states), -1)
        counts[goals] = -1
        if counts.max() <= 0:
            # Every route passes a goal by now: the states that were visited most of all, then any others.
            counts = np.where(allowed, ever, -1)
            counts[goals] = -1
        goal = int(counts.argmax())
        regions[len(goals)] = _region(routes, goal, steps_to(world, goal))
        goals.append(goal)
        remaining = [route for route in remaining if goal not in route]
    record = {"seed": request.seed, "visits": ever[goals]}
    return OptionSet(world, np.array(goals), "visits", record, regions=regions)


def random_routes(world: World, n_routes: int, *, seed: int = 0) -> list[NDArray[np.int64]]:
    """Return the states on best routes between random states, without the first and the last.

    Examples
    --------
    >>> import farpoint as fp
    >>> routes = random_routes(fp.grid((9,)), 20)
    >>> len(routes) <= 20, max(route.size for route in routes) <= 7
    (True, True)
    """
    rng = np.random.default_rng(seed)
    routes = []
    for _ in range(-(-n_routes // _STARTS_PER_GOAL)):
        goal = int(rng.choice(goal_states(world)))
        option = Option(world, steps_to(world, goal), goal)
        starts = np.flatnonzero(option.initiation & (np.arange(world.n_states) != goal))
        for start in rng.choice(starts, size=min(_STARTS_PER_GOAL, starts.size), replace=False):
            route = option.route(int(start), seed=int(rng.integers(2**31)))[1:-1]
            routes.append(np.unique(route))
    return routes


def _counts(routes: list[NDArray[np.int64]], n_states: int) -> NDArray[np.int64]:
    """Return how many of the routes visit each state."""
    return np.bincount(np.concatenate([*routes, np.empty(0, dtype=np.int64)]), minlength=n_states)


def _region(routes: list[NDArray[np.int64]], goal: int, moves: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the initiation set of an option."""
    through = [route for route in routes if goal in route]
    reached = np.isfinite(moves)
    if not through:
        return reached
    counts = _counts(through, moves.size)
    counts[goal] = 0
    often = (counts > 0) & reached & (counts >= counts[counts > 0].mean() if (counts > 0).any() else False)
    if not often.any():
        return reached
    return np.asarray(reached & (moves <= moves[often].max()))
