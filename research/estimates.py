"""How near the Studio's estimates of a score are, and how much sooner they come.

``python -m research.estimates`` prints, for maps of about ten thousand states and several t, the mean and the largest
relative error of an estimate and the share of goals that are those of the score (goals of either that are of both);
then, on a million states, the time of an estimate as a ratio of that of the score to a thousandth, in the same run.
"""

from __future__ import annotations

import time

import numpy as np

import farpoint as fp
from farpoint.diffusion.scores.returns import ReturnScores

_TIMES = [20, 60, 200, 600, 1000]
# The estimates of a page are compared with it: see studio/scoring.py.
_SAME = 1e-4
_ROOMS = ["." * 41 + "#" + "." * 41] * 20 + ["." * 83] + ["." * 41 + "#" + "." * 41] * 20
_WORLDS = {
    "maze, 10 % walls": fp.random_maze(110, 110, 0.10, seed=2),
    "maze, 25 % walls": fp.random_maze(110, 110, 0.25, seed=1),
    "maze, 35 % walls": fp.random_maze(110, 110, 0.35, seed=2),
    "open room": fp.open_room(90, 90),
    "three rooms": fp.World.from_map("\n".join([*_ROOMS, "#" * 20 + "." + "#" * 62, *["." * 83] * 40])),
}


def main() -> None:
    for name, world in _WORLDS.items():
        assert world.floor is not None
        estimates = [ReturnScores.of(world.floor, [t]).compute()[0] for t in _TIMES]
        for t, estimate in zip(_TIMES, estimates, strict=True):
            scores = fp.score(world, t, solver="local", tolerance=1e-5, progress=lambda done, total: None)
            errors = np.abs(estimate / scores - 1.0)
            one = set(fp.find_goals(world, scores).states.tolist())
            other = set(fp.find_goals(world, estimate, tolerance=_SAME).states.tolist())
            print(
                f"{name:18s} t = {t:4d}   error {100 * errors.mean():4.1f} %, at worst {100 * errors.max():4.1f} %   "
                f"the same goals {100 * len(one & other) / len(one | other):5.1f} % of {len(one):,}",
                flush=True,
            )
    world = fp.random_maze(1155, 1155, seed=1)
    assert world.floor is not None
    for t in (20, 30, 50, 100):
        seconds = []
        for _ in range(2):
            begun = time.perf_counter()
            ReturnScores.of(world.floor, [t]).compute()
            between = time.perf_counter()
            fp.score(world, t, solver="local", tolerance=1e-3, progress=lambda done, total: None)
            seconds.append((between - begun, time.perf_counter() - between))
        of_estimate, of_score = min(one for one, _ in seconds), min(one for _, one in seconds)
        ratio = of_estimate / of_score
        print(f"{world.n_states:,} states, t = {t}: the estimate takes {ratio:.2f} of the score's time", flush=True)


if __name__ == "__main__":
    main()
