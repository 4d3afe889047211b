"""One thread of linear algebra, so that sums are added in the same order on every machine.

BLAS adds in another order with another number of threads, and then the last digits of a result differ. Everything
public that multiplies or decomposes dense matrices does so on one thread; parallel work is done by `farpoint.engines`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class _Limit:
    """How many blocks of code ask for one thread at the moment.

    The number of threads belongs to the process. If every block saved and restored it by itself, two blocks that
    overlap in time would leave it at one for ever; so only the first sets it and only the last restores it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._blocks = 0
        self._controller: Any = None
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._blocks == 0:
                self._limiter = self._libraries().limit(limits=1, user_api="blas")
            self._blocks += 1

    def leave(self) -> None:
        with self._lock:
            self._blocks -= 1
            if self._blocks == 0:
                self._limiter.restore_original_limits()

    def after_fork(self) -> None:
        # The blocks belong to threads that do not exist in the child, one of which may have held the lock.
        self._lock = Lock()
        if self._blocks:
            self._blocks = 0
            self._limiter.restore_original_limits()

    def _libraries(self) -> Any:
        if self._controller is None:
            # Both carry a BLAS of their own, and only those that are loaded are found.
            import scipy.linalg  # noqa: F401
            from threadpoolctl import ThreadpoolController

            self._controller = ThreadpoolController()
        return self._controller


_LIMIT = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMIT.after_fork)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread inside the block, or inside the function that this decorates.

    Examples
    --------
    >>> import numpy as np
    >>> @one_blas_thread()
    ... def product(a, b):
    ...     return a @ b
    >>> product(np.eye(2), np.ones(2))
    array([1., 1.])
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
