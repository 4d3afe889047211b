"""The same results on threads, processes, a real Dask cluster and a real Ray cluster, also when a worker is killed."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

import farpoint as fp
from farpoint.cli.clusters import on_cluster
from farpoint.diffusion.maps import MapPlan
from farpoint.errors import FarpointError, InvalidInput, MissingExtra, UnknownName
from farpoint.parallel import RayTasks, parallel_map
from tests.helpers.graphs import with_episodes, without_map
from tests.helpers.processes import left_of, started


def of_clusters(test: Any) -> Any:
    """Mark a test as slow; all tests of clusters run in one process, which has one of each kind."""
    return pytest.mark.xdist_group("clusters")(pytest.mark.slow(test))


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A folder for what clusters write while they run. It is removed; nothing is left, nothing runs on."""
    dask = pytest.importorskip("dask")
    # Ray's sockets have a path of about a hundred characters at most, so that the name is short.
    folder = Path(tempfile.mkdtemp(prefix="fp"))
    before = started(folder)
    with pytest.MonkeyPatch.context() as patch, dask.config.set(temporary_directory=str(folder)):
        patch.setenv("DASK_TEMPORARY_DIRECTORY", str(folder))
        patch.setenv("RAY_TMPDIR", str(folder))
        yield folder
    # joblib keeps its processes for later calls.
    get_reusable_executor().shutdown(wait=True)
    left = left_of(started(folder) - before)
    shutil.rmtree(folder)
    assert left == [], "these keep running"


@pytest.fixture(scope="session")
def dask_address(scratch: Path) -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        folders = [Path(worker["local_directory"]) for worker in cluster.scheduler_info["workers"].values()]
        assert len(folders) == 2
        assert all(folder.is_relative_to(scratch) for folder in folders)
        yield cluster.scheduler_address
    assert not any(folder.exists() for folder in folders)


@pytest.fixture(scope="session")
def ray_address(scratch: Path) -> Iterator[str]:
    import ray

    context = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    assert Path(context.address_info["session_dir"]).is_relative_to(scratch)
    yield context.address_info["gcs_address"]
    ray.shutdown()


