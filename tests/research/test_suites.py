"""What every suite must have, on the runner or not yet."""

from __future__ import annotations

import ast
import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import farpoint
from farpoint.paper import SUITE as PAPER
from farpoint.paper.framework import Suite
from farpoint.report.names import METHOD_TITLES
from research import comparison, large
from research.exploration import environments
from research.exploration.plan import METHODS
from research.exploration.suite import SUITE as EXPLORATION
from research.suites import main

SUITES: list[Suite[Any]] = [PAPER, EXPLORATION, environments.SUITE, comparison.SUITE, large.SUITE]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_every_suite_is_whole(suite: Suite[Any]) -> None:
    assert suite.lead.endswith(".")
    assert suite.full != suite.quick
    for scale in (suite.full, suite.quick):
        parts = {part for experiment in suite.experiments for part in experiment.parts(scale)}
        assert len({part.name for part in parts}) == len(parts)
        assert {part.kind for part in parts} <= set(suite.kinds)
        for experiment in suite.experiments:
            assert experiment.title
            assert experiment.place
            assert experiment.rows or experiment.figures or suite.summary
            assert experiment.parts(scale)


def test_nothing_that_is_installed_imports_research() -> None:
    for file in Path(farpoint.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.split(".")[0] in ("research", "tools", "tests") for name in names), file


def test_unknown_section_is_one_line() -> None:
    with pytest.raises(SystemExit, match="research: section must be one of taxi"):
        main(environments.SUITE, ["--only", "mars"])


def test_the_help_of_a_suite() -> None:
    run = subprocess.run([sys.executable, "-m", "research.large", "--help"], capture_output=True, text=True, check=True)
    assert "--option-probability" in run.stdout


def test_exploring_in_small(tmp_path: Path) -> None:
    main(EXPLORATION, ["--quick", "--only", "cliff", "--out", str(tmp_path)])
    with (tmp_path / "explore-quick-cliff.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == {METHOD_TITLES[method] for method in METHODS}
    steps = {row["method"]: float(row["90 % seen"]) for row in rows if row["best p"] == "yes"}
    assert steps["diffusion options"] < steps["primitive actions"]


def test_environments_in_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(environments.SUITE, ["--quick", "--only", "lake,cliff", "--out", str(tmp_path)])
    stem = "envs-quick-lake-cliff"
    files = {file.name for file in tmp_path.iterdir()}
    tables = {"envs-quick-lake.csv", "envs-quick-cliff.csv"}
    assert files == {"results", *tables, *(f"{stem}.{ending}" for ending in ("html", "png", "csv"))}
    with (tmp_path / f"{stem}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 5
    assert {row["environment"] for row in rows} == {"FrozenLake 8x8, slippery", "CliffWalking"}
    assert "CliffWalking 38" in (tmp_path / f"{stem}.html").read_text(encoding="utf-8"), "its number of states"
    assert capsys.readouterr().out.count("least known states") == 2
