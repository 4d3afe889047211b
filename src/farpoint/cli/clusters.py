"""The words --engine and --address: the cluster on which a command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import joblib

from farpoint.errors import InvalidInput, MissingExtra, check_word
from farpoint.parallel import RayTasks

_ANSWER_SECONDS = 10


@contextmanager
def on_cluster(engine: str, address: str | None) -> Iterator[None]:
    """Run what is parallel inside the block on a Dask or a Ray cluster; without an address, on one started for it.

    Examples
    --------
    >>> with on_cluster("local", None):
    ...     print("threads of this process")
    threads of this process
    """
    check_word("engine", engine, ("local", "dask", "ray"))
    if engine == "local":
        if address is not None:
            raise InvalidInput(f"address must go with engine dask or ray; got {address!r} with local.")
        yield
    elif engine == "dask":
        with _dask(address):
            yield
    else:
        with _ray(address):
            yield


@contextmanager
def _dask(address: str | None) -> Iterator[None]:
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtra("dask must be installed for this engine. Run: pip install 'farpoint[dask]'") from error
    cluster = None if address is not None else LocalCluster(threads_per_worker=1, dashboard_address=":0")
    where = address if cluster is None else cluster
    try:
        try:
            client = Client(where, timeout=_ANSWER_SECONDS, set_as_default=False)
        except AssertionError:
            # On a busy machine the thread of the client may start later than Dask waits for it: once more.
            client = Client(where, timeout=_ANSWER_SECONDS, set_as_default=False)
    # MemoryError: what answers is no scheduler, and its first bytes were read as the length of a message.
    except (OSError, ValueError, TypeError, MemoryError) as error:
        raise InvalidInput(
            f"address must be that of a running Dask scheduler; got {address!r}. Start one: dask scheduler."
        ) from error
    try:
        with client, joblib.parallel_config("dask", client=client):
            yield
    finally:
        if cluster is not None:
            cluster.close()


@contextmanager
def _ray(address: str | None) -> Iterator[None]:
    workers = RayTasks(address)
    import ray

    try:
        with joblib.parallel_config(workers):
            yield
    finally:
        ray.shutdown()
