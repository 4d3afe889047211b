"""Pictures for papers and talks."""

from farpoint.report.pictures import (
    FORMATS,
    draw_policy,
    draw_route,
    draw_score,
    draw_score_over_t,
    draw_stationary,
    save_figure,
)

__all__ = [
    "FORMATS",
    "draw_policy",
    "draw_route",
    "draw_score",
    "draw_score_over_t",
    "draw_stationary",
    "save_figure",
]
