"""What is computed for the paper: one function per kind of result, and numbers that tables, figures and claims share.

`Results.get` computes each of these functions once for its parameters. Those that depend on how much work a run does
have a function beside them that takes this from the scale.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.agents import LearningResult, learn
from farpoint.diffusion import difficulty, diffusion_distance, find_goals, score, spectrum, stationary
from farpoint.diffusion.geometry import distributions
from farpoint.measures import Estimate, StepsBetweenStates, estimate, steps_between_states
from farpoint.options import OptionSet, betweenness, discover
from farpoint.options.probability import PAPER_OPTION_PROBABILITY
from farpoint.options.routes import steps_to
from farpoint.paper.plan import COMPONENT_NUMBERS, COUNT_TIMES, GRID_SIDE, NEAR, PROBABILITIES, WIND, Scale
from farpoint.paper.store import Arrays
from farpoint.paper.store import Results as AnyResults
from farpoint.worlds import World, grid, named_world

Results = AnyResults[Scale]

# Two numbers that differ by less, relative to their size, are the same.
SAME = 1e-9
# The goals of this many bottleneck options, two per cut, are the states at the narrowest cuts.
_CUT_OPTIONS = 8
# Steps of a learner at the end are the mean of so many episodes.
_LAST_EPISODES = 50


def score_and_goals(world: str, t: float, wind: float = 0.0, form: str = "auto") -> Arrays:
    """Return the score of a world and its goals."""
    made = named_world(world, wind)
    scores = score(made, t, form=form)
    return {"scores": np.asarray(scores), "goals": find_goals(made, scores).states}


def stationary_distribution(world: str) -> Arrays:
    """Return the stationary distribution of a world."""
    return {"pi": stationary(named_world(world))}


def option_counts(world: str) -> Arrays:
    """Return the number of options over t."""
    made = named_world(world)
    eigen = spectrum(made)
    counts = [len(find_goals(made, score(made, t, decomposition=eigen))) for t in COUNT_TIMES]
    return {"times": np.array(COUNT_TIMES), "counts": np.array(counts)}


def truncated_scores(world: str, t: float) -> Arrays:
    """Return how many local maxima a score of k eigenvectors has, and how many of them are those of the whole score."""
    made = named_world(world)
    eigen = spectrum(made)
    whole = set(find_goals(made, score(made, t, decomposition=eigen)))
    found = [set(find_goals(made, score(made, t, decomposition=eigen.first(k)))) for k in COMPONENT_NUMBERS]
    return {
        "numbers": np.array(COMPONENT_NUMBERS),
        "counts": np.array([len(goals) for goals in found]),
        "shared": np.array([len(goals & whole) for goals in found]),
        "whole": np.array(len(whole)),
    }


def world_difficulty(world: str) -> Arrays:
    """Return the difficulty of a world."""
    return {"difficulty": np.array(difficulty(named_world(world)))}


def dumbbell_distances(n_points: int = 700, t: int = 1000, seed: int = 3) -> Arrays:
    """Return Euclidean and diffusion distance from a point in the left half of two discs joined by a bridge.

    The time is long enough to mix within each half, but not across the bridge.
    """
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


def grid_score(t: int) -> Arrays:
    """Return the score of an open grid, as a matrix, and its goals."""
    room = grid((GRID_SIDE, GRID_SIDE))
    scores = score(room, t)
    return {"scores": np.asarray(scores).reshape(GRID_SIDE, GRID_SIDE), "goals": find_goals(room, scores).states}


def proposition_errors(world: str, t: int = 4) -> Arrays:
    """Return how much the "constant" of Proposition 1 varies, and how far Proposition 2 and its bound hold.

    The constant is taken with the printed average over states and with the average weighted by π₀.
    """
    made = named_world(world)
    # By Eq. 1, so that Proposition 2 is not compared with itself.
    pi, scores = stationary(made), np.asarray(score(made, t, "spectral"))
    after = distributions(made, t, np.arange(made.n_states))
    squared = ((after[:, :, None] - after[:, None, :]) ** 2).sum(axis=0)
    omega_2 = spectrum(made, 2).omega[1]
    return {
        "printed": np.array(np.ptp(squared.mean(axis=1) - scores) / np.ptp(scores)),
        "weighted": np.array(np.ptp(squared @ pi - scores) / np.ptp(scores)),
        "second": np.array(np.abs(((after - pi[:, None]) ** 2).sum(axis=0) - scores).max()),
        "bound": np.array((scores / (omega_2 ** (2 * t) * (1 / pi - 1))).max()),
    }


def steps_to_targets(world: str, t: float, method: str, n_draws: int = 1) -> Arrays:
    """Return the mean expected steps to each state, one row per draw of random options."""
    made = named_world(world)
    sets = [discover(made, method, t=t, seed=draw) for draw in range(n_draws)]
    steps = partial(steps_between_states, made, option_probability=PAPER_OPTION_PROBABILITY)
    return {
        "per_target": np.array([steps(options).per_target for options in sets]),
        "n_options": np.array(len(sets[0])),
    }


def steps(results: Results, world: str, t: int, method: str) -> Arrays:
    """Return the steps between states with the options of a method."""
    n_draws = results.scale.n_draws if method == "random" else 1
    # Without options there is no t, so both times share one result.
    return results.get(steps_to_targets, world=world, t=4 if method == "none" else t, method=method, n_draws=n_draws)


def typical_steps(results: Results, world: str, t: int, method: str, name: str) -> float:
    """Return one statistic of the steps between states; of random options, its median over draws."""
    per_target = steps(results, world, t, method)["per_target"]
    targets = np.arange(per_target.shape[1])
    draws = [StepsBetweenStates(row[None, :], targets) for row in per_target]
    return float(np.median([getattr(draw, name) for draw in draws]))


def learning_runs(
    world: str,
    method: str,
    n_runs: int,
    n_episodes: int,
    t: float = 4,
    wind: float = 0.0,
    n_options: int | None = None,
    algorithm: str = "paper",
    counting: str = "published",
    task: str = "targets",
    n_jobs: int = -1,
) -> Arrays:
    """Return the steps of every run, target and episode while learning, and how often each state was visited."""
    made = named_world(world, wind)
    ends = _corner_task(made) if task == "corner" else {}

    def with_options(options: OptionSet, n_runs: int, seed: int) -> LearningResult:
        return learn(
            made, options, n_runs=n_runs, n_episodes=n_episodes, option_probability=PAPER_OPTION_PROBABILITY,
            algorithm=algorithm, counting=counting, seed=seed, n_jobs=n_jobs, **ends,
        )  # fmt: skip

    if method == "random":
        # Each run draws goals of its own, as many as there are diffusion options.
        count = n_options or len(discover(made, t=t))
        runs = [with_options(discover(made, "random", n_options=count, seed=run), 1, run) for run in range(n_runs)]
    else:
        runs = [with_options(discover(made, method, t=t, n_options=n_options), n_runs, 0)]
    curves = np.concatenate([run.curves for run in runs])
    return {
        # At most 101 steps, which one byte holds.
        "curves": curves.astype(np.uint8),
        "visits": np.mean([run.visits for run in runs], axis=0),
    }


def _corner_task(world: World) -> dict[str, Any]:
    """Return start and target of the supplement's comparison with random options: bottom left to top right."""
    cells = np.asarray(world.positions).tolist()
    return {"start": cells.index([11, 1]), "targets": [cells.index([1, 11])]}


