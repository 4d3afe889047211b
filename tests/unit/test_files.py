"""Folders of results: complete or not there at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from farpoint.errors import OutputError
from farpoint.files import results_folder


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"

    def fail_halfway() -> None:
        with results_folder(target) as folder:
            (folder / "half.png").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_halfway()
    assert list(tmp_path.iterdir()) == []


def test_results_replace_older_ones_and_keep_other_files(tmp_path: Path) -> None:
    (tmp_path / "score.png").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    with results_folder(tmp_path) as folder:
        (folder / "score.png").write_text("new")
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"score.png": "new", "notes.txt": "mine"}


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OutputError, match="output folder"), results_folder(tmp_path / "out"):
        pass
