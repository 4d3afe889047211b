"""Parallel work: one layer over joblib, whose active backend decides where it runs.

Threads of this process run it unless a backend is chosen. On a Dask cluster::

    with distributed.Client("tcp://scheduler:8786"), joblib.parallel_config("dask"):
        scores = fp.score(world, t=4)

and on a Ray cluster::

    with joblib.parallel_config(fp.parallel.RayTasks("head:6379")):
        scores = fp.score(world, t=4)

The results do not depend on the backend or on the number of workers: random numbers come from a stream that belongs to
the task. A worker that dies has its task run again by another. joblib keeps its backend per thread.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import uuid4

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import ParallelBackendBase, get_active_backend

from farpoint.blas import one_blas_thread
from farpoint.display import progress_bar
from farpoint.errors import FarpointError, InvalidInput, MissingExtra, check_jobs

__all__ = ["RayTasks", "parallel_map"]

# A function of what all tasks share and of one task, and the number of a task with its result.
Function = Callable[[Any, Any], Any]
Numbered = Iterator[tuple[int, Any]]

# How often work is sent again after all workers that held the shared data have died.
_ATTEMPTS = 4
# How often Ray runs a task again whose worker died.
_RAY_RETRIES = 5
_ANSWER_SECONDS = 5.0


def parallel_map(
    function: Function,
    shared: Any,
    tasks: Iterable[Any],
    *,
    n_jobs: int = -1,
    label: str | None = None,
    processes: bool = False,
    ordered: bool = True,
) -> Iterator[Any]:
    """Yield ``function(shared, task)`` for every task, computed by joblib's active backend.

    Parameters
    ----------
    function : function of (shared, task)
        Defined at the top of a module, where the backend uses processes.
    shared
        What all tasks need (a graph, a table of options): sent once to each worker of a cluster.
    tasks : iterable
    n_jobs : int, default -1
        Threads or processes; -1 is one per core. A cluster decides by itself.
    label : str, optional
        Show the progress as a bar of this name.
    processes : bool, default False
        The function is Python rather than compiled loops, and threads would run one at a time: use processes, unless a
        backend is chosen.
    ordered : bool, default True
        Yield results in the order of the tasks; otherwise in the order in which they finish.

    Raises
    ------
    FarpointError
        If workers die again and again. Whatever a task raises arrives as it is.

    Examples
    --------
    >>> list(parallel_map(lambda shared, task: shared + task, 10, [1, 2, 3]))
    [11, 12, 13]
    >>> sorted(parallel_map(lambda shared, task: shared + task, 10, [1, 2, 3], ordered=False))
    [11, 12, 13]
    """
    every = list(tasks)
    results = _started(function, shared, every, check_jobs(n_jobs), "processes" if processes else "threads")
    if label is not None:
        results = _watched(results, len(every), label)
    return _in_order(results) if ordered else (result for _, result in results)


def _started(
    function: Function, shared: Any, tasks: Sequence[Any], n_jobs: int, prefer: Literal["threads", "processes"]
) -> Numbered:
    backend, _ = get_active_backend(prefer=prefer)
    if isinstance(backend, RayTasks):
        return _on_ray(function, shared, tasks)
    # Not imported here: a backend of Dask's can only be active where joblib has imported it.
    dask = sys.modules.get("joblib._dask")
    if dask is not None and isinstance(backend, dask.DaskDistributedBackend):
        return _on_dask(backend, function, shared, tasks)
    if n_jobs == 1 or len(tasks) < 2:
        return (_run(shared=(function, shared), task=task) for task in enumerate(tasks))
    if not (backend.supports_return_generator or backend.effective_n_jobs(n_jobs) == 1):
        raise InvalidInput(
            f"joblib's backend must return results as they finish; got {type(backend).__name__}. Use threading, loky, "
            "dask or farpoint.parallel.RayTasks."
        )
    return _on_this_machine(function, shared, tasks, n_jobs, prefer)


def _run(shared: tuple[Function, Any], task: tuple[int, Any]) -> tuple[int, Any]:
    function, rest = shared
    number, inner = task
    # A worker's BLAS may have another number of threads than that of this process.
    with one_blas_thread():
        return number, function(rest, inner)


def _watched(results: Numbered, total: int, label: str) -> Numbered:
    with progress_bar(label, total) as tell:
        for done, result in enumerate(results, start=1):
            tell(done)
            yield result


def _in_order(results: Numbered) -> Iterator[Any]:
    waiting: dict[int, Any] = {}
    following = 0
    for number, result in results:
        waiting[number] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _on_this_machine(function: Function, shared: Any, tasks: Sequence[Any], n_jobs: int, prefer: str) -> Numbered:
    results: Numbered = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator_unordered")(
        delayed(_run)((function, shared), task) for task in enumerate(tasks)
    )
    return _of_living_workers(results)


def _of_living_workers(results: Numbered) -> Numbered:
    try:
        yield from results
    except BrokenExecutor as error:
        raise _worker_died(error) from error


def _worker_died(error: BaseException) -> FarpointError:
    return FarpointError(
        f"tasks must leave their workers alive; got workers that died again and again ({type(error).__name__}). "
        "Give each worker more memory, or use fewer of them."
    )


class _Shared:
    """What all tasks share, as Dask scatters it: with a name and a size of its own."""

    def __init__(self, content: Any, n_bytes: int) -> None:
        self.content = content
        self._n_bytes = n_bytes
        self._name = uuid4().hex

    def __dask_tokenize__(self) -> str:
        # Otherwise Dask would serialize the whole content twice, only to find a name for it.
        return self._name

    def __sizeof__(self) -> int:
        # Dask decides by it where tasks run and what a worker keeps in memory.
        return self._n_bytes


def _run_on_dask(shared: _Shared, task: tuple[int, Any]) -> tuple[int, Any]:
    # joblib gives the tasks of a task to the cluster again, whose workers may all be waiting for theirs.
    with parallel_config(backend="sequential"):
        return _run(shared.content, task)


def _pickled_size(content: Any) -> int:
    import cloudpickle

    buffers: list[Any] = []
    text: bytes = cloudpickle.dumps(content, protocol=5, buffer_callback=buffers.append)
    return len(text) + sum(int(buffer.raw().nbytes) for buffer in buffers)


def _on_dask(active: Any, function: Function, shared: Any, tasks: Sequence[Any]) -> Numbered:
    content = (function, shared)
    size = _pickled_size(content)
    # What turns out to be impossible to pickle later, in a thread of Dask's, would be waited for without end.
    _pickled_size(tasks)
    waiting = dict(enumerate(tasks))
    for attempt in range(_ATTEMPTS):
        # joblib knows scattered objects by their `id`, which small numbers and None share with others.
        sent = _Shared(content, size)
        try:
            # One task per batch: a worker that dies loses one task, which Dask gives to another.
            results = Parallel(
                n_jobs=-1, batch_size=1, backend=_with_shared(active, sent), return_as="generator_unordered"
            )(delayed(_run_on_dask)(sent, task) for task in list(waiting.items()))
            for number, result in results:
                del waiting[number]
                yield number, result
            return
        except (CancelledError, asyncio.CancelledError) as error:
            # All workers that held the shared data have died: send it again to those that replace them.
            if attempt == _ATTEMPTS - 1:
                raise _worker_died(error) from error


def _with_shared(active: Any, sent: _Shared) -> Any:
    """Return a backend whose workers have the shared data."""
    timeout = active.wait_for_workers_timeout
    try:
        # Where all of them have died, their successors are still starting.
        active.client.wait_for_workers(1, timeout=timeout)
        return _dask_backend()(
            client=active.client, scatter=[sent], wait_for_workers_timeout=timeout, **active.submit_kwargs
        )
    except (TimeoutError, ValueError, OSError) as error:
        # Dask's own, of sending to workers that die meanwhile.
        raise CancelledError(str(error)) from error


@cache
def _dask_backend() -> Any:
    from distributed import KilledWorker
    from joblib._dask import DaskDistributedBackend

    class DaskTasks(DaskDistributedBackend):  # type: ignore[misc]
        """joblib's backend, except that a task that kills all its workers is an error."""

        def effective_n_jobs(self, n_jobs: int) -> int:
            # With one worker joblib would do the work in this process instead of on the cluster.
            return max(2, int(super().effective_n_jobs(n_jobs)))

        async def _collect(self) -> None:
            # joblib's own calls back for results alone: Dask's error of a task would be waited for without end.
            while self._continue:
                async for future, result in self.waiting_futures:
                    self._results.pop(future, None)
                    callback = self._callbacks.pop(future, None)
                    if callback is not None:
                        callback(result[1] if future.status == "error" else result)
                await asyncio.sleep(0.01)

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, KilledWorker):
                raise _worker_died(out) from out
            return super().retrieve_result_callback(out)

        def abort_everything(self, ensure_ready: bool = True) -> None:
            super().abort_everything(ensure_ready)
            # Dask cancels what nobody holds any more.
            self._results.clear()
            self._callbacks.clear()

    return DaskTasks


