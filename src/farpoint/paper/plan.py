"""The paper as data: which worlds, which methods, how many runs, what was printed, and the parts to compute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from farpoint.paper.framework import Part
from farpoint.paper.framework import Results as AnyResults

WORLDS = ("ring", "maze", "four_rooms")
METHODS = ("diffusion", "eigen", "none")
TIMES = (4, 13)
WIND = 1 / 3

# Table 1: median and interquartile range. Table 2: mean and standard deviation.
PRINTED_MEDIAN = {
    ("ring", 4): {"diffusion": (217, 101), "eigen": (301, 210), "cover": (361, 536), "none": (565, 160)},
    ("ring", 13): {"diffusion": (219, 110), "eigen": (279, 232), "cover": (363, 481), "none": (565, 160)},
    ("maze", 4): {"diffusion": (282, 194), "eigen": (446, 573), "cover": (525, 812), "none": (1280, 960)},
    ("maze", 13): {"diffusion": (249, 160), "eigen": (641, 781), "cover": (498, 842), "none": (1280, 960)},
    ("four_rooms", 4): {"diffusion": (147, 137), "eigen": (160, 114), "cover": (179, 512), "none": (487, 104)},
    ("four_rooms", 13): {"diffusion": (140, 96), "eigen": (162, 151), "cover": (175, 442), "none": (487, 104)},
}
PRINTED_MEAN = {
    ("ring", 4): {"diffusion": (228, 74), "eigen": (327, 139), "none": (618, 134)},
    ("ring", 13): {"diffusion": (249, 149), "eigen": (326, 149), "none": (618, 134)},
    ("maze", 4): {"diffusion": (296, 271), "eigen": (551, 341), "none": (1323, 639)},
    ("maze", 13): {"diffusion": (240, 134), "eigen": (1393, 3260), "none": (1323, 639)},
    ("four_rooms", 4): {"diffusion": (158, 81), "eigen": (183, 88), "none": (497, 80)},
    ("four_rooms", 13): {"diffusion": (155, 97), "eigen": (193, 120), "none": (497, 80)},
}
PRINTED_OPTIONS = {
    ("ring", 4): 32, ("ring", 13): 28, ("maze", 4): 19, ("maze", 13): 14, ("four_rooms", 4): 20, ("four_rooms", 13): 15,
}  # fmt: skip
PRINTED_DIFFICULTY = {"ring": 13.6, "maze": 20.5, "four_rooms": 8.6}

STEP_METHODS = ("diffusion", "eigen", "cover", "random", "none")
CORNER_METHODS = ("diffusion", "eigen", "random")
EIGEN_NUMBERS = (10, 20, 30, 40, 50)
COUNT_TIMES = (*range(1, 21), *range(25, 101, 5))
COMPONENT_NUMBERS = (2, 3, 5, 8, 10, 12, 15, 18, 20, 25, 30, 40, 50, 60, 80, 100)
GRID_TIMES = (4, 13, 100)
GRID_SIDE = 20


@dataclass(frozen=True)
class Scale:
    """How much work; the defaults are the paper's numbers."""

    n_runs: int = 30
    n_corner_runs: int = 100
    n_episodes: int = 400
    n_windy_episodes: int = 1000
    n_draws: int = 30
    # With how many option probabilities each method of the field is tried, from ½ downward.
    n_probabilities: int = 5


FULL = Scale()
QUICK = Scale(n_runs=3, n_corner_runs=6, n_episodes=120, n_windy_episodes=150, n_draws=3, n_probabilities=2)

Results = AnyResults[Scale]


def score_part(world: str, t: float, wind: float = 0.0, form: str | None = None) -> Part:
    """Return the score of a world with its goals."""
    return Part.of("score", world_name=world, t=t, wind=wind, form=form)


def steps_part(world: str, t: int, method: str, scale: Scale) -> Part:
    """Return the steps between states with the options of a method."""
    # Without options there is no t, so both times share one part.
    return Part.of(
        "steps",
        world_name=world,
        t=4 if method == "none" else t,
        method=method,
        n_draws=scale.n_draws if method == "random" else 1,
    )


def stationary_part(world: str) -> Part:
    """Return the stationary distribution of a world."""
    return Part.of("stationary", world_name=world)


def learn_part(world: str, method: str, scale: Scale, *, t: int = 4, **more: Any) -> Part:
    """Return learning by the paper's protocol; ``more`` are further parameters of the computation."""
    t = 4 if method == "none" else t
    sizes = {"n_runs": scale.n_runs, "n_episodes": scale.n_episodes} | more
    return Part.of("learn", world_name=world, method=method, t=t, **sizes)


def windy_part(method: str, scale: Scale) -> Part:
    """Return learning in 4Rooms with wind."""
    return learn_part("four_rooms", method, scale, wind=WIND, n_episodes=scale.n_windy_episodes)


def corner_part(method: str, scale: Scale, wind: float = 0.0) -> Part:
    """Return learning from the bottom left to the top right of 4Rooms; each run draws random options of its own."""
    n_episodes = scale.n_episodes if wind == 0 else scale.n_windy_episodes
    return learn_part(
        "four_rooms", method, scale, wind=wind, n_runs=scale.n_corner_runs, n_episodes=n_episodes, task="corner"
    )


def algorithm_part(world: str, method: str, algorithm: str, scale: Scale) -> Part:
    """Return learning by one of the three algorithms."""
    # The paper's algorithm is the default, so that its part is shared with other experiments.
    return learn_part(world, method, scale, algorithm=None if algorithm == "paper" else algorithm)


def moves_part(world: str, method: str, scale: Scale) -> Part:
    """Return learning that counts primitive steps only."""
    return learn_part(world, method, scale, counting="moves")


def counts_part(world: str) -> Part:
    """Return the number of options over t."""
    return Part.of("counts", world_name=world, times=COUNT_TIMES)


def components_part(world: str, t: int) -> Part:
    """Return the local maxima that k components give."""
    return Part.of("components", world_name=world, t=t, numbers=COMPONENT_NUMBERS)


def difficulty_part(world: str) -> Part:
    """Return the difficulty of a world."""
    return Part.of("difficulty", world_name=world)


def grid_part(t: int) -> Part:
    """Return the score of an open grid."""
    return Part.of("grid", side=GRID_SIDE, t=t)


# A time long enough to mix within each half, but not across the bridge.
DUMBBELL = Part.of("dumbbell", n_points=700, t=1000, seed=3)


def propositions_part(world: str) -> Part:
    """Return how far the two propositions hold."""
    return Part.of("propositions", world_name=world, t=4)
