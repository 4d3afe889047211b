"""``farpoint paper``: a suite of a few lines through the same command, one section, its files and its errors."""

from __future__ import annotations

import csv
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from farpoint.cli.paper import run_suite
from tests.helpers.commands import FARPOINT, farpoint

MADE_UP = """
import numpy as np

from farpoint.paper.framework import Claim, Experiment, Part, Suite
from farpoint.report.sheets import new_figure

COMPUTED = []


def _square(n_jobs, number):
    COMPUTED.append(number)
    return {"square": np.array(number**2)}


def _parts(scale):
    return [Part.of("square", number=number) for number in range(scale)]


def _rows(results):
    return [{"number": n, "square": int(results[part]["square"])} for n, part in enumerate(_parts(results.scale))]


def _figures(results):
    figure = new_figure(2, 2)
    figure.subplots().plot([row["square"] for row in _rows(results)])
    return [("Squares.", figure)]


def _check(results):
    return "holds" if all(row["square"] >= row["number"] for row in _rows(results)) else "does not hold", "all rows"


EXPERIMENTS = [
    Experiment("squares", "Square numbers", "here", _parts, _rows, _figures, note="A <em>note</em>."),
    Experiment("again", "The same numbers", "there", _parts, _rows),
]
SUITE = Suite(
    "madeup", "Made up", "A lead.", EXPERIMENTS, {"square": _square}, full=5, quick=3,
    claims=[Claim("squares", "here", "Squares are not smaller.", _check)],
)
"""


def test_a_suite_in_one_module_runs_through_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "madeup_suite.py").write_text(MADE_UP)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "madeup_suite", raising=False)
    from madeup_suite import COMPUTED, SUITE  # type: ignore[import-not-found]

    out = tmp_path / "out"
    run_suite(SUITE, only=None, quick=False, jobs=-1, out=out)
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
    rows = list(csv.DictReader((out / "madeup-squares.csv").read_text().splitlines()))
    assert rows[-1] == {"number": "4", "square": "16"}
    # What is kept is not computed again; a selection and a quick look have files of their own.
    run_suite(SUITE, only="again", quick=True, jobs=-1, out=out)
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