class RayTasks(ParallelBackendBase):  # type: ignore[misc]
    """A joblib backend in which every batch is one Ray task; Ray runs it again elsewhere when its worker dies.

    Ray's own joblib backend is made of actors: it returns nothing before all is done, and fails when one of them dies.

    Parameters
    ----------
    address : str, optional
        The address of a running cluster: ``"host:6379"`` or ``"auto"``. Default: the cluster that this process is
        connected to, or a new one on this machine, which ends with ``ray.shutdown()`` or with the process.

    Raises
    ------
    MissingExtra
        If Ray is not installed.
    InvalidInput
        If no cluster answers at ``address``.

    Examples
    --------
    >>> import joblib
    >>> import farpoint as fp
    >>> with joblib.parallel_config(fp.parallel.RayTasks()):  # doctest: +SKIP
    ...     scores = fp.score("maze")
    """

    supports_retrieve_callback = True
    default_n_jobs = -1

    def __init__(self, address: str | None = None, nesting_level: int | None = None) -> None:
        super().__init__(nesting_level=nesting_level)
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("ray must be installed for this backend. Run: pip install 'farpoint[ray]'") from error
        # Also where this process is connected already: a wrong address must not be taken for that cluster's.
        if address not in (None, "auto", "local"):
            _check_answers(address)
        if not ray.is_initialized():
            try:
                ray.init(address=address, include_dashboard=False if address is None else None, log_to_driver=False)
            except (ConnectionError, ValueError) as error:
                raise _no_cluster(address, "no answer") from error
        self._run = ray.remote(num_cpus=1, max_retries=_RAY_RETRIES)(_run_batch)

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return how many tasks run at once: the processors of the cluster."""
        import ray

        # With one worker joblib would do the work in this process instead of on the cluster.
        return max(2, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Future[Any]:
        """Start a task; ``callback`` is called when it finishes."""
        future: Future[Any] = self._run.remote(func).future()
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return what a finished task returned, or raise what it raised."""
        import ray

        try:
            return out.result()
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except ray.exceptions.RayError as error:
            raise _worker_died(error) from error

    def get_nested_backend(self) -> tuple[Any, int]:
        """Return the backend of a task's own tasks: one after the other, where the task runs."""
        from joblib._parallel_backends import SequentialBackend

        return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), 1


