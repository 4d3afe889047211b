"""How soon a task is learned from scratch: a table per place, and one figure of them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from farpoint.measures.statistics import Estimate, estimate
from farpoint.report.curves import interval_dot, tidy
from farpoint.report.names import METHOD_COLORS, METHOD_TITLES
from farpoint.report.sheets import new_figure
from farpoint.report.tables import Count, Row
from research.exploration.plan import BY_LOOP, Learning, Place, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEARNING_CAPTION = (
    "Steps, all of them counted from the first, until the target is first reached, and until the best decisions are "
    "near-optimal: interquartile means with 95 % intervals over runs and layouts. Runs that did not get there count "
    "with all their steps."
)
_MEASURES = {"first_target": "target first reached", "near_optimal": "near-optimal"}


def _estimate(results: Results, place: Place, learning: Learning, method: str, measure: str) -> Estimate | None:
    """Return the interquartile mean of a measure; None where it is not known."""
    arrays = results[learning.part(place, method, results.scale)]
    if np.isnan(arrays[measure]).any():
        return None
    return estimate(arrays[measure], groups=place.layouts(arrays[measure].size), limit=float(arrays["n_steps"].max()))


def learning_rows(results: Results, place: Place, learning: Learning = BY_LOOP) -> list[Row]:
    """Return the steps until the target and until the best decisions are near-optimal, for each learner."""
    rows: list[Row] = []
    for method in learning.methods:
        arrays = results[learning.part(place, method, results.scale)]
        row: Row = {"method": METHOD_TITLES[method]}
        for measure, title in _MEASURES.items():
            known = _estimate(results, place, learning, method, measure)
            row[title] = known
            reached = Count(int(np.isfinite(arrays[measure]).sum()), arrays[measure].size)
            row[f"{title}, runs"] = None if known is None else reached
        row["states seen"] = float(arrays["n_seen"].mean())
        rows.append(row)
    return rows


def draw_learning(results: Results, places: Sequence[Place], learning: Learning = BY_LOOP) -> Figure:
    """Return both measures for every place and learner, on a logarithmic scale."""
    figure = new_figure(11.0, 0.6 * len(places) + 1.4)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (measure, title) in zip(panels, _MEASURES.items(), strict=True):
        for place_number, place in enumerate(places):
            for offset, method in enumerate(learning.methods):
                known = _estimate(results, place, learning, method, measure)
                if known is None:
                    continue
                interval_dot(
                    axes,
                    place_number + 0.15 * (offset - (len(learning.methods) - 1) / 2),
                    known.value,
                    known.low,
                    known.high,
                    color=METHOD_COLORS[method],
                    label=METHOD_TITLES[method] if place_number == 0 else None,
                )
        axes.set_xscale("log")
        axes.set_xlabel(f"steps until {title}")
        tidy(axes)
        axes.grid(axis="x", color="#00000012")
    panels[0].set_yticks(range(len(places)), [place.title for place in places])
    panels[0].invert_yaxis()
    # Beside the last panel that shows something: of environments that cannot be enumerated near-optimal is not known.
    (panels[1] if panels[1].get_legend_handles_labels()[0] else panels[0]).legend(
        frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0)
    )
    return figure
