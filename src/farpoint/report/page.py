"""One HTML page from finished results, with its figures inside, so that it opens anywhere."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from farpoint.report.sheets import inline_image
from farpoint.report.tables import Row, escaped, table_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
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
class Verdict:
    """A claim, where it is made, whether it holds here, and the evidence."""

    claim: str
    place: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class Section:
    """One section of a page: its heading, a text, figures with captions, and a table.

    ``text`` is HTML; everything else is plain text.
    """

    name: str
    title: str
    place: str
    text: str = ""
    figures: Sequence[tuple[str, Figure]] = ()
    rows: Sequence[Row] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Page:
    """A page: title, lead, verdicts and sections. ``lead`` is HTML.

    Examples
    --------
    >>> page = Page("A title", "What it is.", [Section("one", "First", "here", rows=[{"a": 1}])])
    >>> "<h2 id='one'>First</h2>" in page.to_html()
    True
    """

    title: str
    lead: str
    sections: Sequence[Section]
    verdicts: Sequence[Verdict] = ()

    def to_html(self) -> str:
        """Return the page as one file without outside references."""
        contents = "".join(
            f"<li><a href='#{section.name}'>{escaped(section.title)}</a></li>" for section in self.sections
        )
        body = [
            f"<h1>{escaped(self.title)}</h1>",
            f"<p>{self.lead}</p>",
            _verdict_table(self.verdicts) if self.verdicts else "",
            f"<nav aria-label='Contents'><ol>{contents}</ol></nav>",
            *(_section(section) for section in self.sections),
            f"<footer>{_machine()}</footer>",
        ]
        return (
            "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'>"
            f"<title>{escaped(self.title)}</title><style>{_STYLE}</style></head>"
            f"<body><main>{''.join(body)}</main></body></html>\n"
        )


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


def _section(section: Section) -> str:
    pictures = [
        f"<figure><img alt='{escaped(caption)}' src='{inline_image(figure)}'>"
        f"<figcaption>{escaped(caption)}</figcaption></figure>"
        for caption, figure in section.figures
    ]
    time = f" · computed in {section.seconds:.1f} s" if section.seconds else ""
    return "".join(
        [
            f"<h2 id='{section.name}'>{escaped(section.title)}</h2>",
            f"<p class='place'>{escaped(section.place)}{time}</p>",
            f"<p>{section.text}</p>" if section.text else "",
            *pictures,
            table_html(section.rows) if section.rows else "",
        ]
    )


def _machine() -> str:
    packages = ("farpoint", "numpy", "scipy", "numba", "matplotlib")
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return (
        f"<p>Python {platform.python_version()} on {platform.system()} ({platform.machine()}), {os.cpu_count()} cores; "
        f"{versions}. Results that several sections share are counted in the time of each.</p>"
    )
