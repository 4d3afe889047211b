"""What every kind of file must satisfy: equal when read back, or refused; a new kind is one more line of `FORMATS`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, OutputError
from farpoint.files import Checkpoint, read_arrays, write_arrays
from tests.helpers.options import goal_policy, picture_metric
from tests.helpers.worlds import WORLDS

Content = dict[str, Any]


@dataclass(frozen=True)
class Format:
    """How something is written and read back; ``read`` returns all that it holds."""

    write: Callable[[Path], None]
    read: Callable[[Path], Content]


def option_set(method: str) -> Format:
    world = fp.maze()
    options = fp.discover(world, method, t=13)

    def content(loaded: fp.OptionSet) -> Content:
        record = {f"record {name}": value for name, value in loaded.record.items() if name != "maxima"}
        if maxima := loaded.record.get("maxima"):
            record |= {name: getattr(maxima, name) for name in ("heights", "prominences")}
        parts = {name: getattr(loaded, name) for name in ("goals", "method", "initiation", "climbs")}
        return {**parts, **record, "first": loaded[0].choice_probabilities()}

    return Format(options.save, lambda path: content(fp.OptionSet.load(path, world)))


def world(name: str) -> Format:
    made = WORLDS[name]()

    def content(loaded: fp.World) -> Content:
        parts = {item.name: getattr(loaded, item.name) for item in fields(fp.World) if item.name != "source"}
        parts |= {name: getattr(loaded, name) for name in ("choice_ptr", "actions", "weights", "lengths")}
        matrix = loaded.transitions
        return {**parts, "data": matrix.data, "indices": matrix.indices, "fingerprint": loaded.fingerprint}

    return Format(made.save, lambda path: content(fp.World.load(path)))


def policy() -> Format:
    places = np.random.default_rng(0).uniform(0.0, [4.0, 3.0], (20, 2))

    def content(loaded: fp.GoalPolicy) -> Content:
        goal = places[0]
        decisions = {"actions": loaded(places, goal), "distances": loaded.distance(places, goal)}
        return {"shown": repr(loaded), "unknown": loaded.unknown, "way": loaded.route(places[1], goal), **decisions}

    return Format(goal_policy().save, lambda path: content(fp.GoalPolicy.load(path)))


def metric() -> Format:
    def content(loaded: fp.envs.PictureMetric) -> Content:
        return {name: getattr(loaded, name) for name in ("nu", "filters", "center", "shape")}

    return Format(picture_metric().save, lambda path: content(fp.envs.PictureMetric.load(path)))


def eigenfunctions() -> Format:
    pytest.importorskip("torch")
    corridor = fp.grid((6,))
    functions = fp.learn_eigenfunctions(corridor, n_functions=2, n_steps=5, hidden=(4,), n_spare=1)

    def content(loaded: Any) -> Content:
        parts = {name: getattr(loaded, name) for name in ("omega", "rotation", "history", "record")}
        return {**parts, "phi": loaded.phi(corridor)}

    return Format(functions.save, lambda path: content(fp.deep.Eigenfunctions.load(path)))


ARRAYS = {
    "numbers": np.linspace(0.0, 1.0, 5_000).reshape(1_000, 5),
    "flags": np.array([True, False]),
    "none": np.empty((0, 3), dtype=np.int32),
}


def arrays(*, compressed: bool) -> Format:
    def write(path: Path) -> None:
        write_arrays(path, "example", {"t": 4, "name": "π", "list": [1, 2]}, ARRAYS, compressed=compressed)

    def read(path: Path) -> Content:
        facts, found = read_arrays(path, "example")
        return {**facts, **found}

    return Format(write, read)


def piece() -> Format:
    def folder(path: Path) -> Checkpoint:
        return Checkpoint(path.parent, "example", {"t": 4})

    def read(path: Path) -> Content:
        # A piece that cannot be read is computed again.
        found = folder(path).load(path.stem)
        if found is None:
            raise InvalidFile("the piece is not loaded")
        return {**found}

    return Format(lambda path: folder(path).save(path.stem, ARRAYS), read)


FORMATS: dict[str, Callable[[], Format]] = {
    "diffusion options": lambda: option_set("diffusion"),
    "eigenoptions": lambda: option_set("eigen"),
    "cover options": lambda: option_set("cover"),
    "labeled world": lambda: world("door_key"),
    "sampled world": lambda: world("temporal_samples"),
    "goal policy": policy,
    "metric of pictures": metric,
    "eigenfunctions": eigenfunctions,
    "arrays": lambda: arrays(compressed=False),
    "compressed arrays": lambda: arrays(compressed=True),
    "piece": piece,
}
NEED_TORCH = ("eigenfunctions",)
# Arrays of any kind; the other files are of something that must be complete.
ANY_CONTENT = ("arrays", "compressed arrays", "piece")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in NEED_TORCH else name for name in FORMATS]
)
def test_contract(name: str, tmp_path: Path) -> None:
    file_format = FORMATS[name]()
    checks = [
        check_that_what_was_written_comes_back,
        check_that_a_written_file_needs_no_pickle,
        check_that_a_cut_file_is_refused,
        check_that_a_flipped_byte_is_noticed_or_says_nothing,
        check_that_changed_content_is_refused_though_the_archive_is_whole,
        check_that_another_kind_is_refused,
        check_that_another_version_is_refused,
        check_that_a_missing_file_is_refused,
        check_that_a_failed_write_leaves_the_old_file,
        check_that_links_are_followed_and_devices_refused,
        check_that_a_folder_that_does_not_exist_is_an_output_error,
    ]
    if name not in ANY_CONTENT:
        checks.append(check_that_a_file_with_less_in_it_is_refused)
    for number, check in enumerate(checks):
        written = tmp_path / str(number) / "content.npz"
        written.parent.mkdir()
        file_format.write(written)
        check(file_format, written)


def assert_same(one: Content, two: Content) -> None:
    assert one.keys() == two.keys()
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == two[name].dtype, name
            np.testing.assert_array_equal(value, two[name], err_msg=name, strict=True)
        else:
            assert value == two[name], name


def check_that_what_was_written_comes_back(file_format: Format, written: Path) -> None:
    content, again = file_format.read(written), written.with_name("again.npz")
    file_format.write(again)
    assert_same(content, file_format.read(written))
    assert_same(content, file_format.read(again))


def check_that_a_written_file_needs_no_pickle(file_format: Format, written: Path) -> None:
    with np.load(written, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def check_that_a_cut_file_is_refused(file_format: Format, written: Path) -> None:
    content = written.read_bytes()
    for keep in (0, 1, 10, 100, 0.3, 0.5, 0.9, 0.99, -22, -1):
        written.write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
        with pytest.raises(InvalidFile):
            file_format.read(written)


def check_that_a_flipped_byte_is_noticed_or_says_nothing(file_format: Format, written: Path) -> None:
    content, expected = written.read_bytes(), file_format.read(written)
    rng, refused = np.random.default_rng(7), 0
    # The beginning of an archive has the header of its first array, its end the table of contents.
    places = np.concatenate([rng.integers(len(content), size=24), rng.integers(200, size=8), -rng.integers(1, 200, 8)])
    for place in places % len(content):
        changed = bytearray(content)
        changed[place] ^= int(rng.integers(1, 256))
        written.write_bytes(changed)
        try:
            found = file_format.read(written)
        except InvalidFile:
            refused += 1
        else:
            # A byte that says nothing, such as the time at which the archive was made.
            assert_same(found, expected)
    assert refused > places.size // 3


def check_that_changed_content_is_refused_though_the_archive_is_whole(file_format: Format, written: Path) -> None:
    with np.load(written) as file:
        original = dict(file)
    header = json.loads(str(original["header"]))
    some = next(name for name, array in original.items() if array.size and array.dtype.kind in "fi")
    for change in (
        {some: original[some] + 1},
        {"one more": np.arange(3)},
        {"header": np.array(json.dumps(header | {"facts": header["facts"] | {"t": 5}}))},
        {"header": np.array(json.dumps({name: value for name, value in header.items() if name != "digest"}))},
    ):
        np.savez(written, **(original | change))
        with pytest.raises(InvalidFile):
            file_format.read(written)
    np.savez(written, **original)
    file_format.read(written)


def check_that_another_kind_is_refused(file_format: Format, written: Path) -> None:
    np.savez(written, goals=np.arange(3))
    with pytest.raises(InvalidFile):
        file_format.read(written)
    write_arrays(written, "another kind", {}, {"goals": np.arange(3)})
    with pytest.raises(InvalidFile):
        file_format.read(written)
    np.save(written.with_suffix(".npy"), np.arange(3))
    for content in (b"", b"not an archive", written.with_suffix(".npy").read_bytes(), bytes(1000)):
        written.write_bytes(content)
        with pytest.raises(InvalidFile):
            file_format.read(written)


def check_that_another_version_is_refused(file_format: Format, written: Path) -> None:
    with np.load(written) as file:
        kind = json.loads(str(file["header"]))["format"]
    facts, found = read_arrays(written, kind)
    write_arrays(written, kind, facts, found, version=1)
    file_format.read(written)
    write_arrays(written, kind, facts, found, version=99)
    with pytest.raises(InvalidFile, match=r"version 99\. Update Farpoint|not loaded"):
        file_format.read(written)


def check_that_a_file_with_less_in_it_is_refused(file_format: Format, written: Path) -> None:
    with np.load(written) as file:
        kind = json.loads(str(file["header"]))["format"]
    facts, found = read_arrays(written, kind)
    for missing in ("actions", "high", "nu", "goals", "omega", "success", "rotation"):
        if missing in found:
            write_arrays(written, kind, facts, {name: array for name, array in found.items() if name != missing})
            with pytest.raises(InvalidFile, match="it is damaged"):
                file_format.read(written)
    write_arrays(written, kind, {"fingerprint": facts.get("fingerprint")}, found)
    with pytest.raises(InvalidFile, match="it is damaged"):
        file_format.read(written)


def check_that_a_missing_file_is_refused(file_format: Format, written: Path) -> None:
    written.unlink()
    with pytest.raises(InvalidFile):
        file_format.read(written)
    written.mkdir()
    with pytest.raises(InvalidFile):
        file_format.read(written)


def check_that_a_failed_write_leaves_the_old_file(file_format: Format, written: Path) -> None:
    before, names = written.read_bytes(), sorted(path.name for path in written.parent.iterdir())
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def fail(file: Any, *_: object, error: BaseException = error, **__: object) -> None:
            file.write(b"half of it")
            raise error

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(np, "savez", fail)
            patch.setattr(np, "savez_compressed", fail)
            with pytest.raises(OutputError if isinstance(error, OSError) else KeyboardInterrupt):
                file_format.write(written)
        assert written.read_bytes() == before
        assert sorted(path.name for path in written.parent.iterdir()) == names


def check_that_links_are_followed_and_devices_refused(file_format: Format, written: Path) -> None:
    expected = file_format.read(written)
    target, link = (written.parent / folder / written.name for folder in ("far", "near"))
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.parent.mkdir()
    link.symlink_to(target)
    file_format.write(link)
    assert link.is_symlink()
    assert_same(file_format.read(link), expected)
    assert target.read_bytes() == written.read_bytes()
    link.unlink()
    for other in (os.mkfifo, lambda path: path.symlink_to(os.devnull)):
        other(link)
        with pytest.raises(OutputError, match="must be a regular file or not exist"):
            file_format.write(link)
        assert not link.is_file()
        link.unlink()
    assert Path(os.devnull).is_char_device()


def check_that_a_folder_that_does_not_exist_is_an_output_error(file_format: Format, written: Path) -> None:
    file = written.with_name("file")
    file.write_text("not a folder")
    with pytest.raises(OutputError):
        file_format.write(file / written.name)


def test_a_broken_header_of_an_array_is_refused(tmp_path: Path) -> None:
    # numpy parses the header as Python before it has read enough to compare the checksum.
    path, file_format = tmp_path / "content.npz", arrays(compressed=False)
    file_format.write(path)
    content = path.read_bytes()
    place = content.index(b"(1000, 5)") - 60
    for change in ((b", }", b",  "), (b"<f8", b"<a8"), (b"(1000, 5)", b"(9999,95)")):
        changed = content[:place] + content[place:].replace(*change, 1)
        assert changed != content
        path.write_bytes(changed)
        with pytest.raises(InvalidFile, match="it is damaged"):
            file_format.read(path)
