"""From the results of a suite to a page, tables and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

from farpoint.files import write_rows, write_text
from farpoint.paper.framework.claims import judge
from farpoint.paper.framework.results import Results, ScaleT
from farpoint.paper.framework.suite import Experiment, Suite, Summary
from farpoint.report.page import HOLDS, Page, Section, Verdict
from farpoint.report.sheets import save_figure
from farpoint.report.tables import Row, numeric_rows


@dataclass(frozen=True)
class SuiteReport:
    """Everything that is shown of a run: the page, the verdicts, the summary, and the table of each experiment."""

    page: Page
    verdicts: Sequence[Verdict]
    summary: Summary
    tables: Mapping[str, Sequence[Row]]


def build_report(
    suite: Suite[ScaleT],
    experiments: Sequence[Experiment[ScaleT]],
    results: Results[ScaleT],
    *,
    progress: Callable[[str], None] = lambda name: None,
) -> SuiteReport:
    """Return what is shown of the results; ``progress`` is called with the name of each experiment before it is drawn.

    The page has one section per experiment, after one for the summary if there is something in it.
    """
    verdicts = judge(suite.claims, results, {experiment.name for experiment in experiments})
    summary = suite.summary(results, experiments) if suite.summary else Summary()
    sections = []
    if summary.figure or summary.note:
        figures = [summary.figure] if summary.figure else []
        sections.append(Section("overview", "Overview", suite.title, summary.note, figures))
    tables = {}
    for experiment in experiments:
        progress(experiment.name)
        rows = experiment.rows(results) if experiment.rows else ()
        if rows:
            tables[experiment.name] = rows
        sections.append(
            Section(
                experiment.name,
                experiment.title,
                experiment.place,
                experiment.note,
                experiment.figures(results) if experiment.figures else (),
                rows,
                results.seconds_of(experiment.parts(results.scale)),
            )
        )
    lead = _filled(suite.lead, results.scale)
    if results.scale != suite.full:
        less = _difference(results.scale, suite.full)
        lead += f" <strong>A quick look, with far less work than a full run{less}.</strong>"
    if verdicts:
        holding = sum(verdict.verdict == HOLDS for verdict in verdicts)
        lead += (
            f" Of {len(verdicts)} claims checked, {holding} hold here; each verdict is computed from the results on "
            "this page."
        )
    return SuiteReport(Page(suite.title, lead, sections, verdicts), verdicts, summary, tables)


def write_report(report: SuiteReport, folder: Path, stem: str, prefix: str) -> None:
    """Write the files of a report.

    Parameters
    ----------
    report : SuiteReport
    folder : Path
    stem : str
        Of the page (``.html``), the claims (``-claims.csv``) and the summary (``.png``, ``.csv``).
    prefix : str
        Of the table of each experiment (``-NAME.csv``), which is the same whatever else is in the run.
    """
    write_text(folder / f"{stem}.html", report.page.to_html())
    summary = report.summary
    if summary.figure:
        save_figure(summary.figure[1], folder / f"{stem}.png")
    if summary.rows:
        write_rows(folder / f"{stem}.csv", numeric_rows(summary.rows))
    for name, rows in report.tables.items():
        # A selection of one section has the name of its table.
        if not summary.rows or f"{prefix}-{name}" != stem:
            write_rows(folder / f"{prefix}-{name}.csv", numeric_rows(rows))
    if report.verdicts:
        write_rows(
            folder / f"{stem}-claims.csv",
            [
                {"claim": v.claim, "where": v.place, "verdict": v.verdict, "evidence": v.evidence}
                for v in report.verdicts
            ],
        )


def _filled(lead: str, scale: object) -> str:
    """Return a lead with the numbers of this run: ``{n_runs}`` stands for that field of the scale."""
    for item in fields(scale) if is_dataclass(scale) and not isinstance(scale, type) else ():
        lead = lead.replace(f"{{{item.name}}}", _listed(getattr(scale, item.name)))
    return lead


def _difference(scale: object, full: object) -> str:
    """Return what a run did less of, as a text: what was really run, and what a full run does."""
    if not is_dataclass(scale) or isinstance(scale, type) or type(scale) is not type(full):
        return ""
    changed = [
        f"{item.name.removeprefix('n_').replace('_', ' ')} {_listed(ours)} instead of {_listed(theirs)}"
        for item in fields(scale)
        if (ours := getattr(scale, item.name)) != (theirs := getattr(full, item.name))
    ]
    return f": {'; '.join(changed)}" if changed else ""


def _listed(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
