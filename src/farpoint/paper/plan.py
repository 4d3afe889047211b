"""The paper as data: which worlds, which methods, how many runs, and what was printed."""

from __future__ import annotations

from dataclasses import dataclass

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
# The methods that section 5 speaks of, on the paper's worlds and a T of two corridors.
FIELD_METHODS = (
    "diffusion", "farpoint", "average", "eigen", "cover", "betweenness", "bottleneck", "louvain", "successor", "visits",
    "random", "none",
)  # fmt: skip
FIELD_WORLDS = (*WORLDS, "t_shape")
PROBABILITIES = (0.5, 0.2, 0.1, 0.05, 0.02)
# Two goals at most this many moves apart are one goal twice.
NEAR = 2


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