def learning(results: Results, world: str, method: str, t: int = 4, **more: Any) -> Arrays:
    """Return learning by the paper's protocol; ``more`` are further parameters of `learning_runs`."""
    sizes = {"n_runs": results.scale.n_runs, "n_episodes": results.scale.n_episodes}
    return results.get(learning_runs, world=world, method=method, t=4 if method == "none" else t, **(sizes | more))


def windy_learning(results: Results, method: str) -> Arrays:
    """Return learning in 4Rooms with wind."""
    return learning(results, "four_rooms", method, wind=WIND, n_episodes=results.scale.n_windy_episodes)


def corner_learning(results: Results, method: str, wind: float) -> Arrays:
    """Return learning from the bottom left to the top right of 4Rooms; each run draws random options of its own."""
    scale = results.scale
    n_episodes = scale.n_episodes if wind == 0 else scale.n_windy_episodes
    sizes = {"n_runs": scale.n_corner_runs, "n_episodes": n_episodes}
    return learning(results, "four_rooms", method, wind=wind, task="corner", **sizes)


def run_means(learned: Arrays) -> NDArray[np.float64]:
    """Return the mean of each run over targets and episodes."""
    return np.asarray(learned["curves"].mean(axis=(1, 2), dtype=np.float64))


def final_means(learned: Arrays) -> NDArray[np.float64]:
    """Return the mean steps to the target of each run over the last episodes."""
    return np.asarray(learned["curves"][:, :, -_LAST_EPISODES:].mean(axis=(1, 2), dtype=np.float64))


