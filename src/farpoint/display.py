"""What objects and long work show: pictures, tables of numbers, progress bars, and a log of what was decided.

The log is the standard one, under the name ``farpoint``: decisions at level INFO, work that takes more than a minute
at level WARNING, which Python prints by default.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from farpoint.errors import MissingExtra

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure
    from rich.progress import Progress

__all__ = ["Plottable", "Tabular", "announce", "progress_bar", "progress_bars"]

LOG = logging.getLogger("farpoint")
# A bar appears when the work has taken this long.
PATIENCE_SECONDS = 2.0
# Work of more than this is announced before it begins.
LONG_SECONDS = 60.0
_PAINTERS = "farpoint.report.notebook"
# None where the process itself decides, by whether someone is there to see bars.
_WANTED: ContextVar[bool | None] = ContextVar("progress bars", default=None)
# One bar at a time: work inside other work does not draw over its bar.
_BUSY = Lock()


class Plottable:
    """Something that has a picture: `draw` for a figure of any size, and a small one beside its facts in a notebook.

    The code that draws lies in a layer above: `farpoint.report` imports worlds, options and results, so these cannot
    import it. This class names one module of it as a text and imports that when something is drawn; the module has a
    painter for each class.

    Examples
    --------
    >>> import farpoint as fp
    >>> isinstance(fp.maze(), Plottable), isinstance(fp.score("maze"), Plottable)
    (True, True)
    """

    def draw(self, **look: Any) -> Figure:
        """Return a picture, shown at once where it ends a cell of a notebook.

        Parameters
        ----------
        **look
            ``ax``, ``figsize``, ``cmap``, ``pos``, ``labels``, ``title``: as in `farpoint.report.draw_score`.

        Examples
        --------
        >>> import farpoint as fp
        >>> figure = fp.maze().draw(figsize=(4, 4))
        >>> figure = fp.discover("maze").draw(cmap="magma")
        """
        figure: Figure = importlib.import_module(_PAINTERS).painted(self, **look)
        return figure

    def _repr_html_(self) -> str:
        text: str = importlib.import_module(_PAINTERS).html_of(self)
        return text


class Tabular:
    """Something that is a table of numbers. A class says what its columns are; see `columns`.

    Examples
    --------
    >>> import farpoint as fp
    >>> isinstance(fp.maze(), Tabular), isinstance(fp.cover_time("maze", n_runs=2), Tabular)
    (True, True)
    """

    def columns(self) -> dict[str, Any]:
        """Return the table as one array per column, all equally long; numbers wherever they are numbers.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.open_room(5, 9)
        >>> fp.find_goals(world, fp.score(world)).columns()["state"]
        array([ 0,  8, 36, 44])
        """
        raise NotImplementedError

    def to_frame(self) -> pandas.DataFrame:
        """Return the table as a DataFrame (``pip install 'farpoint[data]'``).

        Raises
        ------
        MissingExtra
            If pandas is not installed.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.discover("maze", n_options=2).to_frame()[["goal", "row", "column"]]
           goal  row  column
        0     0    1       1
        1   100   10      10
        """
        frame: pandas.DataFrame = _library("pandas").DataFrame(self.columns())
        return frame


def data_array(values: Any, dimensions: tuple[str, ...], coordinates: Mapping[str, Any], name: str) -> xarray.DataArray:
    """Return an array with named dimensions; fail with how to install xarray where it is missing."""
    array: xarray.DataArray = _library("xarray").DataArray(values, dict(coordinates), dimensions, name=name)
    return array


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra(f"{name} must be installed for this table. Run: pip install 'farpoint[data]'") from error


class Tell(Protocol):
    """A function that is told how much is done, and the total and the name of the work if they have changed."""

    def __call__(self, done: int, total: int | None = None, what: str | None = None) -> None:
        """Take the news."""


@contextmanager
def progress_bar(
    what: str, total: int | None = None, progress: Callable[[int, int], Any] | None = None
) -> Iterator[Tell]:
    """Give a function that is called with how much is done, and show it as a bar once the work has taken two seconds.

    Bars are shown in terminals and notebooks (see `progress_bars`), one at a time, and removed when the work ends.

    Parameters
    ----------
    what : str
        What is being done.
    total : int, optional
        How much there is to do, if that is known.
    progress : function of (done, total), optional
        The caller's own function, which is called instead.

    Examples
    --------
    >>> with progress_bar("counting", 2, lambda done, total: print(done, "of", total)) as tell:
    ...     tell(1)
    ...     tell(2)
    1 of 2
    2 of 2
    """
    if progress is not None:
        yield lambda done, latest=None, what=None: progress(done, latest or total or 0)
        return
    bar = _Bar(what, total, sys.stderr)
    try:
        yield bar.tell
    finally:
        bar.close()


@contextmanager
def progress_bars(shown: bool = True) -> Iterator[None]:
    """Show progress bars inside the ``with`` block, or hide them, whether or not someone is there to see them.

    By default they are shown in terminals and notebooks, unless the environment variable ``FARPOINT_PROGRESS`` is 0.
    Other threads are not affected.

    Examples
    --------
    >>> import farpoint as fp
    >>> with fp.display.progress_bars(False):
    ...     scores = fp.score(fp.maze())
    """
    before = _WANTED.set(bool(shown))
    try:
        yield
    finally:
        _WANTED.reset(before)


def bars_are_shown() -> bool:
    """Return whether a bar would be seen: in a terminal, in a notebook, or where it is asked for."""
    wanted = _WANTED.get()
    if wanted is not None:
        return wanted
    if os.environ.get("FARPOINT_PROGRESS") == "0":
        return False
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    in_notebook = type(shell).__name__ == "ZMQInteractiveShell"
    return in_notebook or (sys.stderr is not None and sys.stderr.isatty())


class _Bar:
    """A bar of rich that appears after two seconds, if no other is shown."""

    def __init__(self, what: str, total: int | None, stream: TextIO) -> None:
        self._what, self._total, self._done = what, total, 0
        self._stream = stream
        self._shown: Progress | None = None
        self._lock = Lock()
        # Another bar may be at work, in this thread or in another.
        self._open = bars_are_shown() and _BUSY.acquire(blocking=False)
        if self._open:
            self._timer = Timer(PATIENCE_SECONDS, self._show)
            self._timer.daemon = True
            self._timer.start()

    def tell(self, done: int, total: int | None = None, what: str | None = None) -> None:
        if self._open:
            with self._lock:
                self._done, self._total, self._what = done, total or self._total, what or self._what
                self._update()

    def close(self) -> None:
        if self._open:
            with self._lock:
                self._open = False
                self._timer.cancel()
                if self._shown is not None:
                    self._shown.stop()
            _BUSY.release()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        with self._lock:
            if self._open:
                console = Console(file=_Quiet(self._stream), force_terminal=True, force_jupyter=False)  # type: ignore[arg-type]
                columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
                # Prints of the work stay where they are printed to.
                self._shown = Progress(
                    *columns, TimeRemainingColumn(), console=console, transient=True, redirect_stdout=False,
                    redirect_stderr=False,
                )  # fmt: skip
                self._task = self._shown.add_task(self._what, total=self._total)
                self._update()
                self._shown.start()

    def _update(self) -> None:
        if self._shown is not None:
            self._shown.update(self._task, completed=self._done, total=self._total, description=self._what)


class _Quiet:
    """A stream that may be closed, or unable to show a symbol: the work goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def announce(what: str, seconds: float) -> None:
    """Log what is about to begin and roughly how long it will take.

    >>> announce("score at t = 4", 0.1)
    """
    level = logging.WARNING if seconds > LONG_SECONDS else logging.INFO
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
