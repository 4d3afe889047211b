"""Files and folders of results are there whole or not at all, whoever is killed or still writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farpoint.errors import OutputError
from farpoint.files import (
    PieceFolder,
    results_folder,
    whole_file,
    write_rows,
    write_text,
)
from farpoint.files.unfinished import unfinished_folder
from tests.helpers.archives import names


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "note.txt"
    with whole_file(target) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".txt"
        temporary.write_text("new")
        assert not target.exists()
    assert names(tmp_path) == ["note.txt"]
    assert target.read_text() == "new"


@pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt(), OSError(28, "No space left on device")])
@pytest.mark.parametrize("existed", [False, True])
def test_a_failure_leaves_what_was_there_and_nothing_else(error: BaseException, existed: bool, tmp_path: Path) -> None:
    target = tmp_path / "note.txt"
    if existed:
        target.write_text("old")

    def fail() -> None:
        with whole_file(target) as temporary:
            temporary.write_text("half")
            raise error

    expected = OutputError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        fail()
    assert names(tmp_path) == (["note.txt"] if existed else [])
    assert not existed or target.read_text() == "old"


def test_symbolic_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "far" / "real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "far" / "real.txt").read_text() == "new"
    # A link to a file that is not there yet is one to a file that can be written.
    (tmp_path / "ahead.txt").symlink_to(tmp_path / "far" / "coming.txt")
    write_text(tmp_path / "ahead.txt", "there")
    assert (tmp_path / "far" / "coming.txt").read_text() == "there"
    assert names(tmp_path / "far") == ["coming.txt", "real.txt"]


def test_folders_and_devices_are_refused_before_any_work(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    begun = False
    for path in (tmp_path, Path(os.devnull), pipe):
        message = "must be a regular file or not exist; got something else"
        with pytest.raises(OutputError, match=message), whole_file(path):
            begun = True
    assert not begun
    with pytest.raises(OutputError, match=r"must be a file that can be written; got No such file"):
        write_text(tmp_path / "no" / "where.txt", "text")


def test_texts_are_utf_8_and_rows_have_a_header(tmp_path: Path) -> None:
    write_text(tmp_path / "page.html", "π ≤ 4")
    assert (tmp_path / "page.html").read_bytes() == "π ≤ 4".encode()
    write_rows(tmp_path / "table.csv", [{"world": "ring, large", "t": 4}, {"world": "maze", "t": 13}])
    assert (tmp_path / "table.csv").read_text().splitlines() == ["world,t", '"ring, large",4', "maze,13"]


def test_the_first_error_is_the_one_that_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    def fail_twice(enter: Callable[[], Any]) -> None:
        with enter() as temporary, monkeypatch.context() as patch:
            (temporary / "a" if temporary.is_dir() else temporary).write_text("half")
            patch.setattr(os, "rmdir", fail)
            patch.setattr(os, "unlink", fail)
            raise RuntimeError("the first error")

    with pytest.raises(RuntimeError, match="the first error"):
        fail_twice(lambda: whole_file(tmp_path / "a.txt"))
    with pytest.raises(RuntimeError, match="the first error"):
        fail_twice(lambda: results_folder(tmp_path / "out"))


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
