"""The command ``farpoint``."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from farpoint.errors import FarpointError

_INTERRUPTED = 130


def main() -> None:
    """Run the command; an error of ours is one line on standard error and exit code 2."""
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        print("farpoint: interrupted", file=sys.stderr)
        sys.exit(_INTERRUPTED)


def _run() -> int:
    # A scheduler's "please end" unwinds like Ctrl-C, so that nothing half-written is left.
    signal.signal(signal.SIGTERM, _end)
    import typer
    from typer.main import get_command

    from farpoint.cli.app import app

    try:
        code = int(get_command(app).main(prog_name="farpoint", standalone_mode=False) or 0)
        if sys.stdout is not None:
            sys.stdout.flush()
    except FarpointError as error:
        return _fail(str(error))
    except typer.Abort as abort:
        raise KeyboardInterrupt from abort
    except BrokenPipeError:
        # The reader of our output has gone; what is still in the buffer must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"output must be one that can be written; got {error.strerror}.")
    except Exception as error:
        # What the option parser raises: an unknown option, a number that is none.
        if not hasattr(error, "format_message"):
            raise
        message = str(error.format_message())
        if not message.startswith("Usage:"):
            return _fail(message)
        print(message)
        return 2
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code


def _fail(message: str) -> int:
    print(f"farpoint: {message}", file=sys.stderr)
    return 2


def _end(signum: int, frame: FrameType | None) -> None:
    sys.exit(128 + signum)
