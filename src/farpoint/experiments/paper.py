"""The paper's tables and figures as data: which worlds, which methods, how many runs, what was printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from farpoint.errors import check_word
from farpoint.experiments.parts import Part

WORLDS = ("ring", "maze", "four_rooms")
TITLES = {"ring": "Ring", "maze": "Maze", "four_rooms": "4Rooms"}
METHODS = ("diffusion", "eigen", "none")
METHOD_TITLES = {
    "diffusion": "diffusion options",
    "eigen": "eigenoptions",
    "cover": "cover options",
    "random": "random options",
    "none": "primitive actions",
}
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
EIGEN_NUMBERS = (10, 20, 30, 40, 50)
COUNT_TIMES = (*range(1, 21), *range(25, 101, 5))
COMPONENT_NUMBERS = (2, 3, 5, 8, 10, 12, 15, 18, 20, 25, 30, 40, 50, 60, 80, 100)
GRID_TIMES = (4, 13, 100)
GRID_SIDE = 20


@dataclass(frozen=True)
class Scale:
    """How much work: the paper's numbers, or a quick look."""

    runs: int = 30
    corner_runs: int = 100
    episodes: int = 400
    windy_episodes: int = 1000
    draws: int = 30


FULL = Scale()
QUICK = Scale(runs=3, corner_runs=6, episodes=120, windy_episodes=150, draws=3)


@dataclass(frozen=True)
class Experiment:
    """One table or figure: its place in the paper and the parts it is made of."""

    name: str
    title: str
    place: str
    parts: Callable[[Scale], list[Part]]


def score_part(world: str, t: float, wind: float = 0.0, form: str | None = None) -> Part:
    """Return the score of a world with its goals."""
    return Part.of("score", world=world, t=t, wind=wind, form=form)


def steps_part(world: str, t: int, method: str, scale: Scale) -> Part:
    """Return the steps between states with the options of a method."""
    # Without options there is no t: the same part for both.
    return Part.of(
        "steps",
        world=world,
        t=4 if method == "none" else t,
        method=method,
        draws=scale.draws if method == "random" else 1,
    )


def learn_part(world: str, method: str, scale: Scale, *, t: int = 4, n_options: int | None = None) -> Part:
    """Return learning by the paper's protocol."""
    t = 4 if method == "none" else t
    return Part.of(
        "learn", world=world, method=method, t=t, runs=scale.runs, episodes=scale.episodes, n_options=n_options
    )


def windy_part(method: str, scale: Scale) -> Part:
    """Return learning in 4Rooms with wind."""
    return Part.of(
        "learn", world="four_rooms", method=method, t=4, wind=WIND, runs=scale.runs, episodes=scale.windy_episodes
    )


def corner_part(method: str, scale: Scale, wind: float = 0.0) -> Part:
    """Return learning from the bottom left to the top right of 4Rooms; random options are drawn anew for each run."""
    episodes = scale.episodes if wind == 0 else scale.windy_episodes
    return Part.of(
        "learn",
        world="four_rooms",
        method=method,
        t=4,
        wind=wind,
        runs=scale.corner_runs,
        episodes=episodes,
        task="corner",
    )


def algorithm_part(world: str, method: str, algorithm: str, scale: Scale) -> Part:
    """Return learning by one of the three algorithms."""
    if algorithm == "paper":
        return learn_part(world, method, scale)
    return Part.of(
        "learn", world=world, method=method, t=4, runs=scale.runs, episodes=scale.episodes, algorithm=algorithm
    )


def moves_part(world: str, method: str, scale: Scale) -> Part:
    """Return learning that counts primitive steps only."""
    return Part.of("learn", world=world, method=method, t=4, runs=scale.runs, episodes=scale.episodes, counting="moves")


def counts_part(world: str) -> Part:
    """Return the number of options over t."""
    return Part.of("counts", world=world, times=COUNT_TIMES)


def components_part(world: str, t: int) -> Part:
    """Return the local maxima that k components give."""
    return Part.of("components", world=world, t=t, numbers=COMPONENT_NUMBERS)


def difficulty_part(world: str) -> Part:
    """Return the difficulty of a world."""
    return Part.of("difficulty", world=world)


def grid_part(t: int) -> Part:
    """Return the score of an open grid."""
    return Part.of("grid", side=GRID_SIDE, t=t)


# Long enough to mix within each half, not across the bridge.
DUMBBELL = Part.of("dumbbell", n_points=700, t=1000, seed=3)


