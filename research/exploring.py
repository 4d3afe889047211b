"""How fast a large world is explored from scratch: ``python -m research.exploring [N_STEPS]``.

Prints, as more is seen of a maze of 160,000 cells, the steps per second of each stretch, what share of the time goes
into making options anew, and how many bytes are kept per state. The peer is the same loop without options.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import farpoint as fp
from farpoint.exploration.loops import begin_loop

_STRETCH = 250_000


def stretches(method: str, n_steps: int) -> None:
    """Explore, and print a line per stretch."""
    world = replace(fp.random_maze(400, 400, seed=0), start=0)
    loop = begin_loop(world, n_steps, 0, max_episode_steps=3_000, method=method)
    explorer = loop.explorer
    for last in range(_STRETCH, n_steps + 1, _STRETCH):
        began, first, making = time.perf_counter(), explorer.n_steps, 0.0
        while explorer.n_steps < last:
            remaking = time.perf_counter()
            loop.remake()
            making += time.perf_counter() - remaking
            loop.advance(min(last, explorer.n_steps + explorer.interval))
        seconds = time.perf_counter() - began
        kept = sum(array.nbytes for array in (*explorer.memory, explorer.routes)) / explorer.n_states
        print(
            f"{method:<10}{explorer.n_steps:>10,} steps {explorer.n_states:>8,} states "
            f"{(explorer.n_steps - first) / seconds:>10,.0f} steps/s  making options {100 * making / seconds:3.0f} % "
            f"{kept:5.0f} bytes per state",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    n_steps = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000
    # What is compiled is compiled before anything is timed.
    for method in ("diffusion", "none"):
        fp.explore(fp.maze(), 500, method, max_episode_steps=100)
    for method in ("none", "diffusion"):
        stretches(method, n_steps)


if __name__ == "__main__":
    main()
