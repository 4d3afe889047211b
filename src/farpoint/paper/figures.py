"""The paper's figures, from finished arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.paper.computation import (
    Results,
    corner_learning,
    dumbbell_distances,
    grid_score,
    learning,
    learning_curve,
    option_counts,
    run_means,
    score_and_goals,
    stationary_distribution,
    truncated_scores,
    typical_steps,
    windy_learning,
    world_difficulty,
)
from farpoint.paper.page import Captioned
from farpoint.paper.plan import (
    CORNER_METHODS,
    EIGEN_NUMBERS,
    GRID_TIMES,
    METHODS,
    PRINTED_DIFFICULTY,
    STEP_METHODS,
    TIMES,
    WIND,
    WORLDS,
)
from farpoint.paper.store import Arrays
from farpoint.report.canvas import heat_map, mark
from farpoint.report.figures import (
    COLOR_MAP,
    GOAL,
    METHOD_COLORS,
    METHOD_TITLES,
    START,
    WORLD_COLORS,
    WORLD_TITLES,
    new_figure,
)
from farpoint.report.results import Curves, learning_curves, tidy
from farpoint.worlds import World, named_world

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = {"ring": "o", "maze": "s", "four_rooms": "^"}
_EIGEN_SHADES = ("#fdd0a2", "#fdae6b", "#fd8d3c", "#e6550d", "#8c2d04")
_ALGORITHM_LOOKS = {
    "paper": ("#0072b2", "the paper's"),
    "smdp": ("#cc79a7", "SMDP"),
    "intra-option": ("#009e73", "intra-option"),
}


def draw_scores(results: Results) -> list[Captioned]:
    """Return Figure 1: stationary distribution and score of the three worlds."""
    figure = new_figure(9.6, 9.0)
    for row, name in zip(figure.subplots(3, 3), WORLDS, strict=True):
        world = named_world(name)
        score_panel(figure, row[0], world, results.get(stationary_distribution, world=name)["pi"], r"$\pi_0(s)$")
        for axes, t in zip(row[1:], TIMES, strict=True):
            arrays = results.get(score_and_goals, world=name, t=t)
            score_panel(figure, axes, world, arrays["scores"], f"$f_{{{t}}}(s)$")
            mark(axes, world, arrays["goals"], size=5)
            axes.set_title(f"$f_{{{t}}}$: {arrays['goals'].size} options", fontsize=10)
        row[0].set_title(f"{WORLD_TITLES[name]}: stationary distribution", fontsize=10)
    return [("Stationary distribution and score of the three worlds; dots are the options' goals.", figure)]


def score_panel(figure: Figure, axes: Axes, world: World, values: NDArray[np.float64], label: str) -> None:
    """Draw a heat map with its color bar."""
    image = heat_map(axes, world, values)
    figure.colorbar(image, ax=axes, label=label, fraction=0.046, pad=0.03, format="%.2g")


def draw_dumbbell(results: Results) -> list[Captioned]:
    """Return Euclidean and diffusion distance on a cloud of two discs and a bridge."""
    arrays = results.get(dumbbell_distances)
    figure = new_figure(10, 2.9)
    for axes, name in zip(figure.subplots(1, 2), ("euclidean", "diffusion"), strict=True):
        dots = axes.scatter(*arrays["points"].T, c=arrays[name], s=9, cmap=COLOR_MAP)
        axes.plot(*arrays["points"][int(arrays["reference"])], marker="x", color="#d00000", markersize=11, mew=2.5)
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_title(f"{name.capitalize()} distance from the cross", fontsize=10)
        figure.colorbar(dots, ax=axes, label="distance", fraction=0.03, pad=0.02)
    return [("A cloud of 700 points in two discs joined by a bridge, colored by distance from the cross.", figure)]


def draw_counts(results: Results) -> list[Captioned]:
    """Return the number of options over t."""
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    for world, marker in _MARKERS.items():
        arrays = results.get(option_counts, world=world)
        axes.plot(
            arrays["times"],
            arrays["counts"],
            marker=marker,
            markersize=4,
            color=WORLD_COLORS[world],
            label=WORLD_TITLES[world],
        )
    axes.set(xlabel="$t$", ylabel="number of options", ylim=(0, None))
    tidy(axes)
    axes.legend(frameon=False)
    return [("Number of local maxima of the score over diffusion time.", figure)]


def draw_grid(results: Results) -> list[Captioned]:
    """Return the score of an open grid as a surface."""
    figure = new_figure(12.5, 4.2)
    for index, t in enumerate(GRID_TIMES):
        scores = results.get(grid_score, t=t)["scores"]
        axes = figure.add_subplot(1, 3, index + 1, projection="3d")
        rows, columns = np.mgrid[: scores.shape[0], : scores.shape[1]]
        axes.plot_surface(rows, columns, scores, cmap=COLOR_MAP, linewidth=0.2, edgecolor="#00000040")
        axes.set_title(f"$f_{{{t}}}(s)$", fontsize=12)
        axes.tick_params(labelsize=7)
        axes.set(xlabel="row", ylabel="column")
        axes.view_init(elev=28, azim=-52)
    return [("The score of an open 20 × 20 grid: smoother with t, highest at the corners.", figure)]


def draw_components(results: Results) -> list[Captioned]:
    """Return how many true goals a score of k eigenvectors has."""
    figure = new_figure(9.5, 3.6)
    for axes, t in zip(figure.subplots(1, 2), TIMES, strict=True):
        for world, marker in _MARKERS.items():
            arrays, color = results.get(truncated_scores, world=world, t=t), WORLD_COLORS[world]
            label = WORLD_TITLES[world]
            axes.plot(arrays["numbers"], arrays["shared"], marker=marker, markersize=4, color=color, label=label)
            axes.axhline(float(arrays["whole"]), color=color, linestyle=":", linewidth=1)
        axes.axvspan(10, 20, color="#00000010", linewidth=0)
        axes.set(xlabel="eigenvectors used", ylabel="true goals found", title=f"$t = {t}$", ylim=(0, None))
        tidy(axes)
    axes.legend(frameon=False, loc="lower right")
    return [("True goals that k eigenvectors find (dotted: all of them; shaded: the paper's 10 to 20).", figure)]


def draw_learning(results: Results, *, t: int) -> list[Captioned]:
    """Return Figure 2: the task, visits while learning, and learning curves."""
    figure = new_figure(14.5, 8.6)
    panels = figure.subplots(3, 5, width_ratios=[1, 1, 1, 1, 1.35])
    for row, name in zip(panels, WORLDS, strict=True):
        world = named_world(name)
        _draw_task(row[0], world)
        row[0].set_title(f"{WORLD_TITLES[name]}: start and goals", fontsize=10)
        learned = {method: learning(results, name, method, t) for method in METHODS}
        _draw_visits(figure, row[1:4], world, learned)
        learning_curves(row[4], _curves(learned), legend=name == "ring")
    return [
        (
            "Start (green) and goals (orange); visits while learning, the most visited state as 1; steps to the "
            "goal after each episode, mean over runs and goals, the standard deviation over goals as a band.",
            figure,
        )
    ]


def draw_wind(results: Results) -> list[Captioned]:
    """Return Figure 3: 4Rooms without and with wind, and learning with wind."""
    world = named_world("four_rooms", WIND)
    maps = new_figure(12.5, 3.8)
    titles = ("no wind", "wind, Algorithm 2", "wind, the walk's own form")
    walks: tuple[dict[str, Any], ...] = ({}, {"wind": WIND}, {"wind": WIND, "form": "walk"})
    for axes, title, walk in zip(maps.subplots(1, 3), titles, walks, strict=True):
        arrays = results.get(score_and_goals, world="four_rooms", t=4, **walk)
        score_panel(maps, axes, world, arrays["scores"], "$f_4(s)$")
        mark(axes, world, arrays["goals"], size=6)
        axes.set_title(f"{title}: {arrays['goals'].size} goals", fontsize=10)
    learned = new_figure(14, 3.6)
    row = learned.subplots(1, 4, width_ratios=[1, 1, 1, 1.5])
    windy = {method: windy_learning(results, method) for method in METHODS}
    _draw_visits(learned, row[:3], world, windy)
    learning_curves(row[3], _curves(windy))
    return [
        ("The score of 4Rooms without and with wind that blows down with probability 1/3.", maps),
        ("With wind: visits while learning, and learning.", learned),
    ]


def _draw_task(axes: Axes, world: World) -> None:
    heat_map(axes, world, np.zeros(world.n_states), plain=True)
    assert world.start is not None
    assert world.targets is not None
    cells = np.asarray(world.positions)
    axes.plot(*cells[world.targets].T[::-1], linestyle="none", marker="s", markersize=4, color=GOAL)
    axes.plot(*cells[world.start][::-1], linestyle="none", marker="o", markersize=7, color=START)


def _draw_visits(figure: Figure, row: Sequence[Axes], world: World, learned: Mapping[str, Arrays]) -> None:
    for axes, (method, arrays) in zip(row, learned.items(), strict=True):
        visits = arrays["visits"]
        image = heat_map(axes, world, visits / visits.max())
        axes.set_title(METHOD_TITLES[method], fontsize=10)
        figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03, label="visits")


def _curves(learned: Mapping[str, Arrays]) -> Curves:
    return {method: learning_curve(arrays) for method, arrays in learned.items()}


def draw_steps(
    results: Results, *, name: str, printed: Mapping[tuple[str, int], Mapping[str, tuple[int, int]]]
) -> list[Captioned]:
    """Return one statistic of the steps between states, for each world, t and method."""
    figure = new_figure(11, 5.2)
    for row, t in zip(figure.subplots(2, 3), TIMES, strict=True):
        for axes, world in zip(row, WORLDS, strict=True):
            for place, method in enumerate(STEP_METHODS):
                color, value = METHOD_COLORS[method], typical_steps(results, world, t, method, name)
                axes.plot(value, place, marker="o", markersize=8, color=color)
                axes.text(value, place - 0.28, f"{value:,.0f}", ha="center", fontsize=8, color=color)
                if method in printed[world, t]:
                    axes.plot(printed[world, t][method][0], place, marker="|", markersize=15, color="black")
            axes.set_xscale("log")
            axes.set_xlim(60, 1e7 if name == "mean" else 3000)
            axes.set_yticks(range(len(STEP_METHODS)), [METHOD_TITLES[method] for method in STEP_METHODS])
            axes.set_ylim(len(STEP_METHODS) - 0.5, -0.7)
            tidy(axes)
            axes.set_title(f"{WORLD_TITLES[world]}, $t = {t}$", fontsize=10)
            if axes is not row[0]:
                axes.set_yticklabels([])
    figure.supxlabel(f"expected steps between states, {name} over targets (black: printed)", fontsize=10)
    caption = f"{name.capitalize()} of the exact expected steps between states; of random options, over draws."
    return [(caption, figure)]


def draw_eigen_number(results: Results) -> list[Captioned]:
    """Return learning with diffusion options and with 10 to 50 eigenoptions."""
    figure = new_figure(13, 3.6)
    for axes, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        for number, shade in zip(EIGEN_NUMBERS, _EIGEN_SHADES, strict=True):
            learned = learning(results, world, "eigen", n_options=number)
            _draw_mean(axes, learned, color=shade, linewidth=1.2, label=f"{number} eigenoptions")
        ours = learning(results, world, "diffusion")
        _draw_mean(axes, ours, color=METHOD_COLORS["diffusion"], linewidth=2.6, label=METHOD_TITLES["diffusion"])
        _finish_learning(axes, world, legend=world == "ring")
    return [("Learning with diffusion options (bold) and with 10 to 50 eigenoptions.", figure)]


def draw_algorithms(results: Results) -> list[Captioned]:
    """Return learning with the same options by three algorithms."""
    figure = new_figure(13, 3.6)
    for axes, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        for algorithm, (color, label) in _ALGORITHM_LOOKS.items():
            learned = learning(results, world, "diffusion", algorithm=algorithm)
            _draw_mean(axes, learned, color=color, linewidth=1.6, label=label)
        _finish_learning(axes, world, legend=True)
    return [("Three ways to learn with the same diffusion options.", figure)]


def _draw_mean(axes: Axes, learned: Arrays, **look: Any) -> None:
    mean = learned["curves"].mean(axis=(0, 1))
    axes.plot(np.arange(1, mean.size + 1), mean, **look)


def _finish_learning(axes: Axes, world: str, *, legend: bool) -> None:
    axes.set(xlabel="episode", ylabel="steps to goal", ylim=(0, 108), title=WORLD_TITLES[world])
    tidy(axes)
    if legend:
        axes.legend(frameon=False, fontsize=8)


def draw_corner(results: Results, *, wind: float) -> list[Captioned]:
    """Return learning of one task with diffusion options, eigenoptions and random options."""
    curves = _curves({method: corner_learning(results, method, wind) for method in CORNER_METHODS})
    figure = new_figure(10.5, 4.0)
    left, right = figure.subplots(1, 2, width_ratios=[1.7, 1])
    first = {method: (mean[:100], spread[:100]) for method, (mean, spread) in curves.items()}
    learning_curves(left, first, legend=False)
    left.legend(frameon=False, fontsize=9, loc="lower left")
    left.set_title("the first 100 episodes", fontsize=10)
    learning_curves(right, curves, legend=False)
    right.set_title("all episodes", fontsize=10)
    return [("From the bottom left to the top right corner; the band is the standard deviation over runs.", figure)]


def draw_rivals(results: Results) -> list[Captioned]:
    """Return learning with the options of every method."""
    figure = new_figure(13, 3.6)
    for axes, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        curves = _curves({method: learning(results, world, method) for method in STEP_METHODS})
        means = {method: (mean, np.zeros_like(mean)) for method, (mean, _) in curves.items()}
        learning_curves(axes, means, legend=world == "ring")
        axes.set_title(WORLD_TITLES[world])
    return [("Learning by the paper's protocol with the options of every method, t = 4.", figure)]


def draw_difficulty(results: Results) -> list[Captioned]:
    """Return three measures of how hard each world is."""
    figure = new_figure(10.5, 3.2)
    measures = {
        "difficulty (crosses: printed)": [
            float(results.get(world_difficulty, world=world)["difficulty"]) for world in WORLDS
        ],
        "learning without options, mean steps": [
            float(run_means(learning(results, world, "none")).mean()) for world in WORLDS
        ],
        "steps between states, mean": [typical_steps(results, world, 4, "none", "mean") for world in WORLDS],
    }
    for axes, (name, values) in zip(figure.subplots(1, 3), measures.items(), strict=True):
        titles, colors = [WORLD_TITLES[world] for world in WORLDS], [WORLD_COLORS[world] for world in WORLDS]
        axes.bar(titles, values, color=colors, width=0.6)
        axes.set_title(name, fontsize=10)
        tidy(axes)
        if name.startswith("difficulty"):
            axes.plot([PRINTED_DIFFICULTY[world] for world in WORLDS], "x", color="black", markersize=8)
    return [("Three measures of how hard a world is.", figure)]
