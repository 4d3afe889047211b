"""Farpoint goals and average goals against diffusion goals at equal number: the tables of docs/methods.md.

goals-paper: the paper's worlds. goals-mazes: 20 mazes that nothing was chosen on. Both judge by two objectives: exact
steps of an agent that explores, and decisions of an agent that plans. goals-large: 10⁴ states, and betweenness against
rustworkx; timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import farpoint as fp
from farpoint.measures import decisions_between_states
from farpoint.options import betweenness
from farpoint.options.goal_tables import goal_steps
from farpoint.options.methods.average import alternated_goals, median_costs
from farpoint.options.routes import steps_to
from research.runner import Part, Row, Table, main

N_MAZES = 20
FIRST_SEED = 100
SIDE = 20
NUMBERS = (10, 20, 40)
PROBABILITIES = (0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.07, 0.1, 0.15, 0.2, 0.35, 0.5, 0.7, 0.9)
N_LARGE_OPTIONS = 40
N_LARGE_TARGETS = 100
N_SOURCES = 100


def exact_mean(world: fp.World, options: fp.OptionSet, chance: float) -> float:
    """Exact mean steps to all states, from the tables (the tests hold them to `steps_between_states`)."""
    tables = goal_steps(world, options.goals, np.arange(world.n_states), chance, 1)
    return float(tables.mean_steps(np.arange(len(options))).mean())


def best_mean(world: fp.World, options: fp.OptionSet) -> float:
    return min(exact_mean(world, options, chance) for chance in PROBABILITIES)


def measure_paper(world: str) -> Row:
    """Return exact mean steps between states, as many options as the paper has at t = 4."""
    made = fp.worlds.named_world(world)
    diffusion = fp.discover(made, t=4)
    half = fp.discover(made, "farpoint", n_options=len(diffusion), option_probability=0.5)
    own = fp.discover(made, "farpoint", n_options=len(diffusion))
    average = fp.discover(made, "average", n_options=len(diffusion))
    fast, published = fast_average(made, len(diffusion)), star(made, len(diffusion))
    chance = fp.best_option_probability(made, published)
    return {
        "n_options": len(diffusion),
        "diffusion_half": fp.steps_between_states(made, diffusion, option_probability=0.5).mean,
        "farpoint_half": fp.steps_between_states(made, half, option_probability=0.5).mean,
        "average_half": fp.steps_between_states(made, average, option_probability=0.5).mean,
        "diffusion_best": best_mean(made, diffusion),
        "farpoint_own": fp.steps_between_states(made, own, option_probability=own.option_probability).mean,
        "average_best": best_mean(made, average),
        "fast_best": best_mean(made, fast),
        "star_best": fp.steps_between_states(made, published, option_probability=chance).mean,
        "p": own.option_probability,
        **decisions(made, none=None, diffusion=diffusion, farpoint=own, average=average, fast=fast, star=published),
    }


def decisions(world: fp.World, **sets: fp.OptionSet | None) -> Row:
    """Return the mean decisions of a planner between states with each set of options."""
    return {
        f"{name}_decisions": float(decisions_between_states(world, options, n_jobs=1).mean())
        for name, options in sets.items()
    }


def fast_average(world: fp.World, n_options: int) -> fp.OptionSet:
    """Options to the goals of Fast Average Options, before any exchange."""
    rng = np.random.default_rng(0)
    costs = median_costs(world, np.arange(world.n_states), n_options, rng, 1)
    goals, _ = min((alternated_goals(costs, n_options, rng) for _ in range(5)), key=lambda pair: pair[1])
    return fp.OptionSet(world, costs.candidates[goals])


def star(world: fp.World, n_options: int) -> fp.OptionSet:
    """Options as Average Options are published: between one of the goals and each other, from their ends only."""
    goals = fp.discover(world, "average", n_options=n_options // 2 + 1).goals
    moves = np.array([steps_to(world, int(goal))[goals] for goal in goals])
    root = goals[int(moves.sum(axis=0).argmin())]
    others = goals[goals != root]
    roots = np.full(others.size, root)
    return fp.OptionSet(world, np.concatenate([others, roots]), initiation=np.concatenate([roots, others]))


def measure_maze(seed: int, n_options: int) -> Row:
    """Return exact mean steps in a maze: farpoint with its own probability, the others with the best of 14."""
    world = fp.random_maze(SIDE, SIDE, seed=seed)
    farpoint = fp.discover(world, "farpoint", n_options=n_options, n_jobs=1)
    diffusion, average = (fp.discover(world, name, n_options=n_options, n_jobs=1) for name in ("diffusion", "average"))
    fast = fast_average(world, n_options)
    return {
        "n_states": world.n_states,
        "diffusion": best_mean(world, diffusion),
        "farpoint": exact_mean(world, farpoint, farpoint.option_probability),
        "average": best_mean(world, average),
        "fast": best_mean(world, fast),
        **decisions(world, none=None, diffusion=diffusion, farpoint=farpoint, average=average, fast=fast),
    }


def parts_of_mazes(quick: bool) -> Iterator[Part]:
    for seed in range(FIRST_SEED, FIRST_SEED + (2 if quick else N_MAZES)):
        yield from ({"seed": seed, "n_options": number} for number in NUMBERS)


def measure_large(what: str, side: int) -> Row:
    """Return seconds of wall and of processor; for options also the mean steps to a sample of targets."""
    world = fp.random_maze(side, side, seed=3)
    compute = COMPUTATIONS[what](world)
    began, worked = time.perf_counter(), time.process_time()
    found = compute()
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    row: Row = {"n_states": world.n_states, "seconds": seconds, "processor_seconds": processor}
    if isinstance(found, fp.OptionSet):
        steps = fp.steps_between_states(
            world, found, option_probability=found.option_probability, n_targets=N_LARGE_TARGETS
        ).mean_estimate
        row |= {"p": found.option_probability, **steps.columns("steps")}
    return row


def _betweenness(world: fp.World, **settings: Any) -> Callable[[], Any]:
    betweenness(world, n_sources=2)  # compiles
    return lambda: betweenness(world, **settings)


def _rustworkx(world: fp.World) -> Callable[[], Any]:
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(world.n_states))
    edges = world.adjacency.tocoo()
    graph.add_edges_from_no_data([(int(a), int(b)) for a, b in zip(edges.row, edges.col, strict=True) if a < b])
    return lambda: rustworkx.betweenness_centrality(graph)


COMPUTATIONS: dict[str, Callable[[fp.World], Callable[[], Any]]] = {
    "farpoint": lambda world: lambda: fp.discover(world, "farpoint", n_options=N_LARGE_OPTIONS),
    "diffusion": lambda world: lambda: fp.discover(world, n_options=N_LARGE_OPTIONS),
    "average": lambda world: lambda: fp.discover(world, "average", n_options=N_LARGE_OPTIONS),
    "betweenness": _betweenness,
    "rustworkx": _rustworkx,
    "betweenness, 100 sources": lambda world: _betweenness(world, n_sources=N_SOURCES),
}


def parts_of_large(quick: bool) -> Iterator[Part]:
    for what in COMPUTATIONS:
        side = 30 if quick else 1150 if what == "betweenness, 100 sources" else 115
        yield {"what": what, "side": side}


TABLES = (
    Table("goals-paper", measure_paper, lambda quick: [{"world": name} for name in ("four_rooms", "maze", "ring")]),
    Table("goals-mazes", measure_maze, parts_of_mazes),
    Table("goals-large", measure_large, parts_of_large, timed=True),
)

if __name__ == "__main__":
    main("research.goals")
