"""What docs/reproduction.md shows of the paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from farpoint.measures import format_number
from farpoint.report.tables import Row
from research.runner import grouped, read_table, select

METHODS = {
    "diffusion": "diffusion options",
    "eigen": "eigenoptions",
    "cover": "cover options",
    "random goals": "random options",
    "none": "primitive actions",
}


def median_rows() -> list[Row]:
    """Return the medians of Table 1 at t = 4, with what the paper prints in brackets."""
    rows: list[Row] = []
    for (world,), some in grouped(select(read_table("paper-table1"), t=4), "world"):
        row: Row = {"steps between states, t = 4 (median; printed)": world}
        for name, title in METHODS.items():
            found = select(some, method=title)[0]
            printed = found["median, paper"]
            row[name] = format_number(found["median"]) + (f" ({printed:,})" if printed is not None else "")
        rows.append(row)
    return rows


def means(method: str) -> Callable[[], str]:
    """Return the function that returns the means of Table 2 at t = 4 in the three worlds."""

    def text() -> str:
        first, second, third = (
            format_number(row["mean"]) for row in select(read_table("paper-table2"), t=4, method=METHODS[method])
        )
        return f"{first}, {second} and {third}"

    return text


def learning(world: str) -> Callable[[], str]:
    """Return the function that compares the mean steps of learning with cover options and with diffusion options."""

    def text() -> str:
        cover, ours = (
            select(read_table("paper-rivals"), world=world, method=METHODS[method])[0]["mean steps to goal"]
            for method in ("cover", "diffusion")
        )
        return f"{cover:.1f} against {ours:.1f}"

    return text


def maxima(number: int) -> Callable[[], int]:
    """Return a function: the number of maxima of a score of ``number`` eigenvectors in 4Rooms at t = 4."""
    return lambda: int(select(read_table("paper-components"), world="4Rooms", t=4)[0][f"k = {number}"])


def verdicts(verdict: str) -> Callable[[], int]:
    """Return the function that counts the claims with a verdict."""
    return lambda: len(select(read_table("paper-claims"), verdict=verdict))


SHOWN: dict[str, Callable[[], Any]] = {
    "medians": median_rows,
    "means_random": means("random goals"),
    "means_diffusion": means("diffusion"),
    "learning_ring": learning("Ring"),
    "learning_maze": learning("Maze"),
    "learning_rooms": learning("4Rooms"),
    "maxima_10": maxima(10),
    "maxima_20": maxima(20),
    "maxima_40": maxima(40),
    "holds": verdicts("holds"),
    "claims": lambda: len(read_table("paper-claims")),
}
