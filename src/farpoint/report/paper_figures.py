"""The paper's figures, drawn from finished results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from farpoint.experiments.paper import (
    DUMBBELL,
    EIGEN_NUMBERS,
    GRID_TIMES,
    METHOD_TITLES,
    METHODS,
    PRINTED_MEAN,
    PRINTED_MEDIAN,
    STEP_METHODS,
    TIMES,
    TITLES,
    WIND,
    WORLDS,
    algorithm_part,
    components_part,
    corner_part,
    counts_part,
    grid_part,
    learn_part,
    score_part,
    windy_part,
)
from farpoint.experiments.parts import Part
from farpoint.experiments.runner import Results
from farpoint.experiments.tables import run_means, typical
from farpoint.report.curves import METHOD_COLORS, learning_curves, tidy
from farpoint.report.pictures import GOAL, START, heat_map, mark
from farpoint.worlds import World
from farpoint.worlds import named_world as make_world

_WORLD_COLORS = {"ring": "#0072b2", "maze": "#d55e00", "four_rooms": "#009e73"}


def _figure_1(results: Results) -> list[tuple[str, Figure]]:
    figure = Figure(figsize=(9.6, 9.0), layout="constrained")
    for row, world in zip(figure.subplots(3, 3), WORLDS, strict=True):
        domain = make_world(world)
        _panel(figure, row[0], domain, results[Part.of("stationary", world=world)]["pi"], r"$\pi_0(s)$")
        for axes, t in zip(row[1:], TIMES, strict=True):
            arrays = results[score_part(world, t)]
            _panel(figure, axes, domain, arrays["scores"], f"$f_{{{t}}}(s)$")
            mark(axes, domain, arrays["goals"], size=5)
            axes.set_title(f"$f_{{{t}}}$: {arrays['goals'].size} options", fontsize=10)
        row[0].set_title(f"{TITLES[world]}: stationary distribution", fontsize=10)
    return [("Stationary distribution and score of the three worlds; dots are the options' goals.", figure)]


def _panel(figure: Figure, axes: Axes, domain: World, values: NDArray[np.float64], label: str) -> None:
    image = heat_map(axes, domain, values)
    figure.colorbar(image, ax=axes, label=label, fraction=0.046, pad=0.03, format="%.2g")


def _figure_2(t: int) -> Callable[[Results], list[tuple[str, Figure]]]:
    def draw(results: Results) -> list[tuple[str, Figure]]:
        figure = Figure(figsize=(14.5, 8.6), layout="constrained")
        panels = figure.subplots(3, 5, width_ratios=[1, 1, 1, 1, 1.35])
        for row, world in zip(panels, WORLDS, strict=True):
            domain = make_world(world)
            _task(row[0], domain)
            row[0].set_title(f"{TITLES[world]}: start and goals", fontsize=10)
            parts = {method: learn_part(world, method, results.scale, t=t) for method in METHODS}
            _visits(row[1:4], domain, results, parts)
            learning_curves(row[4], _curves(results, parts), METHOD_TITLES, legend=world == "ring")
        return [
            (
                "Start (green) and goals (orange); visits while learning, the most visited state as 1; steps to the "
                "goal after each episode, mean over runs and goals, the standard deviation over goals as a band.",
                figure,
            )
        ]

    return draw


def _task(axes: Axes, domain: World) -> None:
    heat_map(axes, domain, np.zeros(domain.n_states), plain=True)
    assert domain.start is not None
    assert domain.goals is not None
    cells = np.asarray(domain.positions)
    axes.plot(*cells[domain.goals].T[::-1], linestyle="none", marker="s", markersize=4, color=GOAL)
    axes.plot(*cells[domain.start][::-1], linestyle="none", marker="o", markersize=7, color=START)


def _visits(row: NDArray[np.object_], domain: World, results: Results, parts: dict[str, Part]) -> None:
    for axes, (method, part) in zip(row, parts.items(), strict=True):
        visits = results[part]["visits"]
        image = heat_map(axes, domain, visits / visits.max())
        axes.set_title(METHOD_TITLES[method], fontsize=10)
        axes.figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03, label="visits")


def _curves(results: Results, parts: dict[str, Part]) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return mean and standard deviation over goals of each part; over runs where there is one goal."""
    curves = {}
    for method, part in parts.items():
        values = results[part]["curves"].astype(np.float64)
        over_runs = values.shape[1] == 1
        spread = values[:, 0].std(axis=0, ddof=1) if over_runs else values.mean(axis=0).std(axis=0, ddof=1)
        curves[method] = values.mean(axis=(0, 1)), spread
    return curves


