"""The scores of all states, with a record of how they were computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from farpoint.display import Drawn, Framed
from farpoint.errors import InvalidInput
from farpoint.worlds import World
from farpoint.worlds.presenting import state_columns


class Scores(Drawn, Framed, np.ndarray[Any, np.dtype[np.float64]]):
    """f_t of every state: an array of floats with a record of how it was computed.

    Slices, reshaped and transposed copies and results of arithmetic are plain arrays; only the whole has the record.

    Attributes
    ----------
    t : float
    solver : str
        The solver that computed it.
    form : str
        ``"polar"`` or ``"walk"``; in symmetric worlds they are the same number.
    reason : str
        Why this solver and form.
    error_bound : array of float, shape (n_states,), or None
        No entry is farther than this from f_t; None where the solver is exact up to a rounding of 10⁻⁹ at most, or
        where ``standard_error`` says how certain it is. Very long walks and very uneven weights round more: there an
        exact solver has a bound too.
    standard_error : array of float, shape (n_states,), or None
        Of scores estimated from random probes.
    world : World or None
        Where the states lie, for pictures and tables; not kept in a pickle.

    Examples
    --------
    >>> import farpoint as fp
    >>> scores = fp.score(fp.open_room(4, 4), t=2)
    >>> scores.solver, scores.t, scores.error_bound
    ('local', 2.0, None)
    """

    t: float = float("nan")
    solver: str = "unknown"
    form: str = "unknown"
    reason: str = ""
    error_bound: NDArray[np.float64] | None = None
    standard_error: NDArray[np.float64] | None = None
    world: World | None = None

    @classmethod
    def of(cls, values: NDArray[np.float64], **record: Any) -> Self:
        """Return ``values`` with the record of how they were computed."""
        try:
            scores = np.asarray(values, dtype=np.float64).view(cls)
        except (TypeError, ValueError, MemoryError) as error:
            raise InvalidInput(f"values must be one number per state; got {values!r}.") from error
        for name, value in record.items():
            setattr(scores, name, value)
        return scores

    def columns(self) -> dict[str, Any]:
        """Return one row per state: where it is, its score, and how certain that is.

        Examples
        --------
        >>> import farpoint as fp
        >>> list(fp.score(fp.open_room(4, 4)).columns())
        ['state', 'row', 'column', 'score']
        """
        states = np.arange(self.size)
        columns: dict[str, Any] = {"state": states} if self.world is None else state_columns(self.world, states)
        columns["score"] = np.asarray(self).ravel()
        certain = {"error_bound": self.error_bound, "standard_error": self.standard_error}
        return columns | {name: value for name, value in certain.items() if value is not None}

    def copy(self, order: Any = "C") -> Self:
        """Return a copy with the record."""
        return type(self).of(np.array(self, order=order), **vars(self))

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce__(self) -> Any:
        record = {name: value for name, value in vars(self).items() if name != "world"}
        return _restored, (np.asarray(self), record, type(self))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        # numpy sorts and fills copies of its argument, which would have a record that is not theirs.
        plain = tuple(np.asarray(value) if isinstance(value, Scores) else value for value in args)
        return super().__array_function__(func, types, plain, kwargs)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    @property
    def T(self) -> Any:
        """The transpose, a plain array."""
        return np.asarray(self).T


# Methods of arrays that would return something of this class: another shape, order or type has no record.
_PLAIN_METHODS = (
    "argpartition",
    "argsort",
    "astype",
    "byteswap",
    "clip",
    "compress",
    "conj",
    "cumprod",
    "cumsum",
    "diagonal",
    "flatten",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "squeeze",
    "swapaxes",
    "take",
    "transpose",
)


def _plain_method(name: str) -> Callable[..., Any]:
    def method(self: Scores, *args: Any, **kwargs: Any) -> Any:
        return getattr(np.asarray(self), name)(*args, **kwargs)

    method.__name__, method.__doc__ = name, f"As ``numpy.ndarray.{name}``, and the result is a plain array."
    return method


for _name in _PLAIN_METHODS:
    setattr(Scores, _name, _plain_method(_name))


def _restored(values: NDArray[np.float64], record: dict[str, Any], kind: type[Scores] = Scores) -> Scores:
    return kind.of(values, **record)
