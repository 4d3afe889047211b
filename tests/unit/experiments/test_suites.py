"""What every suite must have, and what keeps suites apart."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint
from farpoint.experiments.framework import Suite, judge
from farpoint.experiments.suites import SUITES, load_suite
from farpoint.report.page import HOLDS
from tests.helpers.paper import tiny_results

EXPERIMENTS = Path(farpoint.__file__).parent / "experiments"
FOLDERS = ["paper", "exploration", "large", "comparison", "bench"]
# Results at a scale small enough for a test, of the suites that have claims.
TINY = {"paper": tiny_results}


@pytest.fixture(params=list(SUITES))
def suite(request: pytest.FixtureRequest) -> Suite[Any]:
    return load_suite(request.param)


def test_the_registry_names_the_suites(suite: Suite[Any]) -> None:
    assert load_suite(suite.name) is suite
    assert suite.title
    assert suite.lead.endswith(".")
    assert suite.full != suite.quick


def test_every_experiment_is_whole(suite: Suite[Any]) -> None:
    assert suite.experiments
    for experiment in suite.experiments:
        assert experiment.title
        assert experiment.place
        assert experiment.rows or experiment.figures or suite.summary
        for scale in (suite.full, suite.quick):
            assert experiment.parts(scale)


def test_parts_have_different_names_and_known_kinds(suite: Suite[Any]) -> None:
    for scale in (suite.full, suite.quick):
        parts = {part for experiment in suite.experiments for part in experiment.parts(scale)}
        assert len({part.name for part in parts}) == len(parts)
        assert {part.kind for part in parts} <= set(suite.kinds)


@pytest.mark.xdist_group("paper in small")
@pytest.mark.parametrize("name", [name for name in SUITES if load_suite(name).claims])
def test_every_verdict_can_come_out_otherwise(name: str) -> None:
    """With every array replaced by noise, no claim about numbers may still hold."""
    suite = load_suite(name)
    results = TINY[name]()
    names = {experiment.name for experiment in suite.experiments}
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
    verdicts = judge(suite.claims, results, names)
    assert len(verdicts) == len(suite.claims)
    assert [verdict.claim for verdict in verdicts if verdict.verdict == HOLDS] == []


def imports(file: Path) -> set[str]:
    modules = {node.module or "" for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)}
    return {module for module in modules if module.startswith("farpoint.")}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_suite_imports_no_other_suite_and_nothing_above(folder: str) -> None:
    for file in (EXPERIMENTS / folder).glob("*.py"):
        for module in imports(file):
            assert not module.startswith("farpoint.cli")
            if module.startswith("farpoint.experiments"):
                assert module.split(".")[2] in (folder, "framework"), f"{file.name} imports {module}"


def test_the_framework_imports_no_suite() -> None:
    for file in (EXPERIMENTS / "framework").glob("*.py"):
        for module in imports(file):
            assert not module.startswith("farpoint.cli")
            if module.startswith("farpoint.experiments"):
                assert module.split(".")[2] == "framework"


def test_suites_are_loaded_without_matplotlib_and_torch() -> None:
    """The processes that the benchmark measures load its suite: a drawing library in them would count as memory."""
    code = (
        "import sys; from farpoint.experiments.suites import SUITES, load_suite; "
        "[load_suite(name) for name in SUITES]; "
        "print([name for name in ('matplotlib', 'torch', 'pygsp', 'minigrid') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
