"""Files are complete or absent, whoever is killed or still writes, and read as they were written or refused."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidFile, OutputError, WrongCheckpoint
from farpoint.files import (
    Checkpoint,
    array_path,
    atomic_write,
    read_arrays,
    results_folder,
    write_arrays,
    write_rows,
    write_text,
)
from tests.helpers.archives import names, rewrite
from tests.helpers.faults import content_of, nth_call

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
    with pytest.raises(InvalidFile, match=r"must be of version 3; got version 2\. An older Farpoint wrote it: make it"):
        read_arrays(path, "example", version=3)
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
    with pytest.raises(InvalidFile, match="must be a whole"):
        read_arrays(tmp_path / "a.npz", "example")


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


def piece(value: float) -> dict[str, NDArray[Any]]:
    return {"scores": np.full(3, value)}


def value_of(folder: Checkpoint, name: str) -> float | None:
    arrays = folder.load(name)
    return None if arrays is None else float(arrays["scores"][0])


def test_pieces_are_kept_from_one_run_to_the_next(tmp_path: Path) -> None:
    about = {"world": "abc", "t": 4, "blocks": [(0, 3), (3, 6)]}
    first = Checkpoint(tmp_path / "new" / "folder", "score", about)
    assert "block-0" not in first
    first.save("block-0", piece(1.0))
    again = Checkpoint(tmp_path / "new" / "folder", "score", about)
    assert "block-0" in again
    assert (value_of(again, "block-0"), value_of(again, "block-1")) == (1.0, None)
    again.save("block-0", piece(2.0))
    assert value_of(first, "block-0") == 2.0


@pytest.mark.parametrize("damage", ["renamed", "from another folder", "of another kind", "cut", "empty", "changed"])
def test_a_piece_that_is_not_this_piece_is_not_loaded(damage: str, tmp_path: Path) -> None:
    folder = Checkpoint(tmp_path / "one", "score", {"t": 4})
    folder.save("block-0", piece(1.0))
    folder.save("block-1", piece(2.0))
    path = tmp_path / "one" / "block-1.npz"
    if damage == "renamed":
        shutil.copy(tmp_path / "one" / "block-0.npz", path)
    elif damage == "from another folder":
        Checkpoint(tmp_path / "two", "score", {"t": 13}).save("block-1", piece(3.0))
        shutil.copy(tmp_path / "two" / "block-1.npz", path)
    elif damage == "of another kind":
        Checkpoint(tmp_path / "two", "training", {"t": 4}).save("block-1", piece(3.0))
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
    Checkpoint(tmp_path, "score", {"t": 4, "world": "abc", "tolerance": None})
    before = names(tmp_path)
    for about, different in (
        ({"t": 13, "world": "abc", "tolerance": None}, "another t"),
        ({"t": 13, "world": "xyz", "tolerance": None}, "another t, world"),
        ({"t": 4, "world": "abc", "tolerance": None, "seed": 1}, "another seed"),
    ):
        message = rf"checkpoint must be a folder of this score; got .* with {different}\. Give each score a folder of"
        with pytest.raises(WrongCheckpoint, match=message):
            Checkpoint(tmp_path, "score", about)
    assert names(tmp_path) == before


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OutputError, match="checkpoint must be a folder that can be written"):
            Checkpoint(folder, "score", {"t": 4})


@pytest.mark.parametrize("content", [b"{not json", b"", b"\xff\xfe", b"[1, 2]", 99_999 * b"["])
def test_a_damaged_about_file_is_written_again_where_the_pieces_are_of_this_computation(
    content: bytes, tmp_path: Path
) -> None:
    about = tmp_path / "about.json"
    about.write_bytes(content)
    message = r"must be a folder of this score; got .* with an about\.json that is damaged .* Delete that file, or use"
    with pytest.raises(WrongCheckpoint, match=message):
        Checkpoint(tmp_path, "score", {"t": 4})
    assert about.read_bytes() == content, "it may be another program's"
    about.unlink()
    Checkpoint(tmp_path, "score", {"t": 4}).save("block-0", piece(1.0))
    about.write_bytes(content)
    with pytest.raises(WrongCheckpoint, match="that is damaged"):
        Checkpoint(tmp_path, "score", {"t": 13})
    assert value_of(Checkpoint(tmp_path, "score", {"t": 4}), "block-0") == 1.0
    assert json.loads(about.read_bytes()) == {"t": 4}


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Checkpoint(None, "score", {"t": 4})
    folder.save("block-0", piece(1.0))
    assert folder.load("block-0") is None
    assert "block-0" not in folder
    assert names(tmp_path) == []


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "note.txt"
    with atomic_write(target) as temporary:
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
        with atomic_write(target) as temporary:
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
        with pytest.raises(OutputError, match=message), atomic_write(path):
            begun = True
    assert not begun
    with pytest.raises(OutputError, match=r"must be a file that can be written; got No such file"):
        write_text(tmp_path / "no" / "where.txt", "text")


def test_texts_are_utf_8_and_rows_have_a_header(tmp_path: Path) -> None:
    write_text(tmp_path / "page.html", "π ≤ 4")
    assert (tmp_path / "page.html").read_bytes() == "π ≤ 4".encode()
    write_rows(tmp_path / "table.csv", [{"world": "ring, large", "t": 4}, {"world": "maze", "t": 13}])
    assert (tmp_path / "table.csv").read_text().splitlines() == ["world,t", '"ring, large",4', "maze,13"]
    write_rows(tmp_path / "table.csv", [{"world": "ring"}, {"t": 13, "world": "maze"}])
    assert (tmp_path / "table.csv").read_text().splitlines() == ["world,t", "ring,", "maze,13"]
    write_rows(tmp_path / "table.csv", [])
    assert (tmp_path / "table.csv").read_text() == ""


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
        fail_twice(lambda: atomic_write(tmp_path / "a.txt"))
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


FILE_KILLED = "with atomic_write('a.txt') as temporary:\n    temporary.write_text('half'); kill()"
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
    for enter in (lambda: Checkpoint(tmp_path, "score", {}), lambda: results_folder(tmp_path).__enter__()):
        killed(tmp_path, FILE_KILLED)
        assert f"{LEFT}-0-a.txt" in names(tmp_path)
        entered = enter()
        assert f"{LEFT}-0-a.txt" not in names(tmp_path)
        del entered


def test_what_a_living_process_writes_is_not_removed(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with atomic_write(target) as one:
        one.write_text("one")
        with atomic_write(target) as two, results_folder(tmp_path) as folder:
            two.write_text("two")
            assert names(tmp_path) == [LEFT, f"{LEFT}-0-a.txt", f"{LEFT}-1-a.txt"]
            write_text(folder / "b.txt", "b")
        assert target.read_text() == "two"
    assert target.read_text() == "one"
    assert names(tmp_path) == ["a.txt", "b.txt"]


def test_a_run_whose_folder_was_removed_leaves_that_of_the_next_run_alone(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()

    def vanish() -> None:
        with results_folder(target) as temporary:
            shutil.rmtree(target)
            # As another run would make it.
            temporary.mkdir(parents=True)
            (temporary / "a.txt").write_text("half")

    with pytest.raises(OutputError, match="must stay while results are written"):
        vanish()
    assert [path.name for path in target.rglob("*")] == [LEFT, "a.txt"]


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


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("number", range(1, 40))
def test_a_move_that_fails_undoes_those_before(
    number: int, links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, far = tmp_path / "out", tmp_path / "far"
    out.mkdir()
    far.mkdir()
    for name in ("a.txt", "c.txt"):
        (out / name).write_text("old")
    (far / "d.txt").write_text("old")
    (out / "d.txt").symlink_to(far / "d.txt")
    before = content_of(tmp_path)
    new = {f"out/{name}": b"new" for name in ("a.txt", "b.txt", "c.txt", "d.txt", "e/f.txt")} | {"far/d.txt": b"new"}

    def no_link(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    def fail() -> None:
        raise OSError(28, "No space left on device")

    def save() -> None:
        with results_folder(out) as folder:
            for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
                (folder / name).write_text("new")
            (folder / "e").mkdir()
            (folder / "e" / "f.txt").write_text("new")
            if not links:
                monkeypatch.setattr(os, "link", no_link)
            stack.enter_context(nth_call(number, tmp_path, fail))

    failed = None
    with ExitStack() as stack:
        try:
            save()
        except OutputError as error:
            failed = str(error)
    assert content_of(tmp_path) == (before if failed else new)
    assert failed is None or "No space left" in failed


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


def test_interrupted_moves_are_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "b.txt").write_text("old")
    replace, calls = os.replace, list[str]()

    def interrupted(source: Path, target: Path) -> None:
        calls.append(Path(target).name)
        if calls == ["a.txt", "b.txt"]:
            raise KeyboardInterrupt
        replace(source, target)

    def save() -> None:
        with results_folder(tmp_path) as folder:
            (folder / "a.txt").write_text("new")
            (folder / "b.txt").write_text("new")
            monkeypatch.setattr(os, "replace", interrupted)

    with pytest.raises(KeyboardInterrupt):
        save()
    assert content_of(tmp_path) == {"a.txt": b"old", "b.txt": b"old"}


def test_without_locks_of_the_system_files_are_written_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fp.files, "fcntl", None)
    killed(tmp_path, FILE_KILLED)
    write_text(tmp_path / "a.txt", "whole")
    # What was left may be another process's.
    assert names(tmp_path) == [f"{LEFT}-0-a.txt", "a.txt"]
    with results_folder(tmp_path) as folder:
        write_text(folder / "b.txt", "whole")
        with pytest.raises(OutputError, match="must be used by one run at a time"), results_folder(tmp_path):
            pass
    Checkpoint(tmp_path, "score", {"t": 4}).save("block-0", piece(1.0))
    assert value_of(Checkpoint(tmp_path, "score", {"t": 4}), "block-0") == 1.0
    assert names(tmp_path) == [f"{LEFT}-0-a.txt", "a.txt", "about.json", "b.txt", "block-0.npz"]


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
