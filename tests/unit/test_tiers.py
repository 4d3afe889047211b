"""The workbench itself: what the two tiers run, and what they install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import SLOW

ROOT = Path(__file__).parents[2]


def make(folder: Path, *words: str) -> str:
    """Return what make would do, without doing it."""
    shutil.copy(ROOT / "Makefile", folder)
    return subprocess.run(["make", "-n", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_slow_folders_exist() -> None:
    assert [name for name in SLOW if not (ROOT / name).exists()] == []
    assert list(SLOW) == sorted(SLOW)


def test_fast_tier_collects_no_slow_test(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow: slow\n")
    (tmp_path / "tests" / "site").mkdir()
    (tmp_path / "tests" / "site" / "test_a.py").write_text("import no_such_package\ndef test_a(): pass\n")
    (tmp_path / "test_b.py").write_text(
        "import pytest\n"
        "def test_fast(): pass\n"
        "@pytest.mark.slow\ndef test_slow(): pass\n"
        "def test_without_its_package(): pytest.importorskip('no_such_package')\n"
        "def test_without_a_gpu(): pytest.skip('no GPU')\n"
    )
    (tmp_path / "test_c.py").write_text("import pytest\npytest.importorskip('no_such_package')\ndef test_c(): pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA", "--continue-on-collection-errors"]
    fast = subprocess.run([*command, "-m", "not slow"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed, 1 skipped, 1 deselected, 1 error" in fast.stdout
    assert "Mark it slow" in fast.stdout
    assert "Add it to SLOW" in fast.stdout
    slow = subprocess.run([*command, "-m", "slow"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "No module named 'no_such_package'" in slow.stdout


def test_both_tiers_run_in_ci() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines[-2:] == ["make test", "make test-all"]
    assert any("apt-get" in line and "chromium chromium-driver" in line for line in lines)
    assert "export FARPOINT_BROWSER=required" in lines


def test_make_installs_no_system_package(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text("")
    for target in ("test", "test-all"):
        done = [line for line in make(tmp_path, target).splitlines() if "echo" not in line]
        assert not any(re.search(r"\bapt(-get)?\b", line) for line in done)
    assert "Run: apt-get install chromium chromium-driver" in make(tmp_path, "test-all")


@pytest.mark.parametrize("mark", [".core", ".test", ".all"])
@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_what_is_to_be_installed_is_installed_again_when_it_changes(tmp_path: Path, mark: str, name: str) -> None:
    (tmp_path / ".venv").mkdir()
    for file in ("pyproject.toml", "constraints.txt", f".venv/{mark}"):
        (tmp_path / file).write_text("")
        os.utime(tmp_path / file, (1_000, 1_000))
    assert "pip install" not in make(tmp_path, f".venv/{mark}")
    os.utime(tmp_path / name, (2_000, 2_000))
    assert "pip install" in make(tmp_path, f".venv/{mark}")


def test_fast_tier_goes_without_torch_and_clusters() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted, found = ["test"], set[str]()
    while wanted:
        for line in extras[wanted.pop()]:
            name, inside = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", line).groups()  # type: ignore[union-attr]
            found.add(name)
            wanted += inside.split(",") if name == "farpoint" and inside else []
    assert not found & {"torch", "stable-baselines3", "ray", "dask", "starlette", "sphinx", "selenium", "minari"}
