"""What docs/logs_tables.md shows of goal policies over their logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from farpoint.measures import Estimate, estimate
from farpoint.options.goal_policy import CONTROLS
from farpoint.report.tables import Row as Shown
from research.logs import MAZES, N_EPISODES, NOISES, NUISANCES, PUSHES, SIZES, WAYS
from research.ogbench import N_TASKS
from research.runner import Row, column, grouped, read_table, select
from research.shown.ogbench import mean_success

_EPISODES = N_EPISODES * N_TASKS


def success(rows: list[Row]) -> Estimate | None:
    """Return the success of some parts in percent; None if there are none."""
    return mean_success(rows, _EPISODES) if rows else None


def over(name: str, what: str, values: tuple[Any, ...], title: str) -> Callable[[], list[Shown]]:
    """Return the function that returns the success over one quantity, a column for each maze."""

    def rows() -> list[Shown]:
        table = read_table(name)
        found: list[Shown] = []
        for value in values:
            some = select(table, **{what: value})
            if some:
                row: Shown = {title: value, "logs": len({row["data_seed"] for row in some})}
                shares: Shown = {f"{maze}-stitch": success(select(some, maze=maze)) for maze in MAZES}
                found.append(row | shares)
        return found

    return rows


def nuisance_rows() -> list[Shown]:
    """Return the success with each kind of nuisance and each way of comparing."""
    table = read_table("logs-nuisance")
    found: list[Shown] = []
    for nuisance in NUISANCES:
        for way in WAYS:
            some = select(table, nuisance=nuisance, way=way)
            if some:
                logs = len({row["data_seed"] for row in some})
                row: Shown = {"beside the position": nuisance, "compared": way, "logs": logs}
                shares: Shown = {f"{maze}-stitch": success(select(some, maze=maze)) for maze in MAZES}
                found.append(row | shares)
    return found


def random_rows() -> list[Shown]:
    """Return what options and walks do with logs of random pushes, by each kind of control; means over logs."""
    table = read_table("logs-random")
    found: list[Shown] = []
    for push in PUSHES:
        for control in CONTROLS[::-1]:
            some = select(table, push=push, control=control)
            if some:
                found.append(
                    {
                        "push": push,
                        "control": control,
                        "logs": len(some),
                        "options arrive, %": estimate(100.0 * np.array(column(some, "success")), "mean"),
                        "steps": estimate(column(some, "steps"), "mean"),
                        "walks arrive, %": estimate(100.0 * np.array(column(some, "near")), "mean"),
                        "steps of a walk": estimate(column(some, "near_steps"), "mean"),
                    }
                )
    return found


def agent_rows() -> list[Shown]:
    """Return when agents with a new reward first arrive, and how often they do at the end."""
    found: list[Shown] = []
    for (n_options,), some in grouped(read_table("logs-agent"), "n_options"):
        arrived = [row["first"] for row in some if row["first"] is not None]
        found.append(
            {
                "agent": f"{n_options} options of the log" if n_options else "eight pushes alone",
                "agents": len(some),
                "arrived at all": len(arrived),
                "first after, steps": f"{min(arrived):,} … {max(arrived):,}" if arrived else "never",
                "episodes that arrive at the end, %": 100.0 * float(np.mean(column(some, "late_success"))),
            }
        )
    return found


def agents_that_arrive(alone: bool) -> str:
    """Return how many agents arrive at all, with options or with pushes alone."""
    rows = [row for row in read_table("logs-agent") if (row["n_options"] == 0) == alone]
    return f"{sum(row['first'] is not None for row in rows)} of {len(rows)}"


def at(name: str, **wanted: Any) -> Callable[[], Any]:
    """Return the function that returns the success of some parts of a table."""
    return lambda: success(select(read_table(name), **wanted))


SHOWN: dict[str, Callable[[], Any]] = {
    "giant_short": at("logs-size", maze="giant", n_steps=SIZES[1]),
    "giant_long": at("logs-size", maze="giant", n_steps=SIZES[2]),
    "giant_noisy": at("logs-noise", maze="giant", noise=NOISES[-1]),
    "as_they_are": at("logs-nuisance", maze="medium", nuisance=NUISANCES[0], way=WAYS[0]),
    "learned": at("logs-nuisance", maze="medium", nuisance=NUISANCES[1], way=WAYS[2]),
    "size": over("logs-size", "n_steps", SIZES, "steps of the log"),
    "noise": over("logs-noise", "noise", NOISES, "noise"),
    "nuisance": nuisance_rows,
    "random": random_rows,
    "agent": agent_rows,
    "agents_with_options": lambda: agents_that_arrive(alone=False),
    "agents_alone": lambda: agents_that_arrive(alone=True),
}
