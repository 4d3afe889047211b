"""How well the score is extended from a sample of the states, and at what cost: ``python -m research.extension``.

For each world, share of the states, method and way to choose landmarks: the mean correlation with f_t, and the share of
the true goals that have a goal of g_t within two moves, over several draws; then the time and memory at a million
states. ``--quick`` leaves out the two large worlds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.sparse import eye_array

import farpoint as fp
from research.speed import PeakMemory

SHARES = (0.05, 0.1, 0.25, 0.5)
TIMES = (4, 13)
SEEDS = 10
# A draw on ten thousand states takes seconds, and differs little from the next.
LARGE_SEEDS = 1
# Half of ten thousand states is a dense matrix of 5 000 × 5 000 for each of t and method.
LARGE_SHARES = (0.05, 0.1, 0.25)


def found_within_two(world: fp.World, true: fp.Goals, goals: fp.Goals) -> float:
    """Return the share of ``true`` that have one of ``goals`` at most two moves away."""
    near = np.zeros(world.n_states)
    near[goals.states] = 1.0
    step = world.neighbors + eye_array(world.n_states)
    return float(np.mean((step @ (step @ near))[true.states] > 0))


def quality(world: fp.World, shares: tuple[float, ...], n_seeds: int) -> None:
    true = {t: fp.score(world, t=t) for t in TIMES}
    goals = {t: fp.find_goals(world, true[t]) for t in TIMES}
    print(f"\n{world.name}, {world.n_states} states; goals {', '.join(f'{len(goals[t])} (t = {t})' for t in TIMES)}")
    print("share  method     landmarks   tau   correlation t=4, t=13   goals found t=4, t=13   goals t=4, t=13")
    # The score of a walk of no steps but for constants: what the degrees alone would say.
    degrees = 1.0 / np.asarray(world.adjacency.sum(axis=1))
    alone = fp.find_goals(world, degrees)
    print(
        f"   0%  1 / degree alone                 "
        f"{'  '.join(f'{np.corrcoef(degrees, true[t])[0, 1]:5.2f}' for t in TIMES)}           "
        f"{'  '.join(f'{found_within_two(world, goals[t], alone):5.0%}' for t in TIMES)}         {len(alone):7.1f}"
    )
    for share in shares:
        n_sample = max(2, round(share * world.n_states))
        for method in ("nystrom", "harmonics"):
            for chosen in ("farthest", "random"):
                rows = []
                for seed in range(n_seeds):
                    sample = fp.diffusion.choose_landmarks(world, n_sample, chosen, seed=seed)
                    row = []
                    for t in TIMES:
                        scores = fp.extend(world, sample, t, method=method)
                        found = fp.find_goals(world, scores)
                        row.append(
                            (
                                np.corrcoef(scores, true[t])[0, 1],
                                found_within_two(world, goals[t], found),
                                len(found),
                            )
                        )
                    rows.append(row)
                (c4, g4, n4), (c13, g13, n13) = np.mean(rows, axis=0)
                print(
                    f"{share:5.0%}  {method:9}  {chosen:9}  {scores.details['tau']:4d}          "
                    f"{c4:5.2f}  {c13:5.2f}           "
                    f"{g4:5.0%}  {g13:5.0%}         {n4:7.1f} {n13:7.1f}",
                    flush=True,
                )


def cost(side: int, n_sample: int) -> None:
    world = fp.random_maze(side, side)
    fp.extend(fp.open_room(4, 4), [0, 5])
    began = time.perf_counter()
    sample = fp.diffusion.choose_landmarks(world, n_sample)
    seconds = time.perf_counter() - began
    print(f"\n{world.n_states:,} states: {n_sample} farthest landmarks in {seconds:.1f} s", flush=True)
    with PeakMemory() as memory:
        began = time.perf_counter()
        scores = fp.extend(world, sample, t=13)
        seconds = time.perf_counter() - began
    true, details = fp.score(world, t=13), scores.details
    print(
        f"extend, t = 13: tau {details['tau']}, rank {details['rank']}, {seconds:.0f} s, "
        f"{memory.extra / 1e9:.2f} GB above "
        f"and {memory.most / 1e9:.2f} GB with the world; correlation {np.corrcoef(scores, true)[0, 1]:.2f}, error "
        f"estimate {details['error_estimate']:.4f}, true {np.sqrt(np.mean((scores - true) ** 2)):.4f}, spread of f_t "
        f"{true.std():.4f}"
    )


def main(quick: bool = False) -> None:
    for world in (fp.four_rooms(), fp.ring(), fp.maze()):
        quality(world, SHARES, SEEDS)
    if not quick:
        quality(fp.random_maze(116, 116), LARGE_SHARES, LARGE_SEEDS)
        cost(1160, 2000)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
