"""``farpoint studio``: the page in the browser."""

from __future__ import annotations

from farpoint.cli.arguments import StudioArguments
from farpoint.studio.server import serve


def run(arguments: StudioArguments) -> None:
    """Serve the page until it is interrupted."""
    serve(
        arguments.world,
        host=arguments.host,
        port=arguments.port,
        token=arguments.token,
        show=arguments.open,
    )
