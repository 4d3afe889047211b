"""Files are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farpoint.errors import OutputError
from farpoint.files import (
    results_folder,
    whole_file,
    write_rows,
    write_text,
)
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
