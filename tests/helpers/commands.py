"""The command as a person runs it: in this process, or where that matters in one of its own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from farpoint.cli import main

FARPOINT = [sys.executable, "-m", "farpoint"]


def farpoint(
    *words: str, text: str | None = None, cwd: Path | None = None, columns: int = 120
) -> subprocess.CompletedProcess[str]:
    """Return how ``farpoint words`` ended and what it printed, with ``text`` on its standard input.

    In this process: a new one takes seconds until it has loaded everything. `tests/unit/cli/test_terminals.py` has what
    a process and its terminal do.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code: object = 0
    environment = mock.patch.dict(os.environ, {"COLUMNS": str(columns), "NO_COLOR": "1"})
    arguments = mock.patch.multiple(
        sys, argv=["farpoint", *words], stdin=io.TextIOWrapper(io.BytesIO((text or "").encode()), encoding="utf-8")
    )
    before = signal.getsignal(signal.SIGTERM)
    try:
        with (
            environment, arguments, chdir(cwd or Path.cwd()), redirect_stdout(out), redirect_stderr(err),
            warnings.catch_warnings(action="default"),
        ):  # fmt: skip
            main()
    except SystemExit as end:
        code = end.code
    finally:
        signal.signal(signal.SIGTERM, before)
    printed = []
    for stream in (out, err):
        stream.seek(0)
        printed.append(stream.read())
    return subprocess.CompletedProcess([*FARPOINT, *words], code if isinstance(code, int) else 0, *printed)
