"""Learning curves and other line drawings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

# Okabe and Ito's colors, which people with any color vision tell apart.
METHOD_COLORS = {
    "diffusion": "#0072b2",
    "eigen": "#d55e00",
    "cover": "#cc79a7",
    "random": "#009e73",
    "none": "#7f7f7f",
}
METHOD_LINES = {"diffusion": "-", "eigen": "--", "cover": "-.", "random": ":", "none": (0, (3, 1, 1, 1))}


def learning_curves(
    axes: Axes,
    curves: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    labels: Mapping[str, str],
    *,
    legend: bool = True,
) -> None:
    """Draw steps to the goal over episodes: for each method the mean as a line and its spread as a band."""
    for method, (mean, spread) in curves.items():
        episodes = np.arange(1, mean.size + 1)
        color = METHOD_COLORS[method]
        axes.fill_between(episodes, mean - spread, mean + spread, color=color, alpha=0.18, linewidth=0)
        axes.plot(episodes, mean, color=color, linestyle=METHOD_LINES[method], linewidth=1.6, label=labels[method])
    axes.set_xlabel("episode")
    axes.set_ylabel("steps to goal")
    axes.set_ylim(0, 1.07 * max(float(mean.max()) for mean, _ in curves.values()))
    axes.set_xlim(1, None)
    tidy(axes)
    if legend:
        axes.legend(frameon=False, fontsize=8)


def tidy(axes: Axes) -> None:
    """Take away the frame's upper and right side."""
    axes.spines[["top", "right"]].set_visible(False)