def _steps(
    name: str, printed: dict[tuple[str, int], dict[str, tuple[int, int]]]
) -> Callable[[Results], list[tuple[str, Figure]]]:
    def draw(results: Results) -> list[tuple[str, Figure]]:
        figure = Figure(figsize=(11, 5.2), layout="constrained")
        for row, t in zip(figure.subplots(2, 3), TIMES, strict=True):
            for axes, world in zip(row, WORLDS, strict=True):
                values = {method: typical(results, world, t, method, name) for method in STEP_METHODS}
                for place, method in enumerate(STEP_METHODS):
                    color, value = METHOD_COLORS[method], values[method]
                    axes.plot(value, place, marker="o", markersize=8, color=color)
                    axes.text(value, place - 0.28, f"{value:,.0f}", ha="center", fontsize=8, color=color)
                    if method in printed[world, t]:
                        axes.plot(printed[world, t][method][0], place, marker="|", markersize=15, color="black")
                axes.set_xscale("log")
                axes.set_xlim(60, 1e7 if name == "mean" else 3000)
                axes.set_yticks(range(len(STEP_METHODS)), [METHOD_TITLES[method] for method in STEP_METHODS])
                axes.set_ylim(len(STEP_METHODS) - 0.5, -0.7)
                tidy(axes)
                axes.set_title(f"{TITLES[world]}, $t = {t}$", fontsize=10)
                if axes is not row[0]:
                    axes.set_yticklabels([])
        figure.supxlabel(f"expected steps between states, {name} over targets (black: printed)", fontsize=10)
        caption = f"{name.capitalize()} of the exact expected steps between states; of random options, over draws."
        return [(caption, figure)]

    return draw


def _figure_3(results: Results) -> list[tuple[str, Figure]]:
    domain = make_world("four_rooms", WIND)
    maps = Figure(figsize=(12.5, 3.8), layout="constrained")
    titles = ("no wind", "wind, Algorithm 2", "wind, the walk's own form")
    parts = (
        score_part("four_rooms", 4),
        score_part("four_rooms", 4, WIND),
        score_part("four_rooms", 4, WIND, "walk"),
    )
    for axes, title, part in zip(maps.subplots(1, 3), titles, parts, strict=True):
        arrays = results[part]
        _panel(maps, axes, domain, arrays["scores"], "$f_4(s)$")
        mark(axes, domain, arrays["goals"], size=6)
        axes.set_title(f"{title}: {arrays['goals'].size} goals", fontsize=10)
    learned = Figure(figsize=(14, 3.6), layout="constrained")
    row = learned.subplots(1, 4, width_ratios=[1, 1, 1, 1.5])
    windy = {method: windy_part(method, results.scale) for method in METHODS}
    _visits(row[:3], domain, results, windy)
    learning_curves(row[3], _curves(results, windy), METHOD_TITLES)
    return [
        ("The score of 4Rooms without and with wind that blows down with probability 1/3.", maps),
        ("With wind: visits while learning, and learning.", learned),
    ]


def _dumbbell(results: Results) -> list[tuple[str, Figure]]:
    arrays = results[DUMBBELL]
    figure = Figure(figsize=(10, 2.9), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2), ("euclidean", "diffusion"), strict=True):
        dots = axes.scatter(*arrays["points"].T, c=arrays[name], s=9, cmap="cividis")
        axes.plot(*arrays["points"][int(arrays["reference"])], marker="x", color="#d00000", markersize=11, mew=2.5)
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_title(f"{name.capitalize()} distance from the cross", fontsize=10)
        figure.colorbar(dots, ax=axes, label="distance", fraction=0.03, pad=0.02)
    return [("A cloud of 700 points in two discs joined by a bridge, colored by distance from the cross.", figure)]


