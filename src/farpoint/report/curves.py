"""Line drawings that several figures share: learning curves, bands and estimates with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.report.names import METHOD_COLORS, METHOD_LINES, METHOD_TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Per method: the mean after each episode and its spread.
Curves = Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]


def learning_curves(
    axes: Axes, curves: Curves, *, legend: bool = True, colors: Mapping[str, Any] = METHOD_COLORS
) -> None:
    """Draw steps to the goal over episodes: for each method the mean as a line and its spread as a band.

    >>> from farpoint.report.sheets import new_figure
    >>> axes = new_figure(4, 3).subplots()
    >>> learning_curves(axes, {"none": (np.full(9, 5.0), np.ones(9))})
    >>> axes.get_xlabel()
    'episode'
    """
    for method, (mean, spread) in curves.items():
        episodes = np.arange(1, mean.size + 1)
        line, title = METHOD_LINES.get(method, "-"), METHOD_TITLES.get(method, method)
        band(axes, episodes, mean, spread, color=colors[method], label=title, linestyle=line)
    axes.set_xlabel("episode")
    axes.set_ylabel("steps to goal")
    axes.set_ylim(0, 1.07 * max(float(mean.max()) for mean, _ in curves.values()))
    axes.set_xlim(1, None)
    tidy(axes)
    if legend:
        axes.legend(frameon=False, fontsize=8)


def band(
    axes: Axes,
    x: ArrayLike,
    mean: NDArray[np.float64],
    spread: NDArray[np.float64],
    *,
    color: Any,
    label: str,
    linestyle: Any = "-",
) -> None:
    """Draw a line with a band of ``spread`` to either side."""
    axes.fill_between(np.asarray(x), mean - spread, mean + spread, color=color, alpha=0.18, linewidth=0)
    axes.plot(np.asarray(x), mean, color=color, linestyle=linestyle, linewidth=1.6, label=label)


def interval_dot(
    axes: Axes, y: float, value: float, low: float, high: float, *, color: Any, label: str | None = None
) -> None:
    """Draw an estimate as a dot at height ``y`` with its interval as a line."""
    axes.plot([low, high], [y, y], color=color, linewidth=2)
    axes.plot(value, y, "o", color=color, markersize=6, label=label)


def tidy(axes: Axes) -> None:
    """Remove the upper and the right side of the frame."""
    axes.spines[["top", "right"]].set_visible(False)
