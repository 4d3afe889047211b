"""What every suite must have, on the runner or not yet."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import farpoint
from farpoint.paper import PAPER
from farpoint.paper.page import Study
from research import comparison, large
from research.suites import main

SUITES: list[Study] = [PAPER, comparison.SUITE, large.SUITE]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_every_suite_is_whole(suite: Study) -> None:
    assert suite.lead.endswith(".")
    assert suite.full != suite.quick
    for section in suite.sections:
        assert section.title
        assert section.place
        assert section.rows or section.figures


def test_nothing_that_is_installed_imports_research() -> None:
    for file in Path(farpoint.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.split(".")[0] in ("research", "tools", "tests") for name in names), file


def test_unknown_section_is_one_line() -> None:
    with pytest.raises(SystemExit, match="research: section must be one of"):
        main(comparison.SUITE, ["--only", "mars"])


def test_the_help_of_a_suite() -> None:
    run = subprocess.run([sys.executable, "-m", "research.large", "--help"], capture_output=True, text=True, check=True)
    assert "--option-probability" in run.stdout
