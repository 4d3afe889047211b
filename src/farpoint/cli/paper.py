"""``farpoint paper``: the suite of the paper, as a page, tables and verdicts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from farpoint.cli.common import CommandConsole, progress_bar
from farpoint.errors import check_jobs
from farpoint.files import results_folder
from farpoint.paper.framework import Store, Suite, code_version
from farpoint.paper.framework import run as compute
from farpoint.paper.framework.reporting import SuiteReport, build_report, write_report
from farpoint.report.page import FAILS, HOLDS, IN_PART
from farpoint.report.tables import cell_text

_COLORS = {HOLDS: "green", IN_PART: "yellow", FAILS: "red"}


def run(only: str | None = None, quick: bool = False, jobs: int = -1, out: Path = Path("out")) -> None:
    """Reproduce the paper and write its page, figures and tables."""
    from farpoint.paper import SUITE

    run_suite(SUITE, only=only, quick=quick, jobs=jobs, out=out)


def run_suite(suite: Suite[Any], *, only: str | None, quick: bool, jobs: int, out: Path) -> None:
    """Run a suite and write its page, figures and tables.

    A selection or a quick look has file names of its own, so that it does not replace the whole.
    """
    check_jobs(jobs)
    names = [word.strip() for word in only.split(",")] if only is not None else None
    experiments = suite.choose(names)
    prefix = f"{suite.name}-quick" if quick else suite.name
    stem = "-".join([prefix, *(names or [])])
    began = time.perf_counter()
    # Outside the folder of unfinished files, so that an interrupted run keeps what it has computed.
    store = Store(out / "results" / suite.name, code_version(suite))
    with results_folder(out) as folder, progress_bar() as progress:
        task = progress.add_task("beginning", total=None)
        results = compute(
            suite,
            experiments,
            suite.quick if quick else suite.full,
            store,
            n_jobs=jobs,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
        report = build_report(
            suite, experiments, results, progress=lambda name: progress.update(task, description=f"drawing {name}")
        )
        write_report(report, folder, stem, prefix)
    console = CommandConsole()
    _print_report(console, report)
    page = out / f"{stem}.html"
    size, seconds = page.stat().st_size / 1e6, time.perf_counter() - began
    console.print(Text(f"{page}: {len(experiments)} sections, {size:.1f} MB, {seconds:.0f} s"), soft_wrap=True)


def _print_report(console: Console, report: SuiteReport) -> None:
    """Print the verdicts; without any, every table."""
    for verdict in report.verdicts:
        line = Text(f"{verdict.verdict:>14}", style=_COLORS[verdict.verdict])
        console.print(line.append(f"  {verdict.claim}", style="default"))
    if report.verdicts:
        return
    titles = {section.name: section.title for section in report.page.sections}
    for name, rows in report.tables.items():
        console.print(Text(titles[name], style="bold"))
        for row in rows:
            console.print(Text("  " + " · ".join(f"{column} {cell_text(value)}" for column, value in row.items())))
