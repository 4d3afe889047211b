"""The table of each experiment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.measures.statistics import Estimate
from farpoint.report.names import METHOD_TITLES
from farpoint.report.tables import Row
from research.large.plan import (
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

_RESAMPLES = 2000


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
        covered = interval_over_logs(arrays["shares"][:, :, -1])
        success, n_steps = arrays["success"], int(arrays["checkpoints"][-1])
        rows.append(
            {
                "goals": METHOD_TITLES[method].replace("options", "").strip() or method,
                "policy": "–" if method == "none" else POLICIES[policy],
                "success": "–" if method == "none" else f"{success.min():.2f} … {success.max():.2f}",
                "option probability": "–" if method == "none" else f"{results.scale.option_probability:g}",
                "steps": f"{n_steps:,}",
                "with its log": f"{n_steps + int(arrays['log_steps']):,}",
                "cells seen [95 %]": f"{covered.value:.0%} [{covered.low:.0%}, {covered.high:.0%}]",
            }
        )
    return rows


def interval_over_logs(values: NDArray[np.float64], *, seed: int = 0) -> Estimate:
    """Return the mean with a 95 % interval over both logs (rows) and the agents of each (columns): bootstrap of both.

    >>> estimate = interval_over_logs(np.array([[0.1, 0.3], [0.5, 0.7]]))
    >>> round(estimate.value, 2), estimate.low < 0.3 < 0.5 < estimate.high
    (0.4, True)
    """
    rng = np.random.default_rng(seed)
    n_logs, n_agents = values.shape
    logs = rng.integers(n_logs, size=(_RESAMPLES, n_logs, 1))
    agents = rng.integers(n_agents, size=(_RESAMPLES, n_logs, n_agents))
    means = values[logs, agents].mean(axis=(1, 2))
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(float(values.mean()), float(low), float(high))
