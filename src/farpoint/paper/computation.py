"""What is computed for the paper: one function per kind of part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from farpoint.agents import LearningResult, learn
from farpoint.diffusion import difficulty, diffusion_distance, find_goals, score, spectrum, stationary
from farpoint.diffusion.geometry import distributions
from farpoint.measures import steps_between_states
from farpoint.options import OptionSet, discover
from farpoint.paper.framework import Arrays
from farpoint.worlds import World, grid, named_world


def _score(n_jobs: int, world_name: str, t: float, wind: float = 0.0, form: str = "auto") -> Arrays:
    world = named_world(world_name, wind)
    scores = score(world, t, form=form)
    return {"scores": np.asarray(scores), "goals": find_goals(world, scores).states}


def _stationary(n_jobs: int, world_name: str) -> Arrays:
    return {"pi": stationary(named_world(world_name))}


def _steps(n_jobs: int, world_name: str, t: float, method: str, n_draws: int = 1) -> Arrays:
    """Return the mean expected steps to each state, one row per draw of random options."""
    world = named_world(world_name)
    sets = [discover(world, method, t=t, seed=draw) for draw in range(n_draws)]
    return {
        "per_target": np.array([steps_between_states(world, options).per_target for options in sets]),
        "n_options": np.array(len(sets[0])),
    }


def _learn(
    n_jobs: int,
    world_name: str,
    method: str,
    n_runs: int,
    n_episodes: int,
    t: float = 4,
    wind: float = 0.0,
    n_options: int | None = None,
    algorithm: str = "paper",
    counting: str = "published",
    task: str = "targets",
) -> Arrays:
    world = named_world(world_name, wind)
    ends = _corner_task(world) if task == "corner" else {}

    def with_options(options: OptionSet, n_runs: int, seed: int) -> LearningResult:
        return learn(
            world, options, n_runs=n_runs, n_episodes=n_episodes, algorithm=algorithm, counting=counting, seed=seed,
            n_jobs=n_jobs, **ends,
        )  # fmt: skip

    if method == "random":
        # Each run draws goals of its own, as many as there are diffusion options.
        count = n_options or len(discover(world, t=t))
        results = [with_options(discover(world, "random", n_options=count, seed=run), 1, run) for run in range(n_runs)]
    else:
        results = [with_options(discover(world, method, t=t, n_options=n_options), n_runs, 0)]
    curves = np.concatenate([result.curves for result in results])
    return {
        # At most 101 steps, which one byte holds.
        "curves": curves.astype(np.uint8),
        "visits": np.mean([result.visits for result in results], axis=0),
    }


def _corner_task(world: World) -> dict[str, Any]:
    """Return start and target of the supplement's comparison with random options: bottom left to top right."""
    cells = np.asarray(world.positions).tolist()
    return {"start": cells.index([11, 1]), "targets": [cells.index([1, 11])]}


def _counts(n_jobs: int, world_name: str, times: tuple[int, ...]) -> Arrays:
    world = named_world(world_name)
    eigen = spectrum(world)
    counts = [len(find_goals(world, score(world, t, decomposition=eigen))) for t in times]
    return {"times": np.array(times), "counts": np.array(counts)}


def _components(n_jobs: int, world_name: str, t: float, numbers: tuple[int, ...]) -> Arrays:
    """Return how many local maxima a score of k eigenvectors has, and how many of them are those of the whole score."""
    world = named_world(world_name)
    eigen = spectrum(world)
    whole = set(find_goals(world, score(world, t, decomposition=eigen)))
    counts, shared = [], []
    for number in numbers:
        goals = set(find_goals(world, score(world, t, decomposition=eigen.first(number))))
        counts.append(len(goals))
        shared.append(len(goals & whole))
    return {
        "numbers": np.array(numbers),
        "counts": np.array(counts),
        "shared": np.array(shared),
        "whole": np.array(len(whole)),
    }


def _difficulty(n_jobs: int, world_name: str) -> Arrays:
    return {"difficulty": np.array(difficulty(named_world(world_name)))}


def _dumbbell(n_jobs: int, n_points: int, t: int, seed: int) -> Arrays:
    """Return Euclidean and diffusion distance from a point in the left half of two discs joined by a bridge."""
    rng = np.random.default_rng(seed)
    points = rng.uniform([-2.2, -1.0], [2.2, 1.0], size=(20 * n_points, 2))
    x, y = points.T
    inside = ((np.abs(x) - 1.2) ** 2 + y**2 < 1.0) | ((np.abs(x) < 0.5) & (np.abs(y) < 0.12))
    points = points[inside][:n_points]
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    weights = np.exp(-((apart / 0.12) ** 2)) * (apart < 0.3)
    np.fill_diagonal(weights, 0.0)
    cloud = World.from_graph(weights)
    reference = int(np.argmin(np.linalg.norm(points - [-1.6, 0.0], axis=1)))
    return {
        "points": points,
        "reference": np.array(reference),
        "euclidean": apart[reference],
        "diffusion": diffusion_distance(cloud, reference, t),
    }


def _grid(n_jobs: int, side: int, t: int) -> Arrays:
    room = grid((side, side))
    scores = score(room, t)
    return {"scores": np.asarray(scores).reshape(side, side), "goals": find_goals(room, scores).states}


def _propositions(n_jobs: int, world_name: str, t: int) -> Arrays:
    """Return how much the "constant" of Proposition 1 varies, and how far Proposition 2 and its bound hold.

    The constant is taken with the printed average over states and with the average weighted by π₀.
    """
    world = named_world(world_name)
    # By Eq. 1, so that Proposition 2 is not compared with itself.
    pi, scores = stationary(world), np.asarray(score(world, t, "spectral"))
    after = distributions(world, t, np.arange(world.n_states))
    squared = ((after[:, :, None] - after[:, None, :]) ** 2).sum(axis=0)
    omega_2 = spectrum(world, 2).omega[1]
    return {
        "printed": np.array(np.ptp(squared.mean(axis=1) - scores) / np.ptp(scores)),
        "weighted": np.array(np.ptp(squared @ pi - scores) / np.ptp(scores)),
        "second": np.array(np.abs(((after - pi[:, None]) ** 2).sum(axis=0) - scores).max()),
        "bound": np.array((scores / (omega_2 ** (2 * t) * (1 / pi - 1))).max()),
    }


KINDS: Mapping[str, Callable[..., Arrays]] = {
    "score": _score,
    "stationary": _stationary,
    "steps": _steps,
    "learn": _learn,
    "counts": _counts,
    "components": _components,
    "difficulty": _difficulty,
    "dumbbell": _dumbbell,
    "grid": _grid,
    "propositions": _propositions,
}
