"""Compiled functions: the short ones are interpreted at first."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint import compiling
from farpoint.compiling import compiled_when_worth, kernel_digest

MAKES_ARRAYS = {"empty", "zeros", "ones", "full", "arange", "array", "copy", "concatenate", "sort", "argsort", "append"}


def test_long_arrays_are_compiled_at_once() -> None:
    kinds = []

    @compiled_when_worth()
    def total(values: Any) -> Any:
        result = 0.0
        for value in values:
            result += value
        return result

    for size in (10, 6_000):
        kinds.append(type(total(np.ones(size))))
    # An interpreted sum is of NumPy's floats, a compiled one of Python's.
    assert kinds == [np.float64, float]


def test_discovery_in_a_small_world_needs_no_compiler() -> None:
    code = (
        "import sys, farpoint as fp; options = fp.discover(fp.four_rooms());"
        "options.option_probability; options[0].ends;"
        "print(len(options), 'numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["20", "False"]


CALLEE = """\
"Words."
from farpoint.compiling import compiled
from farpoint.sizes import SIZE

@compiled()
def inner(x):
    "Words."
    return x + SIZE
"""
CALLER = """\
from farpoint.compiling import compiled
from farpoint.callee import inner

@compiled()
def outer(x):
    return inner(x)
"""
SIZES = """\
from farpoint.base import BASE

SIZE = 1
OTHER = BASE

def unrelated():
    return 0
"""
BASE = """\
def compute():
    return 3

def plain():
    return 'plain'

BASE = 5
THREE = compute()
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a package of the same name: a kernel that calls one of another file, which has a constant of a third."""
    root = tmp_path / "farpoint"
    root.mkdir()
    shutil.copy(compiling.__file__, root)
    files = {"__init__.py": "", "callee.py": CALLEE, "caller.py": CALLER, "sizes.py": SIZES, "base.py": BASE}
    for name, text in files.items():
        (root / name).write_text(text)
    return root


def outer_of_one(package: Path) -> int:
    code = "from farpoint.caller import outer; print(outer(1))"
    run = subprocess.run([sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.parametrize(
    ("file", "old", "new"), [("callee.py", "x + SIZE", "x + 100 * SIZE"), ("sizes.py", "SIZE = 1", "SIZE = 100")]
)
def test_kernel_of_another_file_is_compiled_again_where_what_it_calls_changes(
    package: Path, file: str, old: str, new: str
) -> None:
    assert outer_of_one(package) == 2
    kept = set(package.rglob("*.nb?"))
    (package / file).write_text((package / file).read_text().replace(old, new))
    assert outer_of_one(package) == 101
    assert kept
    assert set(package.rglob("*.nb?")) == kept


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("callee.py", "Words", "Other words", True),
        ("callee.py", "return x", "# why\n    return x", True),
        ("sizes.py", "return 0", "return 1", True),
        ("callee.py", "x + SIZE", "SIZE + x", False),
        ("callee.py", "@compiled()", "@compiled(nogil=True)", False),
        ("sizes.py", "SIZE = 1", "SIZE = 2", False),
        ("sizes.py", "def unrelated", "class Table:\n    a: int\n\ndef unrelated", False),
        ("callee.py", "import SIZE", "import OTHER as SIZE", False),
        ("sizes.py", "def unrelated", "if True:\n    SIZE = 2\n\ndef unrelated", False),
        ("base.py", "BASE = 5", "BASE = 6", False),
        ("base.py", "return 3", "return 4", False),
        ("base.py", "return 'plain'", "return 'other'", True),
    ],
)
def test_digest_of_kernels_changes_with_code_only(package: Path, file: str, old: str, new: str, same: bool) -> None:
    before = kernel_digest.__wrapped__(package)
    (package / file).write_text((package / file).read_text().replace(old, new))
    assert (kernel_digest.__wrapped__(package) == before) is same


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every compiled function with its decorator, as written."""
    for path in Path(fp.__file__).parent.rglob("*kernels.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                yield ast.unparse(node.decorator_list[0]), node


def test_loops_without_counts_make_no_arrays_and_call_none_that_does() -> None:
    counted = {node.name for decorator, node in functions() if not decorator.startswith("allocation_free")}
    counted -= {node.name for decorator, node in functions() if "inline" in decorator}
    free = [node for decorator, node in functions() if decorator.startswith("allocation_free")]
    # A name that is there twice, once counted, cannot be told apart.
    counted -= {node.name for node in free}
    assert len(free) > 20
    for node in free:
        for inner in ast.walk(node):
            assert not isinstance(inner, (ast.List, ast.ListComp, ast.Raise)), node.name
            if isinstance(inner, ast.Call):
                called = inner.func.attr if isinstance(inner.func, ast.Attribute) else ast.unparse(inner.func)
                assert called not in counted | MAKES_ARRAYS, (node.name, called)


def test_kernels_can_be_interpreted() -> None:
    code = "from farpoint.simulation.kernels import below; print(type(below).__name__)"
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert run.stdout.strip() == "function"
