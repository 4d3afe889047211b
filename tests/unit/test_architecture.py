"""The structure of the package: layers, sizes, names, what may write files, a light start, examples everywhere."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import farpoint as fp
from farpoint.errors import MissingExtra

PACKAGE = Path(fp.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# From the bottom up: a layer imports only from those before it.
LAYERS = [
    "errors",
    "files",
    "display",
    "compiling",
    "blas",
    "parallel",
    "worlds",
    "diffusion",
    "simulation",
    "options",
    "envs",
    "measures",
    "agents",
    "exploration",
    "deep",
    "report",
    "paper",
    "studio",
    "cli",
]
MOST_NAMES = 41
# What ``fp.discover(fp.four_rooms(), t=4)`` enters, and how often it changes between files.
MOST_FILES_ON_THE_WAY = 16
MOST_JUMPS_ON_THE_WAY = 50
# A rival's function that its package has no other way to call.
RIVALS_FUNCTION = "_compute_eigendecomp"
# Packages of whose public names every one has an example.
EXEMPLARY = ["display", "diffusion", "options", "envs", "measures", "agents", "worlds", "deep", "report"]


def name_of(file: Path) -> str:
    """The dotted name of a module; ``python -m farpoint`` and ``python -m farpoint.studio`` are the command line."""
    if file.name == "__main__.py":
        return "farpoint.cli.__main__"
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def assert_none(broken: Callable[[Path], Iterable[str]], files: Iterable[Path] = FILES) -> None:
    """Fail with all that is wrong, one line of the message each."""
    found = [f"{file.relative_to(PACKAGE).as_posix()}: {wrong}" for file in files for wrong in broken(file)]
    assert not found, "\n".join(["", *found])


def imported_layers(file: Path) -> set[str]:
    """The layers that a module imports from, anywhere; of the package itself all but its version is above."""
    names, of_package = set[str](), set[str]()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.ImportFrom):
            if node.module == "farpoint":
                names |= {f"farpoint.{alias.name}" for alias in node.names}
            else:
                names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
            of_package |= {alias.asname or alias.name for alias in node.names if alias.name == "farpoint"}
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in of_package:
            names.add(f"farpoint.{node.attr}")
    layers = {name.split(".")[1] for name in names if name.startswith("farpoint.")}
    return layers - {"__version__", "__file__"}


def test_every_module_belongs_to_a_layer() -> None:
    assert {name_of(file).split(".")[1] for file in FILES if file.parent != PACKAGE or file.stem != "__init__"} == set(
        LAYERS
    )


def test_imports_point_down() -> None:
    def layers_above(file: Path) -> Iterator[str]:
        layer = name_of(file).split(".")[1]
        above = imported_layers(file) - set(LAYERS[: LAYERS.index(layer) + 1])
        return (f"imports {name}" for name in sorted(above))

    assert_none(layers_above, [file for file in FILES if name_of(file) != "farpoint"])


def test_imports_name_the_whole_module() -> None:
    def relative_imports(file: Path) -> Iterator[str]:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ImportFrom) and node.level:
                yield f"line {node.lineno}: a relative import"

    assert_none(relative_imports)


def test_no_module_has_the_name_of_something_in_it() -> None:
    def same_names(file: Path) -> Iterator[str]:
        name = name_of(file).rsplit(".", 1)[-1]
        for node in tree_of(file).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                yield f"line {node.lineno}: {name} is defined"
            if isinstance(node, (ast.Import, ast.ImportFrom)) and name in {a.asname or a.name for a in node.names}:
                yield f"line {node.lineno}: {name} is imported"

    assert_none(same_names)


# Imports every module that can be imported here, and says what the modules look like afterwards.
_LOOK = """
import importlib, inspect, json, pkgutil
import farpoint

modules, missing, broken, callables, shadowed = {"farpoint": farpoint}, [], [], [], []
for info in pkgutil.walk_packages(farpoint.__path__, "farpoint.", onerror=lambda name: None):
    if info.name.endswith("__main__"):
        continue
    try:
        modules[info.name] = importlib.import_module(info.name)
    except ImportError as error:
        of_others = error.name is not None and not error.name.startswith("farpoint")
        (missing if of_others else broken).append(info.name)
for name, module in modules.items():
    parent, _, last = name.rpartition(".")
    if inspect.isroutine(own := getattr(module, last, None)) or inspect.isclass(own):
        callables.append(name)
    if parent and getattr(modules[parent], last) is not module:
        shadowed.append(name)
