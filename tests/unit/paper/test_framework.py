"""Parts, suites, the runner, the store and the report, on suites of a few lines."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import farpoint
from farpoint.errors import InvalidInput, MissingExtra, OutputError, UnknownName
from farpoint.files import read_arrays, write_arrays
from farpoint.paper.framework import (
    Arrays,
    Claim,
    Experiment,
    Part,
    Results,
    Store,
    Suite,
    Summary,
    judge,
    run,
)
from farpoint.paper.framework.reporting import build_report, write_report
from farpoint.report.page import FAILS, HOLDS, IN_PART
from farpoint.report.sheets import new_figure
from farpoint.report.tables import Row


class Doubling:
    """A suite that doubles numbers, and remembers which it has doubled."""

    def __init__(self) -> None:
        self.computed: list[int] = []
        self.fails_at: int | None = None
        one = Experiment[int]("one", "First", "here", lambda scale: [part(1), part(2)], self.rows)
        two = Experiment[int]("two", "Second", "there", lambda scale: [part(2), part(scale)])
        self.suite = Suite("doubling", "Doubles", "A lead.", [one, two], {"double": self.double}, full=5, quick=3)

    def double(self, n_jobs: int, number: int) -> Arrays:
        self.computed.append(number)
        if number == self.fails_at:
            raise KeyboardInterrupt
        return {"doubled": np.array(2 * number)}

    @staticmethod
    def rows(results: Results[int]) -> list[Row]:
        return [{"number": number, "doubled": int(results[part(number)]["doubled"])} for number in (1, 2)]


def part(number: int) -> Part:
    return Part.of("double", number=number)


def test_a_part_is_computed_once_and_then_kept(tmp_path: Path) -> None:
    doubling, store = Doubling(), Store(tmp_path, "1")
    suite = doubling.suite
    doubling.fails_at = 2
    with pytest.raises(KeyboardInterrupt):
        run(suite, suite.experiments, 3, store)
    assert doubling.computed == [1, 2]
    doubling.fails_at = None
    results = run(suite, suite.experiments, 3, store)
    assert doubling.computed == [1, 2, 2, 3], "the first was kept; 2 is shared by both experiments"
    assert {name: int(arrays["doubled"]) for name, arrays in results.arrays.items()} == {
        part(1): 2, part(2): 4, part(3): 6,
    }  # fmt: skip
    run(suite, suite.experiments, 3, store)
    assert doubling.computed == [1, 2, 2, 3]
    run(suite, suite.experiments, 3, Store(tmp_path, "2"))
    assert doubling.computed == [1, 2, 2, 3, 1, 2, 3], "another version of the code computes again"
    run(suite, suite.experiments, 3)
    assert len(doubling.computed) == 10, "without a store nothing is kept"


def test_progress_and_seconds() -> None:
    suite = Doubling().suite
    shown: list[tuple[str, int, int]] = []
    results = run(suite, suite.experiments, 3, progress=lambda *step: shown.append(step))
    assert [(done, total) for _, done, total in shown] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert shown[0][0] == part(1).name
    assert results.seconds_of([part(1), part(1)]) == results.seconds[part(1)] > 0
    assert part(1) in results
    assert part(9) not in results


def test_parts_have_readable_and_different_names() -> None:
    names = [
        Part.of("learn", world_name="ring", method="eigen", t=4).name,
        Part.of("learn", world_name="ring", method="eigen", t=13).name,
        Part.of("learn", world_name="ring", method="eigen", t=4, n_runs=3).name,
        Part.of("learn", world_name="a/b").name,
    ]
    assert len(set(names)) == 4
    assert names[0].startswith("learn-ring-eigen-4-")
    assert "/" not in names[3]
    assert Part.of("learn", t=4, form=None) == Part.of("learn", t=4)


def test_damaged_results_are_computed_again(tmp_path: Path) -> None:
    store = Store(tmp_path, "1")
    store.save(part(1), {"doubled": np.arange(100)}, 0.5)
    kept = store.load(part(1))
    assert kept is not None
    np.testing.assert_array_equal(kept[0]["doubled"], np.arange(100))
    assert kept[1] == 0.5
    file = tmp_path / f"{part(1).name}.npz"
    whole = file.read_bytes()
    for damaged in (whole[:100], b"", b"no archive", whole[:-20] + bytes(20)):
        file.write_bytes(damaged)
        assert store.load(part(1)) is None
    file.write_bytes(whole)
    assert store.load(part(1)) is not None
    # The file of another part under this part's name.
    (tmp_path / f"{part(2).name}.npz").write_bytes(whole)
    assert store.load(part(2)) is None


@pytest.mark.parametrize("header", ["[]", "null", '"x"', "{}", '{"version": "1", "params": [], "arrays": []}'])
def test_foreign_headers_are_computed_again(tmp_path: Path, header: str) -> None:
    np.savez(tmp_path / f"{part(1).name}.npz", header=np.array(header), doubled=np.ones(3))
    assert Store(tmp_path, "1").load(part(1)) is None


def test_results_without_their_seconds_are_computed_again(tmp_path: Path) -> None:
    store = Store(tmp_path, "1")
    store.save(part(1), {"doubled": np.ones(1)}, 1)
    path = tmp_path / f"{part(1).name}.npz"
    facts, arrays = read_arrays(path, "farpoint-results")
    assert json.loads(json.dumps(facts))["seconds"] == 1.0
    write_arrays(path, "farpoint-results", {name: facts[name] for name in facts if name != "seconds"}, arrays)
    assert store.load(part(1)) is None


def test_the_version_follows_the_code_that_computes(tmp_path: Path) -> None:
    """In a copy of the package: a docstring and the Studio leave results as they are, a kernel discards them."""
    package = tmp_path / "farpoint"
    shutil.copytree(Path(farpoint.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))

    def version() -> str:
        code = (
            "from farpoint.paper import SUITE; from farpoint.paper.framework import code_version; "
            "print(code_version(SUITE))"
        )
        run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        return run.stdout

    def after(file: str, old: str, new: str) -> str:
        path = package / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        return version()

    before = version()
    assert before.startswith(farpoint.__version__)
    assert after("studio/server.py", "import", "import string\nimport") == before
    assert after("cli/app.py", "import", "import string\nimport") == before
    assert after("report/page.py", "--ink: #1c2530", "--ink: #000000") == before
    assert after("diffusion/walk.py", '"""', '"""More words. ') == before
    assert after("agents/learning_kernels.py", " + ", " - ") != before


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="must be one that can be written"):
        Store(tmp_path / "file" / "results", "1")


def test_choosing_experiments() -> None:
    suite = Doubling().suite
    assert [one.name for one in suite.choose(["two", "one"])] == ["one", "two"], "in the order of the suite"
    assert [one.name for one in suite.choose()] == ["one", "two"]
    with pytest.raises(UnknownName, match=r"section must be one of one, two; got 'tow'\. Did you mean two"):
        suite.choose(["tow"])


def test_what_is_not_installed() -> None:
    suite = Doubling().suite
    absent = replace(suite.experiments[1], needs={"no_such_module": "nothing", "numpy": "numpy"})
    with pytest.raises(MissingExtra, match=r"no_such_module must be installed for the suite doubling\. .* 'nothing'$"):
        replace(suite, experiments=[suite.experiments[0], absent]).choose()
    some = replace(suite, experiments=[suite.experiments[0], replace(absent, optional=True)])
    assert [one.name for one in some.choose()] == ["one"], "an optional experiment is left out"
    with pytest.raises(MissingExtra, match="no_such_module"):
        some.choose(["two"])
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[deep\]'"):
        replace(suite, needs={"no_such_module": "farpoint[deep]", "nor_this": "farpoint[deep]"}).choose()


def test_what_is_no_suite() -> None:
    suite = Doubling().suite
    with pytest.raises(InvalidInput, match="must have different names; got one, one"):
        replace(suite, experiments=[suite.experiments[0]] * 2)
    with pytest.raises(UnknownName, match="must be one of one, two; got 'three'"):
        replace(suite, claims=[Claim("three", "here", "A claim.", lambda results: (HOLDS, ""))])


def test_verdicts_are_of_the_experiments_that_were_run() -> None:
    claims = [
        Claim[int]("one", "here", "One.", lambda results: (HOLDS, f"scale {results.scale}")),
        Claim[int]("two", "there", "Two.", lambda results: (FAILS, "")),
    ]
    verdicts = judge(claims, Results(7), ["one"])
    assert [(v.claim, v.place, v.verdict, v.evidence) for v in verdicts] == [("One.", "here", HOLDS, "scale 7")]


def test_a_summary_has_files_of_its_own(tmp_path: Path) -> None:
    doubling = Doubling()

    def summary(results: Results[int], experiments: object) -> Summary:
        return Summary(("A caption.", new_figure(1, 1)), [{"a": 1}], "A note.")

    suite = replace(
        doubling.suite, summary=summary, claims=[Claim("one", "here", "Half.", lambda results: (IN_PART, "so"))]
    )
    report = build_report(suite, suite.choose(["one"]), run(suite, suite.choose(["one"]), suite.quick))
    write_report(report, tmp_path, "doubling-quick-one", "doubling-quick")
    assert {file.name for file in tmp_path.iterdir()} == {
        "doubling-quick-one.html", "doubling-quick-one.png", "doubling-quick-one.csv",
        "doubling-quick-one-claims.csv",
    }  # fmt: skip
    # A whole run with a summary has the tables of its sections too.
    (tmp_path / "whole").mkdir()
    write_report(report, tmp_path / "whole", "doubling", "doubling")
    assert {"doubling.csv", "doubling-one.csv"} <= {file.name for file in (tmp_path / "whole").iterdir()}
    page = (tmp_path / "doubling-quick-one.html").read_text()
    assert page.index("A note.") < page.index("<h2 id='one'>First</h2>")
    assert "Of 1 claims checked, 0 hold here" in page
    assert "A quick look" in page
    rows = list(csv.DictReader((tmp_path / "doubling-quick-one-claims.csv").read_text().splitlines()))
    assert rows == [{"claim": "Half.", "where": "here", "verdict": "holds in part", "evidence": "so"}]


def test_without_a_summary_every_experiment_with_rows_has_a_table(tmp_path: Path) -> None:
    suite = Doubling().suite
    drawn: list[str] = []
    report = build_report(suite, suite.experiments, run(suite, suite.experiments, suite.full), progress=drawn.append)
    write_report(report, tmp_path, "doubling", "doubling")
    assert drawn == ["one", "two"]
    assert {file.name for file in tmp_path.iterdir()} == {"doubling.html", "doubling-one.csv"}
    assert (tmp_path / "doubling-one.csv").read_text().split() == ["number,doubled", "1,2", "2,4"]
