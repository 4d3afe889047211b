"""Pages of a few lines: sections, claims, the files, and what cannot be chosen."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farpoint.errors import InvalidInput, MissingExtra, UnknownName
from farpoint.paper.page import FAILS, HOLDS, IN_PART, Claim, Section, Study, verdicts_on
from farpoint.paper.store import Arrays, Results
from farpoint.report.figures import new_figure
from farpoint.report.tables import Row


@dataclass(frozen=True)
class Scale:
    n_numbers: int
    words: tuple[str, ...] = ("a", "b")


def double(number: int) -> Arrays:
    return {"doubled": np.array(2 * number)}


def rows(results: Results[Scale]) -> list[Row]:
    numbers = range(1, 1 + results.scale.n_numbers)
    return [{"number": n, "doubled": int(results.get(double, number=n)["doubled"])} for n in numbers]


def says(verdict: str) -> Callable[[Results[Any]], tuple[str, str]]:
    return lambda results: (verdict, f"{results.scale.n_numbers} numbers")


FULL = Scale(2)
ONE = Section("one", "First & foremost", "here", rows, note="A <em>text</em>.")
TWO = Section("two", "Second", "there", figures=lambda results: [("A 'caption'", new_figure(1, 1))])
STUDY = Study("doubling", "Doubles <1>", "A <strong>lead</strong>.", [ONE, TWO], full=FULL, quick=Scale(1, ("a",)))


def test_a_page_has_its_sections_verdicts_and_figures() -> None:
    words = (HOLDS, IN_PART, FAILS)
    study = replace(STUDY, claims=[Claim("two", "4.1", f"Claim {word}.", says(word)) for word in words])
    told: list[tuple[int, int, str]] = []
    page = study.page(Results(FULL), progress=lambda *step: told.append(step))
    assert "<title>Doubles &lt;1&gt;</title>" in page.html
    assert "<p>A <strong>lead</strong>. Of 3 claims checked, 1 hold here" in page.html
    assert "<a href='#one'>First &amp; foremost</a>" in page.html
    assert "<h2 id='one'>First &amp; foremost</h2><p class='place'>here · computed in " in page.html
    assert "<p>A <em>text</em>.</p>" in page.html
    assert "<h2 id='two'>Second</h2><p class='place'>there</p>" in page.html, "nothing was computed for it"
    assert page.html.count("src='data:image/png;base64,") == 1
    assert "alt='A &#x27;caption&#x27;'" in page.html
    for name, word in (("holds", HOLDS), ("part", IN_PART), ("fails", FAILS)):
        assert f"<td class='{name}'>{word}</td>" in page.html
    assert "http" not in page.html.split("</style>")[1].replace("data:image", ""), "nothing from outside"
    assert page.tables == {"one": [{"number": 1, "doubled": 2}, {"number": 2, "doubled": 4}]}
    assert [verdict.evidence for verdict in page.verdicts] == ["2 numbers"] * 3
    assert [(done, total) for done, total, _ in told] == [(0, 2), (0, 2), (0, 2), (1, 2)]
    assert [what.split("-")[0] for *_, what in told] == ["double", "double", "drawing one", "drawing two"]
    assert "<table class='claims'>" not in STUDY.page(Results(FULL)).html


def test_a_quick_look_says_what_it_did_less_of() -> None:
    assert "A quick look" not in STUDY.page(Results(FULL)).html
    page = STUDY.page(Results(STUDY.quick), [ONE])
    assert "than a full run: numbers 1 instead of 2; words a instead of a, b." in page.html
    assert "id='two'" not in page.html


def test_verdicts_are_of_the_sections_that_were_run_in_the_order_of_the_claims() -> None:
    claims = [Claim("two", "there", "Two.", says(FAILS)), Claim("one", "here", "One.", says(HOLDS))]
    assert [(v.claim, v.place, v.verdict) for v in verdicts_on(claims, Results(FULL), ["one"])] == [
        ("One.", "here", HOLDS)
    ]
    assert [v.claim for v in replace(STUDY, claims=claims).page(Results(FULL)).verdicts] == ["Two.", "One."]


def test_the_files_of_a_page(tmp_path: Path) -> None:
    study = replace(STUDY, claims=[Claim("one", "here", "Half.", says(IN_PART))])
    study.page(Results(FULL)).write(tmp_path, "doubling", "doubling")
    names = {"doubling.html", "doubling-one.csv", "doubling-claims.csv"}
    assert {file.name for file in tmp_path.iterdir()} == names
    assert (tmp_path / "doubling-one.csv").read_text().split() == ["number,doubled", "1,2", "2,4"]
    found = list(csv.DictReader((tmp_path / "doubling-claims.csv").read_text().splitlines()))
    assert found == [{"claim": "Half.", "where": "here", "verdict": "holds in part", "evidence": "2 numbers"}]


def test_choosing_sections() -> None:
    assert STUDY.choose(["two", "one"]) == [ONE, TWO], "in the order of the page"
    assert STUDY.choose() == [ONE, TWO]
    with pytest.raises(UnknownName, match=r"section must be one of one, two; got 'tow'\. Did you mean two"):
        STUDY.choose(["tow"])


def test_what_is_not_installed() -> None:
    absent = replace(TWO, needs={"no_such_module": "nothing", "numpy": "numpy"})
    with pytest.raises(MissingExtra, match=r"no_such_module must be installed for doubling\. .* 'nothing'$"):
        replace(STUDY, sections=[ONE, absent]).choose()
    some = replace(STUDY, sections=[ONE, replace(absent, optional=True)])
    assert some.choose() == [ONE], "an optional section is left out"
    with pytest.raises(MissingExtra, match="no_such_module"):
        some.choose(["two"])
    two = replace(ONE, needs={"no_such_module": "farpoint[deep]", "nor_this": "farpoint[deep]"})
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[deep\]'"):
        replace(STUDY, sections=[two]).choose()


def test_what_is_no_study() -> None:
    with pytest.raises(InvalidInput, match="must have different names; got one, one"):
        replace(STUDY, sections=[ONE, ONE])
    with pytest.raises(UnknownName, match="must be one of one, two; got 'three'"):
        replace(STUDY, claims=[Claim("three", "here", "A claim.", says(HOLDS))])
