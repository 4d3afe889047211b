"""The command ``farpoint``."""

from __future__ import annotations

import sys

from farpoint.errors import FarpointError


def main() -> None:
    """Run the command; an error of ours is one line on standard error and exit code 2."""
    from farpoint.cli.app import app

    try:
        app()
    except FarpointError as error:
        print(f"farpoint: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("farpoint: interrupted", file=sys.stderr)
        sys.exit(130)
