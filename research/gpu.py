"""Scores and goals of maps on a GPU: right, and how fast.

    python -m research.gpu --write-reference out/reference.npz     # where farpoint is installed; needs no GPU
    python -m research.gpu --reference out/reference.npz           # where there is a GPU; needs numpy, scipy and cupy

Everything is compared with the processor's scores and goals, and with a brute-force walk of a few lines; then timed
with CUDA events (least of five runs), beside plain CuPy sparse products and torch convolutions where torch is there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from farpoint.diffusion import gpu
from farpoint.diffusion.gpu import cupy, goals_of_map, score_graph, score_map

REFERENCE_TIMES = (1, 2, 4, 6, 7, 9, 13, 15, 20, 30)
TOLERANT = (100, 1e-3)
# Of an H200, by its data sheet.
_MEMORY_BYTES_PER_SECOND = 4.8e12


def write_reference(path: Path) -> None:
    """Write the processor's scores and goals of a maze and of a map with open rooms."""
    import farpoint as fp

    arrays: dict[str, Any] = {}
    rng = np.random.default_rng(0)
    rooms = rng.random((150, 200)) < 0.85
    for name, world in (
        ("maze", fp.random_maze(150, 150, seed=0)),
        ("room", fp.open_room(60, 90)),
        ("rooms", fp.World.from_map("\n".join("".join(" " if x else "#" for x in row) for row in rooms),
                                    largest_component=True)),
    ):  # fmt: skip
        assert world.floor is not None
        arrays[f"{name} floor"] = world.floor
        for t in REFERENCE_TIMES:
            scores = fp.score(world, t, "local")
            arrays[f"{name} {t}"] = np.asarray(scores)
            arrays[f"{name} {t} goals"] = fp.find_goals(world, scores).states
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)


def brute_force(floor: Any, row: int, col: int, t: int) -> float:
    """‖Wᵗe_s − π‖² of one cell by t steps over the whole map."""
    padded = np.pad(floor.astype(float), 1)
    degrees = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) * floor
    p = np.zeros(floor.shape)
    p[row, col] = 1.0
    for _ in range(t):
        share = np.pad(np.divide(p, 2 * degrees, out=np.zeros_like(p), where=degrees > 0), 1)
        p = p / 2 + floor * (share[:-2, 1:-1] + share[2:, 1:-1] + share[1:-1, :-2] + share[1:-1, 2:])
    return float(((p - degrees / degrees.sum()) ** 2).sum())


