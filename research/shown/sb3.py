"""What docs/tutorials/training.md shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from farpoint.measures import estimate
from farpoint.report.tables import Row
from research import runner
from research.runner import column, grouped, read_table
from research.sb3 import N_SEEDS, RUNS, table_name


def two_state_rows() -> list[Row]:
    """Return the values of two states that DQN learns with each discount, and those of the equations."""
    return [
        {"discount": name, **{f"V{place}, {how}": estimate(column(rows, f"{key}_{number}"), "mean").value
                              for number, place in enumerate("₀₁")
                              for how, key in (("by the equations", "solved"), ("of DQN", "learned"))}}
        for (name,), rows in grouped(read_table("sb3-two-states"), "discount")
    ]  # fmt: skip


def mask_rows() -> list[Row]:
    """Return when DQN first reached the target and the length of its last episodes, with and without masks."""
    names = {"junk": "values of their own", "read": "masks in the observation"}
    return [
        {"options that cannot start": names[str(masks)], "first reached": estimate(column(rows, "first")),
         "length of the last episodes": estimate(column(rows, "length"))}
        for (masks,), rows in grouped(read_table("sb3-masks"), "masks")
    ]  # fmt: skip


def rows_of(place: str, agent: str) -> list[Row]:
    """Return the rows of a table, none where it was not computed yet."""
    name = table_name(place, agent)
    return read_table(name) if (runner.RESULTS / f"{name}.csv").exists() else []


def agent_rows() -> list[Row]:
    """Return success at the end of training, when the goal was first reached, and the decisions: by place and agent."""
    shown: list[Row] = []
    every = [row for run in RUNS for row in rows_of(*run)]
    for (place, agent, way, n_steps), rows in grouped(every, "place", "agent", "way", "n_steps"):
        # A run in which no episode ended in the last part has no success there.
        late = estimate([float(row["success"] or 0.0) for row in rows])
        first = estimate(column(rows, "first"), limit=float(n_steps))
        reached = sum(row["first"] is not None for row in rows)
        decisions = estimate(column(rows, "decisions"), "mean").value
        facts: Row = {"environment": place, "agent": agent, "options": way, "steps": n_steps}
        facts["reached in"] = f"{reached} of {len(rows)}"
        shown.append(facts | {"first reached": first, "success at the end": late, "decisions": decisions})
    return shown


SHOWN: dict[str, Callable[[], Any]] = {
    "two_states": two_state_rows,
    "masks": mask_rows,
    "agents": agent_rows,
    "n_seeds": lambda: str(N_SEEDS),
}
