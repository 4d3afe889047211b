"""Folders of results: all of them, or those from before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from farpoint.errors import OutputError
from farpoint.files import (
    results_folder,
    write_text,
)
from tests.helpers.archives import names


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
        assert (tmp_path / "score.png").read_text() == "old", "nothing is shown before everything is there"
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"score.png": "new", "notes.txt": "mine"}


def test_what_is_in_the_way_of_results(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OutputError, match="output folder"), results_folder(tmp_path / "out"):
        pass
    (tmp_path / "there" / "page.html").mkdir(parents=True)

    def into_a_folder() -> None:
        with results_folder(tmp_path / "there") as folder:
            (folder / "other.txt").write_text("text")
            (folder / "page.html").write_text("text")

    with pytest.raises(OutputError, match=r"page\.html must be a file or not exist; got a folder"):
        into_a_folder()
    assert names(tmp_path / "there") == ["page.html"], "not even the file that could have been written"


def test_results_follow_links_and_spare_devices(tmp_path: Path) -> None:
    out, far = tmp_path / "out", tmp_path / "far"
    out.mkdir()
    far.mkdir()
    (far / "page.html").write_text("old")
    (out / "page.html").symlink_to(far / "page.html")
    with results_folder(out) as folder:
        write_text(folder / "page.html", "new")
        write_text(folder / "other.html", "new")
    assert (out / "page.html").is_symlink()
    assert (far / "page.html").read_text() == "new"
    assert (names(out), names(far)) == (["other.html", "page.html"], ["page.html"])
    os.mkfifo(out / "score.png")
    (out / "options.npz").symlink_to(os.devnull)

    def save(name: str) -> None:
        with results_folder(out) as folder:
            write_text(folder / "another.html", "new")
            write_text(folder / name, "new")

    for name in ("score.png", "options.npz"):
        with pytest.raises(OutputError, match=rf"{name} must be a regular file or not exist; got something else"):
            save(name)
    assert Path(os.devnull).is_char_device()
    assert (out / "score.png").is_fifo()
    assert names(out) == ["options.npz", "other.html", "page.html", "score.png"]


def test_a_folder_is_used_by_one_run_at_a_time(tmp_path: Path) -> None:
    begun = False
    code = "from pathlib import Path; from farpoint.files import results_folder; results_folder(Path.cwd()).__enter__()"
    with results_folder(tmp_path) as folder:
        write_text(folder / "a.txt", "a")
        with (
            pytest.raises(
                OutputError, match=r"must be used by one run at a time; got another run at work in it\. Wait"
            ),
            results_folder(tmp_path),
        ):
            begun = True
        other = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "OutputError: output folder" in other.stderr
    assert not begun
    assert names(tmp_path) == ["a.txt"]
