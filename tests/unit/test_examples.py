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


@pytest.mark.slow
def test_continuous_maze() -> None:
    command = [sys.executable, str(EXAMPLES / "continuous_maze.py"), "--log-steps", "20000", "--task-steps", "5000"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "in the maze itself: success [1.0, 1.0" in run.stdout
    assert run.stdout.count("of episodes") == 2
    assert run.stdout.splitlines()[-1].startswith("task with options: first reached after")


@pytest.mark.slow
def test_point_maze() -> None:
    pytest.importorskip("gymnasium_robotics")
    command = [sys.executable, str(EXAMPLES / "point_maze.py"), "--steps", "1500"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.count("far point at") == 4


def test_point_maze_says_what_it_needs() -> None:
    code = "import sys, runpy; sys.modules['gymnasium_robotics'] = None; sys.argv = ['point_maze.py']; "
    code += f"runpy.run_path({str(EXAMPLES / 'point_maze.py')!r}, run_name='__main__')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.strip() == "This example needs PointMaze. Run: pip install 'farpoint[robotics]'"


@pytest.mark.slow
@pytest.mark.parametrize("n_options", [0, 16])
def test_train_cleanrl_style(n_options: int, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    words = ["--n-steps", "2000", "--n-options", str(n_options), "--log-dir", str(tmp_path)]
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / "train_cleanrl_style.py"), *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "goal reached in" in run.stdout
    assert f"{n_options} options at the end" in run.stdout
    assert [file.name.startswith("events") for file in tmp_path.iterdir()] == [True]


@pytest.mark.slow
def test_discovering() -> None:
    words = ["--env-id", "MiniGrid-MultiRoom-N2-S4-v0", "--n-steps", "10000"]
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / "discovering.py"), *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "steps: goal reached in" in run.stdout
    assert "8 options at the end" in run.stdout
