"""The same numbers on threads, on a real Dask cluster and on a real Ray cluster, also when a worker is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed

import farpoint as fp
from farpoint.engines import each
from farpoint.errors import InvalidInput, MissingExtra, UnknownName
from tests.helpers.graphs import with_episodes, without_map
from tests.helpers.processes import left_of, started

pytestmark = [pytest.mark.xdist_group("clusters"), pytest.mark.slow]


class Counted:
    """Leaves a mark in a folder whenever it is unpacked in another process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        (self.folder / f"{os.getpid()}-{time.perf_counter_ns()}").touch()


def slow_task(shared: Counted | None, task: int) -> tuple[int, int]:
    time.sleep(0.1)
    return task, os.getpid()


def failing_task(shared: None, task: int) -> int:
    raise ValueError(f"task {task} fails")


def dying_task(shared: str, task: int) -> tuple[int, int]:
    """Task 3 kills its own worker the first time."""
    mark = Path(shared)
    time.sleep(0.05)
    if task == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task, os.getpid()


# First, while this process has no other cluster of Ray.
@pytest.mark.parametrize("name", ["dask", "ray"])
def test_clusters_of_ones_own_are_ended(name: str) -> None:
    before = started()
    with fp.engine(name):
        assert fp.score(fp.random_maze(30, 30), 4, "local").size > 500
        begun = started() - before
        assert begun
    assert left_of(begun) == []


def test_python_runs_in_processes_where_that_is_asked_for() -> None:
    results = list(each(slow_task, None, range(6), n_jobs=2, processes=True))
    assert [task for task, _ in results] == list(range(6))
    assert os.getpid() not in {process for _, process in results}
    assert {process for _, process in each(slow_task, None, range(6), n_jobs=2)} == {os.getpid()}


def test_work_is_done_elsewhere_in_order_and_what_is_shared_travels_once(
    cluster: tuple[str, str], tmp_path: Path
) -> None:
    results = list(each(slow_task, Counted(tmp_path), range(20)))
    assert [task for task, _ in results] == list(range(20))
    workers = {pid for _, pid in results}
    assert os.getpid() not in workers
    assert len(workers) == 2
    assert len(list(tmp_path.iterdir())) == 2


def test_a_killed_worker_loses_no_result(cluster: tuple[str, str], tmp_path: Path) -> None:
    results = list(each(dying_task, str(tmp_path / "died"), range(12)))
    assert (tmp_path / "died").exists()
    assert [value for value, _ in results] == [task * task for task in range(12)]


def test_several_at_once_leave_nothing_behind(cluster: tuple[str, str]) -> None:
    first, second = (each(slow_task, None, range(6)) for _ in range(2))
    assert (next(first)[0], next(second)[0]) == (0, 0)
    assert [task for task, _ in first] == [1, 2, 3, 4, 5]
    assert [task for task, _ in second] == [1, 2, 3, 4, 5]
    assert Parallel(n_jobs=2, backend="threading")(delayed(os.getpid)() for _ in range(2)) == 2 * [os.getpid()]


def test_one_worker_that_dies_gets_everything_anew(tmp_path: Path) -> None:
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as single,
        fp.engine("dask", single.scheduler_address),
    ):
        results = list(each(dying_task, str(tmp_path / "died"), range(6)))
    assert (tmp_path / "died").exists()
    assert [value for value, _ in results] == [task * task for task in range(6)]
    assert os.getpid() not in {pid for _, pid in results}


def test_an_error_of_a_task_arrives(cluster: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"task \d fails"):
        list(each(failing_task, None, range(3)))


def everything() -> list[np.ndarray[Any, Any]]:
    """What is computed in parallel, by the engine in use."""
    # More states, and more cells, than one block holds.
    maze = fp.random_maze(310, 310)
    world = fp.four_rooms()
    options = fp.discover(world)
    learned = fp.learn(world, options, targets=world.targets[:3], n_runs=2, n_episodes=20)  # type: ignore[index]
    return [
        np.asarray(fp.score(maze, 4, "local")),
        np.asarray(fp.score(without_map(maze), 6, "local", tolerance=1e-3)),
        np.asarray(fp.score(with_episodes(fp.maze()), 6, "local", form="walk")),
        np.asarray(fp.score(maze, 8, "probes", n_probes=16)),
        learned.curves,
        learned.visits,
        fp.cover_time(world, options, n_runs=4).walks,
        fp.steps_between_states(world, options, targets=[1, 2, 50]).matrix,
        fp.visitation(world, options, n_runs=3),
    ]


@pytest.fixture(scope="module")
def everything_here() -> list[np.ndarray[Any, Any]]:
    with fp.engine("local"):
        return everything()


def test_scores_and_learning_do_not_depend_on_the_engine(
    everything_here: list[np.ndarray[Any, Any]], cluster: tuple[str, str]
) -> None:
    # Here first, so that the workers find everything compiled.
    for mine, theirs in zip(everything_here, everything(), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def compared(*where: str) -> str:
    command = [sys.executable, "-c", "from farpoint.cli import main; main()"]
    command += ["compare", "ring", "--methods", "diffusion,none", "--n-runs", "2", "--n-episodes", "20", *where]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


@pytest.fixture(scope="module")
def compared_here() -> str:
    return compared()


def test_the_command_runs_on_a_cluster(compared_here: str, cluster: tuple[str, str]) -> None:
    engine, address = cluster
    assert compared("--engine", engine, "--address", address) == compared_here
    assert "diffusion" in compared_here


def test_partitions_on_a_cluster(cluster: tuple[str, str], tmp_path: Path) -> None:
    world = fp.random_maze(40, 40)
    fp.diffusion.write_partitions(world, tmp_path, states_per_partition=200)
    folder = fp.diffusion.score_partitions(tmp_path, 4)
    np.testing.assert_allclose(fp.diffusion.read_scores(folder), fp.score(world, 4), rtol=1e-12)


def test_clusters_read_the_bands_of_a_map_themselves(cluster: tuple[str, str], tmp_path: Path) -> None:
    world = fp.random_maze(60, 60, seed=3)
    assert world.floor is not None
    np.save(tmp_path / "map.npy", world.floor)
    fp.diffusion.write_partitions(tmp_path / "map.npy", tmp_path / "parts", states_per_partition=700)
    folder = fp.diffusion.score_partitions(tmp_path / "parts", 4)
    goals = fp.diffusion.goals_of_partitions(tmp_path / "parts", folder)
    with fp.engine("local"):
        scores = fp.score(world, 4)
    np.testing.assert_array_equal(fp.diffusion.read_scores(folder), scores)
    np.testing.assert_array_equal(goals, np.sort(fp.find_goals(world, scores).states))


def test_what_is_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="engine must be one of local, dask, ray; got 'dusk'"), fp.engine("dusk"):
        pass
    with pytest.raises(InvalidInput, match="address must go with engine dask or ray"), fp.engine("local", "here"):
        pass
    with (
        pytest.raises(InvalidInput, match="address must be that of a running Dask scheduler"),
        fp.engine("dask", "tcp://127.0.0.1:9"),
    ):
        pass
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "farpoint.engines.ray_engine", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[ray\]'"), fp.engine("ray"):
        pass
