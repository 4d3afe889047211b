"""The peak memory of a computation."""

from __future__ import annotations

import os
import threading


class PeakMemory:
    """Measures the peak resident memory of this process inside a ``with`` block, which is sampled every 2 ms.

    Attributes
    ----------
    most : int
        Bytes, in all.
    extra : int
        Bytes above what the process held at the beginning of the block.

    Examples
    --------
    >>> with PeakMemory() as memory:
    ...     held = bytes(50_000_000)
    >>> memory.most > 50_000_000
    True
    """

    def __enter__(self) -> PeakMemory:
        import psutil

        self._process = psutil.Process(os.getpid())
        self._before = self.most = int(self._process.memory_info().rss)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def _sample(self) -> None:
        while True:
            self.most = max(self.most, self._process.memory_info().rss)
            if self._done.wait(0.002):
                return

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def extra(self) -> int:
        """Bytes above what the process held at the beginning of the block."""
        return int(self.most - self._before)
