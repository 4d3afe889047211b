"""What docs/vector.md shows of eight copies against one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from farpoint.measures import estimate
from farpoint.report.tables import Row
from research.runner import column, grouped, read_table, select
from research.vector import N_ENVS


def _pairs(rows: list[dict[str, Any]], name: str) -> tuple[list[float], list[float]]:
    """Return a column of one copy and of eight, seed by seed."""
    one, many = (select(rows, n_envs=count) for count in (1, N_ENVS))
    return column(one, name), column(many, name)


def coverage_rows() -> list[Row]:
    """Return the mean steps of one copy and of eight in every place, and their ratio."""
    rows: list[Row] = []
    for (place,), some in grouped(read_table("vector-coverage"), "place"):
        one, many = _pairs(some, "steps")
        layouts = column(select(some, n_envs=1), "layout")
        groups = None if len(set(layouts)) == len(layouts) else layouts
        rows.append(
            {
                "steps until 90 % are seen": place,
                "one copy": estimate(one, "mean", groups),
                f"{N_ENVS} copies": estimate(many, "mean", groups),
                "ratio": f"{np.mean(many) / np.mean(one):.2f}",
            }
        )
    return rows


def coverage_ratio() -> str:
    """Return the largest of these ratios."""
    return max(str(row["ratio"]) for row in coverage_rows())


def wall_seconds(n_envs: int) -> Callable[[], str]:
    """Return the function that returns the mean seconds of so many copies."""
    return lambda: f"{np.mean(column(select(read_table('vector-wall'), n_envs=n_envs), 'seconds')):.1f}"


def wall_ratio() -> str:
    """Return the time of eight copies over that of one."""
    one, many = _pairs(read_table("vector-wall"), "seconds")
    return f"{np.mean(many) / np.mean(one):.2f}"


SHOWN: dict[str, Callable[[], Any]] = {
    "coverage": coverage_rows,
    "coverage_ratio": coverage_ratio,
    "wall_one": wall_seconds(1),
    "wall_many": wall_seconds(N_ENVS),
    "wall_ratio": wall_ratio,
}
