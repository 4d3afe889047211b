"""What is run, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# What a case may end with, best first; from FOREIGN on it is a failure.
OK, REFUSED, LONG, EXOTIC, FOREIGN, SILENT, HANG, CRASH = (
    "ok",
    "refused",
    "long",
    "exotic",
    "foreign",
    "silent",
    "hang",
    "crash",
)
ENDS = (OK, REFUSED, LONG, EXOTIC, FOREIGN, SILENT, HANG, CRASH)
FAILURES = (FOREIGN, SILENT, HANG, CRASH)


@dataclass(frozen=True)
class Case:
    """One thing to run: its kind (call, command or file), and what the judge of that kind needs, as plain text."""

    kind: str
    words: tuple[Any, ...]
    line: str
    # Whether some argument is of a type that no reader of the docstring would pass, or asks for endless work.
    exotic: bool = False
    endless: bool = False
    # Whether it may take minutes, because loops are compiled.
    patient: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a case ended: one of `ENDS`, and why."""

    end: str
    why: str = ""