print(json.dumps({"modules": list(modules), "missing": missing, "broken": broken,
    "callables": callables, "shadowed": shadowed}))
"""


@pytest.mark.slow
def test_every_module_can_be_imported_under_its_name() -> None:
    command = [sys.executable, "-W", "ignore", "-c", _LOOK]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    look: dict[str, list[str]] = json.loads(run.stdout.splitlines()[-1])
    assert look["broken"] == []
    # But for those that need packages which are not installed here.
    assert {*look["modules"], *look["missing"]} == {name_of(file) for file in FILES} - {"farpoint.cli.__main__"}
    assert look["callables"] == [], "importing these modules gives a function"
    assert look["shadowed"] == [], "an attribute of the package hides these modules"


class Writers(ast.NodeVisitor):
    """The calls of a module that write files under a name of their own.

    Allowed is what writes to a place that `atomic_write` or `results_folder` gave, in the ``with`` block of that place,
    or into memory.
    """

    METHODS = frozenset({"write_text", "write_bytes", "savefig", "savez", "savez_compressed", "savetxt", "tofile"})
    TABLES = frozenset({"write_table", "to_parquet", "to_csv", "to_json", "to_pickle"})
    FUNCTIONS = frozenset({"os.replace", "os.rename", "shutil.move", "shutil.copy", "shutil.copytree", "np.save"})
    TEMPORARY = frozenset({"mkdtemp", "mkstemp", "NamedTemporaryFile", "TemporaryFile"})

    def __init__(self) -> None:
        self.found: list[str] = []
        self._given: list[str] = []

    def visit_With(self, node: ast.With) -> None:
        names = [
            item.optional_vars.id
            for item in node.items
            if isinstance(item.optional_vars, ast.Name)
            and {"atomic_write", "results_folder"} & {called(call) for call in calls_in(item.context_expr)}
        ]
        self._given += names
        self.generic_visit(node)
        del self._given[len(self._given) - len(names) :]

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Call) and called(node.value).endswith(("BytesIO", "StringIO")):
            self._given += [target.id for target in node.targets if isinstance(target, ast.Name)]
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        places = {name.id for part in (node.func, *node.args) for name in ast.walk(part) if isinstance(name, ast.Name)}
        if self._writes(node) and not places & set(self._given):
            self.found.append(f"line {node.lineno}: {called(node)}")
        self.generic_visit(node)

    def _writes(self, node: ast.Call) -> bool:
        name, method = called(node), isinstance(node.func, ast.Attribute)
        last = name.rsplit(".", 1)[-1]
        if last == "open" and name != "os.open":
            modes = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "mode")][:3]
            return any(
                isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) & set("wxa+")
                and set(mode.value) <= set("rwxabt+")
                for mode in modes
            )  # fmt: skip
        return (method and last in self.METHODS | self.TABLES) or name in self.FUNCTIONS or last in self.TEMPORARY


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Call))


def called(node: ast.Call) -> str:
    """What is called, as far as it is a dotted name."""
    function: Any = node.func
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    return ".".join(reversed([*parts, function.id if isinstance(function, ast.Name) else "…"]))


def written_in(code: str) -> list[str]:
    writers = Writers()
    writers.visit(ast.parse(code))
    return writers.found


def test_only_one_module_writes_files() -> None:
    others = [file for file in FILES if file.name != "files.py"]
    assert_none(lambda file: written_in(file.read_text(encoding="utf-8")), others)


def test_writers_are_noticed() -> None:
    for code in (
        "open(path, 'w')",
        "path.open('wb')",
        "path.open(mode='a')",
        "path.write_text(text)",
        "np.savez(path, a=a)",
        "os.replace(a, b)",
        "tempfile.mkdtemp()",
        "figure.savefig(path)",
        "with atomic_write(path) as temporary:\n    figure.savefig(path)",
        "with atomic_write(path) as temporary:\n    pass\nfigure.savefig(temporary)",
    ):
        assert len(written_in(code)) == 1, code


def test_readers_and_given_places_are_no_writers() -> None:
    for code in (
        "open(path)",
        "path.open('rb')",
        "write_text(path, text)",
        "text.replace(a, b)",
        "buffer = io.BytesIO()\nfigure.savefig(buffer)",
        "with atomic_write(path) as temporary:\n    figure.savefig(temporary)",
        "with atomic_write(path) as temporary, temporary.open('w') as file:\n    pass",
        "with results_folder(out) as folder:\n    (folder / 'a').write_text(b)",
    ):
        assert written_in(code) == [], code


def test_start_is_light() -> None:
    heavy = ["torch", "matplotlib", "starlette", "uvicorn", "numba", "scipy"]
    for command in ("import farpoint", "from farpoint.cli.app import app"):
        code = f"import sys; {command}; print([m for m in {heavy} if m in sys.modules])"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert run.stdout.strip() == "[]", command


# Counts every change of file between consecutive calls inside the package; compilation and first use come before.
_WAY = """
import json, sys
from pathlib import Path
import farpoint as fp
from farpoint.errors import MissingExtra

