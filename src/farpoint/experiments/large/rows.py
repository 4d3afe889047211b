"""The table of each experiment."""

from __future__ import annotations

import numpy as np

from farpoint.experiments.large.plan import (
    EXTENSIONS,
    NEURAL_SHARES,
    OBJECTIVES,
    POLICIES,
    SHARES,
    TIMES,
    WORLD_TITLES,
    Results,
    cosine_part,
    coverage_pairs,
    coverage_part,
    extension_part,
    neural_part,
)
from farpoint.measures.statistics import mean_of_runs
from farpoint.report.names import METHOD_TITLES
from farpoint.report.tables import Row


def extension_rows(results: Results) -> list[Row]:
    """Return the correlation with f_t and the share of its goals found within two moves, for each world and t."""
    scale = results.scale
    rows: list[Row] = []
    for world in (*scale.worlds, *scale.large_worlds):
        for t in TIMES:
            for method in EXTENSIONS:
                row: Row = {"world": WORLD_TITLES[world], "t": t, "method": method}
                for share in SHARES:
                    arrays = results[extension_part(world, t, share, method, scale)]
                    row[f"from {share:.0%}"] = f"{arrays['correlation'].mean():.3f} · {arrays['found'].mean():.0%}"
                rows.append(row)
            if world in scale.worlds:
                rows.append(_neural_row(results, world, t))
    return rows


def _neural_row(results: Results, world: str, t: int) -> Row:
    row: Row = {"world": WORLD_TITLES[world], "t": t, "method": "neural, 11 functions"}
    for share in SHARES:
        cell = "–"
        if share in NEURAL_SHARES:
            arrays, number = results[neural_part(world, share, results.scale)], TIMES.index(t)
            cell = f"{arrays['correlation'][number]:.3f} · {arrays['found'][number]:.0%}"
        row[f"from {share:.0%}"] = cell
    return row


def cosine_rows(results: Results) -> list[Row]:
    """Return the mean and the least |cosine| for each world and objective."""
    rows: list[Row] = []
    for world in results.scale.cosine_worlds:
        row: Row = {"world": WORLD_TITLES[world]}
        for objective in OBJECTIVES:
            cosines = results[cosine_part(world, objective, results.scale)]["cosines"]
            row[f"{objective.upper()}, mean"] = f"{np.mean(cosines):.3f}"
            row[f"{objective.upper()}, least"] = f"{np.min(cosines):.3f}"
        rows.append(row)
    return rows


def coverage_rows(results: Results, *, env: str) -> list[Row]:
    """Return the share of a maze that was visited at the end, for each method and policy."""
    rows: list[Row] = []
    for method, policy in coverage_pairs(env):
        arrays = results[coverage_part(method, policy, results.scale, env)]
        covered = mean_of_runs(arrays["shares"][:, -1])
        rows.append(
            {
                "options to goals by": METHOD_TITLES[method].replace("options", "").strip() or method,
                "policy": "–" if method == "none" else POLICIES[policy],
                "options": int(arrays["n_options"]),
                "option probability": "–" if method == "none" else f"{results.scale.option_probability:g}",
                "cells seen [95 %]": f"{covered.value:.0%} [{covered.low:.0%}, {covered.high:.0%}]",
            }
        )
    return rows
