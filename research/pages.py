"""Numbers, tables and figures on README and docs, filled from ``research/results/``.

A page holds marks that GitHub does not show::

    Far points take <!--= goals.maze -->1,092 [1,005, 1,150]<!--/--> steps.

``goals.maze`` is an entry of ``SHOWN`` in ``research/shown/goals.py``: a function without parameters that reads tables
of that suite. What it returns decides what is shown: rows are a table, a `Picture` is a picture, anything else is text.
`render` fills every mark; ``make pages`` does so in place and draws the pictures, and Sphinx does it whenever the site
is built. Text inside ``<!--= typed NAME -->`` is left alone: its table is not on the runner yet.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from farpoint.errors import InvalidInput, UnknownName
from farpoint.report.figures import save_figure
from farpoint.report.tables import cell_text, table_markdown
from research.runner import ROOT, Picture

MARK = re.compile(r"<!--= (typed )?([\w.-]+) -->(.*?)<!--/-->", re.DOTALL)
_INLINE_AT_START = re.compile(r"^ *<!--= [^>]*-->(?!\n|<!--/-->\n)", re.MULTILINE)
# A table with fewer cells such as "84 % [79, 89]" is one of words.
_FEW_NUMBERS = 3
IMAGES = ROOT / "docs" / "images"


def pages() -> list[Path]:
    """Return README and every page of docs."""
    docs = ROOT / "docs"
    own = (path for path in docs.rglob("*.md") if not {"_build", "auto_gallery"} & set(path.relative_to(docs).parts))
    return [ROOT / "README.md", *sorted(own)]


def render(text: str, page: Path, *, images: Path | None = None) -> str:
    """Return a page with every mark filled.

    Parameters
    ----------
    text : str
    page : Path
        Where it lies, which decides how pictures are addressed.
    images : Path, optional
        Folder to draw the pictures to. Default: they are not drawn.

    Raises
    ------
    UnknownName
        If a mark names nothing that is shown.
    InvalidInput
        If a mark in a sentence begins a line.
    """
    opened, closed, matched = text.count("<!--="), text.count("<!--/-->"), len(MARK.findall(text))
    nested = any("<!--=" in found[3] for found in MARK.finditer(text))
    if not opened == closed == matched or nested:
        raise InvalidInput(
            f"marks of {page.name} must be <!--= suite.name -->…<!--/-->, each closed before the next; got {opened} "
            f"that begin, {closed} that end and {matched} that can be read."
        )
    if found := _INLINE_AT_START.search(text):
        raise InvalidInput(
            f"a mark in a sentence must not begin a line of {page.name}; got {found[0]!r}. Markdown would take it for "
            "HTML."
        )

    def fill(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        return f"<!--= {found[2]} -->{_shown(found[2], page, images)}<!--/-->"

    return MARK.sub(fill, text)


def _shown(name: str, page: Path, images: Path | None) -> str:
    value = look_up(name)()
    if isinstance(value, list):
        return f"\n\n{table_markdown(value)}\n\n"
    if isinstance(value, Picture):
        file = f"{name.replace('.', '-')}.svg"
        if images is not None:
            save_figure(value.draw(), images / file)
        return f"\n\n![{value.caption}]({Path(os.path.relpath(IMAGES / file, page.parent)).as_posix()})\n\n"
    return cell_text(value)


def look_up(name: str) -> Any:
    """Return the function that shows a name of the form ``suite.what``."""
    suite, _, what = name.partition(".")
    try:
        shown = importlib.import_module(f"research.shown.{suite}").SHOWN
        return shown[what]
    except (ImportError, AttributeError, KeyError) as error:
        raise UnknownName(f"mark must name something in SHOWN of research/shown/{suite}.py; got {name!r}.") from error


def typed_marks() -> Iterator[tuple[Path, int, str]]:
    """Yield page, line and name of every table that is not on the runner yet."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for found in MARK.finditer(text):
            if found[1]:
                yield page, text.count("\n", 0, found.start()) + 1, found[2]


def unmarked_tables(text: str) -> list[int]:
    """Return the lines at which a table of numbers begins outside of every mark.

    That is a table with a column aligned to the right, or with several cells that begin with a measured number.

    >>> unmarked_tables("|---|---:|" + chr(10))
    [0]
    """
    inside = [(found.start(), found.end()) for found in MARK.finditer(text)]
    lines = []
    for found in re.finditer(r"^\|[-:| ]*---[-:| ]*\|\n((?:\|.*\n?)*)", text, re.MULTILINE):
        right = "---:" in found[0].split("\n")[0]
        results = len(re.findall(r"\| [\d,.]+(?: %| ×| \[|\.\d| /)", found[1])) >= _FEW_NUMBERS
        if (right or results) and not any(first <= found.start() < last for first, last in inside):
            lines.append(text.count("\n", 0, found.start()))
    return lines


def main() -> None:
    """Fill every mark in place and draw the pictures."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = render(text, page, images=IMAGES)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
