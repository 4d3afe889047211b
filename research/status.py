"""``python -m research.status``: which tables are stale, what a rerun costs, and what is typed by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from research.pages import typed_marks
from research.runner import RESULTS, ROOT, Log


def status_of(log: Path) -> str:
    """Return one line about a table: how many of its parts are stale, since which modules changed, and the minutes."""
    known = Log(log)
    changed = Counter[str]()
    stale, seconds = 0, 0.0
    for entry in known.entries.values():
        modules = known.changed(entry["part"])
        if modules:
            stale += 1
            seconds += entry["seconds"]
            changed.update(modules)
    if not stale:
        return f"{log.stem}: fresh, {len(known.entries)} parts"
    names = ", ".join(name for name, _ in changed.most_common(3))
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    command = json.loads(log.with_suffix(".json").read_text(encoding="utf-8"))["command"]
    return (
        f"{log.stem}: {stale} of {len(known.entries)} parts are stale ({names}{more} changed); "
        f"{seconds / 60:.1f} minutes of one core: {command}"
    )


def main() -> None:
    """Print the state of every table."""
    for log in sorted(RESULTS.glob("*.jsonl")):
        if not log.stem.endswith("-quick"):
            print(status_of(log))
    typed = list(typed_marks())
    print(f"{len(typed)} places are typed by hand, not on the runner yet:")
    for page, line, name in typed:
        print(f"  {page.relative_to(ROOT)}:{line} {name}")


if __name__ == "__main__":
    main()
