"""The layers, the speed of importing, and the examples in docstrings."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import farpoint as fp
from farpoint import report

PACKAGE = Path(fp.__file__).parent
# From the bottom up: a layer imports only from those before it. `studio` and `cli` stand side by side.
LAYERS = [
    "errors",
    "files",
    "engines",
    "worlds",
    "diffusion",
    "options",
    "simulation",
    "envs",
    "measures",
    "agents",
    "deep",
    "report",
    "experiments",
    "cli",
]


def imported_layers(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name.split(".")[1] for name in names if name.startswith("farpoint.")}


@pytest.mark.parametrize("file", sorted(PACKAGE.glob("*/*.py")), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_imports_point_down(file: Path) -> None:
    layer = file.parent.name
    allowed = set(LAYERS[: LAYERS.index(layer) + 1])
    assert imported_layers(file) <= allowed, f"{layer} imports {imported_layers(file) - allowed}"


@pytest.mark.parametrize("command", ["import farpoint", "from farpoint.cli.app import app"])
def test_start_is_light(command: str) -> None:
    heavy = ["torch", "matplotlib", "nicegui", "fastapi", "uvicorn", "numba", "scipy"]
    code = f"import sys; {command}; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [*fp.__all__, *(f"report.{name}" for name in report.__all__ if name != "FORMATS")])
def test_every_public_name_has_an_example(name: str) -> None:
    value = getattr(report, name.removeprefix("report.")) if name.startswith("report.") else getattr(fp, name)
    assert doctest.DocTestParser().get_examples(inspect.getdoc(value) or ""), f"{name} has no example"


def test_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'teleport'"):
        fp.teleport  # noqa: B018


def test_dir_lists_the_public_names() -> None:
    assert set(fp.__all__) <= set(dir(fp))
