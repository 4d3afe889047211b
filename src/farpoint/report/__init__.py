"""Pictures, tables and pages. Every function takes finished numbers and computes none."""

from farpoint.report.number_curve import draw_curve
from farpoint.report.pictures import draw_policy, draw_route, draw_score, draw_score_over_t, draw_stationary
from farpoint.report.sheets import FORMATS, save_figure

__all__ = [
    "FORMATS",
    "draw_curve",
    "draw_policy",
    "draw_route",
    "draw_score",
    "draw_score_over_t",
    "draw_stationary",
    "save_figure",
]
