"""What docs/methods.md shows of farpoint goals and average goals."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from farpoint.measures import Estimate, format_number
from farpoint.report.figures import WORLD_TITLES
from farpoint.report.tables import Row
from research.goals import NUMBERS
from research.runner import column, read_table, select


def change(new: float, old: float) -> str:
    """Return by how many percent a number is smaller or larger.

    >>> change(87.0, 100.0), change(110.0, 100.0)
    ('−13.0 %', '+10.0 %')
    """
    return f"{100 * (new / old - 1):+.1f} %".replace("-", "−")


def paper_rows() -> list[Row]:
    """Return exact mean steps of diffusion and farpoint goals, at ½ and at the best or own probability."""
    return [
        {
            "world": WORLD_TITLES[row["world"]],
            "options": row["n_options"],
            "diffusion, p = ½": row["diffusion_half"],
            "farpoint, p = ½": row["farpoint_half"],
            "change at ½": change(row["farpoint_half"], row["diffusion_half"]),
            "average, p = ½": row["average_half"],
            "diffusion, best p": row["diffusion_best"],
            "farpoint, own p": row["farpoint_own"],
            "change": change(row["farpoint_own"], row["diffusion_best"]),
            "average, best p": row["average_best"],
        }
        for row in read_table("goals-paper")
    ]


def paper_range() -> str:
    """Return by how many percent fewer steps farpoint goals take at the paper's numbers, from least to most."""
    shares = [100 * (1 - row["farpoint_half"] / row["diffusion_half"]) for row in read_table("goals-paper")]
    return f"{min(shares):.0f} to {max(shares):.0f} %"


def maze_rows() -> list[Row]:
    """Return the median and the worst change over the mazes, for each number of options."""
    table = read_table("goals-mazes")
    rows: list[Row] = []
    for number in NUMBERS:
        ratios = [row["farpoint"] / row["diffusion"] for row in select(table, n_options=number)]
        rows.append({"options": number, "median": change(median(ratios), 1.0), "worst": change(max(ratios), 1.0)})
    return rows


# The columns of both objectives, and in which column of either table their numbers are.
STEPS = {
    "diffusion": ("diffusion_best", "diffusion"),
    "farpoint": ("farpoint_own", "farpoint"),
    "average": ("average_best", "average"),
    "fast average": ("fast_best", "fast"),
    "average, as published": ("star_best", None),
}
DECISIONS = {
    "none": ("none_decisions", "none_decisions"),
    "diffusion": ("diffusion_decisions", "diffusion_decisions"),
    "farpoint": ("farpoint_decisions", "farpoint_decisions"),
    "average": ("average_decisions", "average_decisions"),
    "fast average": ("fast_decisions", "fast_decisions"),
    "average, as published": ("star_decisions", None),
}


def objective_rows(columns: dict[str, tuple[str, str | None]]) -> Callable[[], list[dict[str, Any]]]:
    """Return the function that returns one objective in the paper's worlds, and its medians over the mazes."""

    def rows() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [
            {"world": WORLD_TITLES[row["world"]], "options": row["n_options"]}
            | {title: row[name] for title, (name, _) in columns.items()}
            for row in read_table("goals-paper")
        ]
        for number in NUMBERS:
            some = select(read_table("goals-mazes"), n_options=number)
            medians = {
                title: None if name is None else median(column(some, name)) for title, (_, name) in columns.items()
            }
            found.append({"world": f"{len(some)} mazes (median)", "options": number} | medians)
        return found

    return rows


def average_against(other: str, columns: dict[str, tuple[str, str | None]]) -> Callable[[], str]:
    """Return the function that says by how much average goals differ from others, from least to most, in all rows."""

    def text() -> str:
        changes = [100 * (row["average"] / row[other] - 1) for row in objective_rows(columns)()]
        low, high = min(changes), max(changes)
        if low < 0.0 < high:
            return f"from {-low:.0f} % fewer to {high:.0f} % more"
        return f"{low:.0f} to {high:.0f} % more" if low >= 0.0 else f"{-high:.0f} to {-low:.0f} % fewer"

    return text


def better() -> str:
    """Return in how many of the mazes farpoint goals take fewer steps."""
    table = read_table("goals-mazes")
    return f"{sum(row['farpoint'] < row['diffusion'] for row in table)} of {len(table)}"


def large(what: str, name: str) -> Callable[[], str]:
    """Return the function that returns a number of the large maze."""
    return lambda: format_number(select(read_table("goals-large"), what=what)[0][name])


def large_steps(what: str) -> Callable[[], str]:
    """Return the function that returns the mean steps in the large maze with an interval."""

    def steps() -> str:
        row = select(read_table("goals-large"), what=what)[0]
        return str(Estimate(row["steps"], row["steps_low"], row["steps_high"]))

    return steps


def rustworkx_ratio() -> str:
    """Return how many times as long rustworkx takes as our betweenness."""
    ours, theirs = (select(read_table("goals-large"), what=what)[0]["seconds"] for what in ("betweenness", "rustworkx"))
    return f"{theirs / ours:.1f} ×"


SHOWN: dict[str, Callable[[], Any]] = {
    "paper": paper_rows,
    "paper_range": paper_range,
    "mazes": maze_rows,
    "steps": objective_rows(STEPS),
    "decisions": objective_rows(DECISIONS),
    "decisions_to_diffusion": average_against("diffusion", DECISIONS),
    "steps_to_diffusion": average_against("diffusion", STEPS),
    "decisions_to_farpoint": average_against("farpoint", DECISIONS),
    "steps_to_farpoint": average_against("farpoint", STEPS),
    "better": better,
    "large_states": large("farpoint", "n_states"),
    "large_seconds": large("farpoint", "seconds"),
    "large_processor": large("farpoint", "processor_seconds"),
    "large_farpoint": large_steps("farpoint"),
    "large_diffusion": large_steps("diffusion"),
    "betweenness_seconds": large("betweenness", "seconds"),
    "rustworkx_seconds": large("rustworkx", "seconds"),
    "rustworkx_ratio": rustworkx_ratio,
    "sources_states": large("betweenness, 100 sources", "n_states"),
    "sources_seconds": large("betweenness, 100 sources", "seconds"),
}
