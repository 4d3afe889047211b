"""Folders of finished pieces."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from farpoint.errors import OutputError, WrongCheckpoint
from farpoint.files import (
    PieceFolder,
)
from tests.helpers.archives import names, rewrite


def piece(value: float) -> dict[str, NDArray[Any]]:
    return {"scores": np.full(3, value)}


def value_of(folder: PieceFolder, name: str) -> float | None:
    arrays = folder.load(name)
    return None if arrays is None else float(arrays["scores"][0])


def test_pieces_are_kept_from_one_run_to_the_next(tmp_path: Path) -> None:
    about = {"world": "abc", "t": 4, "blocks": [(0, 3), (3, 6)]}
    first = PieceFolder(tmp_path / "new" / "folder", "score", about)
    assert "block-0" not in first
    first.save("block-0", piece(1.0))
    again = PieceFolder(tmp_path / "new" / "folder", "score", about)
    assert "block-0" in again
    assert (value_of(again, "block-0"), value_of(again, "block-1")) == (1.0, None)
    again.save("block-0", piece(2.0))
    assert value_of(first, "block-0") == 2.0


@pytest.mark.parametrize("damage", ["renamed", "from another folder", "of another kind", "cut", "empty", "changed"])
def test_a_piece_that_is_not_this_piece_is_not_loaded(damage: str, tmp_path: Path) -> None:
    folder = PieceFolder(tmp_path / "one", "score", {"t": 4})
    folder.save("block-0", piece(1.0))
    folder.save("block-1", piece(2.0))
    path = tmp_path / "one" / "block-1.npz"
    if damage == "renamed":
        shutil.copy(tmp_path / "one" / "block-0.npz", path)
    elif damage == "from another folder":
        PieceFolder(tmp_path / "two", "score", {"t": 13}).save("block-1", piece(3.0))
        shutil.copy(tmp_path / "two" / "block-1.npz", path)
    elif damage == "of another kind":
        PieceFolder(tmp_path / "two", "training", {"t": 4}).save("block-1", piece(3.0))
        shutil.copy(tmp_path / "two" / "block-1.npz", path)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-30])
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        rewrite(path, lambda arrays: arrays["scores"].__setitem__(0, 9.0))
    assert folder.load("block-1") is None
    assert "block-1" not in folder
    assert value_of(folder, "block-0") == 1.0
    folder.save("block-1", piece(4.0))
    assert value_of(folder, "block-1") == 4.0


def test_a_folder_of_another_computation_is_refused_with_what_differs(tmp_path: Path) -> None:
    PieceFolder(tmp_path, "score", {"t": 4, "world": "abc", "tolerance": None})
    before = names(tmp_path)
    for about, different in (
        ({"t": 13, "world": "abc", "tolerance": None}, "another t"),
        ({"t": 13, "world": "xyz", "tolerance": None}, "another t, world"),
        ({"t": 4, "world": "abc", "tolerance": None, "seed": 1}, "another seed"),
    ):
        message = rf"checkpoint must be a folder of this score; got .* with {different}\. Give each score a folder of"
        with pytest.raises(WrongCheckpoint, match=message):
            PieceFolder(tmp_path, "score", about)
    assert names(tmp_path) == before
    (tmp_path / "about.json").write_text("[1, 2]")
    with pytest.raises(WrongCheckpoint, match="checkpoint must be a folder of this training"):
        PieceFolder(tmp_path, "training", {"t": 4})


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "about.json").write_text("{not json")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path):
        with pytest.raises(OutputError, match="checkpoint must be a folder that can be written"):
            PieceFolder(folder, "score", {"t": 4})


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = PieceFolder(None, "score", {"t": 4})
    folder.save("block-0", piece(1.0))
    assert folder.load("block-0") is None
    assert "block-0" not in folder
    assert names(tmp_path) == []
