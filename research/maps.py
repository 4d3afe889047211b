"""From a map to its goals and routes, at any size: ``python -m research.maps``.

    python -m research.maps --states 1e3 1e4 1e5 1e6 1e7 1e8         # one process each; writes out/maps.json
    python -m research.maps --bands 1e9 --folder DIR                 # a map on disk, its scores in a file; adds it here
    python -m research.maps --baseline PATH/src --states 1e7         # the same with another version of the package
    python -m research.maps --figure docs/images/scale.png           # draws out/maps.json beside docs/scale.json

Worlds are mazes with a quarter of walls, t = 4. Every size is a process of its own, after a small world that has
everything compiled; time is by the clock, memory the most that the whole process had.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

WALL = 0.25
# Of the cells, those that the largest component of such a maze has.
SHARE = 0.7455
RESULTS = Path("out/maps.json")
GPU = Path("docs/scale.json")
_ROWS = 256


def peak_gb() -> float:
    """Most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def side_of(n_states: float) -> int:
    """The side of a square maze with so many states."""
    return int((n_states / SHARE) ** 0.5 + 0.5)


def random_floor(side: int, out: Any) -> None:
    """Fill a map row by row."""
    rng = np.random.default_rng(0)
    for first in range(0, side, _ROWS):
        last = min(first + _ROWS, side)
        out[first:last] = rng.random((last - first, side), dtype=np.float32) >= WALL


def measure(n_states: float, routes: bool) -> dict[str, Any]:
    """Time the way from an array to goals, and one route from corner to corner."""
    import farpoint as fp
    from farpoint.worlds.maps import world_from_floor

    def make(floor: Any) -> Any:
        return world_from_floor(floor, name="maze", largest_component=True)

    small = np.empty((700, 700), dtype=bool)
    random_floor(700, small)
    warm = make(small)
    fp.find_goals(warm, fp.score(warm, 4))
    fp.OptionSet(warm, np.array([warm.n_states - 1]))[0].route(0)
    side = side_of(n_states)
    floor = np.empty((side, side), dtype=bool)
    random_floor(side, floor)
    began, busy = time.perf_counter(), time.process_time()
    world = make(floor)
    size = world.n_states
    made = time.perf_counter()
    scores = fp.score(world, 4)
    scored = time.perf_counter()
    goals = fp.find_goals(world, scores)
    found = time.perf_counter()
    result = {
        "states": size,
        "goals": len(goals),
        "world_seconds": made - began,
        "score_seconds": scored - made,
        "goals_seconds": found - scored,
        "seconds": found - began,
        "processor_seconds": time.process_time() - busy,
        "peak_gb": peak_gb(),
    }
    if routes:
        began, busy = time.perf_counter(), time.process_time()
        route = fp.OptionSet(world, np.array([size - 1]))[0].route(0)
        result |= {
            "route_moves": route.size - 1,
            "route_seconds": time.perf_counter() - began,
            "route_processor_seconds": time.process_time() - busy,
            "peak_gb_with_route": peak_gb(),
        }
    return result


def measure_bands(n_states: float, folder: Path) -> dict[str, Any]:
    """Time a map on disk: scores to a file, and goals."""
    import farpoint as fp

    side = side_of(n_states)
    path = folder / f"maze-{side}.npy"
    if not path.exists():
        cells = np.empty((side, side), dtype=bool)
        random_floor(side, cells)
        floor = fp.World.from_array(cells, largest_component=True).floor
        assert floor is not None
        np.save(path, floor)
        del cells, floor
    seconds, last = {}, time.perf_counter()

    def lap(name: str) -> None:
        nonlocal last
        seconds[name] = time.perf_counter() - last
        last = time.perf_counter()
        print(f"{name}: {seconds[name]:.1f} s", flush=True)

    world = fp.World.from_array(path)
    lap("world_seconds")
    scores = fp.score(world, 4, out=folder / f"scores-{side}.npy")
    lap("score_seconds")
    goals = fp.find_goals(world, scores).states
    lap("goals_seconds")
    size = (folder / f"scores-{side}.npy").stat().st_size
    return {
        "states": world.n_states,
        "goals": int(goals.size),
        **seconds,
        "seconds": sum(seconds.values()),
        "score_gb": size / 1e9,
        "peak_gb": peak_gb(),
    }


def in_a_process(arguments: list[str], source: str | None) -> dict[str, Any]:
    """Measure in a process of its own."""
    environment = dict(os.environ) | ({"PYTHONPATH": source} if source else {})
    # As a file and not as a module: another version of the package may have no such benchmark.
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return result


def keep(kind: str, result: dict[str, Any]) -> None:
    """Add a result to the file, in place of one of the same size."""
    everything = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    others = [one for one in everything.get(kind, []) if one["states"] != result["states"]]
    everything[kind] = sorted([*others, result], key=lambda one: one["states"])
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(everything, indent=1) + "\n")


def draw(path: Path) -> None:
    """Draw time over states: what was measured here, the GPU's numbers of research.gpu, and the peers of bench."""
    from farpoint.report import save_figure
    from farpoint.report.figures import new_figure

    lines = json.loads(GPU.read_text())
    measured = json.loads(RESULTS.read_text())
    figure = new_figure(8.6, 4.4)
    axes = figure.subplots()
    looks: dict[str, Any] = {"marker": "o", "markersize": 4, "linewidth": 1.5}
    here = measured["here"]
    axes.plot([one["states"] for one in here], [one["seconds"] for one in here], label="map to goals, 2 cores", **looks)
    scores = [one["score_seconds"] for one in here]
    axes.plot([one["states"] for one in here], scores, label="scores alone, 2 cores", **looks)
    if bands := measured.get("bands"):
        points = [one["states"] for one in bands], [one["seconds"] for one in bands]
        axes.plot(*points, "s", color="C0", label="map on disk, 2 busy cores")
    for name, points in lines["lines"].items():
        axes.plot(*zip(*points, strict=True), label=name, linestyle="--" if "GPU" not in name else "-", **looks)
    axes.set(xscale="log", yscale="log", xlabel="states", ylabel="seconds, t = 4")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    save_figure(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=float, nargs="+", default=[])
    parser.add_argument("--bands", type=float)
    parser.add_argument("--folder", type=Path, default=Path("out"))
    parser.add_argument("--baseline", help="the src folder of another version, measured in turn with this one")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--one", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--no-routes", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one is not None:
        print(json.dumps(measure(chosen.one, not chosen.no_routes)))
        return
    for n_states in chosen.states:
        sources = {"here": None} | ({"baseline": chosen.baseline} if chosen.baseline else {})
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in sources}
        for _ in range(chosen.repeats):
            for name, source in sources.items():
                more = ["--no-routes"] if name == "baseline" or chosen.baseline else []
                runs[name].append(in_a_process(["--one", str(n_states), *more], source))
        for name, results in runs.items():
            best = min(results, key=lambda one: float(one["seconds"]))
            keep(name if not chosen.baseline else f"{name}, compared", best)
            print(name, {key: round(value, 3) for key, value in best.items()}, flush=True)
    if chosen.bands:
        result = measure_bands(chosen.bands, chosen.folder)
        keep("bands", result)
        print(result)
    if chosen.figure:
        draw(chosen.figure)


if __name__ == "__main__":
    main()
