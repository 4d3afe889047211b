"""Where arrays of a name are written and read."""

from __future__ import annotations

from pathlib import Path

import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, OutputError
from farpoint.files.names import array_path


def test_a_name_without_an_ending_is_one_file_for_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    world = fp.ring()
    world.save("w")
    fp.discover(world).save("o")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["o.npz", "w.npz"]
    for name in ("w", "w.npz", tmp_path / "w", str(tmp_path / "w.npz")):
        assert fp.World.load(name).n_states == 192
    assert len(fp.OptionSet.load("o", world)) == 32
    # Saved again, it is the same file.
    fp.maze().save("w")
    assert fp.World.load("w.npz").n_states == 148
    assert len(list(tmp_path.iterdir())) == 2


def test_another_ending_is_kept(tmp_path: Path) -> None:
    fp.ring().save(tmp_path / "w.v2")
    assert [file.name for file in tmp_path.iterdir()] == ["w.v2"]
    assert fp.World.load(tmp_path / "w.v2").n_states == 192


def test_a_file_that_has_the_very_name_is_meant(tmp_path: Path) -> None:
    fp.ring().save(tmp_path / "w.npz")
    (tmp_path / "w.npz").rename(tmp_path / "w")
    assert fp.World.load(tmp_path / "w").n_states == 192
    fp.maze().save(tmp_path / "w")
    assert [file.name for file in tmp_path.iterdir()] == ["w"]
    assert fp.World.load(tmp_path / "w").n_states == 148


def test_a_folder_is_not_taken_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="must be a regular file or not exist"):
        fp.ring().save(tmp_path)
    assert array_path("/") == Path("/")
    with pytest.raises(InvalidFile, match="damaged or of another kind"):
        fp.World.load(tmp_path)


def test_a_missing_file_says_where_it_was_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidFile) as failure:
        fp.World.load("w")
    message = f"w.npz must be a file of farpoint-world; got no file of that name in {tmp_path}."
    assert str(failure.value) == message
