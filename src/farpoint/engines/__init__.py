"""Where parallel work runs: threads of this process, a Dask cluster or a Ray cluster, all through joblib.

Parallel work is a function of two arguments, ``function(shared, task)``: ``shared`` is what every task needs (a graph,
a table of options) and is sent once to each worker, ``task`` is small. The results do not depend on where they were
computed: random numbers come from a stream that belongs to the task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from farpoint.blas import one_blas_thread
from farpoint.display.progress import watched
from farpoint.errors import InvalidInput, MissingExtra, check_jobs, check_word

ENGINES = ("local", "dask", "ray")


Numbered = Iterator[tuple[int, Any]]
Function = Callable[[Any, Any], Any]


class Engine(Protocol):
    """A place where tasks run."""

    def as_done(self, function: Function, shared: Any, tasks: Sequence[Any], n_jobs: int) -> Numbered:
        """Yield the number of each task and ``function(shared, task)``, in the order in which they finish."""

    def close(self) -> None:
        """Release resources that this engine created; leave existing clusters running."""


def numbered(shared: tuple[Function, Any], task: tuple[int, Any]) -> tuple[int, Any]:
    """Return the number of a task with its result, so that results may arrive in any order."""
    function, rest = shared
    number, inner = task
    # A worker's BLAS may have another number of threads than that of this process.
    with one_blas_thread():
        return number, function(rest, inner)


class Local:
    """Threads of this process: the compiled loops release the interpreter's lock. Or processes, for Python's loops."""

    def __init__(self, processes: bool = False) -> None:
        self._backend = "loky" if processes else "threading"

    def as_done(self, function: Function, shared: Any, tasks: Sequence[Any], n_jobs: int) -> Numbered:
        """Yield the results as they finish."""
        if n_jobs == 1 or len(tasks) < 2:
            return (numbered((function, shared), task) for task in enumerate(tasks))
        from joblib import Parallel, delayed

        results: Numbered = Parallel(n_jobs=n_jobs, backend=self._backend, return_as="generator_unordered")(
            delayed(numbered)((function, shared), task) for task in enumerate(tasks)
        )
        return results

    def close(self) -> None:
        """Do nothing: no resources were created."""


_CURRENT: ContextVar[Engine | None] = ContextVar("engine", default=None)


def each(
    function: Function,
    shared: Any,
    tasks: Iterable[Any],
    *,
    n_jobs: int = -1,
    label: str | None = None,
    processes: bool = False,
) -> Iterator[Any]:
    """Yield ``function(shared, task)`` of every task in order, computed by the engine in use.

    ``n_jobs`` is the number of threads or processes, -1 for one per core; on a cluster the cluster decides. With a
    ``label`` a bar of that name shows the progress, where someone is there to see it. ``processes``: the function is
    Python rather than compiled loops, which threads would run one at a time; so processes on this machine.

    Examples
    --------
    >>> list(each(lambda shared, task: shared + task, 10, [1, 2, 3]))
    [11, 12, 13]
    """
    return _in_order(each_as_done(function, shared, tasks, n_jobs=n_jobs, label=label, processes=processes))


def each_as_done(
    function: Function,
    shared: Any,
    tasks: Iterable[Any],
    *,
    n_jobs: int = -1,
    label: str | None = None,
    processes: bool = False,
) -> Numbered:
    """Yield the number and the result of every task as soon as it finishes, so that it can be saved at once.

    Examples
    --------
    >>> sorted(each_as_done(lambda shared, task: shared + task, 10, [1, 2, 3]))
    [(0, 11), (1, 12), (2, 13)]
    """
    every = list(tasks)
    current = _CURRENT.get()
    # Workers of a cluster are processes already.
    chosen = Local(processes) if current is None or isinstance(current, Local) else current
    results = chosen.as_done(function, shared, every, check_jobs(n_jobs))
    return results if label is None else watched(results, len(every), label)


def _in_order(results: Numbered) -> Iterator[Any]:
    waiting: dict[int, Any] = {}
    following = 0
    for number, result in results:
        waiting[number] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


@contextmanager
def engine(name: str = "local", address: str | None = None) -> Iterator[None]:
    """Run the parallel work inside the ``with`` block on threads here, on a Dask cluster or on a Ray cluster.

    Scores, learning runs, measures and comparisons run in parallel; numbers do not depend on the engine or on the
    number of workers, nor on workers that die and are replaced.

    Parameters
    ----------
    name : {"local", "dask", "ray"}
    address : str, optional
        Of a running cluster: ``tcp://host:8786`` for Dask, ``host:6379`` or ``auto`` for Ray. Without one, a cluster is
        started on this machine and stopped when the block ends.

    Raises
    ------
    MissingExtra
        If the engine's package is not installed.
    InvalidInput
        If no cluster answers at ``address``.

    Examples
    --------
    >>> import farpoint as fp
    >>> with fp.engine("local"):
    ...     fp.score(fp.open_room(30, 30), solver="local").max().round(4)
    np.float64(0.154)
    """
    check_word("engine", name, ENGINES)
    if name == "local" and address is not None:
        raise InvalidInput(f"address must go with engine dask or ray; got {address!r} with local.")
    opened = _open(name, address)
    token = _CURRENT.set(opened)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        opened.close()


def _open(name: str, address: str | None) -> Engine:
    if name == "local":
        return Local()
    try:
        if name == "dask":
            from farpoint.engines.dask_engine import Dask

            return Dask(address)
        from farpoint.engines.ray_engine import Ray

        return Ray(address)
    except ImportError as error:
        raise MissingExtra(
            f"engine {name} must have its package installed; got {error}. Install it: pip install 'farpoint[{name}]'."
        ) from error
