"""The paper's figures of learning, visitation and steps between states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from farpoint.paper.framework import Captioned, Part
from farpoint.paper.numbers import learning_curve, run_means, typical_steps
from farpoint.paper.plan import (
    CORNER_METHODS,
    EIGEN_NUMBERS,
    METHODS,
    PRINTED_DIFFICULTY,
    STEP_METHODS,
    TIMES,
    WIND,
    WORLDS,
    Results,
    algorithm_part,
    corner_part,
    difficulty_part,
    learn_part,
    score_part,
    windy_part,
)
from farpoint.paper.score_figures import WORLD_COLORS, score_panel
from farpoint.report.canvas import GOAL, START, heat_map, mark
from farpoint.report.curves import Curves, learning_curves, tidy
from farpoint.report.names import METHOD_COLORS, METHOD_TITLES, WORLD_TITLES
from farpoint.report.sheets import new_figure
from farpoint.worlds import World, named_world

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EIGEN_SHADES = ("#fdd0a2", "#fdae6b", "#fd8d3c", "#e6550d", "#8c2d04")
_ALGORITHM_LOOKS = {
    "paper": ("#0072b2", "the paper's"),
    "smdp": ("#cc79a7", "SMDP"),
    "intra-option": ("#009e73", "intra-option"),
}


def draw_learning(results: Results, *, t: int) -> list[Captioned]:
    """Return Figure 2: the task, visits while learning, and learning curves."""
    figure = new_figure(14.5, 8.6)
    panels = figure.subplots(3, 5, width_ratios=[1, 1, 1, 1, 1.35])
    for row, name in zip(panels, WORLDS, strict=True):
        world = named_world(name)
        _draw_task(row[0], world)
        row[0].set_title(f"{WORLD_TITLES[name]}: start and goals", fontsize=10)
        parts = {method: learn_part(name, method, results.scale, t=t) for method in METHODS}
        _draw_visits(figure, row[1:4], world, results, parts)
        learning_curves(row[4], _curves(results, parts), legend=name == "ring")
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
    parts = (
        score_part("four_rooms", 4),
        score_part("four_rooms", 4, WIND),
        score_part("four_rooms", 4, WIND, "walk"),
    )
    for axes, title, part in zip(maps.subplots(1, 3), titles, parts, strict=True):
        arrays = results[part]
        score_panel(maps, axes, world, arrays["scores"], "$f_4(s)$")
        mark(axes, world, arrays["goals"], size=6)
        axes.set_title(f"{title}: {arrays['goals'].size} goals", fontsize=10)
    learned = new_figure(14, 3.6)
    row = learned.subplots(1, 4, width_ratios=[1, 1, 1, 1.5])
    windy = {method: windy_part(method, results.scale) for method in METHODS}
    _draw_visits(learned, row[:3], world, results, windy)
    learning_curves(row[3], _curves(results, windy))
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


def _draw_visits(
    figure: Figure, row: Sequence[Axes], world: World, results: Results, parts: Mapping[str, Part]
) -> None:
    for axes, (method, part) in zip(row, parts.items(), strict=True):
        visits = results[part]["visits"]
        image = heat_map(axes, world, visits / visits.max())
        axes.set_title(METHOD_TITLES[method], fontsize=10)
        figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03, label="visits")


def _curves(results: Results, parts: Mapping[str, Part]) -> Curves:
    return {method: learning_curve(results, part) for method, part in parts.items()}


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
            part = learn_part(world, "eigen", results.scale, n_options=number)
            _draw_mean(axes, results, part, color=shade, linewidth=1.2, label=f"{number} eigenoptions")
        ours = learn_part(world, "diffusion", results.scale)
        _draw_mean(
            axes, results, ours, color=METHOD_COLORS["diffusion"], linewidth=2.6, label=METHOD_TITLES["diffusion"]
        )
        _finish_learning(axes, world, legend=world == "ring")
    return [("Learning with diffusion options (bold) and with 10 to 50 eigenoptions.", figure)]


def draw_algorithms(results: Results) -> list[Captioned]:
    """Return learning with the same options by three algorithms."""
    figure = new_figure(13, 3.6)
    for axes, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        for algorithm, (color, label) in _ALGORITHM_LOOKS.items():
            part = algorithm_part(world, "diffusion", algorithm, results.scale)
            _draw_mean(axes, results, part, color=color, linewidth=1.6, label=label)
        _finish_learning(axes, world, legend=True)
    return [("Three ways to learn with the same diffusion options.", figure)]


def _draw_mean(axes: Axes, results: Results, part: Part, **look: Any) -> None:
    mean = results[part]["curves"].mean(axis=(0, 1))
    axes.plot(np.arange(1, mean.size + 1), mean, **look)


def _finish_learning(axes: Axes, world: str, *, legend: bool) -> None:
    axes.set(xlabel="episode", ylabel="steps to goal", ylim=(0, 108), title=WORLD_TITLES[world])
    tidy(axes)
    if legend:
        axes.legend(frameon=False, fontsize=8)


def draw_corner(results: Results, *, wind: float) -> list[Captioned]:
    """Return learning of one task with diffusion options, eigenoptions and random options."""
    curves = _curves(results, {method: corner_part(method, results.scale, wind) for method in CORNER_METHODS})
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
        curves = _curves(results, {method: learn_part(world, method, results.scale) for method in STEP_METHODS})
        means = {method: (mean, np.zeros_like(mean)) for method, (mean, _) in curves.items()}
        learning_curves(axes, means, legend=world == "ring")
        axes.set_title(WORLD_TITLES[world])
    return [("Learning by the paper's protocol with the options of every method, t = 4.", figure)]


def draw_difficulty(results: Results) -> list[Captioned]:
    """Return three measures of how hard each world is."""
    figure = new_figure(10.5, 3.2)
    measures = {
        "difficulty (crosses: printed)": [float(results[difficulty_part(world)]["difficulty"]) for world in WORLDS],
        "learning without options, mean steps": [
            float(run_means(results, learn_part(world, "none", results.scale)).mean()) for world in WORLDS
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
