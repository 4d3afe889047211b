"""What a killed process leaves, and what a living one writes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from farpoint.files import (
    PieceFolder,
    results_folder,
    whole_file,
    write_text,
)
from farpoint.files.unfinished import unfinished_folder
from tests.helpers.archives import names

LEFT = ".farpoint-unfinished"


def killed(folder: Path, code: str) -> None:
    """Run code in a process that ends at ``kill()`` as if by kill -9."""
    start = (
        "import os, signal; from pathlib import Path; from farpoint.files import *; folder = Path.cwd(); "
        "kill = lambda: os.kill(os.getpid(), signal.SIGKILL)"
    )
    run = subprocess.run([sys.executable, "-c", f"{start}\n{code}"], cwd=folder, capture_output=True, check=False)
    assert run.returncode == -9, run.stderr.decode()


FILE_KILLED = "with whole_file('a.txt') as temporary:\n    temporary.write_text('half'); kill()"
RESULTS_KILLED = "with results_folder(folder) as out:\n    write_text(out / 'a.txt', 'half'); kill()"


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    killed(tmp_path, FILE_KILLED)
    assert names(tmp_path) == [f"{LEFT}-0-a.txt"]
    write_text(tmp_path / "a.txt", "whole")
    assert names(tmp_path) == ["a.txt"]
    killed(tmp_path, RESULTS_KILLED)
    assert names(tmp_path) == [LEFT, "a.txt"]
    with results_folder(tmp_path) as folder:
        write_text(folder / "b.txt", "whole")
    assert names(tmp_path) == ["a.txt", "b.txt"]
    # A run of results and a folder of pieces also remove what was left of files that they do not write.
    for enter in (lambda: PieceFolder(tmp_path, "score", {}), lambda: results_folder(tmp_path).__enter__()):
        killed(tmp_path, FILE_KILLED)
        assert f"{LEFT}-0-a.txt" in names(tmp_path)
        entered = enter()
        assert f"{LEFT}-0-a.txt" not in names(tmp_path)
        del entered


def test_what_a_living_process_writes_is_not_removed(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with whole_file(target) as one:
        one.write_text("one")
        with whole_file(target) as two, results_folder(tmp_path) as folder:
            two.write_text("two")
            assert names(tmp_path) == [LEFT, f"{LEFT}-0-a.txt", f"{LEFT}-1-a.txt"]
            write_text(folder / "b.txt", "b")
        assert target.read_text() == "two"
    assert target.read_text() == "one"
    assert names(tmp_path) == ["a.txt", "b.txt"]


def test_a_run_whose_folder_was_removed_leaves_that_of_the_next_run_alone(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    with unfinished_folder(target) as temporary:
        assert temporary is not None
        shutil.rmtree(target)
        # As another run would make it.
        temporary.mkdir(parents=True)
    assert temporary.exists()
