"""``farpoint studio``: the page in the browser."""

from __future__ import annotations

from farpoint.cli.worlds import read_input
from farpoint.studio.server import serve
from farpoint.studio.sources import Source, source_of_word


def run(
    world: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    open: bool = True,
) -> None:
    """Serve the page until it is interrupted."""
    serve(None if world is None else _source(world), host=host, port=port, token=token, show=open)


def _source(word: str) -> Source:
    if word == "-":
        return {"kind": "text", "text": read_input(), "name": "standard input"}
    return source_of_word(word)
