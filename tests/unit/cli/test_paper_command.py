"""``farpoint paper``: a study of a few lines through the same command, one section, its files and its errors."""

from __future__ import annotations

import csv
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from farpoint.cli.paper import run_study
from farpoint.paper.page import Captioned, Claim, Outcome, Section, Study, graded
from farpoint.paper.store import Arrays, Results
from farpoint.report.figures import new_figure
from farpoint.report.tables import Row
from tests.helpers.commands import FARPOINT, farpoint

COMPUTED: list[int] = []


def square(number: int) -> Arrays:
    COMPUTED.append(number)
    return {"square": np.array(number**2)}


def squares(results: Results[Scale]) -> list[int]:
    return [int(results.get(square, number=number)["square"]) for number in range(results.scale.n)]


def rows(results: Results[Scale]) -> list[Row]:
    return [{"number": number, "square": found} for number, found in enumerate(squares(results))]


def figures(results: Results[Scale]) -> list[Captioned]:
    figure = new_figure(2, 2)
    figure.subplots().plot(squares(results))
    return [("Squares.", figure)]


def check(results: Results[Scale]) -> Outcome:
    return graded([found >= number for number, found in enumerate(squares(results))]), "all rows"


@dataclass(frozen=True)
class Scale:
    n: int


SECTIONS = [
    Section("squares", "Square numbers", "here", rows, figures, note="A <em>note</em>."),
    Section("again", "The same numbers", "there", rows),
]
STUDY = Study(
    "madeup", "Made up", "A lead.", SECTIONS, full=Scale(5), quick=Scale(3),
    claims=[Claim("squares", "here", "Squares are not smaller.", check)],
)  # fmt: skip


def test_a_study_runs_through_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    run_study(STUDY, only=None, quick=False, jobs=-1, out=out)
    assert COMPUTED == [0, 1, 2, 3, 4]
    files = {file.name for file in out.iterdir()}
    assert files == {"madeup.html", "madeup-squares.csv", "madeup-again.csv", "madeup-claims.csv", "results"}
    printed = capsys.readouterr().out
    assert "holds  Squares are not smaller." in printed
    assert "madeup.html: 2 sections," in " ".join(printed.split())
    page = (out / "madeup.html").read_text()
    assert "<h2 id='squares'>Square numbers</h2>" in page
    assert "A <em>note</em>." in page
    assert page.count("<img") == 1
    assert "A quick look" not in page
    found = list(csv.DictReader((out / "madeup-squares.csv").read_text().splitlines()))
    assert found[-1] == {"number": "4", "square": "16"}
    # What is kept is not computed again; a selection and a quick look have files of their own.
    run_study(STUDY, only="again", quick=True, jobs=-1, out=out)
    assert COMPUTED == [0, 1, 2, 3, 4]
    new = {file.name for file in out.iterdir()} - files
    assert new == {"madeup-quick-again.html", "madeup-quick-again.csv"}
    assert "A quick look" in (out / "madeup-quick-again.html").read_text()
    assert "The same numbers" in capsys.readouterr().out, "without claims the tables are printed"


def test_the_commands() -> None:
    shown = farpoint("--help").stdout
    for name in ("discover", "compare", "explore", "studio", "paper"):
        assert f"  {name} " in shown
    options = farpoint("paper", "--help", columns=200).stdout
    for word in ("--only", "--quick", "--jobs", "--out", "--engine", "--address"):
        assert word in options


def test_one_section_and_its_files(tmp_path: Path) -> None:
    run = farpoint("paper", "--only", "fig1,counts", "--quick", "--out", str(tmp_path))
    assert (run.returncode, run.stderr.strip()) == (0, "")
    assert "holds  At t = 4 and 13 there are 32, 28" in run.stdout
    assert {file.name for file in tmp_path.iterdir()} == {
        "paper-quick-fig1-counts.html", "paper-quick-fig1-counts-claims.csv", "results", "paper-quick-fig1.csv",
        "paper-quick-counts.csv",
    }  # fmt: skip
    assert "<h2 id='counts'>" in (tmp_path / "paper-quick-fig1-counts.html").read_text(encoding="utf-8")


def test_a_reader_that_leaves_early_does_not_lose_the_page(tmp_path: Path) -> None:
    words = shlex.join([*FARPOINT, "paper", "--only", "counts", "--quick", "--out", f"{tmp_path}/[odd]"])
    subprocess.run(["bash", "-c", f"{words} | true"], capture_output=True, check=True)
    assert (tmp_path / "[odd]" / "paper-quick-counts.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["paper", "--only", "fig9"], "section must be one of fig1"),
        (["paper", "--only", ""], "section must be one of fig1"),
        (["paper", "--jobs", "0"], "n_jobs must be a whole number other than 0"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path: Path, words: list[str], message: str) -> None:
    run = farpoint(*words, "--out", str(tmp_path / "out"))
    assert run.returncode == 2
    assert message in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
