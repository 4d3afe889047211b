"""The paper in small: its page, its tables, and verdicts that follow the numbers."""

from __future__ import annotations

import csv
import html.parser
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from farpoint.paper import SUITE
from farpoint.paper.framework import judge, run
from farpoint.paper.framework.reporting import build_report, write_report
from farpoint.report.page import FAILS, HOLDS, IN_PART
from tests.helpers.paper import TINY, tiny_results


class References(html.parser.HTMLParser):
    """Collects what a page refers to and which of its tags are open."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "img", "link", "br"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href") and value:
                self.links.append(value)
            if name == "id" and value:
                self.ids.add(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.slow
@pytest.mark.xdist_group("paper in small")
def test_the_whole_page_in_small(tmp_path: Path) -> None:
    experiments = SUITE.choose()
    report = build_report(SUITE, experiments, tiny_results())
    text = report.page.to_html()
    seen = References()
    seen.feed(text)
    assert seen.open == []
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in seen.links), "nothing from outside"
    assert {experiment.name for experiment in experiments} <= seen.ids
    assert {link[1:] for link in seen.links if link.startswith("#")} <= seen.ids
    assert "viewport" in text
    assert "A quick look" in text
    # Every figure of the paper and its supplement: one per experiment with figures, two of 4Rooms with wind.
    assert text.count("<img") == sum(experiment.figures is not None for experiment in experiments) + 1
    assert len(report.verdicts) == len(SUITE.claims) == 29
    assert {verdict.verdict for verdict in report.verdicts} <= {HOLDS, IN_PART, FAILS}
    write_report(report, tmp_path, "paper", "paper")
    tables = {experiment.name for experiment in experiments if experiment.rows}
    assert {file.stem for file in tmp_path.glob("*.csv")} == {f"paper-{name}" for name in (*tables, "claims")}
    with (tmp_path / "paper-table1.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2 * 5
    diffusion = [row for row in rows if row["method"] == "diffusion options" and row["world"] == "4Rooms"]
    assert [float(row["median"]) for row in diffusion] == pytest.approx([148.7, 135.3], abs=0.05)


def test_verdicts_follow_the_numbers() -> None:
    results = run(SUITE, SUITE.choose(["fig1", "components"]), TINY)
    before = {verdict.claim: verdict.verdict for verdict in judge(SUITE.claims, results, {"fig1"})}
    counts = next(claim for claim in before if "32, 28" in claim)
    assert before[counts] == HOLDS
    for part, arrays in results.arrays.items():
        if part.kind == "score" and dict(part.params)["world_name"] == "ring":
            arrays["goals"] = arrays["goals"][1:]
    after = {verdict.claim: verdict.verdict for verdict in judge(SUITE.claims, results, {"fig1"})}
    assert after[counts] == IN_PART
    assert len(after) < len(judge(SUITE.claims, results, {"fig1", "components"}))


@pytest.mark.slow
@pytest.mark.xdist_group("paper in small")
def test_every_verdict_can_come_out_otherwise() -> None:
    """With every array replaced by noise, no claim about numbers may still hold."""
    results = tiny_results()
    names = {experiment.name for experiment in SUITE.experiments}
    rng = np.random.default_rng(0)
    for arrays in results.arrays.values():
        for key, array in arrays.items():
            if key in (
                "curves",
                "per_target",
                "counts",
                "shared",
                "difficulty",
                "printed",
                "second",
                "bound",
                "means",
                "nu",
                "central",
                "crossed",
                "anywhere",
                "eigen_moves",
                "mean_moves",
            ):
                arrays[key] = np.asarray(rng.uniform(1, 100, size=array.shape))
            if key == "goals":
                arrays[key] = rng.integers(0, 100, size=array.size + 1)
            if key in ("scores", "visits", "diffusion", "euclidean"):
                arrays[key] = np.asarray(rng.uniform(1, 2, size=array.shape))
    verdicts = judge(SUITE.claims, results, names)
    assert len(verdicts) == len(SUITE.claims)
    assert [verdict.claim for verdict in verdicts if verdict.verdict == HOLDS] == []


def test_the_paper_is_loaded_without_matplotlib() -> None:
    code = "import sys; from farpoint.paper import SUITE; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