def propositions_part(world: str) -> Part:
    """Return how far the two propositions hold."""
    return Part.of("propositions", world=world, t=4)


def _figure_1(scale: Scale) -> list[Part]:
    maps = [score_part(world, t) for world in WORLDS for t in TIMES]
    return [*(Part.of("stationary", world=world) for world in WORLDS), *maps]


def _steps(scale: Scale) -> list[Part]:
    return [steps_part(world, t, method, scale) for world in WORLDS for t in TIMES for method in STEP_METHODS]


def _learning(t: int) -> Callable[[Scale], list[Part]]:
    return lambda scale: [learn_part(world, method, scale, t=t) for world in WORLDS for method in METHODS]


EXPERIMENTS = (
    Experiment("fig1", "The score and the stationary distribution", "Figure 1", _figure_1),
    Experiment("fig2", "Visitation and learning, t = 4", "Figure 2", _learning(4)),
    Experiment("table1", "Steps between states: median and IQR", "Table 1", _steps),
    Experiment(
        "fig3",
        "4Rooms with wind",
        "Figure 3 and the supplement's stochastic domain",
        lambda scale: [
            score_part("four_rooms", 4),
            score_part("four_rooms", 4, WIND),
            score_part("four_rooms", 4, WIND, "walk"),
            *(windy_part(method, scale) for method in METHODS),
        ],
    ),
    Experiment(
        "difficulty",
        "Domain difficulty",
        "Section 4.4",
        lambda scale: [
            *(difficulty_part(world) for world in WORLDS),
            *(learn_part(world, "none", scale) for world in WORLDS),
            *(steps_part(world, 4, "none", scale) for world in WORLDS),
        ],
    ),
    Experiment(
        "propositions",
        "The two propositions",
        "Section 3.3",
        lambda scale: [propositions_part(world) for world in WORLDS],
    ),
    Experiment("dumbbell", "Euclidean and diffusion distance", "Supplement A", lambda scale: [DUMBBELL]),
    Experiment(
        "eigen_number",
        "Eigenoptions, 10 to 50 of them",
        "Supplement D.1, figure",
        lambda scale: [
            *(learn_part(world, "diffusion", scale) for world in WORLDS),
            *(learn_part(world, "eigen", scale, n_options=n) for world in WORLDS for n in EIGEN_NUMBERS),
        ],
    ),
    Experiment("table2", "Steps between states: mean and standard deviation", "Table 2", _steps),
    Experiment("counts", "Number of options over t", "Supplement D.2", lambda scale: [counts_part(w) for w in WORLDS]),
    Experiment("fig2_t13", "Visitation and learning, t = 13", "Supplement D.2", _learning(13)),
    Experiment(
        "random",
        "Random options in 4Rooms",
        "Supplement D.3",
        lambda scale: [corner_part(method, scale) for method in ("diffusion", "eigen", "random")],
    ),
    Experiment(
        "random_wind",
        "Random options in 4Rooms with wind",
        "Supplement D.4",
        lambda scale: [corner_part(method, scale, WIND) for method in ("diffusion", "eigen", "random")],
    ),
    Experiment("grid", "The score of an open grid", "Supplement F", lambda scale: [grid_part(t) for t in GRID_TIMES]),
    Experiment(
        "components",
        "How many eigenvectors are enough",
        "Section 4.1, a remark",
        lambda scale: [components_part(world, t) for world in WORLDS for t in TIMES],
    ),
    Experiment(
        "rivals",
        "Beyond the paper: learning with every method",
        "ours",
        lambda scale: [learn_part(world, method, scale) for world in WORLDS for method in STEP_METHODS],
    ),
    Experiment(
        "algorithms",
        "Beyond the paper: SMDP and intra-option learning",
        "ours",
        lambda scale: [
            *(
                algorithm_part(world, "diffusion", algorithm, scale)
                for world in WORLDS
                for algorithm in ("paper", "smdp", "intra-option")
            ),
            *(moves_part(world, method, scale) for world in WORLDS for method in METHODS),
            *(learn_part(world, method, scale) for world in WORLDS for method in METHODS),
        ],
    ),
)


def choose(names: list[str] | None) -> list[Experiment]:
    """Return the experiments of these names, in the paper's order; None is all of them."""
    if names is None:
        return list(EXPERIMENTS)
    known = [experiment.name for experiment in EXPERIMENTS]
    wanted = {check_word("experiment", name, known) for name in names}
    return [experiment for experiment in EXPERIMENTS if experiment.name in wanted]
