"""What docs/logs.md shows of goal policies on OGBench's PointMaze and AntMaze, and of methods that train."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import cKDTree

from farpoint.measures import Estimate, estimate, format_number
from farpoint.report.figures import new_figure
from farpoint.report.tables import Row
from research.ogbench import CHOICES, EVALUATION_SEEDS, KINDS, N_EPISODES, N_TASKS
from research.ogbench_data import MAZES
from research.ogbench_rivals import MAZES as RIVAL_MAZES
from research.ogbench_rivals import N_EPISODES as RIVAL_EPISODES
from research.ogbench_rivals import RIVALS as TRAINED
from research.runner import Picture, column, grouped, read_table, select

# Success in percent as printed by others; nothing of it was run here. GCBC to HIQL: Park, Frans, Eysenbach and Levine,
# OGBench (ICLR 2025); the last column: SAW, CompDiffuser and ALPS, each from its own paper. All are quoted second-hand.
RIVALS = ("GCBC", "GCIVL", "GCIQL", "QRL", "CRL", "HIQL", "best other")
PUBLISHED: dict[str, tuple[float | str, ...]] = {
    "medium-navigate": (9, 63, 53, 82, 29, 79, "97 (SAW)"),
    "large-navigate": (29, 45, 34, 86, 39, 58, "85 (SAW)"),
    "giant-navigate": (1, 0, 0, 68, 27, 46, "68 (SAW)"),
    "teleport-navigate": (25, 45, 24, 8, 24, 18, "–"),
    "medium-stitch": (23, 70, 21, 80, 0, 74, "100 (CompDiffuser)"),
    "large-stitch": (7, 12, 31, 84, 0, 13, "96 (ALPS)"),
    "giant-stitch": (0, 0, 0, 50, 0, 0, "98 (ALPS)"),
    "teleport-stitch": (31, 44, 25, 9, 4, 34, "–"),
}

# The same of AntMaze, medium: GCBC to HIQL.
PUBLISHED_ANT: dict[str, tuple[float, ...]] = {
    "navigate": (29, 72, 71, 88, 95, 96),
    "stitch": (45, 44, 29, 59, 53, 94),
}

# Of the picture: how near to a cell counts as seen, the size of a pixel, and how many cells its color is a mean of.
_REACH, _PIXEL, _N_NEAREST = 0.45, 0.08, 5


def mean_success(rows: list[dict[str, Any]], n_episodes: int) -> Estimate:
    """Return the success of rows of so many episodes each, in percent; logs are drawn first, then episodes."""
    episodes = [np.arange(n_episodes) < round(n_episodes * row["success"]) for row in rows]
    logs = np.repeat([row["data_seed"] for row in rows], n_episodes)
    return estimate(100.0 * np.concatenate(episodes), "mean", logs)


def success(maze: str, kind: str) -> Row:
    """Return the success of the goal policy on a data set, and over how many logs and episodes."""
    rows = select(read_table("ogbench-success"), maze=maze, kind=kind)
    logs = len({row["data_seed"] for row in rows})
    return {"GoalPolicy": mean_success(rows, N_EPISODES), "logs": logs, "episodes": N_EPISODES * len(rows)}


def success_rows() -> list[Row]:
    """Return the success of each data set beside what others printed."""
    rows: list[Row] = []
    for kind in KINDS:
        for maze in MAZES:
            printed = dict(zip(RIVALS, PUBLISHED[f"{maze}-{kind}"], strict=True))
            rows.append({"data set": f"{maze}-{kind}", **success(maze, kind), **printed})
    return rows


def rival_rows() -> list[Row]:
    """Return the success of methods that train after each stretch of processor time, below that of the goal policy."""
    table = read_table("ogbench-rivals")
    same = {"kind": "stitch", "data_seed": table[0]["data_seed"], "seed": EVALUATION_SEEDS[0]}
    first: Row = {"method": "GoalPolicy", "minutes of one core": f"{_build_seconds() / 60:.3f}"}
    for maze in RIVAL_MAZES:
        first[f"{maze}-stitch"] = mean_success(select(read_table("ogbench-success"), maze=maze, **same), N_EPISODES)
    rows = [first]
    for method in TRAINED:
        for (minutes,), some in grouped(select(table, method=method), "core_minutes"):
            row: Row = {"method": method, "minutes of one core": f"{minutes:g}"}
            for maze in RIVAL_MAZES:
                known = select(some, maze=maze)
                row[f"{maze}-stitch"] = mean_success(known, N_TASKS * RIVAL_EPISODES) if known else None
            rows.append(row)
    return rows


def _build_seconds() -> float:
    return float(read_table("ogbench-speed")[0]["build_processor_seconds"])


def rival_minutes() -> float:
    """Return the minutes of processor time that every method had in every maze."""
    table = read_table("ogbench-rivals")
    return min(max(column(some, "core_minutes")) for _, some in grouped(table, "method", "maze"))


def last_rival(method: str, maze: str) -> Estimate:
    """Return the success of a method at the end of its curve."""
    rows = select(read_table("ogbench-rivals"), method=method, maze=maze)
    return mean_success([max(rows, key=lambda row: float(row["core_minutes"]))], N_TASKS * RIVAL_EPISODES)


def ant_rows() -> list[Row]:
    """Return the success of goal policies with the ant's log, and the share of episodes in which it fell over."""
    rows: list[Row] = []
    for row in read_table("ogbench-ant"):
        found: Row = {
            "data set": f"medium-{row['kind']}",
            "compared": row["way"],
            "GoalPolicy": mean_success([row], N_TASKS * row["n_episodes"]),
            "fell over, %": 100 * row["fell"],
        }
        rows.append(found | dict(zip(RIVALS[:-1], PUBLISHED_ANT[row["kind"]], strict=True)))
    return rows


