"""The one decorator of compiled functions: numba, with its cache where one can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


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
        try:
            decorated: Function = numba.njit(cache=True, **settings)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            decorated = numba.njit(**settings)(function)
        return decorated

    return decorate
