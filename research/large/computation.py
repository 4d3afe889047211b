"""What is computed: scores from some of the states, learned eigenfunctions, coverage of continuous mazes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from farpoint.deep import cosine_similarities
from farpoint.diffusion import extend, find_goals, score
from farpoint.envs import option_success
from farpoint.options import GoalOptions, GoalPolicy, OptionList, Options
from farpoint.paper.store import Arrays
from farpoint.parallel import parallel_map
from farpoint.worlds import Log, World, named_world, random_maze
from research.large import coverage
from research.large.plan import LARGE_MAZE, TIMES, Results

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


def extension_accuracy(world_name: str, t: int, share: float, method: str, n_draws: int, n_jobs: int = -1) -> Arrays:
    """Return the accuracy of one extension in every draw."""
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


def neural_accuracy(
    world_name: str, share: float, n_steps: int, times: tuple[int, ...] = TIMES, seed: int = 0
) -> Arrays:
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


def eigenfunction_cosines(world_name: str, objective: str, n_steps: int, seed: int = 0) -> Arrays:
    """Return how close learned eigenfunctions come to the true ones."""
    from farpoint.deep import learn_eigenfunctions

    world = _world(world_name)
    functions = learn_eigenfunctions(world, objective=objective, n_steps=n_steps, seed=seed)
    return {"cosines": np.asarray(cosine_similarities(functions, world))}


def agents_coverage(
    method: str,
    n_steps: int,
    n_agents: int,
    n_logs: int,
    n_log_steps: int,
    n_trials: int,
    option_probability: float,
    env: str,
    n_jobs: int = -1,
) -> Arrays:
    """Return the coverage of agents, ``n_agents`` for each of several logs."""
    checkpoints = np.unique(np.geomspace(10, n_steps, 40).astype(np.int64))
    shared = (env, method, n_log_steps, n_trials, n_agents, option_probability, checkpoints)
    # Agents step environments in Python; a worker records the logs that it needs, which takes less than sending them.
    found = list(parallel_map(_one_log, shared, range(n_logs), n_jobs=n_jobs, processes=True))
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
    shared: tuple[str, str, int, int, int, float, NDArray[np.int64]], log: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what agents saw with the options of one log, how often these arrive, and their goals."""
    env, method, n_log_steps, n_trials, n_agents, option_probability, checkpoints = shared
    setting = coverage.SETTINGS[env]
    maze = setting.make(10**9)
    options: Options[Any] = OptionList([])
    success, goals = np.empty(0), np.empty((0, 2))
    if method != "none":
        recorded, world = _recorded(env, log, n_log_steps)
        assert world.observations is not None
        goals = world.observations[coverage.goals_of(world, method, setting.n_options, seed=log)]
        options = GoalOptions(GoalPolicy.from_log(recorded, radius=setting.radius, reversible=True), goals)
        limit = coverage.MAX_OPTION_STEPS
        success = option_success(maze, options, n_trials=n_trials, max_steps=limit, seed=log)
    seeds = range(log * n_agents, (log + 1) * n_agents)
    shares = [coverage.cells_seen(maze, options, option_probability, checkpoints, seed=seed) for seed in seeds]
    return np.array(shares), success, goals


# The logs of both environments.
@lru_cache(maxsize=8)
def _recorded(env: str, log: int, n_log_steps: int) -> tuple[Log, World]:
    setting = coverage.SETTINGS[env]
    recorded = coverage.record(setting, n_log_steps, seed=log)
    return recorded, coverage.sampled_world(recorded, setting, seed=log)


def extension(results: Results, world: str, t: int, share: float, method: str) -> Arrays:
    """Return the accuracy of one extension; of a large world, of one draw."""
    n_draws = 1 if world in results.scale.large_worlds else results.scale.n_draws
    return results.get(extension_accuracy, world_name=world, t=t, share=share, method=method, n_draws=n_draws)


def neural(results: Results, world: str, share: float) -> Arrays:
    """Return the accuracy of scores from eigenfunctions that were learned from some of the states."""
    return results.get(neural_accuracy, world_name=world, share=share, n_steps=results.scale.n_neural_steps)


def cosines(results: Results, world: str, objective: str) -> Arrays:
    """Return how close learned eigenfunctions come to the true ones."""
    n_steps = results.scale.n_cosine_steps
    return results.get(eigenfunction_cosines, world_name=world, objective=objective, n_steps=n_steps)


def coverage_of(results: Results, method: str, env: str) -> Arrays:
    """Return how much of a continuous maze agents visit with the options of a method."""
    scale = results.scale
    return results.get(
        agents_coverage,
        env=env,
        method=method,
        # PointMaze is small, and its ball moves farther in a step.
        n_steps=scale.n_coverage_steps if env == "maze" else scale.n_coverage_steps // 6,
        n_agents=scale.n_agents,
        n_logs=scale.n_logs,
        n_log_steps=round(coverage.SETTINGS[env].log_share * scale.n_log_steps),
        n_trials=scale.n_trials,
        option_probability=scale.option_probability,
    )
