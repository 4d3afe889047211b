"""How far states can be aggregated, and what is lost: the table of docs/aggregation.md.

``python -m research.aggregation`` takes a few minutes, most of it to enumerate the states of MiniGrid.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import gymnasium as gym
import minigrid  # noqa: F401
import numpy as np

import farpoint as fp

SHARES = (1.5, 2, 4, 8)
N_OPTIONS = 6
WORLDS: dict[str, Callable[[], fp.World]] = {
    "4Rooms": fp.four_rooms,
    "open room 12 × 12": lambda: fp.open_room(12, 12),
    "Taxi": lambda: fp.World.from_env(gym.make("Taxi-v4")),
    "MiniGrid-DoorKey-5x5": lambda: fp.World.from_env(gym.make("MiniGrid-DoorKey-5x5-v0"), seed=3),
    "MiniGrid-FourRooms": lambda: fp.World.from_env(gym.make("MiniGrid-FourRooms-v0"), seed=3),
}


def print_row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def mean_steps(world: fp.World, options: fp.OptionSet) -> float:
    chance = fp.best_option_probability(world, options, n_targets=40, n_jobs=1)
    return fp.steps_between_states(world, options, option_probability=chance, n_jobs=1).mean


def main() -> None:
    warnings.simplefilter("ignore")
    print_row("world", "states", "exact groups", "groups", "largest D₄", "correlation of f₄", "steps, 6 options")
    for name, make in WORLDS.items():
        world = make()
        whole = fp.aggregate(world).n_groups
        exact = np.asarray(fp.score(world, 4, form="auto" if world.symmetric else "walk", solver="local"))
        steps = mean_steps(world, fp.discover(world, "farpoint", n_options=N_OPTIONS)) if world.symmetric else None
        print_row(name, world.n_states, whole, world.n_states, 0, 1, "" if steps is None else f"{steps:.0f}")
        for share in SHARES:
            found = fp.aggregate(world, n_groups=int(world.n_states / share))
            correlation = float(np.corrcoef(found.score().estimate, exact)[0, 1])
            cell = ""
            if steps is not None:
                options = found.lift_options(fp.discover(found.quotient, "farpoint", n_options=N_OPTIONS))
                cell = f"{mean_steps(world, options):.0f}"
            print_row("", "", "", found.n_groups, f"{found.distances.max():.2f}", f"{correlation:.3f}", cell)


if __name__ == "__main__":
    main()
