"""The command ``farpoint``."""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType

from farpoint.errors import FarpointError, one_line

_INTERRUPTED = 130


def main() -> None:
    """Run the command; an error of Farpoint is one line on standard error and exit code 2."""
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        print("farpoint: interrupted", file=sys.stderr)
        sys.exit(_INTERRUPTED)


def _run() -> int:
    for stream in (sys.stdout, sys.stderr):
        # A terminal that has only ASCII shows a question mark in place of what it cannot show.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # A scheduler's request to end unwinds like Ctrl-C, so that no unfinished files are left.
    signal.signal(signal.SIGTERM, _exit_on_signal)
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
        # Nothing reads the output any more; what is left in the buffer must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError as error:
        return _fail(f"world must fit into memory; it does not ({error}).")
    except OSError as error:
        return _fail(
            f"output must be one that can be written; got {error.strerror or str(error) or type(error).__name__}."
        )
    except Exception as error:
        # Raised by the option parser: an unknown option, or a word where a number should be.
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
    print(f"farpoint: {one_line(message)}", file=sys.stderr)
    return 2


def _exit_on_signal(signum: int, frame: FrameType | None) -> None:
    sys.exit(128 + signum)
