"""Work on a Dask cluster, by joblib's own Dask backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import uuid4

from distributed import Client, LocalCluster
from joblib import Parallel, delayed, parallel_config

from farpoint.errors import InvalidInput

_ANSWER_SECONDS = 10


class Dask:
    """A client of a Dask cluster; without an address, of one on this machine."""

    def __init__(self, address: str | None) -> None:
        self._cluster = None if address else LocalCluster(threads_per_worker=1, dashboard_address=":0")
        try:
            self._client = Client(address or self._cluster, timeout=_ANSWER_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InvalidInput(
                f"address must be that of a running Dask scheduler; got {address!r}. Begin one: dask scheduler."
            ) from error

    def each(
        self, function: Callable[[Any, Any], Any], shared: Any, tasks: Iterable[Any], n_jobs: int
    ) -> Iterator[Any]:
        """Yield the results in order. ``shared`` is put on every worker before the first task."""
        # joblib knows scattered things by their identity, and small numbers or None have none of their own.
        parcel = _Parcel(shared)
        # One task a batch: a worker that dies takes one task with it, and Dask gives that to another.
        with parallel_config(backend="dask", client=self._client, scatter=[parcel], wait_for_workers_timeout=60):
            yield from Parallel(n_jobs=-1, batch_size=1, return_as="generator")(
                delayed(_unpacked)(parcel, function, task) for task in tasks
            )

    def close(self) -> None:
        """End the client, and the cluster if it was begun here."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


class _Parcel:
    def __init__(self, content: Any) -> None:
        self.content = content
        self._name = uuid4().hex

    def __dask_tokenize__(self) -> str:
        # Dask would otherwise pack the whole content twice, only to find a name for it.
        return self._name


def _unpacked(parcel: _Parcel, function: Callable[[Any, Any], Any], task: Any) -> Any:
    return function(parcel.content, task)
