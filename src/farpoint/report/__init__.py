"""Pictures, tables and pages. Functions take finished numbers and compute none, but for where states are drawn."""

from farpoint.report.animation import Animation, animate, animate_env
from farpoint.report.figures import FORMATS, new_figure, save_figure
from farpoint.report.plots import (
    draw_policy,
    draw_route,
    draw_score,
    draw_score_over_t,
    draw_stationary,
    draw_world,
)
from farpoint.report.results import draw_comparison

__all__ = [
    "FORMATS",
    "Animation",
    "animate",
    "animate_env",
    "draw_comparison",
    "draw_policy",
    "draw_route",
    "draw_score",
    "draw_score_over_t",
    "draw_stationary",
    "draw_world",
    "new_figure",
    "save_figure",
]
