"""Worlds and scores in partitions that were damaged: refused before anything parses them, or computed again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, OutputError
from farpoint.files import read_facts, results_folder, write_facts

Change = Callable[[Path], object]


def written(folder: Path, world: fp.World | None = None) -> Path:
    fp.diffusion.write_partitions(world or fp.open_room(4, 5), folder, states_per_partition=5)
    return fp.diffusion.score_partitions(folder, 2)


def use_all(folder: Path) -> None:
    """Read every file of a world in partitions and of its scores."""
    world = fp.diffusion.open_partitions(folder)
    assert isinstance(world, fp.diffusion.PartitionedWorld)
    world.edges_of(np.arange(world.n_states))
    fp.diffusion.read_scores(folder / "scores-t2")
    fp.diffusion.goals_of_partitions(folder, folder / "scores-t2", n_jobs=1)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


# In every seventh byte, so that all eight bits have their turn; every byte takes seven times as long.
@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_every_flipped_bit_is_refused(stride: int, tmp_path: Path) -> None:
    folder = written(tmp_path)
    world = fp.diffusion.open_partitions(tmp_path)
    assert isinstance(world, fp.diffusion.PartitionedWorld)
    uses: dict[str, Callable[[], object]] = {
        "world.json": lambda: fp.diffusion.open_partitions(tmp_path),
        "edges/part-00002.parquet": lambda: world.edges_of(np.array([12])),
        "scores-t2/part-00002.parquet": lambda: fp.diffusion.read_scores(folder),
        "scores-t2/part-00002.json": lambda: fp.diffusion.read_scores(folder),
    }
    for name, use in uses.items():
        content = (tmp_path / name).read_bytes()
        for place in range(0, len(content), stride):
            changed = bytearray(content)
            # One bit of every byte, the first of one, the second of the next; all of them take eight times as long.
            changed[place] ^= 1 << place % 8
            (tmp_path / name).write_bytes(changed)
            with pytest.raises(InvalidFile):
                use()
        (tmp_path / name).write_bytes(content)
        use()


def test_cut_lengthened_and_missing_files_are_refused(tmp_path: Path) -> None:
    written(tmp_path)
    for path in files_of(tmp_path):
        content = path.read_bytes()
        for changed in (b"", content[:-1], content[: len(content) // 2], content + b"0", content + content):
            path.write_bytes(changed)
            with pytest.raises(InvalidFile):
                use_all(tmp_path)
        path.unlink()
        with pytest.raises(InvalidFile):
            use_all(tmp_path)
        path.write_bytes(content)
    use_all(tmp_path)


def test_swapped_and_copied_files_are_refused(tmp_path: Path) -> None:
    written(tmp_path)
    for kind in ("edges", "scores-t2"):
        for ending in (".parquet", ".*"):
            one, two = (sorted((tmp_path / kind).glob(f"part-0000{number}{ending}")) for number in (1, 2))
            before = {path: path.read_bytes() for path in (*one, *two)}
            for left, right in zip(one, two, strict=True):
                left.write_bytes(before[right])
            with pytest.raises(InvalidFile):
                use_all(tmp_path)
            for left, right in zip(one, two, strict=True):
                right.write_bytes(before[left])
            with pytest.raises(InvalidFile):
                use_all(tmp_path)
            for path, content in before.items():
                path.write_bytes(content)
    use_all(tmp_path)


def test_files_of_another_world_or_another_time_are_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    expected = fp.diffusion.read_scores(written(one))
    written(two, fp.open_room(5, 4))
    fp.diffusion.score_partitions(one, 3)
    for kind in ("edges", "scores-t2"):
        before = {path: path.read_bytes() for path in (one / kind).iterdir()}
        for path in before:
            shutil.copy(two / kind / path.name, path)
        with pytest.raises(InvalidFile):
            use_all(one)
        for path, content in before.items():
            path.write_bytes(content)
    shutil.rmtree(one / "scores-t2")
    shutil.copytree(one / "scores-t3", one / "scores-t2")
    with pytest.raises(InvalidFile, match="must be partition 0 of scores-t2; got 0 of scores-t3"):
        use_all(one)
    np.testing.assert_array_equal(fp.diffusion.read_scores(fp.diffusion.score_partitions(one, 2)), expected)


def rewritten(path: Path, **columns: Any) -> None:
    table = pyarrow.parquet.read_table(path)
    arrays = {name: table[name].to_numpy() for name in table.column_names}
    pyarrow.parquet.write_table(pyarrow.table(arrays | columns), path)


CHANGES: dict[str, Change] = {
    "empty": lambda path: path.write_bytes(b""),
    "gone": Path.unlink,
    "without its facts": lambda path: path.with_suffix(".json").unlink(),
    "not a number": lambda path: rewritten(path, score=np.full(5, np.nan)),
    "of another partition": lambda path: shutil.copy(path.with_stem("part-00000"), path),
    "with other facts": lambda path: write_facts(path.with_suffix(".json"), "farpoint-partition-scores", {"table": {}}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_scores_are_computed_again(what: str, tmp_path: Path) -> None:
    folder = written(tmp_path)
    expected = fp.diffusion.read_scores(folder)
    CHANGES[what](folder / "part-00001.parquet")
    with pytest.raises(InvalidFile):
        fp.diffusion.read_scores(folder)
    done: list[int] = []
    fp.diffusion.score_partitions(tmp_path, 2, progress=lambda number, total: done.append(number))
    assert done == [4]
    np.testing.assert_array_equal(fp.diffusion.read_scores(folder), expected)


def test_tolerances_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    fp.diffusion.write_partitions(fp.ring(), tmp_path)
    folder = fp.diffusion.score_partitions(tmp_path, 40, tolerance=1e-2)
    facts = read_facts(folder / "part-00000.json", "farpoint-partition-scores")
    assert fp.diffusion.score_partitions(tmp_path, 40, tolerance=1e-2 * (1 + 1e-9)) == folder
    assert read_facts(folder / "part-00000.json", "farpoint-partition-scores") != facts


def failing(world: fp.World) -> Iterator[Any]:
    matrix = world.adjacency.tocoo()
    yield matrix.row[:40].astype(np.int64), matrix.col[:40].astype(np.int64), matrix.data[:40]
    raise RuntimeError("no more edges")


def test_a_write_that_failed_can_be_retried_and_one_that_is_complete_is_kept(tmp_path: Path) -> None:
    world, folder = fp.open_room(4, 5), tmp_path / "world"
    with pytest.raises(RuntimeError, match="no more edges"):
        fp.diffusion.write_partitions(failing(world), folder, states_per_partition=5)
    assert list(tmp_path.iterdir()) == []
    written(folder)
    before = {path: path.read_bytes() for path in files_of(folder)}
    with pytest.raises(OutputError, match="folder must be new or empty"):
        fp.diffusion.write_partitions(fp.ring(), folder)
    assert {path: path.read_bytes() for path in files_of(folder)} == before


def test_what_a_killed_write_left_is_written_again(tmp_path: Path) -> None:
    # Killed after the edges were moved into place, and before the file that says what they are.
    folder = tmp_path / "world"
    world = fp.diffusion.write_partitions(fp.ring(), folder)
    (folder / ".farpoint-unfinished").mkdir()
    shutil.move(folder / "world.json", folder / ".farpoint-unfinished")
    with pytest.raises(InvalidFile, match="must be a folder that write_partitions wrote"):
        fp.diffusion.open_partitions(folder)
    assert fp.diffusion.write_partitions(fp.ring(), folder) == world
    assert sorted(path.name for path in folder.iterdir()) == ["edges", "world.json"]


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with results_folder(tmp_path), pytest.raises(OutputError, match="must be used by one run at a time"):
        fp.diffusion.write_partitions(fp.ring(), tmp_path)
