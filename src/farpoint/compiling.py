"""The decorators of compiled functions: numba, with its cache where one can be written."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# A function of arrays that are at most so long is interpreted, until that has taken as long as compiling would.
_SHORT = 5_000
_SECONDS = 0.5


def compiled(**settings: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles a function with numba and keeps the result for the next process.

    In a container the package and the home folder may both be read-only: then there is no place for the cache, and the
    function is compiled in every process instead.

    Examples
    --------
    >>> @compiled(nogil=True)
    ... def double(x: float) -> float:
    ...     return 2.0 * x
    >>> double(4.0)
    8.0
    """

    def decorate(function: Function) -> Function:
        import numba

        try:
            decorated: Function = numba.njit(cache=True, **settings)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            decorated = numba.njit(**settings)(function)
        return decorated

    return decorate


def allocation_free(**settings: Any) -> Callable[[Function], Function]:
    """Return a decorator like `compiled` for a function that makes no arrays, only reads and writes those it is given.

    Otherwise numba counts the references to an array whenever it is taken out of a tuple: an atomic operation, so that
    a step of a simulation, which looks at a dozen arrays, takes ten times as long as it needs to.

    Neither arrays nor views of them may be returned. A function that it calls must be allocation-free too, or inlined:
    one that makes arrays, compiled for this caller first, would lose its counts for every other.

    Examples
    --------
    >>> import numpy as np
    >>> @allocation_free(nogil=True)
    ... def total(arrays):
    ...     return arrays[0][0] + arrays[1][0]
    >>> total((np.arange(3.0), np.ones(2)))
    1.0
    """
    return compiled(_nrt=False, **settings)


def compiled_when_worth(**settings: Any) -> Callable[[Function], Function]:
    """Return a decorator like `compiled` for loops over short arrays: the first half second of them is interpreted.

    So a small world does not wait for a compiler. The function must take a one-dimensional array first, whose length
    says how much there is to do, and call no compiled function.

    Examples
    --------
    >>> import numpy as np
    >>> @compiled_when_worth()
    ... def last(values):
    ...     return values[values.size - 1]
    >>> last(np.arange(3))
    np.int64(2)
    """

    def decorate(function: Function) -> Function:
        spent = 0.0

        @cache
        def fast() -> Any:
            return compiled(**settings)(function)

        @wraps(function)
        def either(array: Any, *others: Any) -> Any:
            nonlocal spent
            if array.size > _SHORT or spent > _SECONDS:
                return fast()(array, *others)
            began = time.perf_counter()
            result = function(array, *others)
            spent += time.perf_counter() - began
            return result

        return either  # type: ignore[return-value]

    return decorate
