"""Compute a table part by part and keep it: resumable, parallel, one tidy CSV with a log and a record beside it.

A *part* is a dictionary of plain values, which become the first columns. ``measure(**part)`` returns one row or
several, each a dictionary of numbers. Every finished part is one line of ``results/TABLE.jsonl``, with the digests of
the modules that were loaded when it was computed: a part whose modules have changed since is stale and is computed
again by the next run. Words do not count: digests leave out docstrings and comments.

With ``joblib.parallel_config("dask")`` around `run` the parts are computed on a cluster.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import math
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from joblib import Parallel, delayed

import farpoint
from farpoint.compiling import file_digest
from farpoint.display import progress_bar
from farpoint.errors import InvalidInput, check_word
from farpoint.files import write_rows, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Part = dict[str, Any]
Row = dict[str, Any]

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "research" / "results"
_TOPS = {"farpoint": Path(farpoint.__file__).parent, "research": ROOT / "research"}
# What shows results does not change them.
_SHOWING = (
    "farpoint.cli", "farpoint.report", "farpoint.studio", "farpoint.display", "research.runner", "research.shown",
    "research.pages",
)  # fmt: skip
_NUMBER = re.compile(r"-?(inf|\d+(\.\d*)?(e[+-]?\d+)?)")
_PACKAGES = ("farpoint", "numpy", "scipy", "numba", "gymnasium", "minigrid")


@dataclass(frozen=True)
class Table:
    """A table: its name, the function that measures one part, and its parts, of which there are fewer in a quick look.

    ``timed``: its numbers are seconds, so that parts run one after another and are never mixed with those of another
    run. ``then``: further parts, which depend on the rows of the first ones that are known (what was tuned, for
    example).
    """

    name: str
    measure: Callable[..., Row | list[Row]]
    parts: Callable[[bool], Iterable[Part]]
    timed: bool = False
    then: Callable[[bool, list[Row]], Iterable[Part]] | None = None


class Picture(NamedTuple):
    """A figure on a page: what it shows in words, and the function that draws it."""

    caption: str
    draw: Callable[[], Figure]


@cache
def module_digest(name: str) -> str | None:
    """Return the digest of a module's code, without importing it; None if there is no such module any more.

    >>> module_digest("research.nothing") is None
    True
    """
    top, *rest = name.split(".")
    place = _TOPS[top].joinpath(*rest)
    for file in (place / "__init__.py", place.with_suffix(".py")):
        if file.exists():
            return file_digest(file)
    return None


def loaded_modules() -> list[str]:
    """Return the modules of the package and of research that this process has loaded, but for those that only show."""
    return sorted(
        name
        for name in sys.modules
        if name.split(".")[0] in _TOPS and not name.startswith(_SHOWING) and module_digest(name) is not None
    )


class Log:
    """The finished parts of a table: lines that are only ever added.

    A line holds a part with its rows, its seconds and the number of a set of digests; a set is a line of its own. A
    last line that was torn by a kill is ignored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: dict[str, dict[str, Any]] = {}
        self.digests: dict[str, dict[str, str]] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in text.splitlines(keepends=True):
            if line.endswith("\n"):
                self._take(json.loads(line))
        if text and not text.endswith("\n"):
            write_text(path, text[: text.rfind("\n") + 1])

    def _take(self, line: dict[str, Any]) -> None:
        if "digests" in line:
            self.digests[line["modules"]] = line["digests"]
        else:
            self.entries[key_of(line["part"])] = line

    def changed(self, part: Part) -> list[str] | None:
        """Return the modules that changed since a part was computed; None if it never was."""
        entry = self.entries.get(key_of(part))
        if entry is None:
            return None
        return [name for name, digest in self.digests[entry["modules"]].items() if module_digest(name) != digest]

    def rows(self, parts: Iterable[Part]) -> list[Row]:
        """Return the rows of those parts that are known."""
        known = (self.entries[key] for part in parts if (key := key_of(part)) in self.entries)
        return [{**entry["part"], **row} for entry in known for row in entry["rows"]]

    def seconds(self, part: Part) -> float:
        """Return the seconds that a known part took."""
        return float(self.entries[key_of(part)]["seconds"])

    def add(self, part: Part, rows: list[Row], seconds: float, modules: Sequence[str]) -> None:
        """Write a finished part."""
        digests = {name: str(module_digest(name)) for name in modules}
        number = next((key for key, known in self.digests.items() if known == digests), str(len(self.digests)))
        lines: list[dict[str, Any]] = []
        if number not in self.digests:
            lines.append({"modules": number, "digests": digests})
        lines.append({"part": part, "rows": rows, "seconds": round(seconds, 3), "modules": number})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            for line in lines:
                self._take(line)
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def key_of(part: Part) -> str:
    """Return a part as a text that is the same for equal parts.

    >>> key_of({"b": 1, "a": "x"})
    '{"a": "x", "b": 1}'
    """
    return json.dumps(part, sort_keys=True, ensure_ascii=False)


