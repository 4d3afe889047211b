"""The errors that Farpoint raises, and the checks that raise them.

Every message has the form ``{what} must be {rule}; got {value}. {what to do}`` and is raised before any work is
done or any file is written.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from typing import Any

LONGEST_TIME = 1e9
LONGEST_MESSAGE = 300
MOST_JOBS = 1024


class FarpointError(Exception):
    """Any error that Farpoint raises on purpose; its message is one line."""

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(str(message)))


class InvalidInput(FarpointError, ValueError):
    """An argument that no computation can start from."""


class InvalidMap(InvalidInput):
    """A text map that is not a world."""


class NotConnected(InvalidInput):
    """A world that falls into several parts, or one that cannot be crossed in both directions."""


class UnknownName(InvalidInput):
    """A word that is not among those accepted."""


class InvalidFile(FarpointError):
    """A file that cannot be read as what it should be."""


class OutputError(FarpointError):
    """A file or folder that cannot be written."""


class WrongCheckpoint(InvalidInput):
    """A checkpoint folder that belongs to another computation."""


class MissingExtra(FarpointError, ImportError):
    """A part that needs a package which is not installed."""


def one_line(text: str) -> str:
    r"""Return a text without line breaks; of a long one, the middle is left out.

    >>> one_line("a matrix\n  of two lines")
    'a matrix of two lines'
    >>> len(one_line("t must be a number; got " + "x" * 5_000 + ". Use 4."))
    300
    """
    if not text.isprintable():
        text = " ".join("".join(symbol if symbol.isprintable() else " " for symbol in text).split())
    if len(text) <= LONGEST_MESSAGE:
        return text
    # The value that was wrong is in the middle; the rule is before it and what to do after it.
    end = LONGEST_MESSAGE // 3
    return f"{text[: LONGEST_MESSAGE - end - 3]} … {text[-end:]}"


def listed(values: Iterable[Any], most: int = 6) -> str:
    """Return ``values`` as text, cut after ``most`` of them.

    >>> listed([96, 7, 1])
    '96, 7, 1'
    >>> listed(range(10), most=3)
    '0, 1, 2, … 7 more'
    """
    items = [str(value) for value in values]
    if len(items) <= most:
        return ", ".join(items)
    return ", ".join(items[:most]) + f", … {len(items) - most} more"


def check_word(what: str, value: object, words: Iterable[str], others: str = "") -> str:
    """Return ``value`` if it is one of ``words``; otherwise fail, naming those that exist and the nearest.

    ``others`` names what else is accepted.

    >>> check_word("solver", "local", ["local", "spectral"])
    'local'
    """
    words = list(words)
    if isinstance(value, str) and value in words:
        return value
    near = difflib.get_close_matches(str(value)[:100], words, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise UnknownName(f"{what} must be {others}one of {', '.join(words)}; got {value!r}.{hint}")


def check_integer(what: str, value: object, least: int | None = None, most: int = 2**63 - 1) -> int:
    """Return ``value`` as an int if it is a whole number within the limits; never more than 64 bits hold."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if isinstance(value, float) and value.is_integer():
        whole = True
    if not whole:
        raise InvalidInput(f"{what} must be a whole number; got {value!r}.")
    number: int = int(value)  # type: ignore[call-overload]
    least = -(2**63) if least is None else least
    if number < least:
        raise InvalidInput(f"{what} must be at least {least}; got {number}.")
    if number > most:
        raise InvalidInput(f"{what} must be at most {most}; got {number}.")
    return number


def check_jobs(n_jobs: object) -> int:
    """Return the number of workers if it is one: any whole number except 0; -1 is one per core."""
    number = check_integer("n_jobs", n_jobs, -MOST_JOBS, MOST_JOBS)
    if number == 0:
        raise InvalidInput("n_jobs must be a whole number other than 0; got 0. Use -1 for one worker per core.")
    return number


def check_path(what: str, value: object) -> Path:
    """Return ``value`` as a path if it can be one.

    >>> check_path("path", "options.npz").name
    'options.npz'
    """
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        # Longer names than this no file system has.
        if isinstance(text, str) and text and "\0" not in text and max(map(len, Path(text).parts), default=0) < 256:
            return Path(text)
    raise InvalidInput(f"{what} must be the name of a file or folder; got {value!r}.")


def check_function(what: str, value: object) -> None:
    """Fail unless ``value`` is None or can be called."""
    if value is not None and not callable(value):
        raise InvalidInput(f"{what} must be a function or None; got {value!r}.")


def check_generator(value: object) -> None:
    """Fail unless ``value`` is None or a generator of random numbers."""
    if value is not None and not callable(getattr(value, "integers", None)):
        raise InvalidInput(f"rng must be a numpy Generator or None; got {value!r}. Use numpy.random.default_rng(seed).")


def check_memory(what: str, value: object, n_bytes: float) -> None:
    """Fail before any work if ``n_bytes`` are more than `available_memory`.

    >>> check_memory("n_states", 10**15, 8e15)
    Traceback (most recent call last):
    farpoint.errors.InvalidInput: n_states must fit into the memory of this machine (... GB); got 1000000000000000, ...
    """
    room = available_memory()
    if n_bytes > room:
        raise InvalidInput(
            f"{what} must fit into the memory of this machine ({room / 1e9:.3g} GB); got {value}, which takes "
            f"{n_bytes / 1e9:.3g} GB."
        )


def available_memory(root: Path = Path("/")) -> int:
    """Return the bytes of memory that this process may use: of the machine, or of its container where that has less.

    >>> available_memory() > 2**20
    True
    """
    try:
        room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # a system that does not say
        room = 2**36
    for file in _memory_limits(root):
        with suppress(OSError, ValueError):  # no such file, or the word "max"
            room = min(room, int(file.read_text()))
    return room


def _memory_limits(root: Path) -> Iterator[Path]:
    """Yield the files of Linux that may hold a limit: that of a group and of all groups around it, of both versions."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            top, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            top, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        inside = Path(group.lstrip("/"))
        yield from (top / folder / name for folder in (inside, *inside.parents))


def check_time(t: object) -> float:
    """Return the diffusion time ``t`` as a float if it is a finite number above zero."""
    if isinstance(t, bool) or not isinstance(t, Real) or not math.isfinite(t) or t <= 0:
        raise InvalidInput(f"t must be a finite number above 0; got {t!r}. The paper uses 4 and 13.")
    if float(t) > LONGEST_TIME:
        raise InvalidInput(f"t must be at most {LONGEST_TIME:g}; got {t!r}. The paper uses 4 and 13.")
    return float(t)


def check_fraction(what: str, value: object) -> float:
    """Return ``value`` as a float if it lies between 0 and 1, both included."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise InvalidInput(f"{what} must be a number from 0 to 1; got {value!r}.")
    return float(value)


def check_positive(what: str, value: object) -> float:
    """Return ``value`` as a float if it is a finite number above zero.

    >>> check_positive("radius", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value <= 0:
        raise InvalidInput(f"{what} must be a finite number above 0; got {value!r}.")
    return float(value)
