"""Speed and memory of this source against another one: ``python -m research.paired ../before/src``.

Each measurement is made in a fresh process, alternately on the other source and on this one: machines are shared and
noisy, so only the ratios of measurements made one after the other are compared. Printed are the median ratio of seconds
(above 1: this source is slower), the range of the ratios, and the ratio of peak memory.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Each case prepares what is not measured, then defines `work`. Both sources must understand it.
_CELLS = """
import numpy as np, farpoint as fp
from scipy import ndimage
def floor(side):
    cells = np.random.default_rng(0).random((side, side)) > 0.25
    part, _ = ndimage.label(cells)
    return part == 1 + np.bincount(part.ravel())[1:].argmax()
"""
_SCORE = "world = fp.World.from_array(floor({side}))\nwork = lambda: fp.score(world, {t}, 'local'{tolerance})\n"
_SIDES = {"1e5": 366, "1e7": 3661}


def _cases() -> dict[str, str]:
    cases = {}
    for states, side in _SIDES.items():
        for t in (1, 4, 6, 8, 10, 13, 100):
            tolerance = ", tolerance=1e-3" if t == 100 else ""
            cases[f"score, {states} states, t = {t}"] = _CELLS + _SCORE.format(side=side, t=t, tolerance=tolerance)
        cases[f"goals, {states} states, t = 4"] = (
            _CELLS + _SCORE.format(side=side, t=4, tolerance="") + "scores = work()\n"
            "work = lambda: fp.find_goals(world, scores).states\n"
        )
        cases[f"map to goals, {states} states, t = 4"] = (
            _CELLS + f"cells = floor({side})\n"
            "def work():\n    world = fp.World.from_array(cells)\n"
            "    return fp.find_goals(world, fp.score(world, 4, 'local')).states\n"
        )
    graph = "world = fp.World.from_graph(fp.World.from_array(floor(600)).adjacency)\n"
    cases["graph, 268,578 states, t = 4"] = _CELLS + graph + "work = lambda: fp.score(world, 4, 'local')\n"
    cases["graph, 268,578 states, t = 13"] = _CELLS + graph + "work = lambda: fp.score(world, 13, 'local')\n"
    cases["graph, 268,578 states, t = 30, a thousandth"] = (
        _CELLS + graph + "work = lambda: fp.score(world, 30, 'local', tolerance=1e-3)\n"
    )
    cases["small maze, discover"] = (
        "import farpoint as fp\nwork = lambda: [fp.discover(fp.maze(), t=4) for _ in range(20)]\n"
    )
    for side, n_options in ((27, 0), (27, 10), (37, 20)):
        count = {27: 547, 37: 1_037}[side]
        cases[f"steps between {count:,} states, {n_options} options"] = (
            f"import numpy as np, farpoint as fp\nworld = fp.random_maze({side}, {side}, seed=1)\n"
            f"goals = np.random.default_rng(0).choice({count}, {n_options}, replace=False)\n"
            "settings = dict(option_probability=0.05, n_jobs=1)\n"
            "options = fp.OptionSet(world, goals) if goals.size else None\n"
            "work = lambda: fp.steps_between_states(world, options, **settings)\n"
        )
    cases["steps between 7,404 states, 20 targets, 10 options"] = (
        "import farpoint as fp\nworld = fp.random_maze(100, 100)\noptions = fp.discover(world, n_options=10)\n"
        "settings = dict(option_probability=0.05, n_targets=20, n_jobs=1)\n"
        "work = lambda: fp.steps_between_states(world, options, **settings)\n"
    )
    for algorithm in ("paper", "smdp", "intra-option"):
        cases[f"learn, maze, {algorithm}"] = (
            "import farpoint as fp\nworld = fp.maze()\noptions = fp.discover(world, t=4)\n"
            f"settings = dict(algorithm={algorithm!r}, option_probability=0.5, n_jobs=1)\n"
            "work = lambda: fp.learn(world, options, n_runs=4, **settings)\n"
        )
    # Nothing is learned with alpha = 0, so no run stops before its last step.
    cases["learn_episodes, lake, 400,000 steps"] = (
        "import gymnasium as gym, farpoint as fp\n"
        "world = fp.World.from_env(gym.make('FrozenLake-v1', map_name='8x8'))\n"
        "options = fp.discover(world, n_options=4)\n"
        "work = lambda: fp.learn_episodes(world, options, n_runs=1, n_steps=400_000, alpha=0.0, n_jobs=1,\n"
        "    option_probability=0.05)\n"
    )
    # The target is too far for a random walk to reach it.
    cases["learn_from_scratch, 200,000 steps"] = (
        "import farpoint as fp\nfrom dataclasses import replace\nworld = replace(fp.grid((2_000,)), start=0)\n"
        "work = lambda: fp.learn_from_scratch(world, 200_000, 'none', actions='uniform', targets=[1999],\n"
        "    max_episode_steps=4_000)\n"
    )
    cases["explore, 1,208 states, 200,000 steps"] = (
        "import farpoint as fp\nfrom dataclasses import replace\n"
        "world = replace(fp.random_maze(40, 40, seed=1), start=0)\n"
        "work = lambda: fp.explore(world, 200_000, max_episode_steps=300)\n"
    )
    cases["train_tabular, cliff, 30,000 steps"] = (
        "import gymnasium as gym, farpoint as fp\nenv = gym.make('CliffWalking-v1')\n"
        "env = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=4))\n"
        "work = lambda: fp.train_tabular(env, 30_000, algorithm='intra-option')\n"
    )
    cases["import farpoint"] = "def work():\n    import farpoint\n"
    return cases


_MEASURE = """
import json, resource, sys, time
{case}
warm = {warm}
if warm:
    work()
best, spent = float("inf"), 0.0
while spent < 1.0 and best > 0.0:
    began = time.perf_counter()
    work()
    took = time.perf_counter() - began
    best, spent = min(best, took), spent + took
    if not warm:
        break
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([best, peak]))
"""


def measured(source: Path, case: str, *, warm: bool = True) -> tuple[float, float]:
    """Return seconds and peak megabytes of one case on one source, in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _MEASURE.format(case=case, warm=warm)]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak


def main() -> None:
    """Print one line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the folder src of the other checkout")
    parser.add_argument("--pairs", type=int, default=5, help="measurements of each case on each source")
    parser.add_argument("--only", default="", help="only cases whose name contains this text")
    arguments = parser.parse_args()
    here, other = Path(__file__).parents[1] / "src", arguments.other.resolve()
    if not (other / "farpoint").is_dir():
        parser.error(f"other must be a folder that holds farpoint/; got {arguments.other}")
    print(f"{'case':46} {'before':>9} {'now':>9} {'ratio':>6} {'range':>13} {'memory':>7}")
    for name, case in _cases().items():
        if arguments.only not in name:
            continue
        warm = not name.startswith("import")
        if warm:
            # Kernels that have to be compiled first are kept beside the sources.
            for source in (other, here):
                measured(source, case)
        pairs = [(measured(other, case, warm=warm), measured(here, case, warm=warm)) for _ in range(arguments.pairs)]
        ratios = [now[0] / before[0] for before, now in pairs]
        memory = statistics.median(now[1] / before[1] for before, now in pairs)
        before, now = (statistics.median(pair[which][0] for pair in pairs) for which in (0, 1))
        print(
            f"{name:46} {before:8.4f}s {now:8.4f}s {statistics.median(ratios):6.2f} "
            f"{min(ratios):6.2f}–{max(ratios):<6.2f} {memory:7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
