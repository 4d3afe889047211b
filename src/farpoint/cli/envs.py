"""``farpoint envs``: whether options help in real environments."""

from __future__ import annotations

import csv
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from farpoint.cli.output import results_folder
from farpoint.cli.paper import progress_bar
from farpoint.cli.worlds import check_minigrid
from farpoint.errors import check_jobs
from farpoint.experiments.environments import choose_environments, environment_rows, experiment_of
from farpoint.experiments.paper import FULL, QUICK
from farpoint.experiments.runner import run as run_experiments
from farpoint.experiments.store import Store, code_version


def run(only: str | None, quick: bool, jobs: int, out: Path) -> None:
    """Carry out the command."""
    check_jobs(jobs)
    names = [name.strip() for name in only.split(",")] if only is not None else None
    environments = choose_environments(names)
    if any(environment.env.startswith("MiniGrid") for environment in environments):
        check_minigrid()
    stem = "-".join(["envs", *(["quick"] if quick else []), *(names or [])])
    began = time.perf_counter()
    store = Store(out / "results", code_version())
    with results_folder(out) as folder:
        with progress_bar() as progress:
            task = progress.add_task("beginning", total=None)
            results = run_experiments(
                [experiment_of(environment) for environment in environments],
                QUICK if quick else FULL,
                store,
                n_jobs=jobs,
                progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
            )
        from farpoint.report import save_figure
        from farpoint.report.environments_page import draw_environments, environments_page

        page = environments_page(results, environments)
        (folder / f"{stem}.html").write_text(page.to_html(), encoding="utf-8")
        save_figure(draw_environments(results, environments), folder / f"{stem}.png")
        with (folder / f"{stem}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = [{"environment": e.title, **row} for e in environments for row in environment_rows(results, e)]
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    console = Console()
    for environment in environments:
        console.print(Text(environment.title, style="bold"))
        for row in environment_rows(results, environment):
            goal, near = row["goal first reached [95 %]"], row["near optimal [95 %]"]
            console.print(Text(f"  {row['method']:18} goal {goal!s:26} near optimal {near}"))
    console.print(Text(f"{out / stem}.html, .png and .csv: {time.perf_counter() - began:.0f} s"))
