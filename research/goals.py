"""Farpoint goals against diffusion goals at equal number: the tables of docs/methods.md.

``python -m research.goals paper`` has the paper's worlds and takes a minute; ``python -m research.goals mazes`` has
20 mazes that nothing was chosen on, a quarter of an hour on one core; ``python -m research.goals large`` has 10⁴
states, and betweenness against rustworkx.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import rustworkx

import farpoint as fp
from farpoint.options import betweenness
from farpoint.options.goal_tables import goal_steps

N_MAZES = 20
FIRST_SEED = 100
SIDE = 20
NUMBERS = (10, 20, 40)
PROBABILITIES = (0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.07, 0.1, 0.15, 0.2, 0.35, 0.5, 0.7, 0.9)


def print_row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def exact_mean(world: fp.World, options: fp.OptionSet, chance: float) -> float:
    """Exact mean steps to all states, from the tables (the tests hold them to `steps_between_states`)."""
    tables = goal_steps(world, options.goals, np.arange(world.n_states), chance, 1)
    return float(tables.mean_steps(np.arange(len(options))).mean())


def best_mean(world: fp.World, options: fp.OptionSet) -> float:
    return min(exact_mean(world, options, chance) for chance in PROBABILITIES)


def paper() -> None:
    """Exact mean steps between states, as many options as the paper has at t = 4."""
    print_row("world", "options", "diffusion, ½", "farpoint, ½", "", "diffusion, best p", "farpoint, own p", "p", "")
    for name in ("four_rooms", "maze", "ring"):
        world = fp.worlds.named_world(name)
        diffusion = fp.discover(world, t=4)
        half = fp.discover(world, "farpoint", n_options=len(diffusion), option_probability=0.5)
        own = fp.discover(world, "farpoint", n_options=len(diffusion))
        means = [
            fp.steps_between_states(world, diffusion).mean,
            fp.steps_between_states(world, half).mean,
            best_mean(world, diffusion),
            fp.steps_between_states(world, own, option_probability=own.option_probability).mean,
        ]
        print_row(
            name, len(diffusion), f"{means[0]:.1f}", f"{means[1]:.1f}", f"{100 * (means[1] / means[0] - 1):+.1f} %",
            f"{means[2]:.1f}", f"{means[3]:.1f}", f"{own.option_probability:.2f}",
            f"{100 * (means[3] / means[2] - 1):+.1f} %",
        )  # fmt: skip


def mazes() -> None:
    """Exact mean steps in mazes: diffusion with the best of 14 probabilities, farpoint options with their own."""
    print_row("maze", "states", "options", "diffusion", "farpoint", "")
    gains: dict[int, list[float]] = {number: [] for number in NUMBERS}
    for seed in range(FIRST_SEED, FIRST_SEED + N_MAZES):
        world = fp.random_maze(SIDE, SIDE, seed=seed)
        for number in NUMBERS:
            theirs = best_mean(world, fp.discover(world, n_options=number))
            options = fp.discover(world, "farpoint", n_options=number, n_jobs=1)
            ours = exact_mean(world, options, options.option_probability)
            gains[number].append(ours / theirs - 1.0)
            print_row(seed, world.n_states, number, f"{theirs:.0f}", f"{ours:.0f}", f"{100 * gains[number][-1]:+.1f} %")
    for number, shares in gains.items():
        print_row(
            "all", "", number, "", f"median {100 * np.median(shares):+.1f} %", f"worst {100 * max(shares):+.1f} %"
        )


def large() -> None:
    """10⁴ states: farpoint options, and betweenness against rustworkx; seconds of wall and of processor."""
    world = fp.random_maze(115, 115, seed=3)
    began, worked = time.perf_counter(), time.process_time()
    options = fp.discover(world, "farpoint", n_options=40)
    print_row(
        "farpoint, 40", world.n_states, f"{time.perf_counter() - began:.1f} s", f"{time.process_time() - worked:.1f} s"
    )
    for one in (fp.discover(world, n_options=40), options):
        steps = fp.steps_between_states(world, one, option_probability=one.option_probability, n_targets=100)
        print_row(one.method, f"p = {one.option_probability:.3g}", steps.mean_estimate)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(world.n_states))
    edges = world.adjacency.tocoo()
    graph.add_edges_from_no_data([(int(a), int(b)) for a, b in zip(edges.row, edges.col, strict=True) if a < b])
    betweenness(world, n_sources=2)
    times = []
    for compute in (lambda: betweenness(world), lambda: rustworkx.betweenness_centrality(graph)):
        began, worked = time.perf_counter(), time.process_time()
        compute()
        times.append((time.perf_counter() - began, time.process_time() - worked))
    for name, (wall, processor) in zip(("betweenness", "rustworkx"), times, strict=True):
        print_row(name, world.n_states, f"{wall:.1f} s", f"{processor:.1f} s")
    world = fp.random_maze(1150, 1150, seed=3)
    began = time.perf_counter()
    found = betweenness(world, n_sources=100)
    print_row(found, f"{time.perf_counter() - began:.1f} s")


def main() -> None:
    sections = {"paper": paper, "mazes": mazes, "large": large}
    for name in sys.argv[1:] or sections:
        print(f"\n{sections[name].__doc__}\n")
        sections[name]()


if __name__ == "__main__":
    main()
