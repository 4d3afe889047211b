"""Compiled functions: the short ones are interpreted at first."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import farpoint as fp
from farpoint.compiling import compiled_when_worth

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
