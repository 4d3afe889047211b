"""Speed of learning, of random walks and of the exact table, as ratios to plain Python and NumPy in the same run.

Run ``python -m research.learning``. One trial is one run towards one target, 400 episodes.
"""

from __future__ import annotations

import random
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import farpoint as fp
from research.plain import learn_plainly, walk_plainly

RUNS, EPISODES, MAX_STEPS = 30, 400, 100
WALK_STEPS = 2_000_000


def _steps_per_second(world: fp.World, options: fp.OptionSet | None) -> float:
    fp.visitation(world, options, n_steps=2, n_runs=2, option_probability=0.5)  # compile first
    began = time.perf_counter()
    fp.visitation(world, options, n_steps=WALK_STEPS, n_runs=RUNS, option_probability=0.5)
    return WALK_STEPS * RUNS / (time.perf_counter() - began)


def main() -> None:
    console = Console(width=110)
    table = Table(title="Q-learning with diffusion options, t = 4", box=None, padding=(0, 2))
    for name in ("world", "trials", "time", "steps per second", "plain Python", "ratio", "mean steps"):
        table.add_column(name, justify="right")
    fp.learn(fp.ring(), fp.discover(fp.ring()), n_runs=1, n_episodes=1)  # compile first
    for name in ("ring", "maze", "four_rooms"):
        world = fp.worlds.named_world(name)
        options = fp.discover(world)
        assert world.targets is not None
        began = time.perf_counter()
        result = fp.learn(world, options, n_runs=RUNS, n_episodes=EPISODES, max_steps=MAX_STEPS)
        ours = time.perf_counter() - began
        n_trials = RUNS * world.targets.size
        # Steps while learning, and those of the greedy policy after each episode.
        steps = result.visits.sum() * n_trials + np.minimum(result.curves, MAX_STEPS).sum()
        began = time.perf_counter()
        _, plain_steps = learn_plainly(
            world, options, int(world.targets[0]), n_episodes=EPISODES, max_steps=MAX_STEPS, seed=0
        )
        plain = time.perf_counter() - began
        rate, plain_rate = steps / ours, plain_steps / plain
        table.add_row(
            name,
            str(n_trials),
            f"{ours:.2f} s",
            f"{rate / 1e6:.1f} M",
            f"{plain_rate / 1e3:.0f} k",
            f"{rate / plain_rate:,.0f} ×",
            f"{result.mean:.1f}",
        )
    console.print(table)

    began = time.perf_counter()
    for name in ("ring", "maze", "four_rooms"):
        world = fp.worlds.named_world(name)
        fp.steps_between_states(world, None)
        for t in (4, 13):
            for method in ("diffusion", "eigen", "cover"):
                fp.steps_between_states(world, fp.discover(world, method, t=t), option_probability=0.5)
    exact = time.perf_counter() - began
    world, rng = fp.four_rooms(), random.Random(0)
    options = fp.discover(world)
    began = time.perf_counter()
    n_walks = 300
    plain_steps = sum(
        walk_plainly(world, options, rng.randrange(world.n_states), rng.randrange(world.n_states), rng)
        for _ in range(n_walks)
    )
    plain = time.perf_counter() - began
    a_walk = plain / n_walks
    rate = _steps_per_second(world, options)
    ratio, without = rate / plain_steps * plain, _steps_per_second(world, None)
    console.print(
        f"random walks in 4Rooms with options: {rate / 1e6:.1f} M steps per second, {ratio:,.0f} × plain Python; "
        f"without: {without / 1e6:.1f} M",
        highlight=False,
    )
    # A Monte Carlo table of the same cell: 100 walks between every two states.
    sampled = 100 * world.n_states**2 * a_walk
    began = time.perf_counter()
    fp.steps_between_states(world, fp.discover(world), option_probability=0.5)
    one = time.perf_counter() - began
    console.print(f"Table 1, all worlds, t and methods, exactly: {exact:.1f} s", highlight=False)
    console.print(
        f"its 4Rooms cell, t = 4: {one:.2f} s exactly; 100 walks between every two states in plain Python would take "
        f"{sampled / 60:.0f} min, {sampled / one:,.0f} × as long",
        highlight=False,
    )


if __name__ == "__main__":
    main()