def discover():
    fp.discover(fp.four_rooms(), t=4)

def watch(frame, event, _):
    name = frame.f_code.co_filename
    if event == "call" and name.startswith(root) and way[-1:] != [name]:
        way.append(name)

root, way = str(Path(fp.__file__).parent), []
discover()
sys.setprofile(watch)
discover()
sys.setprofile(None)
print(json.dumps([Path(name).relative_to(root).as_posix() for name in way]))
"""


@cache
def main_way() -> list[str]:
    """The files that discovery enters, in order; in a process of its own, whose log nobody listens to."""
    run = subprocess.run([sys.executable, "-c", _WAY], capture_output=True, text=True, check=True)
    way: list[str] = json.loads(run.stdout)
    return way


def test_the_main_way_is_short() -> None:
    way = main_way()
    assert {"worlds/maps.py", "diffusion/walk.py", "options/option_set.py"} <= set(way)
    assert len(set(way)) <= MOST_FILES_ON_THE_WAY, sorted(set(way))
    assert len(way) - 1 <= MOST_JUMPS_ON_THE_WAY, way


def test_the_main_way_is_drawn() -> None:
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawing = page.split("The main way", 1)[1].split("```")[1]
    drawn = [line.split()[0] for line in drawing.splitlines() if line.strip()]
    assert [file for file in drawn if not (PACKAGE / file).exists()] == []
    assert drawn
    assert set(drawn) <= set(main_way())


def test_modules_are_attributes_of_the_package() -> None:
    modules = [layer for layer in LAYERS if layer != "cli"]
    code = f"import farpoint as fp; print([getattr(fp, name).__name__ for name in {modules}])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str([f"farpoint.{name}" for name in modules])


def test_there_are_few_names_at_the_top() -> None:
    assert len(fp.__all__) == len(set(fp.__all__)) <= MOST_NAMES
    assert set(fp.__all__) <= set(dir(fp))


def test_names_at_the_top_are_those_of_the_stub_that_type_checkers_read() -> None:
    lines = [line for line in (PACKAGE / "__init__.pyi").read_text().splitlines() if line.startswith("from .")]
    names = [line.split(" as ")[1] for line in lines]
    assert lines == [line for line, name in zip(lines, names, strict=True) if line.endswith(f"import {name} as {name}")]
    modules = {layer for layer in LAYERS if layer != "cli"}
    assert sorted(names) == sorted({*fp.__all__, *modules})
    needs_torch = set[str]()
    for name in fp.__all__:
        try:
            getattr(fp, name)
        except MissingExtra:
            needs_torch.add(name)
    assert needs_torch <= set(fp.deep.__all__)


@pytest.mark.parametrize("deep", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_public_name_has_an_example(deep: bool) -> None:
    without = list[str]()
    needs_torch = set(fp.deep.__all__)
    public = [(fp, name) for name in fp.__all__]
    public += [(getattr(fp, package), name) for package in EXEMPLARY for name in getattr(fp, package).__all__]
    for package, name in public:
        if (name in needs_torch) != deep:
            continue
        value = getattr(package, name)
        # A constant has no docstring of its own.
        has = doctest.DocTestParser().get_examples(inspect.getdoc(value) or "") if callable(value) else name.isupper()
        if not has:
            without.append(f"{package.__name__}.{name}")
    assert not without, "\n".join(["", *without])


def test_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'teleport'"):
        fp.teleport  # type: ignore[attr-defined]  # noqa: B018


def private_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Names with one underscore that belong to something else: imported, read off an object, or to be replaced."""

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


def test_nothing_outside_reaches_private_names() -> None:
    root = Path(__file__).parents[2]
    found = list[str]()
    for folder in ("tests", "examples", "research", "tools"):
        files = sorted((root / folder).rglob("*.py"))
        assert files, f"{folder} has no files"
        for file in files:
            names = private_names(ast.parse(file.read_text(encoding="utf-8")))
            found += [f"{file.relative_to(root)}:{line}: {name}" for line, name in names if name != RIVALS_FUNCTION]
    assert not found, "\n".join(["", *found])
