from __future__ import annotations

import csv
import html.parser
from pathlib import Path

import numpy as np
import pytest
from farpoint.experiments.claims import CLAIMS, FAILS, HOLDS, IN_PART, judge
from farpoint.experiments.parts import Arrays, Part
from farpoint.experiments.runner import run
from farpoint.experiments.store import Store, code_version
from farpoint.experiments.tables import TABLES
from farpoint.report.paper_page import paper_page, write_tables

import farpoint
from farpoint.errors import OutputError, UnknownName
from farpoint.experiments import parts as parts_module
from farpoint.experiments.paper import EXPERIMENTS, Scale, choose
from farpoint.measures.statistics import interquartile_mean, mean_of_runs

TINY = Scale(runs=2, corner_runs=3, episodes=20, windy_episodes=20, draws=2)


def test_a_part_is_computed_once_and_then_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    original = Part.compute

    def counting(self: Part, n_jobs: int = -1) -> Arrays:
        computed.append(self.name)
        if self.kind == "counts" and len(computed) == 2:
            raise KeyboardInterrupt
        return original(self, n_jobs)

    monkeypatch.setattr(Part, "compute", counting)
    experiments = choose(["counts"])
    with pytest.raises(KeyboardInterrupt):
        run(experiments, TINY, Store(tmp_path, "1"))
    assert len(computed) == 2
    run(experiments, TINY, Store(tmp_path, "1"))
    # The first was kept; the second, interrupted, was begun again; then the third.
    assert len(computed) == 4
    run(experiments, TINY, Store(tmp_path, "1"))
    assert len(computed) == 4
    run(experiments, TINY, Store(tmp_path, "2"))
    assert len(computed) == 7, "another version computes anew"


def test_damaged_results_are_computed_again(tmp_path: Path) -> None:
    store, part = Store(tmp_path, "1"), Part.of("stationary", world="ring")
    run(choose(["fig1"]), TINY, store)
    kept = store.load(part)
    assert kept is not None
    file = tmp_path / f"{part.name}.npz"
    file.write_bytes(file.read_bytes()[:100])
    assert store.load(part) is None
    run(choose(["fig1"]), TINY, store)
    again = store.load(part)
    assert again is not None
    np.testing.assert_array_equal(again[0]["pi"], kept[0]["pi"])


@pytest.mark.parametrize("header", ["[]", "null", '"x"', "{}", '{"version": "1", "params": [], "arrays": []}'])
def test_foreign_headers_are_computed_again(tmp_path: Path, header: str) -> None:
    store, part = Store(tmp_path, "1"), Part.of("stationary", world="ring")
    np.savez(tmp_path / f"{part.name}.npz", header=np.array(header), pi=np.ones(3))
    assert store.load(part) is None


def test_the_version_follows_the_code() -> None:
    assert code_version() == code_version()
    assert code_version().startswith(farpoint.__version__)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="must be one that can be written"):
        Store(tmp_path / "file" / "results", "1")


def test_names_of_experiments() -> None:
    assert [experiment.name for experiment in choose(["table1", "fig1"])] == ["fig1", "table1"]
    with pytest.raises(UnknownName, match=r"experiment must be one of fig1, .*; got 'tabel1'\. Did you mean table1"):
        choose(["tabel1"])


def test_parts_have_different_names() -> None:
    every = [part for experiment in EXPERIMENTS for part in experiment.parts(TINY)]
    assert len({part.name for part in every}) == len(set(every))
    assert {part.kind for part in every} <= set(parts_module.KINDS)


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
def test_the_whole_page_in_small(tmp_path: Path) -> None:
    experiments = choose(None)
    told: list[int] = []
    results = run(experiments, TINY, Store(tmp_path, "1"), progress=lambda name, done, total: told.append(done))
    assert told == sorted(told)
    page, verdicts = paper_page(results, experiments, lambda name: None)
    text = page.to_html()
    seen = References()
    seen.feed(text)
    assert seen.open == []
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in seen.links), "nothing from outside"
    assert {experiment.name for experiment in experiments} <= seen.ids
    assert {link[1:] for link in seen.links if link.startswith("#")} <= seen.ids
    assert "viewport" in text
    assert "A quick look" in text
    assert len(verdicts) == len(CLAIMS)
    assert {verdict.verdict for verdict in verdicts} <= {HOLDS, IN_PART, FAILS}
    write_tables(results, experiments, verdicts, tmp_path, "paper")
    assert {file.stem for file in tmp_path.glob("*.csv")} == {*TABLES, "paper-claims"}
    with (tmp_path / "table1.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2 * 5
    diffusion = [row for row in rows if row["method"] == "diffusion options" and row["world"] == "4Rooms"]
    assert [float(row["median"]) for row in diffusion] == pytest.approx([148.7, 135.3], abs=0.05)


def test_verdicts_follow_the_numbers(tmp_path: Path) -> None:
    experiments = choose(["fig1", "components"])
    results = run(experiments, TINY, Store(tmp_path, "1"))
    before = {verdict.claim: verdict.verdict for verdict in judge(results, {"fig1"})}
    counts = next(claim for claim in before if "32, 28" in claim)
    assert before[counts] == HOLDS
    for part, arrays in results.arrays.items():
        if part.kind == "score" and dict(part.params)["world"] == "ring":
            arrays["goals"] = arrays["goals"][1:]
    after = {verdict.claim: verdict.verdict for verdict in judge(results, {"fig1"})}
    assert after[counts] == IN_PART
    assert len(judge(results, {"fig1"})) < len(judge(results, {"fig1", "components"}))


def test_every_verdict_can_come_out_otherwise(tmp_path: Path) -> None:
    """With every array replaced by noise, no claim about numbers may still hold."""
    experiments = choose(None)
    results = run(experiments, TINY, Store(tmp_path, "1"))
    rng = np.random.default_rng(0)
    for arrays in results.arrays.values():
        for name, array in arrays.items():
            if name in ("curves", "per_goal", "counts", "shared", "difficulty", "printed", "second", "bound"):
                arrays[name] = np.asarray(rng.uniform(1, 100, size=array.shape))
            if name == "goals":
                arrays[name] = rng.integers(0, 100, size=array.size + 1)
            if name in ("scores", "visits", "diffusion", "euclidean"):
                arrays[name] = np.asarray(rng.uniform(1, 2, size=array.shape))
    holding = [verdict.claim for verdict in judge(results, {experiment.name for experiment in experiments})
               if verdict.verdict == HOLDS]  # fmt: skip
    assert holding == []


def test_intervals() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for trial in range(60):
        estimate = mean_of_runs(rng.normal(5.0, 1.0, size=30), seed=trial)
        assert estimate.low <= estimate.value <= estimate.high
        inside += estimate.low <= 5.0 <= estimate.high
    # 95 % of 60 is 57; a bootstrap of 30 is a little narrow.
    assert inside >= 50
    assert interquartile_mean([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1e9]).value == pytest.approx(3.5)
    assert mean_of_runs([2.0, 2.0]).low == 2.0
    assert str(mean_of_runs([2.0])) == "2.0", "one run has no interval"
    assert not mean_of_runs([1.0, 1.2]).clearly_below(mean_of_runs([1.3, 1.5])), "apart, but by too little"
