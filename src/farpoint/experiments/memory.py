"""The most memory that a piece of work holds."""

from __future__ import annotations

import os
import threading


class PeakMemory:
    """The most resident memory of this process inside the block: ``most``, and ``extra`` above what it began with."""

    def __enter__(self) -> PeakMemory:
        import psutil

        self._process = psutil.Process(os.getpid())
        self._before = self.most = int(self._process.memory_info().rss)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
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