def run(
    table: Table,
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    missing: bool = False,
    n_jobs: int = -1,
    folder: Path = RESULTS,
) -> Path:
    """Compute every part of a table that is not known yet or stale, and write ``TABLE.csv`` and ``TABLE.json``.

    A quick look is written to ``TABLE-quick.*`` and kept apart. With ``only``, parts are computed whose first value is
    one of these; the table then holds all parts that are known. With ``missing``, stale parts are kept as they are.
    """
    if (only or missing) and table.timed:
        raise InvalidInput(
            f"parts of {table.name} must be computed in one run, since they are timed; got {only=}, {missing=}."
        )
    name = f"{table.name}-quick" if quick else table.name
    path = folder / f"{name}.jsonl"
    # Timings of two runs are never mixed: until all are there, the last run stays as it is.
    running = folder / f"{name}.running.jsonl" if table.timed else path
    if table.timed:
        running.unlink(missing_ok=True)
    log = Log(running)
    parts = all_parts(table, log, quick=quick)
    if not parts:
        raise InvalidInput(f"table {table.name} must have at least one part; got none.")
    # Digests are those of the beginning: what is edited while a part is computed makes that part stale.
    for module in _every_module():
        module_digest(module)
    if len({key_of(part) for part in parts}) != len(parts):
        raise InvalidInput(f"parts of {table.name} must differ from each other; got two that are equal.")
    # What depends on other parts is known once they are.
    while todo := [
        part
        for part in parts
        if (changed := log.changed(part)) != []
        and (changed is None or not missing)
        and (not only or first_value(part) in only)
    ]:
        work = Parallel(n_jobs=1 if table.timed else n_jobs, return_as="generator_unordered")(
            delayed(_measured)(table.measure, part) for part in todo
        )
        with progress_bar(name, len(todo)) as tell:
            # Only this process writes, so that there is nothing to lock.
            for done, (part, rows, seconds, modules) in enumerate(work, start=1):
                log.add(part, rows, seconds, modules)
                tell(done)
        if table.then is None:
            break
        parts = all_parts(table, log, quick=quick)
    if table.timed:
        running.replace(path)
    return _write(name, [part for part in parts if key_of(part) in log.entries], log, folder)


def all_parts(table: Table, log: Log, *, quick: bool = False) -> list[Part]:
    """Return the parts of a table, with those that follow from what is known so far."""
    parts = list(table.parts(quick))
    return parts if table.then is None else [*parts, *table.then(quick, log.rows(parts))]


def first_value(part: Part) -> str:
    """Return the value by which a part is chosen on the command line.

    >>> first_value({"place": "ring", "seed": 3})
    'ring'
    """
    return str(next(iter(part.values())))


