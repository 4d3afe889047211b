"""Several processes and threads at once, on one folder or after a score was computed: the same bytes everywhere."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint.files import read_arrays
from tests.helpers.commands import FARPOINT

pytestmark = pytest.mark.slow

LEFT = ".farpoint-unfinished"


def map_score(_: int = 0) -> bytes:
    return np.asarray(fp.score(fp.open_room(60, 70), 5, "local")).tobytes()


def graph_score(_: int = 0) -> bytes:
    # Large enough for blocks that are computed side by side.
    return np.asarray(fp.score(fp.grid((70_000,)), 5, "local", n_jobs=2)).tobytes()


SCORES = {"map": map_score, "graph": graph_score}


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("name", SCORES)
def test_processes_give_the_same_bytes(name: str, method: str) -> None:
    expected = SCORES[name]()
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(SCORES[name], range(2)).get(timeout=120) == [expected, expected]


@pytest.mark.parametrize("name", SCORES)
def test_threads_give_the_same_bytes(name: str) -> None:
    expected = SCORES[name]()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(SCORES[name], range(4))) == {expected}

    async def together() -> list[bytes]:
        return await asyncio.gather(*(asyncio.to_thread(SCORES[name]) for _ in range(3)))

    assert set(asyncio.run(together())) == {expected}


CHECKPOINT = """
import numpy as np, farpoint as fp
scores = fp.score(fp.open_room(300, 310), 6, "local", checkpoint="blocks")
fp.files.write_arrays("scores.npz", "scores", {}, {"scores": np.asarray(scores)})
"""


def test_two_processes_on_one_checkpoint_end_the_same(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", CHECKPOINT], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in processes:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
    _, arrays = read_arrays(tmp_path / "scores.npz", "scores")
    np.testing.assert_array_equal(arrays["scores"], fp.score(fp.open_room(300, 310), 6, "local"))
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(LEFT)]


def test_two_threads_that_save_the_same_file(tmp_path: Path) -> None:
    options = fp.discover(fp.ring(), n_options=2)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: options.save(tmp_path / "options.npz"), range(40)))
    assert [path.name for path in tmp_path.iterdir()] == ["options.npz"]
    np.testing.assert_array_equal(fp.OptionSet.load(tmp_path / "options.npz", fp.ring()).goals, options.goals)


def test_two_commands_in_one_folder(tmp_path: Path) -> None:
    words = ["paper", "--quick", "--only", "grid", "--out", "out"]
    processes = [
        subprocess.Popen([*FARPOINT, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    ends = [(*process.communicate(timeout=120), process.returncode) for process in processes]
    # Either the second waited for nothing because the first was over, or it is refused before any work.
    assert 0 in [code for *_, code in ends]
    for _, error, code in ends:
        assert code == 0 or (code == 2 and "must be used by one run at a time" in error)
    assert (tmp_path / "out" / "paper-quick-grid.html").exists()
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(LEFT)]


NO_CACHE = """
import numba.core.caching as caching
for locator in caching.CacheImpl._locator_classes:
    # As in a container whose disks are read-only.
    locator.from_function = classmethod(lambda cls, function, path: None)
import farpoint as fp
print(len(fp.discover(fp.open_room(6, 6))))
"""


def test_without_a_place_for_the_cache_functions_are_compiled_anyway() -> None:
    run = subprocess.run([sys.executable, "-c", NO_CACHE], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "4"), run.stderr


def test_a_cache_folder_that_cannot_be_written(tmp_path: Path) -> None:
    env = os.environ | {"NUMBA_CACHE_DIR": "/proc/nowhere", "HOME": "/proc/nowhere"}
    code = "import farpoint as fp; print(len(fp.find_goals(fp.ring(), fp.score(fp.ring(), 4, 'local'))))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 0
