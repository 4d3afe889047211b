"""The commands that run a suite of experiments: ``farpoint paper``, ``envs``, ``large``, ``bench``."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from farpoint.cli.arguments import AgentSuiteArguments, SuiteArguments
from farpoint.cli.console import CommandConsole
from farpoint.cli.progress import progress_bar
from farpoint.errors import InvalidInput, check_jobs
from farpoint.experiments.framework import Store, Suite, code_version, run
from farpoint.experiments.framework.reporting import SuiteReport, build_report, write_report
from farpoint.experiments.suites import load_suite
from farpoint.files import results_folder
from farpoint.report.page import FAILS, HOLDS, IN_PART
from farpoint.simulation.tables import check_option_probability

_COLORS = {HOLDS: "green", IN_PART: "yellow", FAILS: "red"}


def run_suite(name: str, arguments: SuiteArguments) -> None:
    """Run the suite of this name and write its page, figures and tables."""
    run_command(load_suite(name), arguments)


def run_agent_suite(name: str, arguments: AgentSuiteArguments) -> None:
    """Run the suite of this name with agents that take options with the probability asked for."""
    suite = load_suite(name)
    if arguments.option_probability is not None:
        chance = check_option_probability(arguments.option_probability)
        full, quick = (replace(scale, option_probability=chance) for scale in (suite.full, suite.quick))
        suite = replace(suite, full=full, quick=quick)
    run_command(suite, arguments)


def run_command(suite: Suite[Any], arguments: SuiteArguments) -> None:
    """Run a suite and write its page, figures and tables.

    A selection or a quick look has file names of its own, so that it does not replace the whole.
    """
    check_jobs(arguments.jobs)
    if suite.timed and (arguments.engine, arguments.jobs) != ("local", -1):
        raise InvalidInput(
            f"farpoint {suite.name} must run with engine local and jobs -1, because it measures time; got "
            f"{arguments.engine} and {arguments.jobs}."
        )
    names = [word.strip() for word in arguments.only.split(",")] if arguments.only is not None else None
    experiments = suite.choose(names)
    prefix = f"{suite.name}-quick" if arguments.quick else suite.name
    stem = "-".join([prefix, *(names or [])])
    began = time.perf_counter()
    # Outside the folder of unfinished files, so that an interrupted run keeps what it has computed.
    store = None if suite.timed else Store(arguments.out / "results" / suite.name, code_version())
    with results_folder(arguments.out) as folder, progress_bar() as progress:
        task = progress.add_task("beginning", total=None)
        results = run(
            suite,
            experiments,
            suite.quick if arguments.quick else suite.full,
            store,
            n_jobs=arguments.jobs,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
        report = build_report(
            suite, experiments, results, progress=lambda name: progress.update(task, description=f"drawing {name}")
        )
        write_report(report, folder, stem, prefix)
    console = CommandConsole()
    _print_report(console, report)
    page = arguments.out / f"{stem}.html"
    size, seconds = page.stat().st_size / 1e6, time.perf_counter() - began
    console.print(Text(f"{page}: {len(experiments)} sections, {size:.1f} MB, {seconds:.0f} s"), soft_wrap=True)


def _print_report(console: Console, report: SuiteReport) -> None:
    """Print the verdicts; without any, the summary; without a summary, every table."""
    for verdict in report.verdicts:
        line = Text(f"{verdict.verdict:>14}", style=_COLORS[verdict.verdict])
        console.print(line.append(f"  {verdict.claim}", style="default"))
    if report.verdicts:
        return
    if report.summary.markdown:
        console.print(Markdown(report.summary.markdown))
        return
    titles = {section.name: section.title for section in report.page.sections}
    for name, rows in report.tables.items():
        console.print(Text(titles[name], style="bold"))
        for row in rows:
            console.print(Text("  " + " · ".join(f"{column} {value}" for column, value in row.items())))
