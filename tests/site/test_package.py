"""The wheel and the source distribution are the same bytes each time, and work in a bare environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("build", reason="pip install 'farpoint[all]'")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("package")]

ROOT = Path(__file__).parents[2]


def build(into: Path) -> dict[str, bytes]:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return {path.name: path.read_bytes() for path in into.iterdir()}


def outside(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command that finds nothing of this repository."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build(folder)
    return folder


def environment(folder: Path, built: Path, *packages: str, constraints: str = "constraints.txt") -> Path:
    """Return where the programs are of a new environment with the wheel, what it asks for, and some packages."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    (wheel,) = built.glob("*.whl")
    install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", str(ROOT / constraints)]
    subprocess.run([str(folder / "bin" / "python"), *install, str(wheel), *packages], check=True, capture_output=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def bare(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment that has the wheel and what it asks for, and nothing else."""
    return environment(tmp_path_factory.mktemp("bare"), built)


@pytest.fixture
def with_rllib(built: Path, tmp_path: Path) -> Iterator[Path]:
    """Return an environment with the wheel, RLlib and the Gymnasium that it pins; gone afterwards, for it is large."""
    yield environment(tmp_path / "rllib", built, "ray[rllib]", "torch", constraints="constraints-rllib.txt")
    shutil.rmtree(tmp_path / "rllib")


def test_two_builds_are_the_same_bytes(built: Path, tmp_path: Path) -> None:
    assert build(tmp_path) == {path.name: path.read_bytes() for path in built.iterdir()}


def test_what_is_in_them(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"farpoint/py.typed", "farpoint/__init__.pyi"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        inside = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert inside >= {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "src/farpoint/py.typed"}


def test_commands_in_a_bare_environment(bare: Path, tmp_path: Path) -> None:
    run = outside(tmp_path, bare / "farpoint", "discover", "four_rooms", "--t", "4", "--out", "results")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "results" / "options.npz").is_file()
    run = outside(tmp_path, bare / "farpoint", "paper", "--quick", "--only", "fig1,table1", "--out", "paper")
    assert run.returncode == 0, run.stderr
    assert list((tmp_path / "paper").glob("paper-quick*.html"))


def test_the_examples_of_the_readme_in_a_bare_environment(bare: Path, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text((ROOT / "README.md").read_text())
    code = "import doctest, sys; o = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS; "
    code += "f, n = doctest.testfile('README.md', module_relative=False, optionflags=o, encoding='utf-8'); "
    code += "print(f, n)"
    run = outside(tmp_path, bare / "python", "-c", code)
    assert run.returncode == 0, run.stderr
    assert re.fullmatch(r"0 \d\d*", run.stdout.strip()), run.stdout
    assert not run.stdout.strip().endswith(" 0")


def test_the_example_for_rllib(with_rllib: Path, tmp_path: Path) -> None:
    run = outside(tmp_path, with_rllib / "python", ROOT / "examples" / "rllib.py", "--iterations", "2")
    assert run.returncode == 0, run.stderr
    assert re.search(
        r"^2: 2,0\d\d decisions so far; an episode has \d+ and returns -?\d\.\d\d$", run.stdout, flags=re.MULTILINE
    )