def mean_steps(learned: Arrays) -> Estimate:
    """Return the mean steps to the target, with its interval over runs."""
    return estimate(run_means(learned), "mean")


def learning_curve(learned: Arrays) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean steps after each episode, and their standard deviation over targets (over runs if only one)."""
    values = learned["curves"].astype(np.float64)
    over = values[:, 0] if values.shape[1] == 1 else values.mean(axis=0)
    return values.mean(axis=(0, 1)), over.std(axis=0, ddof=1)


def field_world(name: str) -> World:
    """Return one of the paper's worlds, two rooms with a door, or a T of two corridors.

    >>> field_world("t_shape").n_states, field_world("two_rooms").n_states
    (33, 61)
    """
    if name == "two_rooms":
        rows = ["......#......"] * 2 + ["............."] + ["......#......"] * 2
    elif name == "t_shape":
        rows = ["." * 21, *("#" * 10 + "." + "#" * 10 for _ in range(12))]
    else:
        return named_world(name)
    return World.from_map("\n".join(rows), name=name)


def field_steps(world: str, method: str, n_probabilities: int, n_jobs: int = -1) -> Arrays:
    """Return mean steps between states over option probabilities, as many options as there are diffusion options.

    And for each goal, whether another one is near.
    """
    made = field_world(world)
    options = discover(made, method, t=4)
    chances = PROBABILITIES[:n_probabilities]
    if method == "farpoint":
        # Besides, the probability that was chosen with them.
        chances += (options.option_probability,)
    means = [steps_between_states(made, options, option_probability=p, n_jobs=n_jobs).mean for p in chances]
    to_others = [np.delete(steps_to(made, int(goal))[options.goals], place) for place, goal in enumerate(options.goals)]
    near = [float(moves.min(initial=np.inf) <= NEAR) for moves in to_others]
    return {"means": np.array(means), "n_options": np.array(len(options)), "near": np.array(near)}


def field(results: Results, world: str, method: str) -> Arrays:
    """Return what is measured with one of the methods of section 5 in one world."""
    return results.get(field_steps, world=world, method=method, n_probabilities=results.scale.n_probabilities)


def least_steps(results: Results, world: str, method: str) -> float:
    """Return the mean steps with the best of the probabilities."""
    return float(field(results, world, method)["means"].min())


def bottleneck_facts(world: str) -> Arrays:
    """Return how bottlenecks relate to eigenvectors and to the stationary distribution."""
    made = field_world(world)
    found = spectrum(made, 4)
    places = find_goals(made, betweenness(made)).states
    pi, graph = stationary(made), made.neighbors
    minimal = np.array(
        [pi[s] <= pi[graph.indices[graph.indptr[s] : graph.indptr[s + 1]]].min() * (1 + SAME) for s in range(pi.size)]
    )
    crossed = np.unique(discover(made, "bottleneck", n_options=_CUT_OPTIONS).goals)
    door = int(betweenness(made).argmax())
    eigen = discover(made, "eigen", n_options=4).goals[2:]
    moves = steps_to(made, door)
    return {
        "nu": 2.0 * (1.0 - found.omega),
        "central": minimal[places],
        "crossed": minimal[crossed],
        "anywhere": minimal,
        "eigen_moves": moves[eigen],
        "mean_moves": np.array(moves.mean()),
    }
