"""``farpoint paper``: the whole paper as one page."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from farpoint import __version__
from farpoint.errors import OutputError
from farpoint.experiments.paper import FULL, QUICK, choose
from farpoint.experiments.runner import run as run_experiments
from farpoint.experiments.store import Store


def run(only: str | None, quick: bool, jobs: int, out: Path) -> None:
    """Carry out the command."""
    console = Console()
    experiments = choose([name.strip() for name in only.split(",")] if only else None)
    store = Store(out / "results", __version__)
    began = time.perf_counter()
    columns = (TextColumn("{task.description:42}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("beginning", total=None)

        def show(name: str, done: int, total: int) -> None:
            progress.update(task, description=name, completed=done, total=total)

        results = run_experiments(experiments, QUICK if quick else FULL, store, n_jobs=jobs, progress=show)
        # Drawing is imported late: matplotlib is needed only now.
        from farpoint.report.paper_page import paper_page, write_tables

        page, verdicts = paper_page(
            results, experiments, lambda name: progress.update(task, description=f"drawing {name}")
        )
        text = page.to_html()
    write_tables(results, experiments, verdicts, out)
    target = out / "paper.html"
    unfinished = out / ".paper.html.unfinished"
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, target)
    except OSError as error:
        raise OutputError(f"{target} must be a file that can be written; got {error.strerror}.") from error
    for verdict in verdicts:
        colour = {"holds": "green", "holds in part": "yellow", "does not hold": "red"}[verdict.verdict]
        console.print(f"[{colour}]{verdict.verdict:>14}[/]  {verdict.claim}", highlight=False)
    seconds = time.perf_counter() - began
    console.print(f"{target}: {len(experiments)} sections, {len(text) / 1e6:.1f} MB, {seconds:.0f} s", highlight=False)
