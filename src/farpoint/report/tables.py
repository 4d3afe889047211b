"""Rows of finished numbers as tables for a page or a text."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

Row = dict[str, str | int | float]

_NUMBER = r"-?[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?"
_INTERVAL = re.compile(rf"(>\s*)?({_NUMBER}) \[({_NUMBER}), ({_NUMBER})\]")
_SHARE = re.compile(rf"({_NUMBER}) %")
_COUNT = re.compile(r"(\d+) of (\d+)")


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


def numeric_rows(rows: Sequence[Row]) -> list[Row]:
    """Return rows for a program to read: intervals, shares and counts of runs as columns of numbers.

    >>> numeric_rows([{"method": "none", "steps": "1,224 [853, 1,817]", "seen": "96 %", "runs": "19 of 20"}])
    [{'method': 'none', 'steps': 1224.0, 'steps_low': 853.0, 'steps_high': 1817.0, 'steps_capped': 0, 'seen': 0.96,
      'runs': 19, 'runs_of': 20}]
    """
    wide = [_split(row) for row in rows]
    columns = dict.fromkeys(name for row in wide for name in row)
    return [{name: row.get(name, "") for name in columns} for row in wide]


def _split(row: Row) -> Row:
    split: Row = {}
    for name, value in row.items():
        text = value if isinstance(value, str) else ""
        if found := _INTERVAL.fullmatch(text):
            numbers = [float(number.replace(",", "")) for number in found.groups()[1:]]
            split |= dict(zip((name, f"{name}_low", f"{name}_high"), numbers, strict=True))
            split[f"{name}_capped"] = int(found[1] is not None)
        elif found := _SHARE.fullmatch(text):
            split[name] = round(float(found[1].replace(",", "")) / 100, 6)
        elif found := _COUNT.fullmatch(text):
            split |= {name: int(found[1]), f"{name}_of": int(found[2])}
        else:
            split[name] = value
    return split


def escaped(text: str) -> str:
    """Return ``text`` for use inside HTML, also inside an attribute.

    >>> escaped("a < b")
    'a &lt; b'
    """
    return html.escape(text, quote=True)
