"""The examples run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_stable_baselines() -> None:
    command = [sys.executable, str(EXAMPLES / "stable_baselines.py"), "--steps", "300"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.count("mean reward") == 4
