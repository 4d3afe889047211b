"""A table as wide as the terminal: without what matters least where that has no room, and a list where nothing has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from farpoint.cli.cells import Cell
from farpoint.worlds import World

Row = Mapping[str, str | Cell]
# What is left out first where there is no room for all.
_LEAST_NEEDED = ("IQR", "t", "p")
_INTERVAL = "95 % intervals"


@dataclass(frozen=True)
class _Layout:
    """One way to show the rows: with how much space between columns, with which of them, with intervals or without."""

    rows: Sequence[Row]
    space: int
    left_out: tuple[str, ...] = ()

    def text(self, value: str | Cell) -> str:
        return value if isinstance(value, str) else value.alone if _INTERVAL in self.left_out else str(value)

    def columns(self) -> dict[str, list[str]]:
        """Return the texts of each column under its heading."""
        columns = {}
        for name, first in self.rows[0].items():
            if name in self.left_out:
                continue
            heading = name if isinstance(first, str) or _INTERVAL in self.left_out else f"{name} [95 %]"
            # Where there is little room, headings have two lines.
            heading = heading.replace(" ", "\n", 1) if self.left_out else heading
            columns[heading] = [self.text(row[name]) for row in self.rows]
        return columns

    @property
    def width(self) -> int:
        columns = self.columns()
        widths = [max(map(cell_len, (*heading.split("\n"), *texts))) for heading, texts in columns.items()]
        return sum(widths) + self.space * (len(widths) - 1)

    def table(self, title: str) -> Table:
        table = Table(title=title, box=None, padding=(0, self.space, 0, 0), pad_edge=False, header_style="bold")
        columns = self.columns()
        for heading in columns:
            table.add_column(heading, justify="left" if heading == "method" else "right", no_wrap=True)
        for texts in zip(*columns.values(), strict=True):
            # As plain text: rich would read an interval in brackets as markup.
            table.add_row(*map(Text, texts))
        return table


def _layouts(rows: Sequence[Row]) -> Iterator[_Layout]:
    """Return the ways to show the rows, the widest first."""
    yield _Layout(rows, 4)
    yield _Layout(rows, 2)
    droppable = [name for name in _LEAST_NEEDED if name in rows[0]]
    for count in range(len(droppable) + 1):
        yield _Layout(rows, 2, (_INTERVAL, *droppable[:count]))


def print_rows(console: Console, world: World, rows: Sequence[Row]) -> None:
    """Print a table no wider than the terminal, and what it leaves out; on a very narrow terminal, a list."""
    title = f"{world.name}, {world.n_states:,} states"
    layout = next((layout for layout in _layouts(rows) if layout.width <= console.width), None)
    if layout is None:
        for row in rows:
            console.print(Text("\n".join(f"{name}: {value}" for name, value in row.items()) + "\n"))
        return
    console.print(layout.table(title))
    if layout.left_out:
        left_out = ", ".join(layout.left_out)
        console.print(Text(f"left out here: {left_out}; --out FOLDER writes them all to comparison.csv", style="dim"))
