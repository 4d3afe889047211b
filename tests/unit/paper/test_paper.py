"""The paper in small: its page, its tables, and verdicts that follow the numbers."""

from __future__ import annotations

import csv
import html.parser
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from farpoint.paper import PAPER
from farpoint.paper.computation import Results, score_and_goals
from farpoint.paper.page import FAILS, HOLDS, IN_PART, verdicts_on
from tests.helpers.paper import TINY, tiny_results

NUMBERS = (
    "curves", "per_target", "counts", "shared", "difficulty", "printed", "second", "bound", "means", "nu", "central",
    "crossed", "anywhere", "eigen_moves", "mean_moves",
)  # fmt: skip


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
    sections = PAPER.choose()
    page = PAPER.page(tiny_results(), sections)
    text = page.html
    seen = References()
    seen.feed(text)
    assert seen.open == []
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in seen.links), "nothing from outside"
    assert {section.name for section in sections} <= seen.ids
    assert {link[1:] for link in seen.links if link.startswith("#")} <= seen.ids
    assert "viewport" in text
    assert "A quick look" in text
    # Every figure of the paper and its supplement: one per section with figures, two of 4Rooms with wind.
    assert text.count("<img") == sum(section.figures is not None for section in sections) + 1
    assert len(page.verdicts) == len(PAPER.claims) == 29
    assert {verdict.verdict for verdict in page.verdicts} <= {HOLDS, IN_PART, FAILS}
    page.write(tmp_path, "paper", "paper")
    tables = {section.name for section in sections if section.rows}
    assert {file.stem for file in tmp_path.glob("*.csv")} == {f"paper-{name}" for name in (*tables, "claims")}
    with (tmp_path / "paper-table1.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2 * 5
    diffusion = [row for row in rows if row["method"] == "diffusion options" and row["world"] == "4Rooms"]
    assert [float(row["median"]) for row in diffusion] == pytest.approx([148.7, 135.3], abs=0.05)


def test_verdicts_follow_the_numbers() -> None:
    results = Results(TINY)
    before = {verdict.claim: verdict.verdict for verdict in verdicts_on(PAPER.claims, results, ["fig1"])}
    counts = next(claim for claim in before if "32, 28" in claim)
    assert before[counts] == HOLDS
    for call, (arrays, _) in results.kept.items():
        if call.function is score_and_goals and dict(call.params)["world"] == "ring":
            arrays["goals"] = arrays["goals"][1:]
    after = {verdict.claim: verdict.verdict for verdict in verdicts_on(PAPER.claims, results, ["fig1"])}
    assert after[counts] == IN_PART
    assert len(after) < len(verdicts_on(PAPER.claims, results, ["fig1", "components"]))


@pytest.mark.slow
@pytest.mark.xdist_group("paper in small")
def test_every_verdict_can_come_out_otherwise() -> None:
    """With every array replaced by noise, no claim about numbers may hold whatever the noise."""
    holding = [holding_with_noise(np.random.default_rng(seed)) for seed in range(4)]
    assert set.intersection(*holding) == set()


def holding_with_noise(rng: np.random.Generator) -> set[str]:
    results = tiny_results()
    for arrays, _ in results.kept.values():
        for key, array in arrays.items():
            if key in NUMBERS:
                arrays[key] = np.asarray(rng.uniform(1, 100, size=array.shape))
            if key == "goals":
                arrays[key] = rng.integers(0, 100, size=array.size + 1)
            if key in ("scores", "visits", "diffusion", "euclidean"):
                arrays[key] = np.asarray(rng.uniform(1, 2, size=array.shape))
    verdicts = verdicts_on(PAPER.claims, results, [section.name for section in PAPER.sections])
    assert len(verdicts) == len(PAPER.claims)
    return {verdict.claim for verdict in verdicts if verdict.verdict == HOLDS}


def test_the_paper_is_loaded_without_matplotlib() -> None:
    code = "import sys; from farpoint.paper import PAPER; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
