"""Progress of long work: a bar in a terminal or notebook after two seconds, and a word before minutes of silence.

The log is the standard one, under the name ``farpoint``: decisions at level INFO, work that takes more than a minute
at level WARNING, which Python prints unless told otherwise.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TextIO, TypeVar

LOG = logging.getLogger("farpoint")
_PATIENCE = 2.0
_BETWEEN = 0.1
_WIDTH = 30
# Work of more than this is announced before it begins.
_LONG_SECONDS = 60.0

Item = TypeVar("Item")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class _Switch:
    """Whether bars are shown: None where the process itself decides, by whether someone is there to see them."""

    wanted: bool | None = None
    # One bar at a time: work inside other work does not draw over it.
    busy = Lock()


@contextmanager
def progress_bars(shown: bool = True) -> Iterator[None]:
    """Show progress bars inside the ``with`` block, or hide them, whether or not someone is there to see them.

    Without it they are shown in terminals and notebooks, unless the environment variable ``FARPOINT_PROGRESS`` is 0.

    Examples
    --------
    >>> import farpoint as fp
    >>> with fp.display.progress_bars(False):
    ...     scores = fp.score(fp.maze())
    """
    before, _Switch.wanted = _Switch.wanted, bool(shown)
    try:
        yield
    finally:
        _Switch.wanted = before


def bars_are_shown() -> bool:
    """Return whether a bar would be seen: in a terminal, in a notebook, or where it is asked for."""
    if _Switch.wanted is not None:
        return _Switch.wanted
    if os.environ.get("FARPOINT_PROGRESS") == "0":
        return False
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def announce(what: str, seconds: float) -> None:
    """Log what is about to begin and roughly how long it will take.

    >>> announce("score at t = 4", 0.1)
    """
    level = logging.WARNING if seconds > _LONG_SECONDS else logging.INFO
    LOG.log(level, "%s: about %s on one core", what, lasting(seconds))


def lasting(seconds: float) -> str:
    """Return a duration for a reader.

    >>> lasting(0.2), lasting(42), lasting(250), lasting(8_000), lasting(float("inf"))
    ('less than a second', '42 s', '4 min', '2 h', 'inf h')
    """
    if seconds < 1:
        return "less than a second"
    unit, size = ("s", 1) if seconds < 100 else ("min", 60) if seconds < 6_000 else ("h", 3_600)
    return f"{seconds / size:.0f} {unit}"


class Bar:
    """One line of progress that appears when the work has taken two seconds, and goes when it ends."""

    def __init__(self, what: str, stream: TextIO | None = None, *, patience: float = _PATIENCE) -> None:
        self._what, self._stream = what, sys.stderr if stream is None else stream
        self._began, self._next = time.monotonic(), patience
        self._length = 0
        # Another bar may be at work, in this thread or in another.
        self._mine = bars_are_shown() and _Switch.busy.acquire(blocking=False)

    def update(self, done: int, total: int) -> None:
        """Show how much is done, if a bar is to be seen; a total of 0 is not known."""
        seconds = time.monotonic() - self._began
        # Nothing is said of work that is over before anything was.
        if not self._mine or seconds < self._next or (done == total and not self._length):
            return
        self._next = seconds + _BETWEEN
        if not total:
            self._write(f"{self._what} {done:,}, {lasting(seconds)}")
            return
        share = min(done / total, 1.0)
        full = "█" * int(_WIDTH * share)
        left = f", {lasting(seconds * (1 - share) / share)} left" if share else ""
        self._write(
            f"{self._what} {100 * share:3.0f} % |{full:<{_WIDTH}}| {done:,}/{total:,}, {lasting(seconds)}{left}"
        )

    def close(self) -> None:
        """Remove the line."""
        if self._length:
            self._write("")
            self._length = 0
        if self._mine:
            self._mine = False
            _Switch.busy.release()

    def _write(self, line: str) -> None:
        try:
            self._stream.write("\r" + line.ljust(self._length) + ("" if line else "\r"))
            self._stream.flush()
        except (OSError, ValueError, UnicodeError):  # the stream was closed, or cannot show it: work goes on
            return
        self._length = len(line)


@contextmanager
def bar_or(progress: Callable[[int, int], Any] | None, what: str) -> Iterator[Callable[[int, int], Any]]:
    """Give the function to be called with how much is done: the user's own, or one that shows a bar.

    >>> with bar_or(None, "counting") as progress:
    ...     progress(1, 2)
    """
    if progress is not None:
        yield progress
        return
    bar = Bar(what)
    try:
        yield bar.update
    finally:
        bar.close()


def watched(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Yield the items, with a bar that counts them.

    >>> list(watched([1, 2], 2, "counting"))
    [1, 2]
    """
    with bar_or(None, what) as progress:
        progress(0, total)
        for done, item in enumerate(items, start=1):
            progress(done, total)
            yield item


def shows_progress(what: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator that shows a bar, unless the caller gives a function as ``progress``.

    The function must take ``progress`` as a keyword and call it with how much is done and how much there is.

    >>> @shows_progress("counting")
    ... def count(n, *, progress=None):
    ...     return [progress(k, n) if progress else None for k in range(n)]
    >>> count(2)
    [None, None]
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def shown(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            if kwargs.get("progress") is not None or not bars_are_shown():
                return function(*args, **kwargs)
            with bar_or(None, what) as progress:
                kwargs["progress"] = progress
                return function(*args, **kwargs)

        return shown

    return decorate
