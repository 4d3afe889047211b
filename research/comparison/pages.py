"""Tables and figures of the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.measures import Estimate
from farpoint.paper.page import Captioned
from farpoint.report.figures import METHOD_COLORS, METHOD_LINES, METHOD_TITLES, new_figure
from farpoint.report.results import tidy
from farpoint.report.tables import Row, Share
from research.comparison.computation import measured
from research.comparison.plan import FAMILIES, MEASURES, METHODS, Results, worlds_of
from research.comparison.profiles import (
    FACTORS,
    WIDE_FACTORS,
    profile_of,
    ratios_to_best,
    typical_ratio,
    with_interval,
)

_COLUMNS = 4
_WORLDS_FOR_BANDS = 10
# No options are discovered in no time.
_TIMED = tuple(method for method in METHODS if method != "none")


def table_of(
    results: Results, measure: str, families: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.int64], tuple[str, ...]]:
    """Return a measure of every world (rows) and method, the family of each world, and the methods."""
    methods = _TIMED if measure == "seconds" else METHODS
    rows, of_family = [], []
    for number, family in enumerate(families):
        for world in worlds_of(family, results.scale):
            values = [measured(results, family, world, method, measure) for method in methods]
            if not np.isnan(values).any():
                rows.append(values)
                of_family.append(number)
    return np.array(rows).reshape(len(rows), len(methods)), np.array(of_family, dtype=np.int64), methods


def family_rows(results: Results, *, family: str) -> list[Row]:
    """Return one row per world and measure, one column per method."""
    rows: list[Row] = []
    for world in worlds_of(family, results.scale):
        for measure, title in MEASURES.items():
            values = {method: measured(results, family, world, method, measure) for method in METHODS}
            if np.isnan(values["diffusion"]):
                continue
            cells: Row = {METHOD_TITLES[method]: value for method, value in values.items()}
            rows.append({"world": world, "measure": title, **cells})
    return rows


def ranking_rows(results: Results, *, families: Sequence[str] = tuple(FAMILIES)) -> list[Row]:
    """Return for each measure the methods in order, with their typical ratio to the best one."""
    rows: list[Row] = []
    for measure, title in MEASURES.items():
        values, of_family, methods = table_of(results, measure, families)
        if not len(values):
            continue
        ratios = ratios_to_best(values)
        typical = with_interval(typical_ratio, ratios, of_family)
        best = (ratios <= 1.01).mean(axis=0)
        for place in np.argsort(typical.value, kind="stable"):
            rows.append(
                {
                    "measure": title,
                    "method": METHOD_TITLES[methods[place]],
                    "times the best, IQM": Estimate(
                        float(typical.value[place]), float(typical.low[place]), float(typical.high[place])
                    ),
                    "within 1 % of the best": Share(float(best[place])),
                    "worlds": len(values),
                }
            )
    return rows


def draw_profiles(results: Results, *, families: Sequence[str] = tuple(FAMILIES)) -> list[Captioned]:
    """Return one performance profile per measure."""
    measures = [measure for measure in MEASURES if len(table_of(results, measure, families)[0])]
    n_columns = min(len(measures) + 1, _COLUMNS)
    n_rows = -(-(len(measures) + 1) // n_columns)
    figure = new_figure(4.2 * n_columns, 3.6 * n_rows)
    sheets = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
    for axes, measure in zip(sheets, measures, strict=False):
        _draw_profile(axes, measure, *table_of(results, measure, families))
    for axes in sheets[::n_columns]:
        axes.set_ylabel("share of the worlds")
    for axes in sheets[len(measures) :]:
        axes.set_axis_off()
    handles = {line.get_label(): line for axes in sheets for line in axes.lines}
    sheets[len(measures)].legend(handles.values(), handles.keys(), frameon=False, loc="center left")
    caption = (
        "Performance profiles: in which share of the worlds a method needs at most so many times what the best one "
        "needs. Bands (of ten worlds or more): 95 %, worlds resampled within each family."
    )
    return [(caption, figure)]


def _draw_profile(
    axes: Any, measure: str, values: NDArray[np.float64], of_family: NDArray[np.int64], methods: tuple[str, ...]
) -> None:
    wide = measure == "seconds"
    factors, ticks = (WIDE_FACTORS, (1, 10, 100, 1_000, 10_000)) if wide else (FACTORS, (1, 2, 5, 10))
    profile = with_interval(partial(profile_of, factors=factors), ratios_to_best(values), of_family)
    for number, method in enumerate(methods):
        color = METHOD_COLORS[method]
        # The bands of a few worlds would cover everything.
        if len(values) >= _WORLDS_FOR_BANDS:
            axes.fill_between(factors, profile.low[number], profile.high[number], color=color, alpha=0.12, linewidth=0)
        axes.plot(
            factors, profile.value[number], color=color, linestyle=METHOD_LINES[method], label=METHOD_TITLES[method],
            linewidth=1.5,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("times the best method")
    axes.set_title(f"{MEASURES[measure]}, {len(values)} worlds", fontsize=9)
    tidy(axes)
