"""``farpoint paper``, ``envs``, ``large`` and ``bench``: one runner, the same options and the same files."""

from __future__ import annotations

import csv
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from farpoint.cli.arguments import SuiteArguments
from farpoint.cli.suite import run_suite
from farpoint.errors import InvalidInput
from farpoint.experiments.exploration.plan import METHODS
from farpoint.experiments.suites import SUITES, SuiteEntry
from farpoint.report.names import METHOD_TITLES
from tests.helpers.commands import FARPOINT, farpoint

MADE_UP = """
import numpy as np

from farpoint.experiments.framework import Claim, Experiment, Part, Suite
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


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Register a suite that lies in a module of its own; return the numbers that it computes."""
    (tmp_path / "madeup_suite.py").write_text(MADE_UP)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(SUITES, "madeup", SuiteEntry("madeup_suite", "A made-up suite."))
    monkeypatch.delitem(sys.modules, "madeup_suite", raising=False)
    import madeup_suite  # type: ignore[import-not-found]

    computed: list[int] = madeup_suite.COMPUTED
    return computed


def test_a_suite_in_one_module_runs_through_the_runner(
    made_up: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    run_suite("madeup", SuiteArguments(out=out))
    assert made_up == [0, 1, 2, 3, 4]
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
    run_suite("madeup", SuiteArguments(only="again", quick=True, out=out))
    assert made_up == [0, 1, 2, 3, 4]
    new = {file.name for file in out.iterdir()} - files
    assert new == {"madeup-quick-again.html", "madeup-quick-again.csv"}
    assert "A quick look" in (out / "madeup-quick-again.html").read_text()
    assert "The same numbers" in capsys.readouterr().out, "without claims the tables are printed"


def test_commands_are_those_of_the_registry() -> None:
    shown = farpoint("--help").stdout
    for name, entry in SUITES.items():
        assert f"  {name} " in shown
        options = farpoint(name, "--help", columns=200).stdout
        assert entry.help in " ".join(options.split())
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
        (["envs", "--only", "mars"], "section must be one of taxi"),
        (["large", "--only", "taxi"], "section must be one of extension"),
        (["bench", "--jobs", "2"], "must run with engine local and jobs -1, because it measures time; got local and 2"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path: Path, words: list[str], message: str) -> None:
    run = farpoint(*words, "--out", str(tmp_path / "out"))
    assert run.returncode == 2
    assert message in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_timings_are_not_made_on_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="engine local"):
        run_suite("bench", SuiteArguments(engine="dask", out=tmp_path))


def test_exploring_in_small(tmp_path: Path) -> None:
    run = farpoint("explore", "--quick", "--only", "cliff", "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    with (tmp_path / "explore-quick-cliff.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == {METHOD_TITLES[method] for method in METHODS}
    steps = {row["method"]: float(row["90 % seen"]) for row in rows if row["best p"] == "yes"}
    assert steps["diffusion options"] < steps["primitive actions"]


def test_environments_in_small(tmp_path: Path) -> None:
    run = farpoint("envs", "--quick", "--only", "lake,cliff", "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    stem = "envs-quick-lake-cliff"
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"results", *(f"{stem}.{ending}" for ending in ("html", "png", "csv"))}
    with (tmp_path / f"{stem}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 5
    assert {row["environment"] for row in rows} == {"FrozenLake 8x8, slippery", "CliffWalking"}
    assert "CliffWalking 38" in (tmp_path / f"{stem}.html").read_text(encoding="utf-8"), "its number of states"
    assert run.stdout.count("least known states") == 2
