"""The paper's figures of scores, distances and goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farpoint.paper.framework import Captioned
from farpoint.paper.plan import (
    DUMBBELL,
    GRID_TIMES,
    TIMES,
    WORLDS,
    Results,
    components_part,
    counts_part,
    grid_part,
    score_part,
    stationary_part,
)
from farpoint.report.canvas import heat_map, mark
from farpoint.report.curves import tidy
from farpoint.report.names import WORLD_TITLES
from farpoint.report.sheets import new_figure
from farpoint.worlds import World, named_world

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORLD_COLORS = {"ring": "#0072b2", "maze": "#d55e00", "four_rooms": "#009e73"}


def draw_scores(results: Results) -> list[Captioned]:
    """Return Figure 1: stationary distribution and score of the three worlds."""
    figure = new_figure(9.6, 9.0)
    for row, name in zip(figure.subplots(3, 3), WORLDS, strict=True):
        world = named_world(name)
        score_panel(figure, row[0], world, results[stationary_part(name)]["pi"], r"$\pi_0(s)$")
        for axes, t in zip(row[1:], TIMES, strict=True):
            arrays = results[score_part(name, t)]
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
    arrays = results[DUMBBELL]
    figure = new_figure(10, 2.9)
    for axes, name in zip(figure.subplots(1, 2), ("euclidean", "diffusion"), strict=True):
        dots = axes.scatter(*arrays["points"].T, c=arrays[name], s=9, cmap="cividis")
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
    for world, marker in zip(WORLDS, "os^", strict=True):
        arrays = results[counts_part(world)]
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
        scores = results[grid_part(t)]["scores"]
        axes = figure.add_subplot(1, 3, index + 1, projection="3d")
        rows, columns = np.mgrid[: scores.shape[0], : scores.shape[1]]
        axes.plot_surface(rows, columns, scores, cmap="cividis", linewidth=0.2, edgecolor="#00000040")
        axes.set_title(f"$f_{{{t}}}(s)$", fontsize=12)
        axes.tick_params(labelsize=7)
        axes.set(xlabel="row", ylabel="column")
        axes.view_init(elev=28, azim=-52)
    return [("The score of an open 20 × 20 grid: smoother with t, highest at the corners.", figure)]


def draw_components(results: Results) -> list[Captioned]:
    """Return how many true goals a score of k eigenvectors has."""
    figure = new_figure(9.5, 3.6)
    for axes, t in zip(figure.subplots(1, 2), TIMES, strict=True):
        for world, marker in zip(WORLDS, "os^", strict=True):
            arrays, color = results[components_part(world, t)], WORLD_COLORS[world]
            label = WORLD_TITLES[world]
            axes.plot(arrays["numbers"], arrays["shared"], marker=marker, markersize=4, color=color, label=label)
            axes.axhline(float(arrays["whole"]), color=color, linestyle=":", linewidth=1)
        axes.axvspan(10, 20, color="#00000010", linewidth=0)
        axes.set(xlabel="eigenvectors used", ylabel="true goals found", title=f"$t = {t}$", ylim=(0, None))
        tidy(axes)
    axes.legend(frameon=False, loc="lower right")
    return [("True goals that k eigenvectors find (dotted: all of them; shaded: the paper's 10 to 20).", figure)]
