"""``gym:MODULE:ENV-ID``: environments of modules that lie where the command is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
import farpoint as fp
import gymnasium as gym

gym.register("Mine-v0", entry_point=lambda: fp.envs.WorldEnv(fp.World.from_map("S...")))
"""
# As the installed script does: it imports the command, and its own folder, not the current one, is on the path.
SCRIPT = "import sys; sys.path = [one for one in sys.path if one]; from farpoint.cli import main; main()"


def command(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"COLUMNS": "120"} | environment
    run = [sys.executable, "-c", SCRIPT, *words]
    return subprocess.run(run, capture_output=True, text=True, cwd=folder, env=env, check=False)


@pytest.mark.parametrize("words", [["discover"], ["explore", "--n-steps", "50"]])
def test_a_module_of_the_current_folder_is_found(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "my_module.py").write_text(MODULE)
    run = command(*words, "gym:my_module:Mine-v0", folder=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "Mine-v0" in run.stdout


def test_no_other_file_of_the_folder_is_imported(tmp_path: Path) -> None:
    (tmp_path / "colorsys.py").write_text("raise SystemExit('imported')")
    (tmp_path / "minigrid.py").write_text("raise SystemExit('imported')")
    run = command("discover", "four_rooms", "--out", "out", folder=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_safe_path_stays_safe(tmp_path: Path) -> None:
    (tmp_path / "my_module.py").write_text(MODULE)
    run = command("discover", "gym:my_module:Mine-v0", folder=tmp_path, PYTHONSAFEPATH="1")
    assert run.returncode == 2
    assert "environment must be registered in Gymnasium" in run.stderr
