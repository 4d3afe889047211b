"""Which worlds and environments, which methods, how many runs; and how a probability is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from farpoint.measures import estimate
from research.runner import Part, Row, column, grouped, select

METHODS = ("diffusion", "novelty", "eigen", "cover", "neo", "random", "tried", "none")
LEARNERS = ("diffusion", "novelty", "random", "tried", "none")
WRAPPED_METHODS = ("diffusion", "tried", "none")
LATER_METHODS = ("diffusion", "novelty", "eigen", "cover", "random", "none")
NEO_METHODS = ("diffusion", "novelty", "neo", "eigen", "cover", "random", "none")
WITHOUT_OPTIONS = ("tried", "none")
# Every method with options has these to choose from.
PROBABILITIES = (0.02, 0.05, 0.1, 0.2)
# A probability is chosen in runs with these seeds, which no table shows, and shown in runs with others.
TUNING_SEEDS = range(1_000, 1_010)
SHOWN_SEEDS = range(20)
QUICK_TUNING_SEEDS, QUICK_SHOWN_SEEDS = TUNING_SEEDS[:2], SHOWN_SEEDS[:4]
N_OPTIONS = 5
N_LAYOUTS = 5
# A quick look is a tenth as long; below this number of steps it would say nothing.
_QUICK_SHARE, _FEWEST_STEPS = 10, 1_000
TUNING, SHOWN = "tuning", "shown"


@dataclass(frozen=True)
class Place:
    """A world or environment: its name, how long an episode lasts, and how many steps a run has.

    ``world``: a name that `research.exploration.places.make_place` knows.
    """

    name: str
    title: str
    world: str
    limit: int
    episode: int | None = None
    n_layouts: int = 1

    def longer(self, times: int) -> Place:
        """Return the place with more steps."""
        return replace(self, limit=times * self.limit)


def explorer_of(method: str) -> dict[str, Any]:
    """Return how a method explores: where options lead, and how primitive actions are chosen.

    >>> explorer_of("tried"), explorer_of("none")
    ({'method': 'none', 'actions': 'least tried'}, {'method': 'none', 'actions': 'uniform'})
    """
    return {
        "method": "none" if method == "tried" else method,
        "actions": "uniform" if method == "none" else "least tried",
    }


def seeds_of(stage: str, n_runs: int) -> range:
    """Return the seeds of the runs of a part.

    >>> seeds_of("tuning", 10), seeds_of("shown", 20)
    (range(1000, 1010), range(0, 20))
    """
    first = (TUNING_SEEDS if stage == TUNING else SHOWN_SEEDS).start
    return range(first, first + n_runs)


def part_of(place: Place, method: str, probability: float | None, stage: str, quick: bool) -> Part:
    """Return one method in one place with one option probability; None where there are no options."""
    seeds = (QUICK_TUNING_SEEDS if quick else TUNING_SEEDS, QUICK_SHOWN_SEEDS if quick else SHOWN_SEEDS)
    limit = max(_FEWEST_STEPS, place.limit // _QUICK_SHARE) if quick else place.limit
    return {
        "place": place.name, "method": method, "probability": probability, "stage": stage,
        "n_runs": len(seeds[stage == SHOWN]), "limit": limit,
    }  # fmt: skip


def first_parts(places: Sequence[Place], methods: Sequence[str]) -> Callable[[bool], Iterator[Part]]:
    """Return the function that yields what is computed first: tuning, and what has nothing to tune."""

    def parts(quick: bool) -> Iterator[Part]:
        for place in places:
            for method in methods:
                if method in WITHOUT_OPTIONS:
                    yield part_of(place, method, None, SHOWN, quick)
                else:
                    yield from (part_of(place, method, p, TUNING, quick) for p in PROBABILITIES)

    return parts


def shown_parts(places: Sequence[Place], *measures: str) -> Callable[[bool, list[Row]], Iterator[Part]]:
    """Return the function that yields, for what has been tuned, the runs that are shown.

    ``measures``: the first decides which probability is best, the others where that ties.
    """
    named = {place.name: place for place in places}

    def parts(quick: bool, rows: list[Row]) -> Iterator[Part]:
        for (name, method), some in grouped(select(rows, stage=TUNING), "place", "method"):
            by_probability = dict(grouped(some, "probability"))
            if len(by_probability) == len(PROBABILITIES):
                (best,) = min(by_probability, key=lambda p: [_typical(by_probability[p], one) for one in measures])
                yield part_of(named[name], method, best, SHOWN, quick)

    return parts


def _typical(rows: list[Row], measure: str) -> float:
    """Return the interquartile mean of a measure; runs that did not get there count with all their steps."""
    return estimate(column(rows, measure), limit=rows[0]["limit"]).value


def finite(numbers: Mapping[str, float]) -> Row:
    """Return numbers with None for what was never reached.

    >>> finite({"first": 3.0, "near": float("inf")})
    {'first': 3.0, 'near': None}
    """
    return {name: None if number == float("inf") else number for name, number in numbers.items()}


def named(places: Iterable[Place]) -> dict[str, Place]:
    """Return places by their names."""
    return {place.name: place for place in places}


# Smallest first, so that a run that is interrupted has most to show.
WORLDS = (
    Place("4rooms", "4Rooms", "four_rooms", 5_000, 100),
    Place("maze", "Maze", "maze", 10_000, 100),
    Place("ring", "Ring", "ring", 8_000, 100, N_LAYOUTS),
    Place("rooms25", "Four rooms of 11 × 11", "large_four_rooms", 20_000, 500, N_LAYOUTS),
    Place("maze40", "random_maze(40, 40, seed=1)", "maze_40", 40_000, 300),
    Place("ninerooms", "Nine rooms, 15 % noise", "nine_rooms", 40_000, 100, N_LAYOUTS),
    Place("torus", "Torus of 30 × 30", "torus", 40_000, 500, N_LAYOUTS),
    Place("hanoi", "Towers of Hanoi, 6 discs", "hanoi", 40_000, 500, N_LAYOUTS),
    Place("mazes1000", "Random mazes of 1,000 states", "maze_1000", 40_000, 300, N_LAYOUTS),
    Place("mazes5000", "Random mazes of 5,000 states", "maze_5000", 150_000, 1_000, N_LAYOUTS),
)
# An environment that can be enumerated by its observations is simulated afterwards; the explorer is told nothing of
# that.
ENVIRONMENTS = (
    Place("cliff", "CliffWalking", "env:CliffWalking-v1", 5_000, 200),
    Place("multiroom2", "MiniGrid MultiRoom-N2-S4", "env:MiniGrid-MultiRoom-N2-S4-v0", 5_000, 40, N_LAYOUTS),
    Place("corridor", "MiniGrid KeyCorridorS3R1", "env:MiniGrid-KeyCorridorS3R1-v0", 10_000, 270, N_LAYOUTS),
    Place("lake", "FrozenLake 8x8, slippery", "env:FrozenLake8x8-v1", 30_000, 200),
    Place("taxi", "Taxi", "env:Taxi-v4", 15_000, 200),
    Place("fourrooms", "MiniGrid FourRooms", "env:MiniGrid-FourRooms-v0", 30_000, 100, N_LAYOUTS),
    Place("doorkey", "MiniGrid DoorKey-8x8", "env:MiniGrid-DoorKey-8x8-v0", 100_000, 640, N_LAYOUTS),
    Place("multiroom4", "MiniGrid MultiRoom-N4-S5", "env:MiniGrid-MultiRoom-N4-S5-v0", 100_000, 80, N_LAYOUTS),
)
# Too large to enumerate: stepped as they are, with their own limits and rewards.
LARGE_ENVIRONMENTS = (
    Place("multiroom6", "MiniGrid MultiRoom-N6", "gym:MiniGrid-MultiRoom-N6-v0", 40_000, None, N_LAYOUTS),
    Place("doorkey16", "MiniGrid DoorKey-16x16", "gym:MiniGrid-DoorKey-16x16-v0", 150_000, None, N_LAYOUTS),
)
SEEN_PLACES = (*WORLDS, *ENVIRONMENTS)
_LEARNING_IS_LONGER = 5
LEARNING_PLACES = tuple(place.longer(_LEARNING_IS_LONGER) for place in WORLDS)
ENVIRONMENT_PLACES = (*(place.longer(_LEARNING_IS_LONGER) for place in ENVIRONMENTS), *LARGE_ENVIRONMENTS)
# One exploration, long enough that all of the world has been seen, and then tasks; a limit is that of all tasks.
N_TASKS = 5
LATER_STEPS = {"4rooms": 3_000, "maze": 5_000, "ring": 5_000, "rooms25": 10_000}
LATER_PLACES = tuple(replace(place, limit=N_TASKS * 100_000) for place in WORLDS if place.name in LATER_STEPS)
# Stepped one by one in Python: fewer steps where there are most, more where learning, or arriving at all, takes
# longest.
_MOST_WRAPPED_STEPS = 60_000
_MORE_WRAPPED_STEPS = {"mazes5000": 240_000, "multiroom4": 240_000, "doorkey": 180_000}
_WRAPPED_IS_LONGER = 3
WRAPPED_PLACES = named(
    replace(
        place,
        limit=_MORE_WRAPPED_STEPS.get(place.name, min(_WRAPPED_IS_LONGER * place.limit, _MOST_WRAPPED_STEPS)),
    )
    for place in SEEN_PLACES
)
# NEO's protocol (Theophilou and Şimşek, NeurIPS 2025): 125,000 steps where there are fewer than 1,000 states, else
# 250,000; episodes of 500 steps, or of as many as there are states. Random mazes stand for the authors' maze of 5,363
# states.
NEO_PLACES = (
    Place("neo-rooms25", "Four rooms of 11 × 11", "large_four_rooms", 125_000, 500, N_LAYOUTS),
    Place("neo-hanoi", "Towers of Hanoi, 6 discs", "hanoi", 125_000, 500, N_LAYOUTS),
    Place("neo-torus", "Torus of 30 × 30", "torus", 125_000, 500, N_LAYOUTS),
    Place("neo-mazes5000", "Random mazes of 5,000 states", "maze_5000", 250_000, 5_000, N_LAYOUTS),
)
# Options are made anew every max(1,000, 5 n) steps, four of them, and taken with this probability.
NEO_REMAKES = {"neo-rooms25": 2_440, "neo-hanoi": 3_645, "neo-torus": 4_500, "neo-mazes5000": 25_000}
NEO_OPTIONS, NEO_PROBABILITY = 4, 0.1
# Environments that are explored from MiniGrid's own view too, all stepped as they are, and with what method: primitive
# actions need no view. Fewer runs, for such a step takes a hundred times as long as a simulated one.
VIEWS = {"full": "diffusion", "own": "diffusion", "none": "none"}
VIEW_RUNS = 10
VIEW_PLACES = tuple(
    Place(place.name, place.title, place.world.replace("env:", "gym:"), 25_000, None, N_LAYOUTS)
    for place in ENVIRONMENTS
    if "MiniGrid" in place.world
)
