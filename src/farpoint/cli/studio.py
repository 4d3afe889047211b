"""``farpoint studio``: the page in the browser."""

from __future__ import annotations

from farpoint.cli.arguments import StudioArguments
from farpoint.cli.worlds import read_input
from farpoint.studio.server import serve
from farpoint.studio.sources import Source, source_of_word


def run(arguments: StudioArguments) -> None:
    """Serve the page until it is interrupted."""
    source = None if arguments.world is None else _source(arguments.world)
    serve(
        source,
        host=arguments.host,
        port=arguments.port,
        token=arguments.token,
        show=arguments.open,
    )


def _source(word: str) -> Source:
    if word == "-":
        return {"kind": "text", "text": read_input(), "name": "standard input"}
    return source_of_word(word)
