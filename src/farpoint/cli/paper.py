"""``farpoint paper``: the whole paper as one page."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from farpoint.cli.output import results_folder
from farpoint.errors import check_jobs
from farpoint.experiments.paper import FULL, QUICK, choose
from farpoint.experiments.runner import run as run_experiments
from farpoint.experiments.store import Store, code_version

_COLORS = {"holds": "green", "holds in part": "yellow", "does not hold": "red"}


def run(only: str | None, quick: bool, jobs: int, out: Path) -> None:
    """Carry out the command."""
    check_jobs(jobs)
    names = [name.strip() for name in only.split(",")] if only is not None else None
    experiments = choose(names)
    # A part of the paper, or a quick look, does not take the place of the whole.
    stem = "-".join(["paper", *(["quick"] if quick else []), *(names or [])])
    began = time.perf_counter()
    # The results lie beside the page and stay, whatever happens: the next run goes on from them.
    store = Store(out / "results", code_version())
    with results_folder(out) as folder:
        # On standard error, so that a reader of the output who leaves early does not end the work.
        with progress_bar() as progress:
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
        (folder / f"{stem}.html").write_text(text, encoding="utf-8")
        write_tables(results, experiments, verdicts, folder, stem)
    console = Console()
    for verdict in verdicts:
        line = Text(f"{verdict.verdict:>14}", style=_COLORS[verdict.verdict])
        console.print(line.append(f"  {verdict.claim}", style="default"))
    seconds = time.perf_counter() - began
    target = out / f"{stem}.html"
    console.print(Text(f"{target}: {len(experiments)} sections, {len(text) / 1e6:.1f} MB, {seconds:.0f} s"))


def progress_bar() -> Progress:
    """Return a bar on standard error."""
    columns = (TextColumn("{task.description:42}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
