"""One Dask cluster and one Ray cluster for all tests, in a folder that is removed; nothing is left, nothing runs on."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor

import farpoint as fp
from tests.helpers.processes import left_of, started


@pytest.fixture(scope="session", autouse=True)
def scratch() -> Iterator[Path]:
    """A folder for what clusters write while they run."""
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
    """The name of an engine and its address, in use."""
    address: str = request.getfixturevalue(f"{request.param}_address")
    with fp.engine(request.param, address):
        yield request.param, address