def _run_batch(batch: Callable[[], Any]) -> Any:
    return batch()


def _on_ray(function: Function, shared: Any, tasks: Sequence[Any]) -> Numbered:
    import ray

    # As with Dask: what cannot be pickled must fail here, not in a thread that nobody looks at.
    ray.cloudpickle.dumps(tasks)
    reference = ray.put((function, shared))
    results: Numbered = Parallel(n_jobs=-1, batch_size=1, return_as="generator_unordered")(
        delayed(_run_on_ray)([reference], task) for task in enumerate(tasks)
    )
    return results


# The shared data of the last call, so that a worker unpacks it once and not once per task.
_UNPACKED: dict[str, Any] = {}


def _run_on_ray(reference: list[Any], task: tuple[int, Any]) -> tuple[int, Any]:
    import ray

    name = reference[0].hex()
    if name not in _UNPACKED:
        _UNPACKED.clear()
        _UNPACKED[name] = ray.get(reference[0])
    return _run(_UNPACKED[name], task)


def _check_answers(address: object) -> None:
    # Ray itself waits for minutes.
    try:
        text = str(address)
        parts = urlsplit(text if "://" in text else f"//{text}")
        if isinstance(address, str) and parts.hostname and parts.port:
            socket.create_connection((parts.hostname, parts.port), timeout=_ANSWER_SECONDS).close()
            return
    except (OSError, ValueError) as error:
        raise _no_cluster(address, str(error) or "no answer") from error
    raise _no_cluster(address, "not host:port")


def _no_cluster(address: object, problem: str) -> InvalidInput:
    return InvalidInput(
        f"address must be that of a running Ray cluster; got {address!r} ({problem}). Start one: ray start --head."
    )
