"""Fill the marks of every page from ``research/results`` while the site is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from research.pages import MARK, render
from research.runner import RESULTS, ROOT


def _fill(app: Any, docname: str, source: list[str]) -> None:
    if MARK.search(source[0]):
        images = Path(app.srcdir) / "images"
        source[0] = render(source[0], ROOT / "docs" / f"{docname}.md", images=images)
        for path in RESULTS.glob("*.csv"):
            app.env.note_dependency(str(path))


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}
