"""The pieces of work of ``farpoint large``: scores from a part of the states, learned eigenfunctions, coverage."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from farpoint.diffusion import cosine_similarities, extend, find_goals, score
from farpoint.engines import each
from farpoint.experiments import coverage
from farpoint.experiments.parts import KINDS, Arrays
from farpoint.worlds import World, named_world, random_maze

NEAR_MOVES = 2


@lru_cache(maxsize=8)
def large_world(name: str) -> World:
    """Return a world of the catalogue, or the maze of ten thousand states."""
    return random_maze(116, 116) if name == "large_maze" else named_world(name)


def goals_found(domain: World, true: NDArray[Any], found: NDArray[Any]) -> float:
    """Return the share of the true scores' goals that have one of the found scores' goals within two moves."""
    theirs, mine = find_goals(domain, true).states, find_goals(domain, found).states
    moves = dijkstra(domain.adjacency, indices=mine, unweighted=True, limit=NEAR_MOVES, min_only=True)
    return float(np.isfinite(moves[theirs]).mean())


def _extension(n_jobs: int, world: str, t: int, share: float, method: str, draws: int) -> Arrays:
    domain = large_world(world)
    true = np.asarray(score(domain, t))
    correlations, found = [], []
    for draw in range(draws):
        count = max(2, round(share * domain.n_states))
        sample = np.sort(np.random.default_rng(draw).choice(domain.n_states, size=count, replace=False))
        values = np.asarray(extend(domain, sample, t, method=method, n_jobs=n_jobs))
        correlations.append(np.corrcoef(values, true)[0, 1])
        found.append(goals_found(domain, true, values))
    return {"correlation": np.array(correlations), "found": np.array(found)}


def _neural(n_jobs: int, world: str, share: float, times: tuple[int, ...], steps: int, seed: int) -> Arrays:
    """Learn from the moves that begin in a part of the states; score all of them by what was learned."""
    from farpoint.deep import learn_eigenfunctions

    domain = large_world(world)
    seen = np.asarray(domain.positions, dtype=np.float64)
    chosen = np.random.default_rng(seed).random(domain.n_states) < share
    moves = domain.adjacency.tocoo()
    kept = chosen[moves.row]
    functions = learn_eigenfunctions(seen[moves.row[kept]], seen[moves.col[kept]], n_steps=steps, seed=seed)
    correlations, found = [], []
    for t in times:
        true, values = np.asarray(score(domain, t)), functions.score(seen, t)
        correlations.append(np.corrcoef(values, true)[0, 1])
        found.append(goals_found(domain, true, values))
    return {"times": np.array(times), "correlation": np.array(correlations), "found": np.array(found)}


def _cosines(n_jobs: int, world: str, objective: str, steps: int, seed: int) -> Arrays:
    from farpoint.deep import learn_eigenfunctions

    domain = large_world(world)
    functions = learn_eigenfunctions(domain, objective=objective, n_steps=steps, seed=seed)
    return {"cosines": np.asarray(cosine_similarities(functions, domain))}


def _coverage(n_jobs: int, method: str, policy: str, steps: int, seeds: int, training: int, env: str) -> Arrays:
    setting = coverage.SETTINGS[env]
    maze = setting.make()
    domain = _sampled(env)
    assert domain.observations is not None
    checkpoints = np.unique(np.geomspace(10, steps, 40).astype(np.int64))
    chosen = {
        name: coverage.goals_of(domain, name, setting.n_options, seed=0) for name in coverage.METHODS if name != "none"
    }
    options: Any = []
    if method != "none" and policy == "graph":
        from farpoint.options.graph_options import GraphOptions, direction_controller

        controller = direction_controller(maze.displacements)
        options = GraphOptions(domain, domain.observations, chosen[method], controller, radius=setting.radius)
    elif method != "none":
        every = domain.observations[np.concatenate(list(chosen.values()))]
        options = _learned(domain.observations[chosen[method]], every, setting.radius, training)
    shared = (env, options, steps, checkpoints)
    shares = list(each(_one_agent, shared, range(seeds), n_jobs=n_jobs))
    arrays: Arrays = {"checkpoints": checkpoints, "shares": np.array(shares), "n_options": np.array(len(options))}
    if method != "none":
        arrays["goals"] = domain.observations[chosen[method]]
    return arrays


@lru_cache(maxsize=2)
def _sampled(env: str) -> World:
    setting = coverage.SETTINGS[env]
    return coverage.sampled_world(setting.make(), setting, seed=0)


def _one_agent(shared: tuple[str, Any, int, NDArray[np.int64]], seed: int) -> NDArray[np.float64]:
    env, options, steps, checkpoints = shared
    return coverage.cells_seen(coverage.SETTINGS[env].make(), options, steps, seed, checkpoints)


@lru_cache(maxsize=2)
def _trained(goals: bytes, n_goals: int, radius: float, steps: int) -> Any:
    from farpoint.deep import learn_options

    wanted = np.frombuffer(goals).reshape(n_goals, -1)
    # From the corner alone the far rooms would hardly be seen in training: its episodes begin anywhere.
    return learn_options(
        coverage.make_maze(anywhere=True),
        wanted,
        radius=radius,
        n_steps=steps,
        min_success=0.0,
        max_steps=200,
        wander=20,
        seed=0,
    )


def _learned(goals: NDArray[np.float64], every: NDArray[np.float64], radius: float, steps: int) -> list[Any]:
    """Return the options to some goals, of one network that was trained on those of all methods."""
    trained = _trained(np.ascontiguousarray(every, dtype=np.float64).tobytes(), len(every), radius, steps)
    numbers = [int(np.linalg.norm(every - goal, axis=1).argmin()) for goal in goals]
    # As anywhere: what fails more often than not is no option.
    return [trained[number] for number in dict.fromkeys(numbers) if trained.success[number] >= 0.5]


KINDS.update({"extension": _extension, "neural": _neural, "cosines": _cosines, "coverage": _coverage})
