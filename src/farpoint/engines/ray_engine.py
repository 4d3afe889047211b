"""Work on a Ray cluster, by a small joblib backend of Ray *tasks*.

Ray ships a joblib backend of its own, made of actors: when the process of one dies, its work is lost and the run
fails. Ray itself retries tasks elsewhere, so tasks are used here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import ray
from joblib import Parallel, delayed, parallel_config
from joblib.parallel import ParallelBackendBase, register_parallel_backend

from farpoint.engines import Function, Numbered, numbered
from farpoint.engines.addresses import check_answers
from farpoint.errors import InvalidInput

_BACKEND = "farpoint-ray"
# A worker that was killed counts as one; a task that fails more often is itself at fault.
_RETRIES = 5


class RayTasks(ParallelBackendBase):  # type: ignore[misc]
    """A joblib backend in which every batch is one Ray task."""

    supports_retrieve_callback = True
    default_n_jobs = -1

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return how many tasks run at once: the processors of the cluster."""
        # With one worker joblib would do the work in this process instead of on the cluster.
        return max(2, int(ray.cluster_resources().get("CPU", 1)))

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        """Remember the joblib call that this backend serves."""
        self.parallel = parallel
        return self.effective_n_jobs(n_jobs)

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Future[Any]:
        """Start a task; ``callback`` is called when it finishes."""
        future: Future[Any] = _run.remote(func).future()
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return what a finished task returned, or raise what it raised."""
        try:
            return out.result()
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Leave running tasks to finish; their results are not used."""
        if ensure_ready:
            self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)


@ray.remote(num_cpus=1, max_retries=_RETRIES)  # type: ignore[untyped-decorator]
def _run(batch: Callable[[], Any]) -> Any:
    return batch()


class Ray:
    """A Ray cluster; without an address, one on this machine."""

    def __init__(self, address: str | None) -> None:
        # Also where this process is connected already: a wrong address must not be taken for that cluster's.
        if address not in (None, "auto", "local"):
            check_answers(address, "Ray cluster", "ray start --head")
        self._opened = not ray.is_initialized()
        if self._opened:
            try:
                ray.init(address=address, include_dashboard=False if address is None else None, log_to_driver=False)
            except (ConnectionError, ValueError) as error:
                raise InvalidInput(
                    f"address must be that of a running Ray cluster; got {address!r}. Start one: ray start --head."
                ) from error
        register_parallel_backend(_BACKEND, RayTasks)

    def as_done(self, function: Function, shared: Any, tasks: Sequence[Any], n_jobs: int) -> Numbered:
        """Yield the results as they finish. ``shared`` is put into Ray's object store once and read from there."""
        reference = ray.put((function, shared))
        # The setting is global in joblib, so it is restored before anything else runs.
        with parallel_config(backend=_BACKEND):
            results: Numbered = Parallel(n_jobs=-1, batch_size=1, return_as="generator_unordered")(
                delayed(_run_task)([reference], task) for task in enumerate(tasks)
            )
        return results

    def close(self) -> None:
        """Close the connection if it was opened here, and with it a cluster that was started here."""
        if self._opened:
            ray.shutdown()


# The shared data of the last call, so that a worker unpacks it once and not once per task.
_UNPACKED: dict[str, Any] = {}


def _run_task(reference: list[Any], task: tuple[int, Any]) -> tuple[int, Any]:
    name = reference[0].hex()
    if name not in _UNPACKED:
        _UNPACKED.clear()
        _UNPACKED[name] = ray.get(reference[0])
    return numbered(_UNPACKED[name], task)
