from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, OutputError


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "rooms.npz"
    fp.discover(fp.four_rooms()).save(path)
    return path


def test_round_trip(saved: Path) -> None:
    before, after = fp.discover(fp.four_rooms()), fp.OptionSet.load(saved, fp.four_rooms())
    np.testing.assert_array_equal(after.goals, before.goals)
    assert repr(after) == repr(before)
    assert after.record.keys() == before.record.keys()
    np.testing.assert_array_equal(after.record["heights"], before.record["heights"])
    np.testing.assert_array_equal(after[3].route(0), before[3].route(0))


def test_file_holds_no_pickle(saved: Path) -> None:
    with np.load(saved, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def test_another_world_is_refused(saved: Path) -> None:
    with pytest.raises(InvalidFile, match=r"this world \(maze, 148 states\); got options of four_rooms \(104 states\)"):
        fp.OptionSet.load(saved, fp.maze())
    with pytest.raises(InvalidFile, match="must hold options of this world"):
        fp.OptionSet.load(saved, fp.four_rooms(wind=0.1))


@pytest.mark.parametrize("keep", [0, 10, 300, 0.5, 0.95])
def test_a_cut_file_is_refused(saved: Path, keep: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
    with pytest.raises(InvalidFile, match="damaged or foreign"):
        fp.OptionSet.load(saved, fp.four_rooms())


def test_flipped_bytes_are_never_loaded_as_something_else(saved: Path) -> None:
    content = saved.read_bytes()
    world, before = fp.four_rooms(), fp.discover(fp.four_rooms())
    refused = 0
    for place in range(0, len(content), 3):
        saved.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            loaded = fp.OptionSet.load(saved, world)
        except InvalidFile:
            refused += 1
        else:  # a byte that says nothing, such as a time stamp of the archive
            np.testing.assert_array_equal(loaded.goals, before.goals)
            assert loaded.record.keys() == before.record.keys()
            np.testing.assert_array_equal(loaded.record["heights"], before.record["heights"])
    assert refused > len(content) // 6


@pytest.mark.parametrize("method", ["eigen", "cover", "none"])
def test_other_kinds_of_options(tmp_path: Path, method: str) -> None:
    world = fp.maze()
    options = fp.discover(world, method, t=13)
    options.save(tmp_path / "options.npz")
    loaded = fp.OptionSet.load(tmp_path / "options.npz", world)
    for name in ("goals", "starts", "climbs"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(options, name))


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    world = fp.ring()
    text, other, missing = tmp_path / "text.npz", tmp_path / "other.npz", tmp_path / "missing.npz"
    text.write_text("not an archive")
    np.savez(other, goals=np.arange(3))
    with pytest.raises(InvalidFile, match="damaged or foreign"):
        fp.OptionSet.load(text, world)
    with pytest.raises(InvalidFile, match=r"another kind of \.npz"):
        fp.OptionSet.load(other, world)
    with pytest.raises(InvalidFile, match="got no file of that name"):
        fp.OptionSet.load(missing, world)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"version": 99}, "got version 99. Update"), ({"format": "soup"}, "another kind"), ({"record": 5}, "damaged")],
)
def test_changed_headers_are_refused(saved: Path, change: dict[str, object], message: str) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    arrays["header"] = np.array(json.dumps(json.loads(str(arrays["header"])) | change))
    np.savez(saved, **arrays)
    with pytest.raises(InvalidFile, match=message):
        fp.OptionSet.load(saved, fp.four_rooms())


def test_goals_outside_the_world_are_refused(saved: Path) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    np.savez(saved, **(arrays | {"goals": np.array([1, 104])}))
    with pytest.raises(InvalidFile, match="damaged"):
        fp.OptionSet.load(saved, fp.four_rooms())


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="must be a file that can be written"):
        fp.discover(fp.ring()).save(tmp_path / "no" / "where.npz")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OutputError, match="No space left"):
        fp.discover(fp.four_rooms(), t=13).save(saved)
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]


def test_saved_file_is_an_ordinary_archive(saved: Path) -> None:
    assert zipfile.ZipFile(saved).testzip() is None
    assert saved.stat().st_mode & 0o600 == 0o600