@pytest.fixture(params=["dask", "ray"])
def cluster(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The kind of a cluster and its address, in use."""
    address: str = request.getfixturevalue(f"{request.param}_address")
    if request.param == "ray":
        with joblib.parallel_config(RayTasks(address)):
            yield "ray", address
    else:
        from distributed import Client

        with Client(address, set_as_default=False) as client, joblib.parallel_config("dask", client=client):
            yield "dask", address


class Counted:
    """Leaves a mark in a folder whenever it is unpacked in another process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        (self.folder / f"{os.getpid()}-{time.perf_counter_ns()}").touch()


def slow_task(shared: Any, task: int) -> tuple[int, int]:
    time.sleep(0.1)
    return task, os.getpid()


def waiting_task(shared: Any, task: int) -> int:
    time.sleep(task / 10)
    return task


def failing_task(shared: None, task: int) -> int:
    raise ValueError(f"task {task} fails")


def refusing_task(shared: None, task: int) -> int:
    raise InvalidInput(f"t must be a finite number above 0; got {task}.")


def dying_task(shared: str, task: int) -> tuple[int, int]:
    """Task 3 kills its own worker the first time."""
    mark = Path(shared)
    time.sleep(0.05)
    if task == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task, os.getpid()


def deadly_task(shared: str, task: int) -> int:
    """Task 3 kills every worker that it is given to."""
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def nested_task(shared: int, task: int) -> list[int]:
    return list(parallel_map(waiting_task, None, range(shared)))


def test_results_come_in_order_or_as_they_finish() -> None:
    assert list(parallel_map(waiting_task, None, [3, 0, 1], n_jobs=3)) == [3, 0, 1]
    assert list(parallel_map(waiting_task, None, [3, 0, 1], n_jobs=3, ordered=False)) == [0, 1, 3]
    assert list(parallel_map(waiting_task, None, [1, 0], n_jobs=1, ordered=False)) == [1, 0]
    assert list(parallel_map(waiting_task, None, [])) == []


def test_threads_by_default_and_processes_where_that_is_asked_for() -> None:
    assert {process for _, process in parallel_map(slow_task, None, range(6), n_jobs=2)} == {os.getpid()}
    results = list(parallel_map(slow_task, None, range(6), n_jobs=2, processes=True))
    assert [task for task, _ in results] == list(range(6))
    assert os.getpid() not in {process for _, process in results}
    get_reusable_executor().shutdown(wait=True)


def test_the_active_backend_decides() -> None:
    with joblib.parallel_config("loky"):
        results = list(parallel_map(slow_task, None, range(4), n_jobs=2))
    assert os.getpid() not in {process for _, process in results}
    with joblib.parallel_config("threading"):
        results = list(parallel_map(slow_task, None, range(4), n_jobs=2, processes=True))
    assert {process for _, process in results} == {os.getpid()}
    with joblib.parallel_config("sequential"):
        assert list(parallel_map(waiting_task, None, [2, 0], ordered=False)) == [2, 0]
    get_reusable_executor().shutdown(wait=True)


def test_a_backend_that_returns_everything_at_the_end_is_refused() -> None:
    with (
        joblib.parallel_config("multiprocessing"),
        pytest.raises(InvalidInput, match="must return results as they finish; got MultiprocessingBackend"),
    ):
        list(parallel_map(waiting_task, None, range(4), n_jobs=2))


def test_what_is_no_number_of_workers() -> None:
    with pytest.raises(InvalidInput, match="n_jobs must be a whole number other than 0"):
        parallel_map(waiting_task, None, [], n_jobs=0)


@pytest.mark.parametrize("processes", [False, True])
def test_errors_arrive_as_they_are(processes: bool) -> None:
    with pytest.raises(ValueError, match=r"task \d fails"):
        list(parallel_map(failing_task, None, range(3), n_jobs=2, processes=processes))
    with pytest.raises(InvalidInput, match="t must be a finite number above 0; got"):
        list(parallel_map(refusing_task, None, range(3), n_jobs=2, processes=processes))
    get_reusable_executor().shutdown(wait=True)


def test_a_process_that_dies_is_an_error() -> None:
    with pytest.raises(FarpointError, match="tasks must leave their workers alive"):
        list(parallel_map(deadly_task, "", range(6), n_jobs=2, processes=True))


def test_tasks_may_have_tasks() -> None:
    assert list(parallel_map(nested_task, 3, range(3), n_jobs=2)) == 3 * [[0, 1, 2]]


def test_ray_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[ray\]'"):
        RayTasks()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[dask\]'"), on_cluster("dask", None):
        pass


def test_words_of_the_command_that_name_no_engine() -> None:
    with pytest.raises(UnknownName, match="engine must be one of local, dask, ray; got 'dusk'"), on_cluster("dusk", ""):
        pass
    with pytest.raises(InvalidInput, match="address must go with engine dask or ray"), on_cluster("local", "here"):
        pass


# First, while this process has no other cluster of Ray.
@of_clusters
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_clusters_that_a_command_starts_end_with_it(engine: str, scratch: Path) -> None:
    before = started()
    with on_cluster(engine, None):
        assert fp.score(fp.random_maze(30, 30), 4, "local").size > 500
        begun = started() - before
        assert begun
    assert left_of(begun) == []


@of_clusters
def test_work_is_done_elsewhere_in_order_and_what_is_shared_travels_once(
    cluster: tuple[str, str], tmp_path: Path
) -> None:
    results = list(parallel_map(slow_task, Counted(tmp_path), range(20)))
    assert [task for task, _ in results] == list(range(20))
    workers = {pid for _, pid in results}
    assert os.getpid() not in workers
    assert len(workers) == 2
    assert len(list(tmp_path.iterdir())) == 2


@of_clusters
def test_dask_knows_how_large_the_shared_data_are(dask_address: str) -> None:
    from distributed import Client

    shared = np.zeros(300_000)
    with Client(dask_address, set_as_default=False) as client, joblib.parallel_config("dask", client=client):
        results = parallel_map(slow_task, shared, range(6))
        next(results)
        held = client.run_on_scheduler(lambda dask_scheduler: [task.nbytes for task in dask_scheduler.tasks.values()])
        list(results)
    assert max(held) > shared.nbytes


@of_clusters
def test_results_come_as_they_finish_from_clusters(cluster: tuple[str, str]) -> None:
    list(parallel_map(waiting_task, None, [1, 1]))
    assert list(parallel_map(waiting_task, None, [20, 1], ordered=False)) == [1, 20]


@of_clusters
def test_a_killed_worker_loses_no_result(cluster: tuple[str, str], tmp_path: Path) -> None:
    results = list(parallel_map(dying_task, str(tmp_path / "died"), range(12)))
    assert (tmp_path / "died").exists()
    assert [value for value, _ in results] == [task * task for task in range(12)]


@of_clusters
@pytest.mark.parametrize("n_workers", [1, 3, 6])
def test_a_task_that_kills_every_worker_is_an_error(n_workers: int) -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as some,
        Client(some, set_as_default=False) as client,
        # On a busy machine a worker takes long to start again.
        joblib.parallel_config("dask", client=client, wait_for_workers_timeout=60),
    ):
        with pytest.raises(FarpointError, match="tasks must leave their workers alive"):
            list(parallel_map(deadly_task, "", range(12)))
        assert list(parallel_map(waiting_task, None, range(3))) == [0, 1, 2]


