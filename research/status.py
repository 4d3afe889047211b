"""``python -m research.status``: which tables are stale, what a rerun costs, and what is typed by hand."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from pathlib import Path

from research.pages import typed_marks
from research.runner import RESULTS, ROOT, Log, Table, all_parts, module_digest

SUITES = ("choices", "exploration.tables", "goals", "ogbench", "sb3", "sb3_masks", "speed", "vector")


def status_of(table: Table, command: str, folder: Path = RESULTS) -> str:
    """Return one line about a table: how many of its parts are missing or stale, why, and the minutes of a rerun."""
    log = Log(folder / f"{table.name}.jsonl")
    parts = all_parts(table, log)
    changes = [log.changed(part) for part in parts]
    missing = sum(change is None for change in changes)
    stale = [part for part, change in zip(parts, changes, strict=True) if change]
    if not missing and not stale:
        return f"{table.name}: fresh, {len(parts)} parts"
    said = [f"{missing} of {len(parts)} parts are not computed"] if missing else []
    if stale:
        modules = Counter(module for change in changes for module in change or ())
        said.append(f"{len(stale)} of {len(parts)} parts are stale ({_first(list(modules))} changed)")
    seconds = sum(log.seconds(part) for part in stale)
    return f"{table.name}: {'; '.join(said)}; at least {seconds / 60:.1f} minutes of one core: {command} {table.name}"


def status_of_paper(folder: Path = RESULTS) -> str:
    """Return one line about the tables of ``farpoint paper``."""
    path = folder / "paper.json"
    if not path.exists():
        return "paper: not computed: python -m research.paper"
    record = json.loads(path.read_text(encoding="utf-8"))
    changed = [name for name, digest in record["modules"].items() if module_digest(name) != digest]
    if not changed:
        return f"paper: fresh, {len(list(folder.glob('paper-*.csv')))} tables"
    return f"paper: stale ({_first(changed)} changed); {record['seconds'] / 60:.1f} minutes: {record['command']}"


def _first(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def main() -> None:
    """Print the state of every table."""
    for suite in SUITES:
        for table in importlib.import_module(f"research.{suite}").TABLES:
            print(status_of(table, f"python -m research.{suite.removesuffix('.tables')}"))
    print(status_of_paper())
    typed = list(typed_marks())
    print(f"{len(typed)} places are typed by hand, not on the runner yet:")
    for page, line, name in typed:
        print(f"  {page.relative_to(ROOT)}:{line} {name}")


if __name__ == "__main__":
    main()