def _every_module() -> Iterator[str]:
    for top, place in _TOPS.items():
        for file in place.rglob("*.py"):
            parts = file.relative_to(place).with_suffix("").parts
            yield ".".join((top, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _measured(measure: Callable[..., Row | list[Row]], part: Part) -> tuple[Part, list[Row], float, list[str]]:
    began = time.perf_counter()
    found = measure(**part)
    rows = [
        {name: _plain(value) for name, value in row.items()} for row in ([found] if isinstance(found, dict) else found)
    ]
    return part, rows, time.perf_counter() - began, loaded_modules()


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python; texts and None as they are."""
    return value.item() if hasattr(value, "item") else value


def _write(name: str, parts: Sequence[Part], log: Log, folder: Path) -> Path:
    """Write the table in the order of its parts, whichever finished first."""
    entries = [log.entries[key_of(part)] for part in parts]
    rows = log.rows(parts)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    path = folder / f"{name}.csv"
    write_rows(path, [{column: _cell(row.get(column)) for column in columns} for row in rows])
    modules = {module: digest for entry in entries for module, digest in log.digests[entry["modules"]].items()}
    record = {**record_of(sum(entry["seconds"] for entry in entries), modules), "parts": len(entries)}
    write_text(path.with_suffix(".json"), json.dumps(record, indent=1) + "\n")
    return path


def record_of(seconds: float, modules: dict[str, str]) -> dict[str, Any]:
    """Return what is written beside a table: the command, the commit, versions, seconds and digests of modules."""
    return {
        "command": _command(),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {package: found for package in _PACKAGES if (found := _version(package))},
        "seconds": round(seconds, 1),
        "modules": modules,
    }


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def read_table(name: str, folder: Path | None = None) -> list[Row]:
    """Return the rows of a table: numbers as numbers, None where a cell is empty."""
    path = (RESULTS if folder is None else folder) / f"{name}.csv"
    if not path.exists():
        raise InvalidInput(f"table {name} must have been computed; there is no {path.name} in {path.parent.name}/.")
    return _rows_of(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=32)
def _rows_of(text: str) -> list[Row]:
    return [{column: _value(cell) for column, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]


def _value(text: str) -> Any:
    if not _NUMBER.fullmatch(text):
        return {"": None, "True": True, "False": False}.get(text, text)
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def select(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Return the rows with these values.

    >>> select([{"a": 1, "b": 2}, {"a": 3, "b": 2}], a=3)
    [{'a': 3, 'b': 2}]
    """
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def grouped(rows: Iterable[Row], *names: str) -> Iterator[tuple[tuple[Any, ...], list[Row]]]:
    """Yield the rows of each combination of values, in the order in which they first occur.

    >>> [(key, len(some)) for key, some in grouped([{"a": 1}, {"a": 2}, {"a": 1}], "a")]
    [((1,), 2), ((2,), 1)]
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names), []).append(row)
    yield from groups.items()


def column(rows: Iterable[Row], name: str) -> list[float]:
    """Return a column of numbers; inf where a run did not get there (an empty cell)."""
    return [math.inf if row[name] is None else float(row[name]) for row in rows]


def main(suite: str, words: list[str] | None = None) -> None:
    """Run the ``TABLES`` of one suite by the words of the command line.

    ``suite`` is the name of its module: run by ``python -m`` it is loaded a second time under that name, by which other
    processes find it.
    """
    module = importlib.import_module(suite)
    tables: Sequence[Table] = module.TABLES
    parser = argparse.ArgumentParser(description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(table.name for table in tables)}  [default: all]")
    parser.add_argument("--quick", action="store_true", help="far less work, for a first look")
    parser.add_argument("--only", help="only parts with one of these, comma-separated; a wrong one shows which exist")
    parser.add_argument("--missing", action="store_true", help="only parts that are not known; stale ones are kept")
    parser.add_argument("--jobs", type=int, default=-1, help="workers; -1 is one per core")
    given = parser.parse_args(words)
    known = {table.name: table for table in tables}
    chosen = [check_word("table", word, known) for word in given.tables] or list(known)
    only = given.only.split(",") if given.only else []
    if only:
        values = {name: {first_value(part): None for part in known[name].parts(given.quick)} for name in chosen}
        for word in only:
            check_word("--only", word, {value: None for some in values.values() for value in some})
        chosen = [name for name in chosen if any(word in values[name] for word in only)]
    for name in chosen:
        path = run(known[name], quick=given.quick, only=only, missing=given.missing, n_jobs=given.jobs)
        record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        print(f"{path.relative_to(ROOT)}: {record['parts']} parts, {record['seconds']:,.0f} s of work in all")


def _main_module() -> str:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec.name.removesuffix(".__main__") if spec else ""


def _command() -> str:
    return " ".join(["python", "-m", _main_module() or "research", *sys.argv[1:]])


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
