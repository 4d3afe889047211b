"""Examples as they are read: without the empty line that ends a doctest."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


def _trim(app: Sphinx, document: nodes.document) -> None:
    for block in document.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource = text
        block.children = []
        block += nodes.Text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Trim every block of code once it was read."""
    app.connect("doctree-read", _trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
