"""The command as a person runs it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FARPOINT = [sys.executable, "-m", "farpoint"]


def farpoint(
    *words: str, text: str | None = None, cwd: Path | None = None, columns: int = 120
) -> subprocess.CompletedProcess[str]:
    """Return the finished process of ``farpoint words``, with ``text`` on its standard input."""
    env = os.environ | {"COLUMNS": str(columns), "NO_COLOR": "1"}
    return subprocess.run(
        [*FARPOINT, *words], input=text, capture_output=True, text=True, cwd=cwd, env=env, check=False
    )
