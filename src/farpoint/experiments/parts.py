"""The smallest pieces of work of an experiment: what is computed, apart from what is shown.

A part is a name and its parameters; its result is a handful of arrays. Figures and tables that need the same part
share it.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.agents import LearningResult, learn, learn_episodes
from farpoint.diffusion import difficulty, diffusion_distance, find_goals, score, spectrum, stationary
from farpoint.diffusion.geometry import walk_columns
from farpoint.measures import steps_between_states
from farpoint.options import OptionSet, discover
from farpoint.worlds import World, grid, named_world

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Part:
    """One piece of work: a kind and its parameters.

    Examples
    --------
    >>> Part.of("score", world="ring", t=4).name
    'score-ring-4-...'
    """

    kind: str
    params: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, kind: str, **params: Any) -> Part:
        """Return the part of this kind; parameters that are None are left out."""
        return cls(kind, tuple(sorted((name, value) for name, value in params.items() if value is not None)))

    @property
    def name(self) -> str:
        """A name for files: readable, and different for different parameters."""
        digest = hashlib.blake2b(json.dumps([self.kind, self.params]).encode(), digest_size=4).hexdigest()
        words = [
            str(value) for name, value in sorted(self.params, reverse=True) if name in ("world", "env", "t", "method")
        ]
        return "-".join([self.kind, *words, digest])

    def compute(self, n_jobs: int = -1) -> Arrays:
        """Do the work."""
        return KINDS[self.kind](n_jobs=n_jobs, **dict(self.params))


def _score(n_jobs: int, world: str, t: float, wind: float = 0.0, form: str = "auto") -> Arrays:
    domain = _world(world, wind)
    scores = score(domain, t, form=form)
    return {"scores": np.asarray(scores), "goals": find_goals(domain, scores).states}


def _stationary(n_jobs: int, world: str) -> Arrays:
    return {"pi": stationary(_world(world))}


def _steps(n_jobs: int, world: str, t: float, method: str, draws: int = 1) -> Arrays:
    """Mean expected steps to each state; of random options, over several draws."""
    domain = _world(world)
    sets = [discover(domain, method, t=t, seed=draw) for draw in range(draws)]
    return {
        "per_goal": np.array([steps_between_states(domain, options).per_goal for options in sets]),
        "n_options": np.array(len(sets[0])),
    }


def _learn(
    n_jobs: int,
    world: str,
    method: str,
    runs: int,
    episodes: int,
    t: float = 4,
    wind: float = 0.0,
    n_options: int | None = None,
    algorithm: str = "paper",
    counting: str = "published",
    task: str = "goals",
) -> Arrays:
    domain = _world(world, wind)
    place = _corner_task(domain) if task == "corner" else {}

    def with_options(options: OptionSet, runs: int, seed: int) -> LearningResult:
        return learn(
            domain, options, runs=runs, episodes=episodes, algorithm=algorithm, counting=counting, seed=seed,
            n_jobs=n_jobs, **place,
        )  # fmt: skip

    if method == "random":
        # A new draw of goals for each run, as many as there are diffusion options.
        count = n_options or len(discover(domain, t=t))
        results = [with_options(discover(domain, "random", n_options=count, seed=run), 1, run) for run in range(runs)]
    else:
        results = [with_options(discover(domain, method, t=t, n_options=n_options), runs, 0)]
    curves = np.concatenate([result.curves for result in results])
    return {
        # At most 101 steps: one byte holds them.
        "curves": curves.astype(np.uint8),
        "visits": np.mean([result.visits for result in results], axis=0),
    }


def _corner_task(domain: World) -> dict[str, Any]:
    """Bottom left to top right, the task of the supplement's comparison with random options."""
    cells = np.asarray(domain.positions).tolist()
    return {"start": cells.index([11, 1]), "goals": [cells.index([1, 11])]}


