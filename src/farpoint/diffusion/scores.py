"""The scores of all states, with a record of how they were computed, and what every way to compute them shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from farpoint.display import Plottable, Tabular
from farpoint.errors import InvalidInput
from farpoint.worlds import World
from farpoint.worlds.world import state_columns

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Plottable, Tabular, NDArrayOperatorsMixin):
    """f_t of every state, with a record of how it was computed; to numpy an array of floats.

    Operators, functions of numpy, methods of arrays (``scores.max()``, ``scores.reshape(3, 3)``) and indexing work on
    ``values``, and their results are plain arrays and numbers, without the record. Nothing in a `Scores` can be
    changed: ``scores.copy()`` is a plain array that can, and ``dataclasses.replace`` makes another record.

    Parameters
    ----------
    values : array of float
        The scores, read-only; the caller's array is not copied.
    t : float
    solver : str
        The solver that computed it.
    form : str
        ``"polar"``, ``"walk"`` or ``"symmetrized"``; in symmetric worlds the first two are the same number.
    reason : str
        Why this solver and form.
    error_bound : array of float, shape (n_states,), or None
        No entry is farther than this from f_t; None where the solver is exact up to a rounding of 10⁻⁹ at most, or
        where ``standard_error`` says how certain it is. Very long walks and very uneven weights round more: there an
        exact solver has a bound too.
    standard_error : array of float, shape (n_states,), or None
        The standard error of scores that were estimated from random probes.
    world : World or None
        Where the states lie, for pictures and tables; not kept in a pickle.
    details : mapping
        Facts that only some solvers give, such as the sample of `extend`.

    Examples
    --------
    >>> import farpoint as fp
    >>> scores = fp.score(fp.open_room(4, 4), t=2)
    >>> scores
    Scores(16 states, t=2, solver='local', form='walk')
    >>> bool(scores.max() == scores[0]), bool((scores <= 1).all()), scores.error_bound
    (True, True, None)
    """

    values: NDArray[np.float64]
    t: float
    solver: str
    form: str
    reason: str = ""
    error_bound: NDArray[np.float64] | None = None
    standard_error: NDArray[np.float64] | None = None
    world: World | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            values = np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError, MemoryError) as error:
            raise InvalidInput(f"values must be one number per state; got {self.values!r}.") from error
        object.__setattr__(self, "values", _read_only_view(values))
        for name in ("error_bound", "standard_error"):
            object.__setattr__(self, name, _read_only_view(getattr(self, name)))
        if not isinstance(self.details, Mapping):
            raise InvalidInput(f"details must be a mapping of names to values; got {type(self.details).__name__}.")
        details = {name: _read_only_view(value) for name, value in self.details.items()}
        object.__setattr__(self, "details", MappingProxyType(details))

    def columns(self) -> dict[str, Any]:
        """Return one row per state: where it is, its score, and how certain that is.

        Examples
        --------
        >>> import farpoint as fp
        >>> list(fp.score(fp.open_room(4, 4)).columns())
        ['state', 'row', 'column', 'score']
        """
        states = np.arange(self.values.size)
        columns: dict[str, Any] = {"state": states} if self.world is None else state_columns(self.world, states)
        columns["score"] = self.values.ravel()
        certain = {"error_bound": self.error_bound, "standard_error": self.standard_error}
        return columns | {name: value for name, value in certain.items() if value is not None}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        plain = [_plain(value) for value in inputs]
        if out is not None:
            # Into scores nothing can be written: numpy says that they are read-only.
            kwargs["out"] = tuple(_plain(value) for value in out)
        if isinstance(kwargs.get("where"), Scores):
            kwargs["where"] = kwargs["where"].values
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getattr__(self, name: str) -> Any:
        # Special methods of arrays are not ours; and what has no values yet would look for them without end.
        if name.startswith("__") or name == "values":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.values, name)

    def __copy__(self) -> Scores:
        return self

    def __deepcopy__(self, memo: Any) -> Scores:
        return self

    def __reduce__(self) -> Any:
        record = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "world"}
        return partial(Scores, **record | {"details": dict(self.details)}), ()

    def __repr__(self) -> str:
        return f"Scores({self.values.size} states, t={self.t:g}, solver={self.solver!r}, form={self.form!r})"


def _read_only_view(value: Any) -> Any:
    """Return an array that cannot be written to, on the same memory; anything else as it is."""
    if not isinstance(value, np.ndarray) or not value.flags.writeable:
        return value
    view = value.view()
    view.setflags(write=False)
    return view


def _plain(value: Any) -> Any:
    return value.values if isinstance(value, Scores) else value


class Found(NamedTuple):
    """The scores of all states, and how far each may be from f_t: a bound, or a standard error of an estimate."""

    scores: Vector
    error_bound: Vector | None = None
    standard_error: Vector | None = None


class Plan(ABC):
    """How a score is computed. The defaults are one task for all states, by the local solver.

    Examples
    --------
    >>> class Zeros(Plan):
    ...     seconds, tolerance = 0.0, None
    ...     def block(self, task):
    ...         return (np.zeros(3),)
    >>> plan = Zeros()
    >>> plan.found(*plan.shared().block(plan.tasks[0])).scores
    array([0., 0., 0.])
    """

    solver: str = "local"
    # Whether each task returns arrays of all states, which are added up.
    added = False
    tolerance: float | None

    @property
    @abstractmethod
    def seconds(self) -> float:
        """Roughly how long all tasks take on one core."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays that a task returns."""
        return ("scores",) if self.tolerance is None else ("scores", "bounds")

    @property
    def tasks(self) -> Sequence[Any]:
        """All tasks; fails where one would take too long."""
        return (0,)

    @property
    def about(self) -> Mapping[str, Any] | None:
        """Facts about the tasks that a checkpoint records besides world, t and tolerance; None: none is kept."""
        return None

    def states(self, task: Any) -> slice | NDArray[Any]:
        """Return the states that a task computes."""
        return slice(None)

    def shared(self) -> Any:
        """Return what every task needs: it is sent once to each worker, and its ``block(task)`` computes a task."""
        return self

    def found(self, *arrays: Vector) -> Found:
        """Return the scores made of the arrays of all tasks."""
        return Found(*arrays)
