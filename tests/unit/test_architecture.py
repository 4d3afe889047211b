"""The layers, the speed of importing, and the examples in docstrings."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
from collections.abc import Iterator
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


FILES = sorted(PACKAGE.glob("*/**/*.py"))
by_file = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))


@by_file
def test_imports_point_down(file: Path) -> None:
    layer = file.relative_to(PACKAGE).parts[0]
    allowed = set(LAYERS[: LAYERS.index(layer) + 1])
    assert imported_layers(file) <= allowed, f"{layer} imports {imported_layers(file) - allowed}"


@by_file
def test_files_are_short_and_not_named_like_what_they_hold(file: Path) -> None:
    text = file.read_text()
    assert len(text.splitlines()) <= 350
    defined = {node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert file.stem not in defined


def private_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Names with one underscore that belong to something else: imported, read off an object, or named in a string."""

    def private(name: str) -> bool:
        return name.startswith("_") and not name.startswith("__") and name != "_"

    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, alias.name) for alias in node.names if private(alias.name))
        elif isinstance(node, ast.Attribute) and private(node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("setattr", "delattr"):
            for value in node.args:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield from ((node.lineno, part) for part in value.value.split(".") if private(part))


@pytest.mark.parametrize("folder", ["tests", "examples", "benchmarks"])
def test_nothing_outside_reaches_private_names(folder: str) -> None:
    files = sorted((Path(__file__).parents[2] / folder).rglob("*.py"))
    assert files
    found = [(file.name, *place) for file in files for place in private_names(ast.parse(file.read_text()))]
    assert found == []


@pytest.mark.parametrize(
    "name", ["agents", "deep", "diffusion", "envs", "errors", "measures", "options", "report", "worlds"]
)
def test_submodules_are_attributes(name: str) -> None:
    code = f"import farpoint as fp; print(fp.{name}.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"farpoint.{name}"


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


def test_there_are_few_names_at_the_top_and_all_exist() -> None:
    assert len(fp.__all__) <= 40
    for name in fp.__all__:
        assert getattr(fp, name) is not None


def test_dir_lists_the_public_names() -> None:
    assert set(fp.__all__) <= set(dir(fp))
