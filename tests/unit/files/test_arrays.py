"""Archives of arrays are written under their name, and read as they were written or refused."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidFile, OutputError
from farpoint.files import (
    file_digest,
    read_arrays,
    read_facts,
    write_arrays,
    write_facts,
)
from farpoint.files.names import array_path
from tests.helpers.archives import rewrite

ARRAYS = {"scores": np.linspace(0.0, 1.0, 12).reshape(3, 4), "states": np.arange(5)}
FACTS = {"t": 4, "names": ["a", "b"], "nested": {"x": None}}


@pytest.mark.parametrize("compressed", [False, True])
def test_arrays_are_read_as_they_were_written(compressed: bool, tmp_path: Path) -> None:
    arrays = ARRAYS | {
        "none": np.empty((0, 3), dtype=np.float32),
        "number": np.array(7),
        "flags": np.array([True, False]),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "every other": np.arange(10)[::2],
        "big": np.arange(4, dtype=">i2"),
    }
    write_arrays(tmp_path / "a.npz", "example", FACTS, arrays, compressed=compressed)
    facts, read = read_arrays(tmp_path / "a.npz", "example")
    assert facts == FACTS
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype
        assert read[name].shape == array.shape
        np.testing.assert_array_equal(read[name], array)


def header_with(**changes: Any) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays["header"] = np.array(json.dumps(json.loads(str(arrays["header"])) | changes))

    return change


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "an entry": lambda arrays: arrays["scores"].__setitem__((0, 0), 9.0),
    "the type": lambda arrays: arrays.update(states=arrays["states"].astype(np.int32)),
    "the kind of number": lambda arrays: arrays.update(states=arrays["states"].view(np.uint64)),
    "the shape": lambda arrays: arrays.update(scores=arrays["scores"].reshape(4, 3)),
    "the order": lambda arrays: arrays.update(states=arrays["states"][::-1]),
    "a name": lambda arrays: arrays.update(other=arrays.pop("states")),
    "one array less": lambda arrays: arrays.pop("states"),
    "one array more": lambda arrays: arrays.update(more=np.zeros(1)),
    "the facts": header_with(facts={"t": 5}),
    "no facts": header_with(facts=None),
    "the digest": header_with(digest="00"),
    "no digest": header_with(digest=None),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, "example", FACTS, ARRAYS)
    rewrite(path, lambda arrays: None)
    assert read_arrays(path, "example")[0] == FACTS, "rewriting alone changes nothing"
    rewrite(path, CHANGES[what])
    with pytest.raises(InvalidFile, match="must be whole; it is damaged"):
        read_arrays(path, "example")


def test_another_kind_or_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, "example", FACTS, ARRAYS, version=2)
    assert read_arrays(path, "example", version=2)[0] == FACTS
    with pytest.raises(InvalidFile, match=r"must be of version 1; got version 2\. Update Farpoint"):
        read_arrays(path, "example")
    with pytest.raises(InvalidFile, match=r"must be a file of other; got another kind of \.npz file"):
        read_arrays(path, "other", version=2)
    np.savez(path, scores=np.zeros(3))
    with pytest.raises(InvalidFile, match=r"must be a file of example; got another kind of \.npz file"):
        read_arrays(path, "example")
    with pytest.raises(InvalidFile, match="got no file of that name"):
        read_arrays(tmp_path / "missing.npz", "example")


CONTENTS: dict[str, bytes] = {"nothing": b"", "text": b"not an archive", "the start of one": b"PK\x03\x04" + 40 * b"\0"}


@pytest.mark.parametrize("what", [*CONTENTS, "half", "an array", "a pickle", "a header that is no text", "a folder"])
def test_what_is_no_archive_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, "example", FACTS, ARRAYS)
    if what in CONTENTS:
        path.write_bytes(CONTENTS[what])
    elif what == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif what == "an array":
        np.save(path.with_suffix(".npy"), np.zeros(3))
        path.with_suffix(".npy").rename(path)
    elif what == "a pickle":
        np.savez(path, header=np.array([{"a": 1}], dtype=object))
    elif what == "a folder":
        path.unlink()
        path.mkdir()
    else:
        rewrite(path, lambda arrays: arrays.update(header=np.zeros(3)))
    with pytest.raises(InvalidFile, match=r"must be a whole \.npz file of example; it is damaged or of another kind"):
        read_arrays(path, "example")


def test_a_flipped_byte_is_never_read_as_something_else(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, "example", FACTS, ARRAYS, compressed=True)
    content = path.read_bytes()
    refused = 0
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            facts, arrays = read_arrays(path, "example")
        except InvalidFile:
            refused += 1
        else:  # a byte that carries nothing, such as a date of the archive
            assert facts == FACTS
            for name, array in ARRAYS.items():
                np.testing.assert_array_equal(arrays[name], array)
    assert refused > 0.5 * len(content) / 7


def member(array: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    n_bytes = 2**28
    zeros = bytes(2**24)
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (n_bytes,)})
        for _ in range(n_bytes // len(zeros)):
            file.write(zeros)
    assert path.stat().st_size < 2**19
    tracemalloc.start()
    with pytest.raises(InvalidFile, match="it is damaged or of another kind"):
        read_arrays(path, "example")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize(
    "what", ["twice", "twice without an ending", "too long", "too short", "fields", "no bytes", "text"]
)
def test_crafted_archives_are_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, "example", FACTS, ARRAYS)
    with zipfile.ZipFile(path) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    states = next(content for name, content in members if name == "states.npy")
    changed = {
        "twice": [("states.npy", member(np.arange(5) + 1)), ("states.npy", states)],
        "twice without an ending": [("states", states), ("states.npy", states)],
        "too long": [("states.npy", states + b"\0")],
        "too short": [("states.npy", states.replace(b"(5,)", b"(6,)"))],
        "fields": [("states.npy", member(np.arange(5).view([("a", "<i4"), ("b", "<i4")])))],
        "no bytes": [("states.npy", states[:-40].replace(b"<i8", b"|V0"))],
        "text": [("states.npy", b"not an array")],
    }[what]
    warned = pytest.warns(UserWarning, match="Duplicate") if what == "twice" else nullcontext()
    with warned, zipfile.ZipFile(path, "w") as archive:
        for name, content in [*(one for one in members if one[0] != "states.npy"), *changed]:
            archive.writestr(name, content)
    with pytest.raises(InvalidFile, match="it is damaged"):
        read_arrays(path, "example")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.npz")
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(InvalidFile, match="must be a whole"):
        read_arrays(tmp_path / "a.npz", "example")
    with pytest.raises(InvalidFile, match="must be a whole"):
        read_facts(tmp_path / "a.json", "example")
    with pytest.raises(OSError, match="not a regular file"):
        file_digest(tmp_path / "a.npz")


def test_every_flipped_bit_of_facts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_facts(path, "example", FACTS)
    assert read_facts(path, "example") == FACTS
    content = path.read_bytes()
    changes = [content[:-1], content + b" ", content.replace(b", ", b",", 1), b"[]", b"", 9_999 * b"["]
    for place in range(8 * len(content)):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        changes.append(bytes(changed))
    for change in changes:
        path.write_bytes(change)
        with pytest.raises(InvalidFile):
            read_facts(path, "example")
    write_facts(path, "example", FACTS, version=2)
    with pytest.raises(InvalidFile, match="must be example of version 1; got example of version 2"):
        read_facts(path, "example")
    with pytest.raises(InvalidFile, match="must be other of version 2; got example of version 2"):
        read_facts(path, "other", version=2)


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
