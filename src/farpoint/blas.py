"""One thread of linear algebra, so that sums are added in the same order on every machine.

BLAS adds in another order with another number of threads, and then the last digits of a result differ. Everything
public that multiplies or decomposes dense matrices does so on one thread; parallel work is done by `farpoint.parallel`.
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
        self._libraries: list[Any] | None = None
        self._changed: list[tuple[Any, int]] = []

    def enter(self) -> None:
        with self._lock:
            if self._blocks == 0:
                threads = [(library, library.num_threads) for library in self._loaded()]
                self._changed = [(library, number) for library, number in threads if number != 1]
                for library, _ in self._changed:
                    library.set_num_threads(1)
            self._blocks += 1

    def leave(self) -> None:
        with self._lock:
            self._blocks -= 1
            if self._blocks == 0:
                self._restore()

    def after_fork(self) -> None:
        # The blocks belong to threads that do not exist in the child, one of which may have held the lock.
        self._lock = Lock()
        if self._blocks:
            self._blocks = 0
            self._restore()

    def _restore(self) -> None:
        for library, number in self._changed:
            library.set_num_threads(number)
        self._changed = []

    def _loaded(self) -> list[Any]:
        if self._libraries is None:
            # Both carry a BLAS of their own, and only those that are loaded are found.
            import scipy.linalg  # noqa: F401
            from threadpoolctl import ThreadpoolController

            self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        return self._libraries


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
