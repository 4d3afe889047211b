"""One figure that compares methods on one world."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from farpoint.experiments.paper import METHOD_TITLES
from farpoint.report.curves import METHOD_COLORS, learning_curves, tidy


def draw_comparison(
    world: str,
    steps: Mapping[str, NDArray[np.float64]],
    curves: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> Figure:
    """Return steps between states (one dot a target) beside learning curves, for each method.

    Examples
    --------
    >>> figure = draw_comparison("x", {"none": np.ones(3)}, {"none": (np.ones(9), np.zeros(9))})
    """
    figure = Figure(figsize=(10.5, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    rng = np.random.default_rng(0)
    for place, (method, per_goal) in enumerate(steps.items()):
        color = METHOD_COLORS[method]
        jitter = place + rng.uniform(-0.22, 0.22, size=per_goal.size)
        left.plot(per_goal, jitter, linestyle="none", marker="o", markersize=3, color=color, alpha=0.45)
        left.plot(np.median(per_goal), place, marker="|", markersize=22, markeredgewidth=2.5, color="black")
    left.set_yticks(range(len(steps)), [METHOD_TITLES[method] for method in steps])
    left.invert_yaxis()
    left.set_xscale("log")
    left.set_xlabel("expected steps to a state, mean over starts (bar: median)")
    tidy(left)
    learning_curves(right, curves, METHOD_TITLES)
    figure.suptitle(f"{world}: options compared", fontsize=12)
    return figure
