"""Compiled functions: nothing is compiled before the first call, and never an old form is called."""

from __future__ import annotations

import ast
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint import compiling
from farpoint.compiling import compiled, kernel_digest

MAKES_ARRAYS = {"empty", "zeros", "ones", "full", "arange", "array", "copy", "concatenate", "sort", "argsort", "append"}


def test_long_arrays_are_compiled_at_once() -> None:
    kinds = []

    @compiled(interpret_up_to=5_000)
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


@pytest.mark.parametrize("words", [[], ["--n-options", "4", "--out", "results"]])
def test_the_command_needs_no_compiler_for_a_small_map(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "my_map.txt").write_text("S.........\n.####.###.\n" + "..........\n" * 10 + ".........G\n")
    code = (
        "import sys\nfrom farpoint.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, 'numba' in sys.modules)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "discover", "my_map.txt", *words], capture_output=True, text=True, check=True,
        cwd=tmp_path,
    )  # fmt: skip
    assert run.stdout.split()[-2:] == ["0", "False"]


def test_the_pictures_of_a_map_of_a_thousand_states_compile_no_score(tmp_path: Path) -> None:
    (tmp_path / "my_map.txt").write_text("\n".join(["." * 40] * 27))
    run = subprocess.run(
        [sys.executable, "-m", "farpoint", "discover", "my_map.txt", "--out", "results"], cwd=tmp_path,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}, capture_output=True,
    )  # fmt: skip
    assert run.returncode == 0
    assert (tmp_path / "results" / "score_over_t.png").exists()
    assert [path for path in (tmp_path / "cache").rglob("*") if "map_kernels" in path.name] == []


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
from farpoint.base import BASE, PASSED

SIZE = 1
OTHER = BASE

def unrelated():
    return 0
"""
BASE = """\
from farpoint.bottom import BOTTOM

def compute():
    return BOTTOM

def plain():
    return 'plain'

BASE = 5
PASSED = 7
THREE = compute()
"""
BOTTOM = """\
BOTTOM = 3
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a package of the same name: a kernel that calls one of another file, which has a constant of a third."""
    root = tmp_path / "farpoint"
    root.mkdir()
    shutil.copy(compiling.__file__, root)
    files = {"__init__.py": "", "callee.py": CALLEE, "caller.py": CALLER, "sizes.py": SIZES, "base.py": BASE}
    files["bottom.py"] = BOTTOM
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
        ("base.py", "return BOTTOM", "return 4", False),
        ("bottom.py", "BOTTOM = 3", "BOTTOM = 4", False),
        ("base.py", "return 'plain'", "return 'other'", True),
    ],
)
def test_digest_of_kernels_changes_with_code_only(package: Path, file: str, old: str, new: str, same: bool) -> None:
    before = kernel_digest.__wrapped__(package)
    (package / file).write_text((package / file).read_text().replace(old, new))
    assert (kernel_digest.__wrapped__(package) == before) is same


# A kernel beside its caller, in one file with what has nothing to do with machine code.
MIXED = """\
from farpoint.compiling import compiled
from farpoint.base import BASE, plain
from farpoint.sizes import PASSED as SIZE, unrelated

class Result:
    size: int
    def total(self):
        return unrelated()

def caller(x):
    from farpoint.elsewhere import OTHER
    return kernel(x) + len(plain()) + OTHER

@compiled()
def kernel(x):
    return x + SIZE
"""


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("mixed.py", "kernel(x) +", "2 * kernel(x) +", True),
        ("mixed.py", "return unrelated()", "return 3 * unrelated()", True),
        ("mixed.py", "BASE, plain", "BASE, plain, THREE", True),
        ("elsewhere.py", "OTHER = 1", "OTHER = 2", True),
        ("mixed.py", "PASSED as SIZE", "OTHER as SIZE", False),
        ("mixed.py", "size: int", "size: float", False),
        ("mixed.py", "x + SIZE", "x - SIZE", False),
        # The constant comes through a module that only passes it on.
        ("base.py", "PASSED = 7", "PASSED = 8", False),
    ],
)
def test_digest_of_a_kernel_beside_its_caller(package: Path, file: str, old: str, new: str, same: bool) -> None:
    (package / "callee.py").unlink()
    (package / "caller.py").unlink()
    (package / "mixed.py").write_text(MIXED)
    (package / "elsewhere.py").write_text("OTHER = 1\n")
    before = kernel_digest.__wrapped__(package)
    assert old in (package / file).read_text()
    (package / file).write_text((package / file).read_text().replace(old, new))
    assert (kernel_digest.__wrapped__(package) == before) is same


def test_the_digest_reads_every_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every process that calls a kernel computes it.
    read, parse = list[str](), ast.parse

    def counted(source: str) -> ast.Module:
        read.append(source)
        return parse(source)

    monkeypatch.setattr(ast, "parse", counted)
    kernel_digest.__wrapped__()
    assert len(read) > 20
    assert len(read) == len(set(read))


def test_numba_is_imported_at_the_first_call(package: Path) -> None:
    code = (
        "import sys, inspect, farpoint.caller as c; kinds = [type(c.inner).__name__, 'numba' in sys.modules];"
        "c.outer(1); print(*kinds, 'numba' in sys.modules, inspect.unwrap(c.outer).__name__, type(c.inner).__name__)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["Kernel", "False", "True", "outer", "Kernel"]


@compiled(nogil=True, inline="always")
def plus_one(x: int) -> int:
    return x + 1


@compiled(nogil=True)
def factorial(x: int) -> int:
    return 1 if x == 0 else x * factorial(plus_one(x) - 2)


def test_kernels_may_be_inlined_and_call_themselves() -> None:
    assert factorial(5) == 120
    # The names of this module still hold kernels.
    assert type(factorial) is type(plus_one) is compiling.Kernel


def test_first_calls_from_many_threads() -> None:
    @compiled(nogil=True)
    def inner(x: int) -> int:
        return x + 1

    @compiled(nogil=True)
    def outer(x: int) -> int:
        return 2 * inner(x)

    together = threading.Barrier(8)

    def call(x: int) -> int:
        together.wait()
        return int(outer(x)) if x % 2 else int(inner(x))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(call, range(8))) == [2 * (x + 1) if x % 2 else x + 1 for x in range(8)]


def test_kernels_travel_by_name() -> None:
    assert pickle.loads(pickle.dumps(factorial)) is factorial


def test_interpreted_kernel_interprets_the_kernels_that_it_calls() -> None:
    @compiled()
    def kind(x: Any) -> Any:
        return x

    @compiled(interpret_up_to=5)
    def first(values: Any) -> Any:
        return kind(values[0])

    assert [type(first(np.ones(size))) for size in (5, 6)] == [np.float64, float]


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every compiled function with its decorator, as written."""
    for path in Path(fp.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                decorator = ast.unparse(node.decorator_list[0])
                if decorator.startswith(("compiled(", "allocation_free(")):
                    yield decorator, node


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


def test_kernels_can_be_interpreted(package: Path) -> None:
    code = "import numpy as np; from farpoint.caller import outer; print(repr(outer(np.float64(1))))"
    for disabled, result in (("0", "2.0"), ("1", repr(np.float64(2)))):
        run = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"NUMBA_DISABLE_JIT": disabled}, cwd=package.parent,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        # An interpreted sum is NumPy's, a compiled one Python's.
        assert run.stdout.strip() == result
