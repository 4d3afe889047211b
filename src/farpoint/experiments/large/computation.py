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
from farpoint.experiments.framework import Arrays
from farpoint.experiments.large import coverage
from farpoint.experiments.large.plan import LARGE_MAZE
from farpoint.options import GraphOptions, OptionList, Options, OptionSet, direction_controller
from farpoint.worlds import World, named_world, random_maze

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
    n_training_steps: int,
    option_probability: float,
    env: str,
) -> Arrays:
    setting = coverage.SETTINGS[env]
    maze, world = setting.make(), _sampled_world(env)
    assert world.observations is not None
    checkpoints = np.unique(np.geomspace(10, n_steps, 40).astype(np.int64))
    chosen = {
        name: coverage.goals_of(world, name, setting.n_options, seed=0) for name in coverage.METHODS if name != "none"
    }
    options: Options[Any] = OptionList([])
    if method != "none" and policy == "graph":
        controller = direction_controller(maze.displacements)
        options = GraphOptions(OptionSet(world, chosen[method], method), controller, setting.radius)
    elif method != "none":
        every = world.observations[np.concatenate(list(chosen.values()))]
        options = _learned_options(world.observations[chosen[method]], every, setting.radius, n_training_steps)
    shared = (env, options, option_probability, n_steps, checkpoints)
    shares = list(each(_one_agent, shared, range(n_agents), n_jobs=n_jobs))
    arrays: Arrays = {
        "checkpoints": checkpoints,
        "shares": np.array(shares),
        "n_options": np.array(len(options)),
        "floor": maze.floor,
    }
    if method != "none":
        arrays["goals"] = world.observations[chosen[method]]
    return arrays


@lru_cache(maxsize=2)
def _sampled_world(env: str) -> World:
    setting = coverage.SETTINGS[env]
    return coverage.sampled_world(setting.make(), setting, seed=0)


def _one_agent(shared: tuple[str, Any, float, int, NDArray[np.int64]], seed: int) -> NDArray[np.float64]:
    env, options, option_probability, n_steps, checkpoints = shared
    maze = coverage.SETTINGS[env].make()
    return coverage.cells_seen(maze, options, option_probability, n_steps, checkpoints, seed=seed)


@lru_cache(maxsize=2)
def _trained(goals: bytes, n_goals: int, radius: float, n_steps: int) -> Any:
    from farpoint.deep import learn_options

    # Episodes begin anywhere: from the corner alone, training would hardly visit the far rooms.
    return learn_options(
        coverage.make_maze(anywhere=True),
        np.frombuffer(goals).reshape(n_goals, -1),
        radius=radius,
        n_steps=n_steps,
        min_success=0.0,
        max_steps=200,
        wander=20,
        seed=0,
    )


def _learned_options(
    goals: NDArray[np.float64], every: NDArray[np.float64], radius: float, n_steps: int
) -> Options[Any]:
    """Return the options to ``goals`` of one network that was trained on the goals of all methods."""
    trained = _trained(np.ascontiguousarray(every, dtype=np.float64).tobytes(), len(every), radius, n_steps)
    numbers = [int(np.linalg.norm(every - goal, axis=1).argmin()) for goal in goals]
    # An option that fails more often than it succeeds is left out, as everywhere.
    return OptionList([trained[number] for number in dict.fromkeys(numbers) if trained.success[number] >= 0.5])


KINDS: Mapping[str, Callable[..., Arrays]] = {
    "extension": _extension,
    "neural": _neural,
    "cosines": _cosines,
    "coverage": _coverage,
}