def _counts(n_jobs: int, world: str, times: tuple[int, ...]) -> Arrays:
    domain = _world(world)
    parts = spectrum(domain)
    counts = [len(find_goals(domain, score(domain, t, decomposition=parts))) for t in times]
    return {"times": np.array(times), "counts": np.array(counts)}


def _components(n_jobs: int, world: str, t: float, numbers: tuple[int, ...]) -> Arrays:
    """How many local maxima a score of k components has, and how many of them are those of the whole."""
    domain = _world(world)
    parts = spectrum(domain)
    whole = set(find_goals(domain, score(domain, t, decomposition=parts)))
    counts, shared = [], []
    for number in numbers:
        goals = set(find_goals(domain, score(domain, t, decomposition=parts.first(number))))
        counts.append(len(goals))
        shared.append(len(goals & whole))
    return {
        "numbers": np.array(numbers),
        "counts": np.array(counts),
        "shared": np.array(shared),
        "whole": np.array(len(whole)),
    }


def _difficulty(n_jobs: int, world: str) -> Arrays:
    return {"difficulty": np.array(difficulty(_world(world)))}


def _dumbbell(n_jobs: int, n_points: int, t: int, seed: int) -> Arrays:
    """Euclidean and diffusion distance from a point in the left half of a cloud of two discs and a bridge."""
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


def _propositions(n_jobs: int, world: str, t: int) -> Arrays:
    """The "constant" of Proposition 1, by the printed average and by the one weighted with π₀, and the bound of 2."""
    domain = _world(world)
    # By Eq. 1, so that Proposition 2 is compared with something else than itself.
    pi, scores = stationary(domain), np.asarray(score(domain, t, "spectral"))
    after = walk_columns(domain, t, np.arange(domain.n_states))
    squared = ((after[:, :, None] - after[:, None, :]) ** 2).sum(axis=0)
    omega_2 = spectrum(domain, 2).omega[1]
    return {
        "printed": np.array(np.ptp(squared.mean(axis=1) - scores) / np.ptp(scores)),
        "weighted": np.array(np.ptp(squared @ pi - scores) / np.ptp(scores)),
        "second": np.array(np.abs(((after - pi[:, None]) ** 2).sum(axis=0) - scores).max()),
        "bound": np.array((scores / (omega_2 ** (2 * t) * (1 / pi - 1))).max()),
    }


def _episodes(
    n_jobs: int, env: str, method: str, n_options: int, runs: int, steps: int, layout: int, slippery: bool | None = None
) -> Arrays:
    """Steps until the goal of an environment is reached and its way known; random options drawn anew for each run."""
    domain = _environment(env, layout, slippery)
    most = len(discover(domain, t=1))
    count = min(n_options, most)
    if method == "random":
        results = [
            learn_episodes(
                domain, discover(domain, method, n_options=count, seed=run), runs=1, steps=steps, seed=run, n_jobs=1
            )
            for run in range(runs)
        ]
    else:
        options = discover(domain, method, n_options=None if method == "none" else count)
        results = [learn_episodes(domain, options, runs=runs, steps=steps, n_jobs=n_jobs)]
    return {
        "first_goal": np.concatenate([result.first_goal for result in results]),
        "near_optimal": np.concatenate([result.near_optimal for result in results]),
        "n_states": np.array(domain.n_states),
        "n_options": np.array(0 if method == "none" else count),
    }


@lru_cache(maxsize=4)
def _environment(env: str, layout: int, slippery: bool | None) -> World:
    import gymnasium

    if env.startswith("MiniGrid"):
        import minigrid  # noqa: F401
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = gymnasium.make(env) if slippery is None else gymnasium.make(env, is_slippery=slippery)
    return World.from_env(made, seed=layout)


def _world(name: str, wind: float = 0.0) -> World:
    return named_world(name, wind)


KINDS: dict[str, Callable[..., Arrays]] = {
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
    "episodes": _episodes,
}