def _episodes(curves: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.arange(1, curves.shape[2] + 1)


def _eigen_number(results: Results) -> list[tuple[str, Figure]]:
    figure = Figure(figsize=(13, 3.6), layout="constrained")
    shades = ["#fdd0a2", "#fdae6b", "#fd8d3c", "#e6550d", "#8c2d04"]
    for axes, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        for number, shade in zip(EIGEN_NUMBERS, shades, strict=True):
            curves = results[learn_part(world, "eigen", results.scale, n_options=number)]["curves"]
            axes.plot(
                _episodes(curves), curves.mean(axis=(0, 1)), color=shade, linewidth=1.2, label=f"{number} eigenoptions"
            )
        ours = results[learn_part(world, "diffusion", results.scale)]["curves"]
        axes.plot(
            _episodes(ours),
            ours.mean(axis=(0, 1)),
            color=METHOD_COLORS["diffusion"],
            linewidth=2.6,
            label="diffusion options",
        )
        axes.set(xlabel="episode", ylabel="steps to goal", ylim=(0, 108), title=TITLES[world])
        tidy(axes)
        if world == "ring":
            axes.legend(frameon=False, fontsize=8)
    return [("Learning with diffusion options (bold) and with 10 to 50 eigenoptions.", figure)]


def _counts(results: Results) -> list[tuple[str, Figure]]:
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    for world, marker in zip(WORLDS, "os^", strict=True):
        arrays = results[counts_part(world)]
        axes.plot(
            arrays["times"],
            arrays["counts"],
            marker=marker,
            markersize=4,
            color=_WORLD_COLORS[world],
            label=TITLES[world],
        )
    axes.set(xlabel="$t$", ylabel="number of options", ylim=(0, None))
    tidy(axes)
    axes.legend(frameon=False)
    return [("Number of local maxima of the score over diffusion time.", figure)]


def _random(wind: float) -> Callable[[Results], list[tuple[str, Figure]]]:
    def draw(results: Results) -> list[tuple[str, Figure]]:
        parts = {m: corner_part(m, results.scale, wind) for m in ("diffusion", "eigen", "random")}
        curves = _curves(results, parts)
        figure = Figure(figsize=(10.5, 4.0), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1.7, 1])
        first = {method: (mean[:100], spread[:100]) for method, (mean, spread) in curves.items()}
        learning_curves(left, first, METHOD_TITLES, legend=False)
        left.legend(frameon=False, fontsize=9, loc="lower left")
        left.set_title("the first 100 episodes", fontsize=10)
        learning_curves(right, curves, METHOD_TITLES, legend=False)
        right.set_title("all episodes", fontsize=10)
        return [("From the bottom left to the top right corner; the band is the standard deviation over runs.", figure)]

    return draw


def _grid(results: Results) -> list[tuple[str, Figure]]:
    figure = Figure(figsize=(12.5, 4.2), layout="constrained")
    for index, t in enumerate(GRID_TIMES):
        scores = results[grid_part(t)]["scores"]
        axes = figure.add_subplot(1, 3, index + 1, projection="3d")
        rows, columns = np.mgrid[: scores.shape[0], : scores.shape[1]]
        axes.plot_surface(rows, columns, scores, cmap="cividis", linewidth=0.2, edgecolor="#00000040")
        axes.set_title(f"$f_{{{t}}}(s)$", fontsize=12)
        axes.tick_params(labelsize=7)
        axes.set(xlabel="row", ylabel="column")
        axes.view_init(elev=28, azim=-52)
    return [("The score of an open 20 × 20 grid: smoother with t, highest at the corners.", figure)]


