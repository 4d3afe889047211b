"""The table of each experiment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.measures.statistics import Estimate, estimate
from farpoint.report.figures import METHOD_TITLES
from farpoint.report.tables import Row, Share
from research.large.computation import cosines, coverage_of, extension, neural
from research.large.coverage import METHODS
from research.large.plan import (
    EXTENSIONS,
    NEURAL_SHARES,
    OBJECTIVES,
    SHARES,
    TIMES,
    WORLD_TITLES,
    Results,
)


def extension_rows(results: Results) -> list[Row]:
    """Return the correlation with f_t and the share of its goals found within two moves, for each world and t."""
    scale = results.scale
    rows: list[Row] = []
    for world in (*scale.worlds, *scale.large_worlds):
        for t in TIMES:
            for method in EXTENSIONS:
                row: Row = {"world": WORLD_TITLES[world], "t": t, "method": method}
                for share in SHARES:
                    arrays = extension(results, world, t, share, method)
                    row[f"from {share:.0%}"] = float(arrays["correlation"].mean())
                    row[f"from {share:.0%}, goals"] = Share(float(arrays["found"].mean()))
                rows.append(row)
            if world in scale.worlds:
                rows.append(_neural_row(results, world, t))
    return rows


def _neural_row(results: Results, world: str, t: int) -> Row:
    row: Row = {"world": WORLD_TITLES[world], "t": t, "method": "neural, 11 functions"}
    for share in SHARES:
        row[f"from {share:.0%}"] = row[f"from {share:.0%}, goals"] = None
        if share in NEURAL_SHARES:
            arrays, number = neural(results, world, share), TIMES.index(t)
            row[f"from {share:.0%}"] = float(arrays["correlation"][number])
            row[f"from {share:.0%}, goals"] = Share(float(arrays["found"][number]))
    return row


def cosine_rows(results: Results) -> list[Row]:
    """Return the mean and the least |cosine| for each world and objective."""
    rows: list[Row] = []
    for world in results.scale.cosine_worlds:
        row: Row = {"world": WORLD_TITLES[world]}
        for objective in OBJECTIVES:
            found = cosines(results, world, objective)["cosines"]
            row[f"{objective.upper()}, mean"] = float(np.mean(found))
            row[f"{objective.upper()}, least"] = float(np.min(found))
        rows.append(row)
    return rows


def coverage_rows(results: Results, *, env: str) -> list[Row]:
    """Return the share of a maze that was visited at the end, for each method."""
    rows: list[Row] = []
    for method in METHODS:
        arrays = coverage_of(results, method, env)
        covered = over_logs(arrays["shares"][:, :, -1])
        success, n_steps = arrays["success"], int(arrays["checkpoints"][-1])
        rows.append(
            {
                "goals": METHOD_TITLES[method].replace("options", "").strip() or method,
                "success, least": None if method == "none" else float(success.min()),
                "success, most": None if method == "none" else float(success.max()),
                "option probability": None if method == "none" else results.scale.option_probability,
                "steps": n_steps,
                "with its log": n_steps + int(arrays["log_steps"]),
                "share of the cells seen": covered,
            }
        )
    return rows


def over_logs(values: NDArray[np.float64]) -> Estimate:
    """Return the mean over the logs (rows) and the agents of each (columns), with its interval over both.

    >>> found = over_logs(np.array([[0.1, 0.3], [0.5, 0.7]]))
    >>> round(found.value, 2), found.low < 0.3 < 0.5 < found.high
    (0.4, True)
    """
    n_logs, n_agents = values.shape
    return estimate(values.ravel(), "mean", np.repeat(np.arange(n_logs), n_agents))
