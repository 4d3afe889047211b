"""The figure of each experiment."""

from __future__ import annotations

import numpy as np

from farpoint.paper.page import Captioned
from farpoint.report.figures import METHOD_COLORS, METHOD_TITLES, new_figure
from farpoint.report.results import tidy
from research.large.computation import coverage_of, extension
from research.large.coverage import METHODS
from research.large.plan import (
    EXTENSIONS,
    SHARES,
    TIMES,
    WORLD_TITLES,
    Results,
)
from research.large.rows import over_logs

_EXTENSION_COLORS = {"nystrom": "#0072b2", "harmonics": "#d55e00"}
_UNITS = {"maze": "steps", "pointmaze": "pushes"}


def draw_extension(results: Results) -> list[Captioned]:
    """Return the correlation with the true score over the share of the states, for each world."""
    worlds = (*results.scale.worlds, *results.scale.large_worlds)
    figure = new_figure(12.5, 3.4)
    percent = 100 * np.array(SHARES)
    panels = figure.subplots(1, len(worlds), sharey=True)
    for axes, world in zip(panels, worlds, strict=True):
        for method in EXTENSIONS:
            for t, line in zip(TIMES, ("-", "--"), strict=True):
                means = [extension(results, world, t, share, method)["correlation"].mean() for share in SHARES]
                axes.plot(percent, means, line, color=_EXTENSION_COLORS[method], marker="o", markersize=4,
                          label=f"{method}, t = {t}")  # fmt: skip
        axes.set_title(WORLD_TITLES[world], loc="left", fontsize=11)
        axes.set_xscale("log")
        axes.set_xticks(percent, [f"{value:g}" for value in percent])
        axes.minorticks_off()
        axes.set_xlabel("% of the states")
        axes.grid(alpha=0.2)
        tidy(axes)
    panels[0].set_ylabel("correlation with $f_t$")
    panels[0].set_ylim(-0.05, 1.02)
    panels[-1].legend(frameon=False, fontsize=8, loc="lower right")
    return [("Correlation with the true score, over the share of states that was used.", figure)]


def draw_coverage(results: Results, *, env: str) -> list[Captioned]:
    """Return a maze with the goals of each method, and the share of it that was visited."""
    figure = new_figure(8.8, 4.2)
    axes_map, axes = figure.subplots(1, 2, gridspec_kw={"width_ratios": [1.15, 1]})
    floor = coverage_of(results, "none", env)["floor"]
    axes_map.imshow(~floor, cmap="Greys", vmin=0, vmax=1.6, extent=(0, floor.shape[1], floor.shape[0], 0))
    for method in ("eigen", "random", "diffusion"):
        goals = coverage_of(results, method, env)["goals"]
        axes_map.scatter(*goals.T, s=26, color=METHOD_COLORS[method], label=METHOD_TITLES[method], zorder=3)
    axes_map.set_axis_off()
    axes_map.set_title("goals on the sampled graph", loc="left", fontsize=11)
    axes_map.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncol=3)
    for method in METHODS:
        covered = coverage_of(results, method, env)
        shares, steps = 100 * covered["shares"], covered["checkpoints"]
        # The same interval as in the table, at every step.
        found = [over_logs(shares[:, :, number]) for number in range(len(steps))]
        low, high = [one.low for one in found], [one.high for one in found]
        axes.fill_between(steps, low, high, color=METHOD_COLORS[method], alpha=0.18, linewidth=0)
        axes.plot(steps, [one.value for one in found], color=METHOD_COLORS[method], label=METHOD_TITLES[method])
    axes.set(xlabel=_UNITS[env], ylabel="% of the cells seen", ylim=(0, 100), xlim=(0, steps[-1]))
    tidy(axes)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    caption = f"Share of the maze's cells seen over {_UNITS[env]}: means, and 95 % bands over logs and agents."
    return [(caption, figure)]