def check(reference: Path) -> None:
    """Compare with the processor and with brute force; fail on the first difference."""
    arrays = np.load(reference)
    worst, n_goals = 0.0, 0
    for name in ("maze", "room", "rooms"):
        floor = arrays[f"{name} floor"]
        for t in REFERENCE_TIMES:
            scores = score_map(floor, t).get()
            difference = np.abs(scores[floor] - arrays[f"{name} {t}"]).max() / scores.max()
            worst = max(worst, difference)
            assert difference < 1e-12, (name, t, difference)
            cells, _ = goals_of_map(floor, score_map(floor, t))
            states = np.cumsum(floor.ravel())[cells.get()] - 1
            np.testing.assert_array_equal(states, arrays[f"{name} {t} goals"], err_msg=f"{name} {t}")
            n_goals += states.size
        bands = score_map(floor, 4, memory=12 * 28 * (floor.shape[1] + 8))
        np.testing.assert_array_equal(bands, score_map(floor, 4).get())
        t, tolerance = TOLERANT
        found = score_map(floor, t, tolerance=tolerance).get()
        for row, col in np.argwhere(floor)[:: floor.sum() // 20]:
            exact = brute_force(floor, row, col, t)
            assert abs(found[row, col] - exact) <= tolerance * exact, (name, row, col, found[row, col], exact)
            assert abs(score_map(floor, 5).get()[row, col] - brute_force(floor, row, col, 5)) < 1e-13
    print(f"Right: 3 maps at t = {', '.join(map(str, REFERENCE_TIMES))}: the processor's scores to {worst:.1e} of the")
    print(f"highest, the same {n_goals:,} goals; t = {TOLERANT[0]} within {TOLERANT[1]:g}; in bands the same.")


def check_graph() -> None:
    """Compare a directed graph and a symmetric one with dense powers of their walk."""
    from farpoint import World
    from farpoint.diffusion.walk import Walk

    rng = np.random.default_rng(0)
    weights = rng.random((700, 700)) * (rng.random((700, 700)) < 0.01) + np.roll(np.eye(700), 1, axis=1)
    for name, matrix in (("directed", weights), ("symmetric", weights + weights.T)):
        walk = Walk.of(World.from_graph(matrix))
        power = np.linalg.matrix_power(walk.steps().toarray(), 6)
        difference = np.abs(score_graph(walk, 6, 128) - ((power - walk.pi) ** 2).sum(axis=1)).max()
        assert difference < 1e-12, (name, difference)
    print("Right: a directed and a symmetric graph of 700 states at t = 6.")


def seconds(run: Callable[[], Any]) -> float:
    """Return the least time of five runs on the GPU."""
    xp = cupy()
    best = np.inf
    run()
    for _ in range(5):
        begin, end = xp.cuda.Event(), xp.cuda.Event()
        begin.record()
        run()
        end.record()
        end.synchronize()
        best = min(best, xp.cuda.get_elapsed_time(begin, end) / 1e3)
    return float(best)


def random_map(side: int) -> Any:
    """Return a map in which nine of ten cells are floor, made on the GPU."""
    xp = cupy()
    xp.random.seed(0)
    floor = xp.empty((side, side), dtype=bool)
    for row in range(0, side, 1000):
        floor[row : row + 1000] = xp.random.random((min(1000, side - row), side), dtype=np.float32) < 0.9
    return floor


def instructions(t: int) -> int:
    """Return how many FP64 instructions a source costs in the kernel of one thread per source."""
    updates = sum(2 * k * k + 2 * k + 1 for k in range(1, t + 1))
    # Four sums and products per update; three more per cell of the last step.
    return 5 * updates + 3 * (2 * t * t + 2 * t + 1)


def measure(sides: list[int]) -> None:
    """Time the kernels and the goals on maps of these sizes."""
    xp = cupy()
    properties = xp.cuda.runtime.getDeviceProperties(0)
    n_processors = properties["multiProcessorCount"]
    # 64 results per clock tick and multiprocessor; attribute 13 is the clock in kHz.
    fp64 = n_processors * 64 * 1e3 * xp.cuda.runtime.deviceGetAttribute(13, 0)
    print(f"{properties['name'].decode()}, {n_processors} multiprocessors")
    for side in sides:
        measure_map(random_map(side), fp64)
        xp.get_default_memory_pool().free_all_blocks()


def measure_map(floor: Any, fp64: float) -> None:
    """Time everything on one map; ``fp64`` is how many instructions the card can do in a second."""
    n_states = int(floor.sum())
    title = f"{n_states:>13,} states"
    for t in (1, 2, 3, 4, 5, 6, 7, 10, 13, 15):
        if t > gpu.LARGEST_IN_THREAD and n_states > 2e8:
            continue
        kernel, whole = _kernel_seconds(floor, t), seconds(partial(score_map, floor, t))
        share = f"{instructions(t) * n_states / kernel / fp64:.0%} of FP64, " if t <= 6 else ""
        memory = 9 * floor.size / kernel / _MEMORY_BYTES_PER_SECOND
        print(f"{title}, t = {t:>2}: kernel {1e3 * kernel:8.2f} ms ({share}{memory:.0%} of memory)", end="")
        print(f", with degrees and totals {1e3 * whole:8.2f} ms", flush=True)
    scores = score_map(floor, 4)
    took = seconds(partial(goals_of_map, floor, scores))
    print(f"{title}: {goals_of_map(floor, scores)[0].size:,} goals in {1e3 * took:.1f} ms", flush=True)
    begin = time.perf_counter()
    goals_of_map(floor, score_map(floor, 4))[0].get()
    print(f"{title}: from the map to its goals at t = 4: {time.perf_counter() - begin:.3f} s", flush=True)


def _kernel_seconds(floor: Any, t: int) -> float:
    """Return the time of the kernel alone, without degrees and totals."""
    band = (0, floor.shape[0])
    degrees = gpu.degrees_of(floor, band, t)
    totals = gpu.totals_of(floor, [band])
    original = gpu.degrees_of
    gpu.degrees_of = lambda *_: degrees
    try:
        return seconds(lambda: gpu.band_scores(floor, band, t, None, totals))
    finally:
        gpu.degrees_of = original


def rivals(side: int, t: int) -> None:
    """Time plain sparse products and convolutions on a map that they can hold."""
    xp = cupy()
    floor = random_map(side)
    ours = seconds(lambda: score_map(floor, t))
    print(f"{int(floor.sum()):,} states, t = {t}: Farpoint {1e3 * ours:.2f} ms")
    expected = score_map(floor, t)
    for name, run in (("CuPy sparse products", _sparse_products), ("torch convolutions", _torch_convolutions)):
        try:
            found = run(floor, t)()
            assert float(xp.abs(found - expected).max()) < 1e-12, name
            took = seconds(run(floor, t))
            print(f"  {name}: {1e3 * took:.1f} ms ({took / ours:,.0f} ×)", flush=True)
        except ImportError as error:
            print(f"  {name}: not here ({error})")


def _sparse_products(floor: Any, t: int) -> Callable[[], Any]:
    import cupyx.scipy.sparse as sparse

    xp = cupy()
    cells = xp.full(floor.shape, -1, dtype=np.int32)
    cells[floor] = xp.arange(int(floor.sum()), dtype=np.int32)
    pairs = []
    for one, other in ((cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])):
        both = (one >= 0) & (other >= 0)
        pairs += [(one[both], other[both]), (other[both], one[both])]
    begins, ends = (xp.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
    n = int(floor.sum())
    degrees = xp.bincount(begins, minlength=n).astype(np.float64)
    weights = 0.5 / degrees[begins]
    stays = xp.where(degrees > 0, 0.5, 1.0)
    walk = sparse.csr_matrix((weights, (begins, ends)), shape=(n, n)) + sparse.diags(stays, format="csr")
    pi = degrees / degrees.sum()

    def run() -> Any:
        power = walk
        for _ in range(t - 1):
            power = power @ walk
        squares = power.multiply(power).sum(axis=1).ravel()
        scores = squares - 2 * (power @ pi) + float((pi**2).sum())
        out = xp.zeros(floor.shape)
        out[floor] = xp.where(degrees > 0, scores, 0.0)
        return out

    return run


def _torch_convolutions(floor: Any, t: int) -> Callable[[], Any]:
    import torch
    from torch.nn import functional

    xp = cupy()
    cells = torch.as_tensor(floor, device="cuda").double()
    cross = torch.tensor([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]], device="cuda", dtype=torch.float64)[None, None]
    degrees = functional.conv2d(cells[None, None], cross, padding=1)[0, 0] * cells
    halves = torch.where(degrees > 0, 0.5 / degrees, 0.0)
    share, rest = 1.0 / degrees.sum(), (degrees**2).sum() / degrees.sum() ** 2
    side, rows = 2 * t + 1, floor.shape[0]
    at_once = max(1, 4_000_000 // floor.shape[1])

    def windows(values: Any, first: int, last: int) -> Any:
        around = functional.pad(values, (t, t, t, t))[first : last + 2 * t]
        return around.unfold(0, side, 1).unfold(1, side, 1).reshape(-1, 1, side, side)

    def run() -> Any:
        out = torch.empty_like(cells)
        for first in range(0, rows, at_once):
            last = min(first + at_once, rows)
            h, d = windows(halves, first, last), windows(degrees, first, last)
            y = torch.zeros_like(h)
            y[:, 0, t, t] = 2 * h[:, 0, t, t]
            for _ in range(t):
                y = 0.5 * y + h * functional.conv2d(y, cross, padding=1)
            p = d * y
            found = (p * p).sum((1, 2, 3)) - 2 * share * (d * p).sum((1, 2, 3)) + rest
            out[first:last] = torch.where(degrees[first:last] > 0, found.reshape(last - first, -1), 0.0)
        return xp.asarray(out)

    return run


def main() -> None:
    """Write the reference, or check and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-reference", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--sides", type=int, nargs="*", default=[3_334, 10_541, 33_376])
    asked = parser.parse_args()
    if asked.write_reference:
        write_reference(asked.write_reference)
        return
    if asked.reference:
        check(asked.reference)
        check_graph()
    rivals(1_000, 4)
    measure(asked.sides)


if __name__ == "__main__":
    main()