@of_clusters
@pytest.mark.parametrize("n_failures", [1, 4])
def test_shared_data_are_sent_again_where_the_workers_die_meanwhile(
    n_failures: int, dask_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    with Client(dask_address, set_as_default=False) as client, joblib.parallel_config("dask", client=client):
        scatter, left = client.scatter, [n_failures]

        def send(*what: Any, **how: Any) -> Any:
            left[0] -= 1
            if left[0] >= 0:
                raise ValueError("Can not use replicate to delete data")
            return scatter(*what, **how)

        monkeypatch.setattr(client, "scatter", send)
        if n_failures == 1:
            assert list(parallel_map(waiting_task, None, range(3))) == [0, 1, 2]
            return
        with pytest.raises(FarpointError, match="tasks must leave their workers alive"):
            list(parallel_map(waiting_task, None, range(3)))


@of_clusters
def test_a_task_that_kills_every_worker_of_ray_is_an_error(ray_address: str) -> None:
    with (
        joblib.parallel_config(RayTasks(ray_address)),
        pytest.raises(FarpointError, match="tasks must leave their workers alive"),
    ):
        list(parallel_map(deadly_task, "", range(12)))


@of_clusters
def test_what_cannot_be_sent_is_an_error(cluster: tuple[str, str]) -> None:
    with pytest.raises(TypeError, match="lock"):
        list(parallel_map(waiting_task, None, [threading.Lock()]))
    with pytest.raises(TypeError, match="lock"):
        list(parallel_map(waiting_task, threading.Lock(), [1]))


@of_clusters
def test_several_at_once_leave_nothing_behind(cluster: tuple[str, str]) -> None:
    first, second = (parallel_map(slow_task, None, range(6)) for _ in range(2))
    assert (next(first)[0], next(second)[0]) == (0, 0)
    assert [task for task, _ in first] == [1, 2, 3, 4, 5]
    assert [task for task, _ in second] == [1, 2, 3, 4, 5]
    assert Parallel(n_jobs=2, backend="threading")(delayed(os.getpid)() for _ in range(2)) == 2 * [os.getpid()]


@of_clusters
def test_one_worker_that_dies_gets_everything_again(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as single,
        Client(single, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
    ):
        results = list(parallel_map(dying_task, str(tmp_path / "died"), range(6)))
    assert (tmp_path / "died").exists()
    assert [value for value, _ in results] == [task * task for task in range(6)]
    assert os.getpid() not in {pid for _, pid in results}


@of_clusters
def test_errors_of_tasks_arrive_from_clusters(cluster: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"task \d fails"):
        list(parallel_map(failing_task, None, range(3)))
    with pytest.raises(InvalidInput, match="t must be a finite number above 0; got"):
        list(parallel_map(refusing_task, None, range(3)))


@of_clusters
def test_tasks_on_clusters_may_have_tasks(cluster: tuple[str, str]) -> None:
    assert list(parallel_map(nested_task, 3, range(5))) == 5 * [[0, 1, 2]]


def everything() -> list[np.ndarray[Any, Any]]:
    """What is computed in parallel, by the backend in use."""
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
    with joblib.parallel_config("threading"):
        return everything()


@of_clusters
def test_scores_and_learning_do_not_depend_on_the_backend(
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


@of_clusters
def test_the_command_runs_on_a_cluster(compared_here: str, cluster: tuple[str, str]) -> None:
    engine, address = cluster
    assert compared("--engine", engine, "--address", address) == compared_here
    assert "diffusion" in compared_here


@of_clusters
def test_clusters_read_a_map_in_a_file_themselves(cluster: tuple[str, str], tmp_path: Path) -> None:
    world = fp.random_maze(300, 260, seed=3)
    assert world.floor is not None
    np.save(tmp_path / "map.npy", world.floor.cells)
    mapped = fp.World.from_array(tmp_path / "map.npy")
    scores = fp.score(mapped, 4, out=tmp_path / "scores.npy")
    with joblib.parallel_config("threading"):
        np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), fp.score(world, 4))
    np.testing.assert_array_equal(fp.find_goals(mapped, scores).states, fp.find_goals(world, np.array(scores)).states)


@pytest.fixture
def map_file(tmp_path: Path) -> Path:
    """A map of more cells than one block has."""
    floor = fp.random_maze(310, 310, seed=3).floor
    assert floor is not None
    np.save(tmp_path / "map.npy", floor.cells)
    return tmp_path / "map.npy"


@of_clusters
def test_a_map_on_disk_travels_as_its_path_and_gives_the_same_bits(dask_address: str, map_file: Path) -> None:
    from distributed import Client

    here = np.asarray(fp.score(fp.random_maze(310, 310, seed=3), 4, "local"))
    world = fp.World.from_array(str(map_file))
    with Client(dask_address, set_as_default=False) as client, joblib.parallel_config("dask", client=client):
        there = fp.score(world, 4, "local", checkpoint=map_file.parent / "blocks")
    np.testing.assert_array_equal(there, here)
    assert len(list((map_file.parent / "blocks").glob("*.npz"))) > 1


def test_processes_read_a_map_on_disk_themselves(map_file: Path) -> None:
    world = fp.World.from_array(str(map_file))
    # What every task shares is the path of the map, and not its cells.
    assert len(pickle.dumps(MapPlan.of(world.floor, 4))) < 1_000 < world.n_states
    here = np.asarray(fp.score(fp.random_maze(310, 310, seed=3), 4, "local"))
    with joblib.parallel_config("loky"):
        there = fp.score(world, 4, "local", n_jobs=2)
    get_reusable_executor().shutdown(wait=True)
    np.testing.assert_array_equal(there, here)


@of_clusters
def test_a_client_whose_thread_starts_late_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    starts, start = list[str](), distributed.utils.LoopRunner.start

    def late(runner: Any) -> None:
        starts.append("late" if not starts else "in time")
        assert starts != ["late"]
        start(runner)

    monkeypatch.setattr(distributed.utils.LoopRunner, "start", late)
    with pytest.raises(InvalidInput, match="address must be that of a running"), on_cluster("dask", "tcp://host:99999"):
        raise AssertionError("nothing is there")
    assert starts[:2] == ["late", "in time"]


def opened(engine: str, address: Any) -> AbstractContextManager[Any]:
    return joblib.parallel_config(RayTasks(address)) if engine == "ray" else on_cluster("dask", address)


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@of_clusters
@pytest.mark.parametrize(("engine", "scheme"), [("dask", "tcp://"), ("dask", ""), ("ray", ""), ("ray", "ray://")])
def test_addresses_where_nothing_listens(engine: str, scheme: str, closed_port: int) -> None:
    address = f"{scheme}127.0.0.1:{closed_port}"
    # Ray itself waits for 150 s.
    with pytest.raises(InvalidInput, match=r"running (Dask|Ray) "), opened(engine, address):
        raise AssertionError("nothing is there")


@of_clusters
@pytest.mark.parametrize("engine", ["dask", "ray"])
@pytest.mark.parametrize("address", ["", "nonsense", "tcp://host", "host:99999", 7, b"127.0.0.1:8786"])
def test_what_is_no_address(engine: str, address: Any) -> None:
    with pytest.raises(InvalidInput, match="address must be that of a running"), opened(engine, address):
        raise AssertionError("nothing is there")
