"""Work on a Dask cluster, by joblib's own Dask backend."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from distributed import Client, LocalCluster
from distributed.client import FutureCancelledError
from joblib import Parallel, delayed, parallel_config
from joblib._dask import DaskDistributedBackend

from farpoint.engines import Function, Numbered, numbered
from farpoint.engines.addresses import check_answers
from farpoint.errors import InvalidInput

_ANSWER_SECONDS = 10
_WORKERS_SECONDS = 60
_ATTEMPTS = 4


class _Backend(DaskDistributedBackend):  # type: ignore[misc]
    def effective_n_jobs(self, n_jobs: int) -> int:
        # With one worker joblib would do the work in this process instead of on the cluster.
        return max(2, int(super().effective_n_jobs(n_jobs)))


class Dask:
    """A client of a Dask cluster; without an address, of one on this machine."""

    def __init__(self, address: str | None) -> None:
        if address is not None and not str(address).startswith("inproc://"):
            check_answers(address, "Dask scheduler", "dask scheduler")
        self._cluster = None if address else LocalCluster(threads_per_worker=1, dashboard_address=":0")
        try:
            self._client = Client(address or self._cluster, timeout=_ANSWER_SECONDS, set_as_default=False)
        # MemoryError: what answers is no scheduler, and its first bytes were read as the length of a message.
        except (OSError, ValueError, TypeError, MemoryError) as error:
            raise InvalidInput(
                f"address must be that of a running Dask scheduler; got {address!r}. Start one: dask scheduler."
            ) from error

    def as_done(self, function: Function, shared: Any, tasks: Sequence[Any], n_jobs: int) -> Numbered:
        """Yield the results as they finish. ``shared`` is sent to every worker before the first task."""
        waiting = dict(enumerate(tasks))
        for attempt in range(_ATTEMPTS):
            try:
                for number, result in self._results((function, shared), list(waiting.items())):
                    del waiting[number]
                    yield number, result
                return
            except (CancelledError, FutureCancelledError):
                # All workers that held the shared data have died: send it again to those that replaced them.
                if attempt == _ATTEMPTS - 1:
                    raise

    def _results(self, shared: Any, tasks: list[tuple[int, Any]]) -> Numbered:
        # joblib identifies scattered objects by `id`, which small numbers and None share with others.
        shared_data = _Shared(shared)
        backend = _Backend(client=self._client, scatter=[shared_data], wait_for_workers_timeout=_WORKERS_SECONDS)
        # The setting is global in joblib, so it is restored before anything else runs.
        with parallel_config(backend=backend):
            # One task per batch: a worker that dies loses one task, which Dask gives to another.
            results: Numbered = Parallel(n_jobs=-1, batch_size=1, return_as="generator_unordered")(
                delayed(_run_task)(shared_data, task) for task in tasks
            )
        return results

    def close(self) -> None:
        """Close the client, and the cluster if it was started here."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


class _Shared:
    def __init__(self, content: Any) -> None:
        self.content = content
        self._name = uuid4().hex

    def __dask_tokenize__(self) -> str:
        # Otherwise Dask would serialize the whole content twice, only to find a name for it.
        return self._name


def _run_task(shared_data: _Shared, task: tuple[int, Any]) -> tuple[int, Any]:
    return numbered(shared_data.content, task)
