"""``farpoint large``: scores, goals and options from samples of a world."""

from __future__ import annotations

import csv
import importlib.util
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from farpoint.cli.output import results_folder
from farpoint.cli.paper import progress_bar
from farpoint.errors import MissingExtra, check_jobs
from farpoint.experiments.large import ROWS, choose_large
from farpoint.experiments.paper import FULL, QUICK
from farpoint.experiments.runner import run as run_experiments
from farpoint.experiments.store import Store, code_version

_NEEDED = {"torch": "deep", "stable_baselines3": "deep", "sklearn": "samples"}


def run(only: str | None, quick: bool, jobs: int, out: Path) -> None:
    """Carry out the command."""
    check_jobs(jobs)
    missing = {extra for name, extra in _NEEDED.items() if importlib.util.find_spec(name) is None}
    if missing:
        raise MissingExtra(f"learning must have its packages. Run: pip install 'farpoint[{','.join(sorted(missing))}]'")
    names = [name.strip() for name in only.split(",")] if only is not None else None
    experiments = choose_large(names)
    stem = "-".join(["large", *(["quick"] if quick else []), *(names or [])])
    began = time.perf_counter()
    store = Store(out / "results", code_version())
    with results_folder(out) as folder:
        with progress_bar() as progress:
            task = progress.add_task("beginning", total=None)
            results = run_experiments(
                experiments,
                QUICK if quick else FULL,
                store,
                n_jobs=jobs,
                progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
            )
        from farpoint.report.large_page import large_page

        (folder / f"{stem}.html").write_text(large_page(results, experiments).to_html(), encoding="utf-8")
        for experiment in experiments:
            rows = ROWS[experiment.name](results)
            with (folder / f"{stem}-{experiment.name}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, fieldnames=list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
    console = Console()
    for experiment in experiments:
        console.print(Text(experiment.title, style="bold"))
        for row in ROWS[experiment.name](results):
            console.print(Text("  " + " · ".join(f"{name} {value}" for name, value in row.items())))
    console.print(Text(f"{out / stem}.html and CSV files: {time.perf_counter() - began:.0f} s"))