def _components(results: Results) -> list[tuple[str, Figure]]:
    figure = Figure(figsize=(9.5, 3.6), layout="constrained")
    for axes, t in zip(figure.subplots(1, 2), TIMES, strict=True):
        for world, marker in zip(WORLDS, "os^", strict=True):
            arrays, color = results[components_part(world, t)], _WORLD_COLORS[world]
            axes.plot(
                arrays["numbers"], arrays["shared"], marker=marker, markersize=4, color=color, label=TITLES[world]
            )
            axes.axhline(float(arrays["whole"]), color=color, linestyle=":", linewidth=1)
        axes.axvspan(10, 20, color="#00000010", linewidth=0)
        axes.set(xlabel="eigenvectors used", ylabel="true goals found", title=f"$t = {t}$", ylim=(0, None))
        tidy(axes)
    axes.legend(frameon=False, loc="lower right")
    return [("True goals that k eigenvectors find (dotted: all of them; shaded: the paper's 10 to 20).", figure)]


def _rivals(results: Results) -> list[tuple[str, Figure]]:
    figure = Figure(figsize=(13, 3.6), layout="constrained")
    for axes, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        parts = {method: learn_part(world, method, results.scale) for method in STEP_METHODS}
        means = {method: (mean, np.zeros_like(mean)) for method, (mean, _) in _curves(results, parts).items()}
        learning_curves(axes, means, METHOD_TITLES, legend=world == "ring")
        axes.set_title(TITLES[world])
    return [("Learning by the paper's protocol with the options of every method, t = 4.", figure)]


def _algorithms(results: Results) -> list[tuple[str, Figure]]:
    figure = Figure(figsize=(13, 3.6), layout="constrained")
    styles = {
        "paper": ("#0072b2", "the paper's"),
        "smdp": ("#cc79a7", "SMDP"),
        "intra-option": ("#009e73", "intra-option"),
    }
    for axes, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        for algorithm, (color, label) in styles.items():
            curves = results[algorithm_part(world, "diffusion", algorithm, results.scale)]["curves"]
            axes.plot(_episodes(curves), curves.mean(axis=(0, 1)), color=color, linewidth=1.6, label=label)
        axes.set(xlabel="episode", ylabel="steps to goal", ylim=(0, 108), title=TITLES[world])
        tidy(axes)
        axes.legend(frameon=False, fontsize=8)
    return [("Three ways to learn with the same diffusion options.", figure)]


def _difficulty(results: Results) -> list[tuple[str, Figure]]:
    from farpoint.experiments.paper import PRINTED_DIFFICULTY, difficulty_part

    figure = Figure(figsize=(10.5, 3.2), layout="constrained")
    measures = {
        "difficulty (crosses: printed)": [float(results[difficulty_part(world)]["difficulty"]) for world in WORLDS],
        "learning without options, mean steps": [
            float(run_means(results, learn_part(world, "none", results.scale)).mean()) for world in WORLDS
        ],
        "steps between states, mean": [typical(results, world, 4, "none", "mean") for world in WORLDS],
    }
    for axes, (name, values) in zip(figure.subplots(1, 3), measures.items(), strict=True):
        names, colors = [TITLES[world] for world in WORLDS], [_WORLD_COLORS[world] for world in WORLDS]
        axes.bar(names, values, color=colors, width=0.6)
        axes.set_title(name, fontsize=10)
        tidy(axes)
        if name.startswith("difficulty"):
            axes.plot([PRINTED_DIFFICULTY[world] for world in WORLDS], "x", color="black", markersize=8)
    return [("Three measures of how hard a world is.", figure)]


FIGURES: dict[str, Callable[[Results], list[tuple[str, Figure]]]] = {
    "fig1": _figure_1,
    "fig2": _figure_2(4),
    "table1": _steps("median", PRINTED_MEDIAN),
    "fig3": _figure_3,
    "difficulty": _difficulty,
    "dumbbell": _dumbbell,
    "eigen_number": _eigen_number,
    "table2": _steps("mean", PRINTED_MEAN),
    "counts": _counts,
    "fig2_t13": _figure_2(13),
    "random": _random(0.0),
    "random_wind": _random(WIND),
    "grid": _grid,
    "components": _components,
    "rivals": _rivals,
    "algorithms": _algorithms,
}
