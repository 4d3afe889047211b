"""Runs cases in a process of their own, which is started again when it dies, and counts how they ended."""

from __future__ import annotations

import json
import os
import pickle
import selectors
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tools.fuzz.calls import draw_call
from tools.fuzz.cases import CRASH, ENDS, FAILURES, HANG, LONG, Case, Outcome
from tools.fuzz.commands import draw_command
from tools.fuzz.damage import draw_file

DRAW: dict[str, Callable[[np.random.Generator], Case]] = {"call": draw_call, "command": draw_command, "file": draw_file}
# Seconds that a case may take, waiting included (20 of computing, see `tools.fuzz.judging`), and that a worker may take
# to start or to compile.
LIMIT, START = 60, 300
_ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A process that runs cases."""

    def __init__(self) -> None:
        settings = {"MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120", "NO_COLOR": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env=os.environ | settings,
        )
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        if self._answer(START) != "ready\n":
            raise RuntimeError("the worker of the fuzzer must start; got none that does.")

    def run(self, case: Case) -> Outcome:
        """Return how a case ended."""
        assert self._process.stdin is not None
        pickle.dump(case, self._process.stdin)
        self._process.stdin.flush()
        answer = self._answer(START if case.patient else LIMIT)
        if answer is None:
            self.stop()
            return Outcome(HANG, f"no answer after {LIMIT} s")
        if not answer:
            return Outcome(CRASH, f"exit code {self._process.wait()}")
        return Outcome(*json.loads(answer))

    def _answer(self, seconds: float) -> str | None:
        assert self._process.stdout is not None
        if not self._selector.select(seconds):
            return None
        return self._process.stdout.readline().decode()

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._selector.close()


@dataclass
class Tally:
    """How the cases of one kind ended, and those that failed."""

    counts: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[int, Case, Outcome]] = field(default_factory=list)


def cases(kind: str, seed: int, numbers: range) -> Iterator[tuple[int, Case]]:
    """Yield the cases of these numbers; each depends on the seed and its number only."""
    for number in numbers:
        yield number, DRAW[kind](np.random.default_rng([seed, sorted(DRAW).index(kind), number]))


def campaign(numbered: Iterable[tuple[int, Case]], tell: Callable[[str], None] = lambda line: None) -> dict[str, Tally]:
    """Run cases and return how those of each kind ended; ``tell`` hears of every failure at once."""
    tallies: dict[str, Tally] = {}
    worker = None
    for number, case in numbered:
        worker = worker or Worker()
        outcome = worker.run(case)
        if outcome.end == HANG:
            # Perhaps loops were compiled: once with patience, after which they are there, and once more.
            worker.stop()
            worker = Worker()
            if worker.run(replace(case, patient=True)).end != HANG:
                outcome = worker.run(case)
        tally = tallies.setdefault(case.kind, Tally())
        tally.counts[outcome.end] += 1
        if outcome.end in FAILURES:
            tally.failed.append((number, case, outcome))
            tell(describe(number, case, outcome))
        if outcome.end in (LONG, HANG, CRASH):
            worker.stop()
            worker = None
    if worker is not None:
        worker.stop()
    return tallies


def describe(number: int, case: Case, outcome: Outcome) -> str:
    """Return a failure in two lines: how it ended, and the line that does it."""
    return f"{outcome.end} ({case.kind} {number}): {outcome.why}\n    {case.line}"


def table(tallies: dict[str, Tally]) -> str:
    """Return how the cases of every kind ended, as a table.

    >>> print(table({"call": Tally(Counter(ok=3))}))
              total      ok refused    long  exotic foreign  silent    hang   crash
    call          3       3       0       0       0       0       0       0       0
    """
    rows: list[tuple[str, ...]] = [("", "total", *ENDS)]
    for kind, tally in tallies.items():
        rows.append((kind, *map(str, (tally.counts.total(), *(tally.counts[end] for end in ENDS)))))
    return "\n".join(f"{row[0]:7}" + "".join(f"{cell:>8}" for cell in row[1:]) for row in rows)
