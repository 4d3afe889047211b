"""One figure that compares methods on one world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farpoint.report.curves import Curves, learning_curves, tidy
from farpoint.report.names import METHOD_COLORS, METHOD_TITLES
from farpoint.report.sheets import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_comparison(world_name: str, steps: Mapping[str, NDArray[np.float64]], curves: Curves) -> Figure:
    """Return steps between states (one dot per target) beside learning curves, for each method.

    Examples
    --------
    >>> figure = draw_comparison("ring", {"none": np.ones(3)}, {"none": (np.ones(9), np.zeros(9))})
    """
    figure = new_figure(10.5, 4.0)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    rng = np.random.default_rng(0)
    for place, (method, per_target) in enumerate(steps.items()):
        # Dots of equal value are spread out in height, so that all of them are seen.
        heights = place + rng.uniform(-0.22, 0.22, size=per_target.size)
        left.plot(
            per_target, heights, linestyle="none", marker="o", markersize=3, color=METHOD_COLORS[method], alpha=0.45
        )
        left.plot(np.median(per_target), place, marker="|", markersize=22, markeredgewidth=2.5, color="black")
    left.set_yticks(range(len(steps)), [METHOD_TITLES[method] for method in steps])
    left.invert_yaxis()
    left.set_xscale("log")
    left.set_xlabel("expected steps to a state, mean over starts (bar: median)")
    tidy(left)
    learning_curves(right, curves)
    figure.suptitle(f"{world_name}: options compared", fontsize=12)
    return figure
