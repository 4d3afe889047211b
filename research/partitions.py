"""What a partition costs, and the arithmetic from there to a billion states: ``python -m research.partitions``."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import farpoint as fp
from farpoint.diffusion.partitions.edges import PartitionedWorld, part_path
from research.speed import PeakMemory

SIDE = 2000
STATES_PER_PARTITION = 500_000
BILLION = 1_000_000_000
CORES = 64


def halo_size(world: PartitionedWorld, partition: int, t: int) -> int:
    """Return how many states lie within t steps of a partition, outside it."""
    inside = states = front = np.arange(world.bounds[partition], world.bounds[partition + 1])
    for _ in range(t):
        front = np.setdiff1d(world.edges_of(front)[1], states)
        states = np.union1d(states, front)
    return int(states.size - inside.size)


def score_one(world: PartitionedWorld, partition: int, t: int) -> None:
    """Score one partition, after all were scored: files that are there already are not computed again."""
    part_path(world.folder, f"scores-t{t}", partition).unlink()
    fp.diffusion.score_partitions(world.folder, t, n_jobs=1)


def main() -> None:
    world = fp.random_maze(SIDE, SIDE)
    per_row = world.n_states / SIDE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        written = fp.diffusion.write_partitions(world, folder, states_per_partition=STATES_PER_PARTITION)
        writing = time.perf_counter() - began
        size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
        print(
            f"{world.n_states:,} states in {written.n_partitions} partitions: {size / world.n_states:.1f} "
            f"bytes per state, written in {writing:.1f} s"
        )
        for t in (4, 13):
            # One of the middle, which has neighbors on both sides.
            halo = halo_size(written, 2, t)
            fp.diffusion.score_partitions(written.folder, t)
            with PeakMemory() as memory:
                began = time.perf_counter()
                score_one(written, 2, t)
                seconds = time.perf_counter() - began
            print(
                f"t = {t}: halo {halo:,} states ({100 * halo / STATES_PER_PARTITION:.1f} %, "
                f"2 t rows of {per_row:.0f} are {2 * t * per_row:,.0f}), {seconds:.1f} s on one core, "
                f"{memory.extra / STATES_PER_PARTITION:.0f} bytes per state of the partition"
            )
            side = (BILLION * SIDE**2 / world.n_states) ** 0.5
            for n_partitions in (250,):
                own = BILLION / n_partitions
                rows = 2 * t * BILLION / side
                work = seconds / (STATES_PER_PARTITION + halo) * (own + rows) * n_partitions
                print(
                    f"  a billion states ({side:,.0f} × {side:,.0f} cells) in {n_partitions} partitions of {own:,.0f}: "
                    f"{BILLION * size / world.n_states / 1e9:.0f} GB of edges, halo {rows:,.0f} states "
                    f"({100 * rows / own:.1f} %), {memory.extra / STATES_PER_PARTITION * own / 1e9:.1f} GB per worker, "
                    f"{work / 3600:.1f} core hours, {work / 60 / CORES:.0f} min on {CORES} cores, "
                    f"{8 * BILLION / 1e9:.0f} GB of scores"
                )


if __name__ == "__main__":
    main()
