"""Rows of finished numbers as tables for a page or a text."""

from __future__ import annotations

import html
from collections.abc import Sequence

Row = dict[str, str | int | float]


def table_html(rows: Sequence[Row]) -> str:
    """Return rows as an HTML table that scrolls sideways on a narrow screen.

    >>> table_html([{"world": "ring", "t": 4}])
    "<div class='scroll'><table><thead><tr><th>world</th><th class='number'>t</th></tr></thead>..."
    """
    # A column that holds a number is aligned to the right, with its header and its empty cells.
    numeric = {name for row in rows for name, value in row.items() if isinstance(value, (int, float))}

    def cell(tag: str, name: str, text: str) -> str:
        return f"<{tag} class='number'>{text}</{tag}>" if name in numeric else f"<{tag}>{text}</{tag}>"

    head = "".join(cell("th", name, escaped(name)) for name in rows[0])
    lines = []
    for row in rows:
        shown = {
            name: f"{value:,}" if isinstance(value, (int, float)) else escaped(value) for name, value in row.items()
        }
        lines.append(f"<tr>{''.join(cell('td', name, text) for name, text in shown.items())}</tr>")
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


def table_markdown(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table: the first column to the left, the others to the right.

    >>> print(table_markdown([{"world": "ring", "t": 4}]))
    | world | t |
    |---|---:|
    | ring | 4 |
    """
    lines = [
        "| " + " | ".join(rows[0]) + " |",
        "|---|" + "---:|" * (len(rows[0]) - 1),
        *("| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows),
    ]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return ``text`` for use inside HTML, also inside an attribute.

    >>> escaped("a < b")
    'a &lt; b'
    """
    return html.escape(text, quote=True)
