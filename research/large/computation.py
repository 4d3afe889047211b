"""What is computed: scores from some of the states, learned eigenfunctions, coverage of continuous mazes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from farpoint.diffusion import cosine_similarities, extend, find_goals, score
from farpoint.engines import each
from farpoint.options import GraphOptions, OptionList, OptionSet
from farpoint.paper.framework import Arrays
from farpoint.worlds import SampleLog, World, named_world, random_maze
from research.large import coverage
from research.large.plan import LARGE_MAZE

NEAR_MOVES = 2


@lru_cache(maxsize=8)
def _world(name: str) -> World:
    """Return a world of the catalogue, or the maze of ten thousand states."""
    return random_maze(116, 116) if name == LARGE_MAZE else named_world(name)


def share_of_goals(world: World, true: NDArray[Any], estimated: NDArray[Any]) -> float:
    """Return the share of the goals of the true scores that have a goal of the estimated ones within two moves."""
    wanted, found = find_goals(world, true).states, find_goals(world, estimated).states
    moves = dijkstra(world.adjacency, indices=found, unweighted=True, limit=NEAR_MOVES, min_only=True)
    return float(np.isfinite(moves[wanted]).mean())


def _extension(n_jobs: int, world_name: str, t: int, share: float, method: str, n_draws: int) -> Arrays:
    world = _world(world_name)
    true = np.asarray(score(world, t))
    correlations, found = [], []
    for draw in range(n_draws):
        count = max(2, round(share * world.n_states))
        sample = np.sort(np.random.default_rng(draw).choice(world.n_states, size=count, replace=False))
        values = np.asarray(extend(world, sample, t, method=method, n_jobs=n_jobs))
        correlations.append(np.corrcoef(values, true)[0, 1])
        found.append(share_of_goals(world, true, values))
    return {"correlation": np.array(correlations), "found": np.array(found)}


def _neural(n_jobs: int, world_name: str, share: float, times: tuple[int, ...], n_steps: int, seed: int) -> Arrays:
    """Return the accuracy of scores from eigenfunctions learned from the moves that begin in some of the states."""
    from farpoint.deep import learn_eigenfunctions

    world = _world(world_name)
    seen = np.asarray(world.positions, dtype=np.float64)
    chosen = np.random.default_rng(seed).random(world.n_states) < share
    moves = world.adjacency.tocoo()
    kept = chosen[moves.row]
    functions = learn_eigenfunctions(seen[moves.row[kept]], seen[moves.col[kept]], n_steps=n_steps, seed=seed)
    correlations, found = [], []
    for t in times:
        true, values = np.asarray(score(world, t)), functions.score(seen, t)
        correlations.append(np.corrcoef(values, true)[0, 1])
        found.append(share_of_goals(world, true, values))
    return {"times": np.array(times), "correlation": np.array(correlations), "found": np.array(found)}


def _cosines(n_jobs: int, world_name: str, objective: str, n_steps: int, seed: int) -> Arrays:
    from farpoint.deep import learn_eigenfunctions

    world = _world(world_name)
    functions = learn_eigenfunctions(world, objective=objective, n_steps=n_steps, seed=seed)
    return {"cosines": np.asarray(cosine_similarities(functions, world))}


def _coverage(
    n_jobs: int,
    method: str,
    policy: str,
    n_steps: int,
    n_agents: int,
    n_logs: int,
    n_log_steps: int,
    n_updates: int,
    n_trials: int,
    option_probability: float,
    env: str,
) -> Arrays:
    """Return the coverage of agents, ``n_agents`` for each of several logs with a training of its own."""
    controllers = _controllers(env, n_logs, n_log_steps, n_updates, n_jobs) if policy == "learned" else ()
    checkpoints = np.unique(np.geomspace(10, n_steps, 40).astype(np.int64))
    shared = (env, method, n_log_steps, n_trials, n_agents, option_probability, checkpoints)
    tasks = [(log, controllers[log] if controllers else None) for log in range(n_logs)]
    # Agents step environments in Python; a worker records the logs that it needs, which takes less than sending them.
    found = list(each(_one_log, shared, tasks, n_jobs=n_jobs, processes=True))
    return {
        "checkpoints": checkpoints,
        # Logs, agents, checkpoints.
        "shares": np.array([shares for shares, _, _ in found]),
        "success": np.concatenate([success for _, success, _ in found]),
        "log_steps": np.array(0 if method == "none" else n_log_steps),
        "goals": found[0][2],
        "floor": coverage.SETTINGS[env].make(1).floor,
    }


def _one_log(
    shared: tuple[str, str, int, int, int, float, NDArray[np.int64]], task: tuple[int, Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what agents saw with the options of one log, how often these arrive, and their goals."""
    (env, method, n_log_steps, n_trials, n_agents, option_probability, checkpoints), (log, controller) = shared, task
    options, success, goals = OptionList([]), np.empty(0), np.empty((0, 2))
    if method != "none":
        learned = _learned_options(env, method, log, n_log_steps, controller, n_trials)
        success, goals = _success(learned), learned.goals
        # An option that fails more often than it succeeds, in rehearsals, is left out, as everywhere.
        options = OptionList([learned[int(number)] for number in np.flatnonzero(success >= 0.5)])
    maze = coverage.SETTINGS[env].make(10**9)
    seeds = range(log * n_agents, (log + 1) * n_agents)
    shares = [coverage.cells_seen(maze, options, option_probability, checkpoints, seed=seed) for seed in seeds]
    return np.array(shares), success, goals


# The logs of both environments.
@lru_cache(maxsize=8)
def _recorded(env: str, log: int, n_log_steps: int) -> tuple[SampleLog, World]:
    setting = coverage.SETTINGS[env]
    recorded = coverage.record(setting, n_log_steps, seed=log)
    return recorded, coverage.sampled_world(recorded, setting, seed=log)


@lru_cache(maxsize=2)
def _controllers(env: str, n_logs: int, n_log_steps: int, n_updates: int, n_jobs: int) -> tuple[Any, ...]:
    """Return a controller per log, the same for the goals of all methods: it only knows the way to places nearby."""
    logs = [_recorded(env, log, n_log_steps)[0] for log in range(n_logs)]
    return tuple(each(_one_controller, (logs, n_updates), range(n_logs), n_jobs=n_jobs))


def _one_controller(shared: tuple[list[SampleLog], int], log: int) -> Any:
    from farpoint.deep import learn_controller

    logs, n_updates = shared
    return learn_controller(logs[log], n_updates=n_updates, seed=log)


def _learned_options(env: str, method: str, log: int, n_log_steps: int, controller: Any, n_trials: int) -> GraphOptions:
    setting, (recorded, world) = coverage.SETTINGS[env], _recorded(env, log, n_log_steps)
    return GraphOptions.learn(
        recorded,
        OptionSet(world, coverage.goals_of(world, method, setting.n_options, seed=log), method),
        radius=setting.radius,
        controller=controller,
        n_trials=n_trials,
        seed=log,
    )


def _success(options: GraphOptions) -> NDArray[np.float64]:
    assert options.success is not None
    return options.success


KINDS: Mapping[str, Callable[..., Arrays]] = {
    "extension": _extension,
    "neural": _neural,
    "cosines": _cosines,
    "coverage": _coverage,
}
