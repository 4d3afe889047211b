"""From functions of results to one HTML page, with its figures inside, and a CSV of every table and of the verdicts."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from farpoint.errors import InvalidInput, MissingExtra, check_word
from farpoint.files import write_rows, write_text
from farpoint.paper.store import Results
from farpoint.report.figures import inline_image
from farpoint.report.tables import Row, escaped, numeric_rows, table_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
# A caption and its figure.
Captioned = tuple[str, "Figure"]
# A verdict and the evidence in words.
Outcome = tuple[str, str]
_STYLE = """
:root { --ink: #1c2530; --soft: #5b6875; --line: #dde3e9; --paper: #ffffff; --tint: #f5f7f9; --blue: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, Roboto, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.1rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 1rem 0 .3rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .2rem; padding-top: .8rem; border-top: 1px solid var(--line); }
.place { color: var(--soft); margin: 0 0 .8rem; font-size: .92rem; }
nav ol { columns: 2; padding-left: 1.3rem; font-size: .95rem; }
a { color: var(--blue); text-decoration: none; }
a:hover { text-decoration: underline; }
figure { margin: 1rem 0; }
img { max-width: 100%; height: auto; display: block; margin: 0 auto; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .4rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: .8rem 0; min-width: 60%; }
th, td { padding: .32rem .7rem; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { background: var(--tint); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
table.claims td { white-space: normal; min-width: 6.8rem; vertical-align: top; }
.holds { color: #00704f; font-weight: 600; }
.part { color: #a35200; font-weight: 600; }
.fails { color: #b00020; font-weight: 600; }
footer { margin-top: 3rem; color: var(--soft); font-size: .88rem; border-top: 1px solid var(--line); }
@media (max-width: 40rem) {
  nav ol { columns: 1; }
  h1 { font-size: 1.5rem; }
  table.claims thead { display: none; }
  table.claims tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  table.claims td { display: block; border: 0; padding: .1rem 0; }
  table.claims td:nth-child(1) { font-weight: 600; }
}
"""
_CLASS = {HOLDS: "holds", IN_PART: "part", FAILS: "fails"}


@dataclass(frozen=True)
class Section:
    """One table or figure, and how it is made.

    Attributes
    ----------
    name : str
        For ``--only``, file names and links.
    title, place : str
        The heading, and where it stands in the paper or what it measures.
    rows : function of the results, optional
        Returns the rows of the table.
    figures : function of the results, optional
        Returns figures with their captions.
    note : str
        A text for the page, in HTML.
    needs : mapping from module to package
        Modules that must be importable, each with the package that ``pip install`` takes.
    optional : bool
        Whether it is left out, unless it is selected by name, where something that it needs is not installed.
    """

    name: str
    title: str
    place: str
    rows: Callable[[Results[Any]], Sequence[Row]] | None = None
    figures: Callable[[Results[Any]], Sequence[Captioned]] | None = None
    note: str = ""
    needs: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False


class Claim(NamedTuple):
    """A claim, the section whose results it is checked on, where it is made, and the check."""

    section: str
    place: str
    text: str
    check: Callable[[Results[Any]], Outcome]


class Verdict(NamedTuple):
    """A claim, where it is made, whether it holds here (`HOLDS`, `IN_PART` or `FAILS`), and the evidence in words."""

    claim: str
    place: str
    verdict: str
    evidence: str


def graded(outcomes: Sequence[bool]) -> str:
    """Return the verdict on a claim that was checked several times.

    >>> graded([True, True]), graded([True, False]), graded([False, False])
    ('holds', 'holds in part', 'does not hold')
    """
    if all(outcomes):
        return HOLDS
    return IN_PART if any(outcomes) else FAILS


@dataclass(frozen=True)
class Study:
    """The sections of a page, the claims that they check, and how much work a whole run and a quick look do.

    ``name`` is that of the files; ``lead`` is HTML.

    Examples
    --------
    >>> section = Section("two", "Twice two", "here", lambda results: [{"doubled": 2 * results.scale}])
    >>> study = Study("numbers", "Numbers", "A lead.", [section], full=2, quick=1)
    >>> study.page(Results(2)).tables
    {'two': [{'doubled': 4}]}
    """

    name: str
    title: str
    lead: str
    sections: Sequence[Section]
    full: Any
    quick: Any
    claims: Sequence[Claim] = ()

    def __post_init__(self) -> None:
        names = [section.name for section in self.sections]
        if len(set(names)) != len(names):
            raise InvalidInput(f"sections of {self.name} must have different names; got {', '.join(names)}.")
        for claim in self.claims:
            check_word(f"section of the claim {claim.text!r}", claim.section, names)

    def choose(self, names: Sequence[str] | None = None) -> list[Section]:
        """Return the sections of these names, in the order of the page; None selects all that can run.

        Raises
        ------
        UnknownName
            If there is no section of one of these names.
        MissingExtra
            If a package that they need is not installed.
        """
        if names is None:
            chosen = [one for one in self.sections if not (one.optional and _missing(one.needs))]
        else:
            known = [section.name for section in self.sections]
            wanted = {check_word("section", name, known) for name in names}
            chosen = [section for section in self.sections if section.name in wanted]
        missing = {module: package for one in chosen for module, package in _missing(one.needs).items()}
        if missing:
            packages = " ".join(f"'{package}'" for package in dict.fromkeys(missing.values()))
            raise MissingExtra(f"{', '.join(missing)} must be installed for {self.name}. Run: pip install {packages}")
        return chosen

    def page(
        self,
        results: Results[Any],
        sections: Sequence[Section] | None = None,
        *,
        progress: Callable[[int, int, str], object] = lambda done, total, what: None,
    ) -> Page:
        """Return the page with these sections; ``progress`` is told how many are done and what is computed or drawn."""
        chosen = self.choose() if sections is None else sections
        tables, parts = {}, list[str]()
        for done, section in enumerate(chosen):
            tell = partial(progress, done, len(chosen))
            results.progress = tell
            with results.asked() as asked:
                rows = section.rows(results) if section.rows else ()
                figures = section.figures(results) if section.figures else ()
            tell(f"drawing {section.name}")
            if rows:
                tables[section.name] = rows
            parts.append(_section_html(section, rows, figures, sum(asked.values())))
        verdicts = verdicts_on(self.claims, results, [section.name for section in chosen])
        return Page(_page_html(self, results.scale, chosen, verdicts, parts), tables, verdicts)


class Page(NamedTuple):
    """A finished page: its HTML without outside references, the table of each section, and the verdicts."""

    html: str
    tables: Mapping[str, Sequence[Row]]
    verdicts: Sequence[Verdict]

    def write(self, folder: Path, stem: str, prefix: str) -> None:
        """Write ``STEM.html``, the verdicts (``STEM-claims.csv``) and every table (``PREFIX-NAME.csv``).

        A table has the same name whatever else is on the page.
        """
        write_text(folder / f"{stem}.html", self.html)
        for name, rows in self.tables.items():
            write_rows(folder / f"{prefix}-{name}.csv", numeric_rows(rows))
        if self.verdicts:
            names = ("claim", "where", "verdict", "evidence")
            write_rows(folder / f"{stem}-claims.csv", [dict(zip(names, one, strict=True)) for one in self.verdicts])


def verdicts_on(claims: Sequence[Claim], results: Results[Any], sections: Sequence[str]) -> list[Verdict]:
    """Return the verdict on every claim that is checked on one of these sections.

    >>> claim = Claim("sizes", "here", "Two is more than one.", lambda results: (graded([2 > 1]), "2 > 1"))
    >>> verdicts_on([claim], Results("full"), ["sizes"])
    [Verdict(claim='Two is more than one.', place='here', verdict='holds', evidence='2 > 1')]
    """
    return [Verdict(claim.text, claim.place, *claim.check(results)) for claim in claims if claim.section in sections]


def _missing(needs: Mapping[str, str]) -> dict[str, str]:
    return {module: package for module, package in needs.items() if importlib.util.find_spec(module) is None}


def _page_html(
    study: Study, scale: Any, sections: Sequence[Section], verdicts: Sequence[Verdict], parts: Sequence[str]
) -> str:
    lead = study.lead
    if scale != study.full:
        lead += f" <strong>A quick look, with far less work than a full run{_difference(scale, study.full)}.</strong>"
    if verdicts:
        n_holding = sum(verdict.verdict == HOLDS for verdict in verdicts)
        lead += (
            f" Of {len(verdicts)} claims checked, {n_holding} hold here; each verdict is computed from the results on "
            "this page."
        )
    contents = "".join(f"<li><a href='#{section.name}'>{escaped(section.title)}</a></li>" for section in sections)
    title = escaped(study.title)
    body = [
        f"<h1>{title}</h1>",
        f"<p>{lead}</p>",
        _verdict_table(verdicts) if verdicts else "",
        f"<nav aria-label='Contents'><ol>{contents}</ol></nav>",
        *parts,
        f"<footer>{_machine()}</footer>",
    ]
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _difference(scale: Any, full: Any) -> str:
    """Return what a run did less of, as a text: what was really run, and what a full run does."""
    changed = [
        f"{item.name.removeprefix('n_').replace('_', ' ')} {_listed(ours)} instead of {_listed(theirs)}"
        for item in fields(full)
        if (ours := getattr(scale, item.name)) != (theirs := getattr(full, item.name))
    ]
    return f": {'; '.join(changed)}" if changed else ""


def _listed(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _verdict_table(verdicts: Sequence[Verdict]) -> str:
    lines = [
        f"<tr><td>{escaped(v.claim)}</td><td>{escaped(v.place)}</td>"
        f"<td class='{_CLASS[v.verdict]}'>{v.verdict}</td><td>{escaped(v.evidence)}</td></tr>"
        for v in verdicts
    ]
    return (
        "<div class='scroll'><table class='claims'><thead><tr><th>claim</th><th>where</th><th>here</th>"
        f"<th>because</th></tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _section_html(section: Section, rows: Sequence[Row], figures: Sequence[Captioned], seconds: float) -> str:
    pictures = [
        f"<figure><img alt='{escaped(caption)}' src='{inline_image(figure)}'>"
        f"<figcaption>{escaped(caption)}</figcaption></figure>"
        for caption, figure in figures
    ]
    time = f" · computed in {seconds:.1f} s" if seconds else ""
    return "".join(
        [
            f"<h2 id='{section.name}'>{escaped(section.title)}</h2>",
            f"<p class='place'>{escaped(section.place)}{time}</p>",
            f"<p>{section.note}</p>" if section.note else "",
            *pictures,
            table_html(rows) if rows else "",
        ]
    )


def _machine() -> str:
    packages = ("farpoint", "numpy", "scipy", "numba", "matplotlib")
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return (
        f"<p>Python {platform.python_version()} on {platform.system()} ({platform.machine()}), {os.cpu_count()} cores; "
        f"{versions}. Results that several sections share are counted in the time of each.</p>"
    )
