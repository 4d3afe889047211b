"""Which worlds and environments, which methods, how many runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.paper.framework import Part
from farpoint.paper.framework import Results as AnyResults

METHODS = ("diffusion", "novelty", "eigen", "cover", "neo", "random", "tried", "none")
DEFAULT_PROBABILITY = 0.05
_WITHOUT_OPTIONS = ("tried", "none")
# Every method with options has as many to choose from, though eigenvectors cost a hundred times more than a score.
PROBABILITIES = {
    method: (DEFAULT_PROBABILITY,) if method in _WITHOUT_OPTIONS else (0.02, 0.05, 0.1, 0.2) for method in METHODS
}
# The best one is chosen in runs with seeds from here on, which no table shows.
TUNING_SEED = 1_000
LEARNERS = ("diffusion", "novelty", "random", "tried", "none")
WRAPPED_METHODS = ("diffusion", "tried", "none")
LATER_METHODS = ("diffusion", "novelty", "eigen", "cover", "random", "none")
N_OPTIONS = 5
N_LAYOUTS = 5
N_TASKS = 5
_LEARNING_IS_LONGER = 5
_WRAPPED_IS_LONGER = 3
# Below, an interval over runs says nothing.
_FEWEST_STEPS = 1_000


def explorer_of(method: str) -> dict[str, Any]:
    """Return how a method explores: where options lead, and how primitive actions are chosen.

    >>> explorer_of("tried"), explorer_of("none")
    ({'method': 'none', 'actions': 'least tried'}, {'method': 'none', 'actions': 'uniform'})
    """
    return {
        "method": "none" if method == "tried" else method,
        "actions": "uniform" if method == "none" else "least tried",
    }


@dataclass(frozen=True)
class Scale:
    """How much work: runs per method and runs to choose a probability in, and what share of the steps.

    ``option_probability``: how often learners take an option.
    """

    n_runs: int
    share: float
    n_tuning_runs: int = 10
    option_probability: float = DEFAULT_PROBABILITY


FULL = Scale(n_runs=20, share=1.0)
QUICK = Scale(n_runs=4, share=0.1, n_tuning_runs=2)

Results = AnyResults[Scale]


@dataclass(frozen=True)
class Place:
    """A world or environment: its name, how long an episode lasts, and how many steps there are in all.

    ``remake_every``: after how many steps options are made anew, where that is not left to `explore`.
    """

    name: str
    title: str
    world: str
    n_steps: int
    episode: int | None = None
    n_layouts: int = 1
    remake_every: int | None = None

    @property
    def needs(self) -> dict[str, str]:
        """What must be installed."""
        return {"minigrid": "farpoint[envs]"} if "MiniGrid" in self.world else {}

    def layouts(self, n_runs: int) -> NDArray[np.int64]:
        """Return the layout of each run, which take turns."""
        return np.arange(n_runs) % self.n_layouts

    def _part(self, kind: str, scale: Scale, *, longer: int = 1, tuning: bool = False, **settings: Any) -> Part:
        return Part.of(
            kind,
            world=self.world,
            n_runs=scale.n_tuning_runs if tuning else scale.n_runs,
            first_seed=TUNING_SEED if tuning else None,
            n_steps=max(_FEWEST_STEPS, int(scale.share * longer * self.n_steps)),
            episode=self.episode,
            n_layouts=self.n_layouts,
            **settings,
        )

    def exploring(self, scale: Scale, **settings: Any) -> Part:
        """Return an exploration of this place."""
        return self._part("explore", scale, **settings)

    def part(self, method: str, probability: float, scale: Scale) -> Part:
        """Return the exploration of this place by one method."""
        return self.exploring(scale, method=method, probability=probability, n_options=N_OPTIONS)

    def tuning_part(self, method: str, probability: float, scale: Scale) -> Part:
        """Return the same in the runs that the best probability is chosen in."""
        return self.exploring(scale, method=method, probability=probability, n_options=N_OPTIONS, tuning=True)

    def parts(self, scale: Scale) -> list[Part]:
        """Return every method at every probability; without options there is only one."""
        pairs = [(method, p) for method in METHODS for p in PROBABILITIES[method]]
        return [part(method, p, scale) for part in (self.part, self.tuning_part) for method, p in pairs]

    def learning_part(self, method: str, scale: Scale) -> Part:
        """Return learning in this place from scratch."""
        return self._part(
            "learn",
            scale,
            longer=1 if self.world.startswith("gym:") else _LEARNING_IS_LONGER,
            method=method,
            probability=scale.option_probability,
            n_options=N_OPTIONS,
        )

    def learning_parts(self, scale: Scale) -> list[Part]:
        """Return learning by every method."""
        return [self.learning_part(method, scale) for method in LEARNERS]

    def wrapped_part(self, method: str, scale: Scale) -> Part:
        """Return learning by an agent of its own, with the options of `DiscoveringWrapper` or with none."""
        return self._part(
            "wrap",
            scale,
            longer=_WRAPPED_IS_LONGER,
            method=method,
            probability=scale.option_probability,
            n_options=N_OPTIONS,
        )

    def wrapped_parts(self, scale: Scale) -> list[Part]:
        """Return learning with and without options."""
        return [self.wrapped_part(method, scale) for method in WRAPPED_METHODS]

    def later_part(self, method: str, probability: float, scale: Scale) -> Part:
        """Return exploring, and then learning tasks with the options that were found."""
        return self._part("later", scale, method=method, probability=probability, n_tasks=N_TASKS)

    def later_tuning_part(self, method: str, probability: float, scale: Scale) -> Part:
        """Return the same in the runs that the best probability is chosen in."""
        return self._part("later", scale, method=method, probability=probability, n_tasks=N_TASKS, tuning=True)

    def later_parts(self, scale: Scale) -> list[Part]:
        """Return every method at every probability."""
        pairs = [(method, p) for method in LATER_METHODS for p in PROBABILITIES[method]]
        return [part(method, p, scale) for part in (self.later_part, self.later_tuning_part) for method, p in pairs]


@dataclass(frozen=True)
class Learning:
    """A way of learning: by which methods, and the part that computes one of them in one place."""

    methods: tuple[str, ...]
    part: Callable[[Place, str, Scale], Part]


BY_LOOP = Learning(LEARNERS, Place.learning_part)
UNDER_WRAPPER = Learning(WRAPPED_METHODS, Place.wrapped_part)

WORLDS = (
    Place("4rooms", "4Rooms", "four_rooms", 5_000, 100),
    Place("maze", "Maze", "maze", 10_000, 100),
    Place("ring", "Ring", "ring", 8_000, 100, N_LAYOUTS),
    Place("rooms25", "Four rooms of 11 × 11", "large_four_rooms", 20_000, 500, N_LAYOUTS),
    Place("maze40", "random_maze(40, 40, seed=1)", "maze_40", 40_000, 300),
    Place("mazes1000", "Random mazes of 1,000 states", "maze_1000", 40_000, 300, N_LAYOUTS),
    Place("mazes5000", "Random mazes of 5,000 states", "maze_5000", 150_000, 1_000, N_LAYOUTS),
    Place("ninerooms", "Nine rooms, 15 % noise", "nine_rooms", 40_000, 100, N_LAYOUTS),
    Place("torus", "Torus of 30 × 30", "torus", 40_000, 500, N_LAYOUTS),
    Place("hanoi", "Towers of Hanoi, 6 discs", "hanoi", 40_000, 500, N_LAYOUTS),
)
# An environment that can be enumerated is simulated afterwards; the explorer is told nothing of that.
ENVIRONMENTS = (
    Place("taxi", "Taxi", "env:Taxi-v4", 15_000, 200),
    Place("lake", "FrozenLake 8x8, slippery", "env:FrozenLake8x8-v1", 30_000, 200),
    Place("cliff", "CliffWalking", "env:CliffWalking-v1", 5_000, 200),
    Place("fourrooms", "MiniGrid FourRooms", "env:MiniGrid-FourRooms-v0", 30_000, 100, N_LAYOUTS),
    Place("multiroom2", "MiniGrid MultiRoom-N2-S4", "env:MiniGrid-MultiRoom-N2-S4-v0", 5_000, 40, N_LAYOUTS),
    Place("multiroom4", "MiniGrid MultiRoom-N4-S5", "env:MiniGrid-MultiRoom-N4-S5-v0", 100_000, 80, N_LAYOUTS),
    Place("doorkey", "MiniGrid DoorKey-8x8", "env:MiniGrid-DoorKey-8x8-v0", 100_000, 640, N_LAYOUTS),
    Place("corridor", "MiniGrid KeyCorridorS3R1", "env:MiniGrid-KeyCorridorS3R1-v0", 10_000, 270, N_LAYOUTS),
)
# Too large to enumerate: stepped as they are, with their own limits and rewards.
LARGE_ENVIRONMENTS = (
    Place("multiroom6", "MiniGrid MultiRoom-N6", "gym:MiniGrid-MultiRoom-N6-v0", 40_000, None, N_LAYOUTS),
    Place("doorkey16", "MiniGrid DoorKey-16x16", "gym:MiniGrid-DoorKey-16x16-v0", 150_000, None, N_LAYOUTS),
)
# Stepped one by one in Python, 20 runs with and 40 without options: fewer steps where there are most, so that a place
# takes minutes; in three sections, for there are eighteen. More where learning, or arriving at all, takes longest.
_MOST_WRAPPED_STEPS = 20_000
_MORE_WRAPPED_STEPS = {"mazes5000": 80_000, "multiroom4": 80_000, "doorkey": 60_000}
_WRAPPED_FIRST = ("4rooms", "maze", "ring", "rooms25", "cliff", "fourrooms", "multiroom2", "corridor")


def _wrapped(places: tuple[Place, ...], *, first: bool) -> tuple[Place, ...]:
    return tuple(
        replace(place, n_steps=_MORE_WRAPPED_STEPS.get(place.name, min(place.n_steps, _MOST_WRAPPED_STEPS)))
        for place in places
        if (place.name in _WRAPPED_FIRST) == first
    )


WRAPPED_PLACES = {
    "wrapper": _wrapped((*WORLDS, *ENVIRONMENTS), first=True),
    "wrapper-worlds": _wrapped(WORLDS, first=False),
    "wrapper-environments": _wrapped(ENVIRONMENTS, first=False),
}
# One exploration, then tasks: long enough that all of the world has been seen.
LATER = (
    Place("4rooms", "4Rooms", "four_rooms", 3_000, 100),
    Place("maze", "Maze", "maze", 5_000, 100),
    Place("ring", "Ring", "ring", 5_000, 100, N_LAYOUTS),
    Place("rooms25", "Four rooms of 11 × 11", "large_four_rooms", 10_000, 500, N_LAYOUTS),
)
