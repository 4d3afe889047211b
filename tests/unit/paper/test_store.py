"""Results of functions are computed once, and again when the code behind them has changed or a file is damaged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import farpoint
from farpoint.errors import OutputError
from farpoint.files import read_arrays, write_arrays
from farpoint.paper.store import Arrays, Call, Results

COMPUTED: list[int] = []
FAILS_AT: list[int] = []


def double(number: int, times: int = 2) -> Arrays:
    COMPUTED.append(number)
    if number in FAILS_AT:
        raise KeyboardInterrupt
    return {"doubled": np.array(times * number)}


def with_workers(number: int, n_jobs: int) -> Arrays:
    return {"n_jobs": np.array(n_jobs)}


@pytest.fixture(autouse=True)
def _forget() -> None:
    COMPUTED.clear()
    FAILS_AT.clear()


def doubled(results: Results[str], *numbers: int) -> list[int]:
    return [int(results.get(double, number=number)["doubled"]) for number in numbers]


def test_a_result_is_computed_once_and_then_kept(tmp_path: Path) -> None:
    FAILS_AT.append(2)
    with pytest.raises(KeyboardInterrupt):
        doubled(Results("full", tmp_path), 1, 2, 3)
    assert COMPUTED == [1, 2]
    FAILS_AT.clear()
    assert doubled(Results("full", tmp_path), 1, 2, 2, 3) == [2, 4, 4, 6]
    assert COMPUTED == [1, 2, 2, 3], "the first was kept, and 2 is asked for twice"
    assert doubled(Results("quick", tmp_path), 1, 2, 3) == [2, 4, 6]
    assert COMPUTED == [1, 2, 2, 3], "what a run is called does not matter, only the parameters do"
    assert doubled(Results("full"), 1) == [2]
    assert COMPUTED == [1, 2, 2, 3, 1], "without a folder nothing is read"


def test_parameters_with_their_defaults_are_the_same_call() -> None:
    assert Call.of(double, number=1) == Call.of(double, number=1, times=2) != Call.of(double, number=1, times=3)
    assert Call.of(with_workers, number=1) == Call.of(with_workers, number=1, n_jobs=7), "the numbers are the same"
    assert int(Results("full", n_jobs=3).get(with_workers, number=1)["n_jobs"]) == 3


def test_progress_and_seconds() -> None:
    results, shown = Results("full"), list[str]()
    results.progress = shown.append
    with results.asked() as first:
        doubled(results, 1, 2, 1)
    with results.asked() as second:
        doubled(results, 2)
    assert shown == [Call.of(double, number=1).name, Call.of(double, number=2).name], "told before it is computed"
    assert list(first) == [Call.of(double, number=1), Call.of(double, number=2)]
    assert min(first.values()) > 0
    assert second == {call: first[call] for call in second}, "what is shared counts for both"


def test_calls_have_readable_and_different_names() -> None:
    def learn(world: str, method: str = "none", t: float = 4, n_runs: int = 30) -> Arrays:
        raise NotImplementedError

    names = [
        Call.of(learn, world="ring", method="eigen", t=4).name,
        Call.of(learn, world="ring", method="eigen", t=13).name,
        Call.of(learn, world="ring", method="eigen", t=4, n_runs=3).name,
        Call.of(learn, world="a/b").name,
    ]
    assert len(set(names)) == 4
    assert names[0].startswith("learn-ring-eigen-4-")
    assert "/" not in names[3]


def only_file(folder: Path) -> Path:
    (file,) = folder.glob("*.npz")
    return file


def test_damaged_results_are_computed_again(tmp_path: Path) -> None:
    doubled(Results("full", tmp_path), 1)
    file = only_file(tmp_path)
    whole = file.read_bytes()
    for damaged in (whole[:100], b"", b"no archive", whole[:-20] + bytes(20)):
        file.write_bytes(damaged)
        COMPUTED.clear()
        assert doubled(Results("full", tmp_path), 1) == [2]
        assert COMPUTED == [1]
    # The file of another call under the name of this one.
    (tmp_path / f"{Call.of(double, number=3).name}.npz").write_bytes(whole)
    assert doubled(Results("full", tmp_path), 3) == [6]


@pytest.mark.parametrize("header", ["[]", "null", '"x"', "{}", '{"version": "1", "params": [], "arrays": []}'])
def test_foreign_headers_are_computed_again(tmp_path: Path, header: str) -> None:
    np.savez(tmp_path / f"{Call.of(double, number=1).name}.npz", header=np.array(header), doubled=np.ones(3))
    assert doubled(Results("full", tmp_path), 1) == [2]


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: {name: facts[name] for name in facts if name != "seconds"},
        lambda facts: {**facts, "version": "0"},
        lambda facts: {**facts, "function": "triple"},
    ],
    ids=["no seconds", "other code", "another function"],
)
def test_results_with_other_facts_are_computed_again(
    tmp_path: Path, change: Callable[[dict[str, object]], dict[str, object]]
) -> None:
    doubled(Results("full", tmp_path), 1)
    file = only_file(tmp_path)
    facts, arrays = read_arrays(file, "farpoint-results")
    write_arrays(file, "farpoint-results", change(json.loads(json.dumps(facts))), arrays)
    doubled(Results("full", tmp_path), 1)
    assert COMPUTED == [1, 1]
    doubled(Results("full", tmp_path), 1)
    assert COMPUTED == [1, 1]


def test_the_version_follows_the_code_that_computes(tmp_path: Path) -> None:
    """In a copy of the package: docstrings, pages and the Studio leave results as they are, a kernel discards them."""
    package = tmp_path / "farpoint"
    shutil.copytree(Path(farpoint.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))

    def version() -> str:
        code = (
            "from pathlib import Path; from farpoint.paper import computation, store; "
            "print(store.code_version(Path(computation.__file__)))"
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
    for file in ("studio/server.py", "cli/app.py", "report/canvas.py", "paper/figures.py", "paper/claims.py"):
        assert after(file, "annotations\n", "annotations\n\nimport string\n") == before, file
    assert after("paper/page.py", "--ink: #1c2530", "--ink: #000000") == before
    assert after("diffusion/walk.py", '"""', '"""More words. ') == before
    kernel = after("agents/paper_kernels.py", " + ", " - ")
    assert kernel != before
    assert after("paper/computation.py", "seed: int = 3", "seed: int = 4") not in (before, kernel)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="must be one that can be written"):
        Results("full", tmp_path / "file" / "results")