def best_ant() -> Estimate:
    """Return the success with the ant's log where it is largest."""
    best = max(read_table("ogbench-ant"), key=lambda row: float(row["success"]))
    return mean_success([best], N_TASKS * best["n_episodes"])


def medium_rows() -> list[Row]:
    """Return the success in the medium maze, in percent, when one setting is changed."""
    table = read_table("ogbench-medium")
    rows: list[Row] = []
    for name in CHOICES:
        shares = {kind: 100 * select(table, kind=kind, choice=name)[0]["success"] for kind in KINDS}
        rows.append({"setting": name, **shares})
    return rows


def far_success() -> str:
    """Return in how many percent of their trials the options to far points arrive."""
    shares = [row["value"] for row in select(read_table("ogbench-far"), what="far point")]
    return f"{100 * sum(shares) / len(shares):.0f} %"


def draw_far() -> Figure:
    """Return the giant maze as its log knows it: where it was, by score, the far points, and one route."""
    figure = new_figure(8, 5.6)
    axes = figure.subplots()
    table = read_table("ogbench-far")
    cells, points, route = (select(table, what=what) for what in ("cell", "far point", "route"))
    seen = np.stack([column(cells, "x"), column(cells, "y")], axis=1)
    (left, bottom), (right, top) = seen.min(axis=0) - _REACH, seen.max(axis=0) + _REACH
    along, up = np.meshgrid(np.arange(left, right, _PIXEL), np.arange(bottom, top, _PIXEL))
    # The mean of the nearest cells, where there is one near: what the log never saw stays white.
    away, nearest = cKDTree(seen).query(np.stack([along, up], axis=-1), _N_NEAREST)
    shown = np.log(column(cells, "value"))[nearest].mean(axis=-1)
    shown[away[:, :, 0] > _REACH] = np.nan
    axes.imshow(shown, origin="lower", extent=(left, right, bottom, top), interpolation="nearest")
    way = np.stack([column(route, "x"), column(route, "y")])
    for color, width in (("black", 4.5), ("white", 2.5)):
        axes.plot(*way, color=color, linewidth=width, solid_capstyle="round")
    axes.plot(*way[:, 0], "o", color="white", markeredgecolor="black", markersize=11)
    x, y = column(points, "x"), column(points, "y")
    axes.scatter(x, y, s=190, marker="*", color="tab:red", edgecolors="white", linewidths=0.9, zorder=3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


FAR = (
    "Where the log of the giant maze has been, by score (yellow is far), twelve far points and a route to one of them, "
    "of pieces of many episodes"
)


def speed(name: str) -> Callable[[], str]:
    """Return the function that returns a number of the timed table."""
    return lambda: format_number(read_table("ogbench-speed")[0][name])


SHOWN: dict[str, Callable[[], Any]] = {
    "success": success_rows,
    "giant_stitch": lambda: success("giant", "stitch")["GoalPolicy"],
    "giant_navigate": lambda: success("giant", "navigate")["GoalPolicy"],
    "medium": medium_rows,
    "far": lambda: Picture(FAR, draw_far),
    "far_success": far_success,
    "rivals": rival_rows,
    "rival_minutes": lambda: f"{rival_minutes():g}",
    "rival_ratio": lambda: f"{round(60 * rival_minutes() / _build_seconds(), -1):,.0f}",
    "cloning_medium": lambda: last_rival("behavior cloning", "medium"),
    "cloning_giant": lambda: last_rival("behavior cloning", "giant"),
    "td3_medium": lambda: last_rival("TD3 + HER", "medium"),
    "td3_giant": lambda: last_rival("TD3 + HER", "giant"),
    "ant": ant_rows,
    "ant_best": best_ant,
    "build_seconds": speed("build_processor_seconds"),
    "build_megabytes": speed("build_megabytes"),
    "decision_milliseconds": speed("decision_milliseconds"),
    "new_goal_milliseconds": speed("new_goal_milliseconds"),
}
