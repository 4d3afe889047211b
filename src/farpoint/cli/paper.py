"""``farpoint paper``: the reproduction of the paper, as a page, tables and verdicts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from farpoint.cli.common import CommandConsole
from farpoint.display import progress_bar
from farpoint.errors import check_jobs
from farpoint.files import results_folder
from farpoint.paper.page import FAILS, HOLDS, IN_PART, Page, Section, Study
from farpoint.paper.store import Results
from farpoint.report.tables import cell_text

_COLORS = {HOLDS: "green", IN_PART: "yellow", FAILS: "red"}


def run(only: str | None = None, quick: bool = False, jobs: int = -1, out: Path = Path("out")) -> None:
    """Reproduce the paper and write its page, figures and tables."""
    from farpoint.paper import PAPER

    run_study(PAPER, only=only, quick=quick, jobs=jobs, out=out)


def run_study(study: Study, *, only: str | None, quick: bool, jobs: int, out: Path) -> None:
    """Compute the page of a study and write it with its tables.

    A selection or a quick look has file names of its own, so that it does not replace the whole.
    """
    check_jobs(jobs)
    names = [word.strip() for word in only.split(",")] if only is not None else None
    sections = study.choose(names)
    prefix = f"{study.name}-quick" if quick else study.name
    stem = "-".join([prefix, *(names or [])])
    began = time.perf_counter()
    # Outside the folder of unfinished files, so that an interrupted run keeps what it has computed.
    results = Results(study.quick if quick else study.full, out / "results" / study.name, n_jobs=jobs)
    with results_folder(out) as folder, progress_bar("beginning") as tell:
        page = study.page(results, sections, progress=tell)
        page.write(folder, stem, prefix)
    console = CommandConsole()
    _print_page(console, page, sections)
    path = out / f"{stem}.html"
    size, seconds = path.stat().st_size / 1e6, time.perf_counter() - began
    console.print(Text(f"{path}: {len(sections)} sections, {size:.1f} MB, {seconds:.0f} s"), soft_wrap=True)


def _print_page(console: Console, page: Page, sections: Sequence[Section]) -> None:
    """Print the verdicts; without any, every table."""
    for verdict in page.verdicts:
        line = Text(f"{verdict.verdict:>14}", style=_COLORS[verdict.verdict])
        console.print(line.append(f"  {verdict.claim}", style="default"))
    if page.verdicts:
        return
    titles = {section.name: section.title for section in sections}
    for name, rows in page.tables.items():
        console.print(Text(titles[name], style="bold"))
        for row in rows:
            console.print(Text("  " + " · ".join(f"{column} {cell_text(value)}" for column, value in row.items())))
