"""Rows of finished numbers as tables: for a page, a text, a terminal or a file.

A row keeps its numbers until it is printed. A cell is a text, a number, None for a missing value, or one of the cells
below, which know how they are read (``str``) and which columns of numbers they are (``columns``).
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from farpoint.measures.statistics import format_number


@runtime_checkable
class Cell(Protocol):
    """Several numbers that are read as one, such as an `Estimate`."""

    def columns(self, name: str) -> Mapping[str, float]:
        """Return the numbers under names that begin with this one."""


Row = dict[str, "str | int | float | Cell | None"]


class Share(NamedTuple):
    """A share, read in percent.

    >>> str(Share(0.957)), Share(0.957).columns("seen")
    ('96 %', {'seen': 0.957})
    """

    value: float

    def columns(self, name: str) -> dict[str, float]:
        """Return the share as one column."""
        return {name: self.value}

    def __str__(self) -> str:
        return f"{100 * self.value:.0f} %"


class Count(NamedTuple):
    """How many of how many.

    >>> str(Count(19, 20)), Count(19, 20).columns("runs")
    ('19 of 20', {'runs': 19, 'runs_of': 20})
    """

    number: int
    of: int

    def columns(self, name: str) -> dict[str, float]:
        """Return both numbers."""
        return {name: self.number, f"{name}_of": self.of}

    def __str__(self) -> str:
        return f"{self.number:,} of {self.of:,}"


class Goals(NamedTuple):
    """How many goals were found, and how many of them are true ones.

    >>> str(Goals(20, 16)), Goals(20, 16).columns("k = 10")
    ('20 (16)', {'k = 10': 20, 'k = 10_true': 16})
    """

    number: int
    true: int

    def columns(self, name: str) -> dict[str, float]:
        """Return both numbers."""
        return {name: self.number, f"{name}_true": self.true}

    def __str__(self) -> str:
        return f"{self.number} ({self.true})"


def cell_text(value: object) -> str:
    """Return a cell as it is read.

    >>> cell_text(1224.3), cell_text(None), cell_text("ring"), cell_text(Share(0.5))
    ('1,224', '–', 'ring', '50 %')
    """
    if isinstance(value, np.integer):
        value = int(value)
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return format_number(value)
    return str(value)


def table_html(rows: Sequence[Row]) -> str:
    """Return rows as an HTML table that scrolls sideways on a narrow screen.

    >>> table_html([{"world": "ring", "t": 4}])
    "<div class='scroll'><table><thead><tr><th>world</th><th class='number'>t</th></tr></thead>..."
    """
    # A column that holds a number is aligned to the right, with its header and its empty cells.
    numeric = {name for row in rows for name, value in row.items() if value is not None and not isinstance(value, str)}

    def cell(tag: str, name: str, text: str) -> str:
        return f"<{tag} class='number'>{text}</{tag}>" if name in numeric else f"<{tag}>{text}</{tag}>"

    head = "".join(cell("th", name, escaped(name)) for name in rows[0])
    lines = [
        f"<tr>{''.join(cell('td', name, escaped(cell_text(value))) for name, value in row.items())}</tr>"
        for row in rows
    ]
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


def table_markdown(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table: the first column to the left, the others to the right.

    >>> print(table_markdown([{"world": "ring", "steps": 1224.3}]))
    | world | steps |
    |---|---:|
    | ring | 1,224 |
    """
    lines = [
        "| " + " | ".join(rows[0]) + " |",
        "|---|" + "---:|" * (len(rows[0]) - 1),
        *("| " + " | ".join(cell_text(row.get(name)).replace("|", "\\|") for name in rows[0]) + " |" for row in rows),
    ]
    return "\n".join(lines)


def numeric_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows for a program to read: one column per number, empty for missing values.

    >>> numeric_rows([{"place": "ring", "seen": Share(0.96), "runs": Count(19, 20)}, {"place": "maze", "seen": None}])
    [{'place': 'ring', 'seen': 0.96, 'runs': 19, 'runs_of': 20}, {'place': 'maze', 'seen': '', 'runs': '', ...}]
    """
    wide: list[dict[str, Any]] = []
    for row in rows:
        columns: dict[str, Any] = {}
        for name, value in row.items():
            columns |= value.columns(name) if isinstance(value, Cell) else {name: "" if value is None else value}
        wide.append({name: "" if _is_nan(value) else value for name, value in columns.items()})
    names = dict.fromkeys(name for row in wide for name in row)
    return [{name: row.get(name, "") for name in names} for row in wide]


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def escaped(text: str) -> str:
    """Return ``text`` for use inside HTML, also inside an attribute.

    >>> escaped("a < b")
    'a &lt; b'
    """
    return html.escape(text, quote=True)
