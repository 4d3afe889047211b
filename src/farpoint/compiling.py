"""The decorators of compiled functions: numba, with its cache where one can be written.

Numba keeps machine code until the file that defines a function changes. A function in another file that calls or
inlines an edited one would go on with the old code, so every entry of the cache also carries `kernel_digest`.
"""

from __future__ import annotations

import ast
import hashlib
import time
from collections.abc import Callable, Iterable
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# A function of arrays up to this length is interpreted for the first half second in all, about the time to compile it.
_SHORT = 5_000
_SECONDS = 0.5
_DECORATORS = frozenset({"compiled", "allocation_free", "compiled_when_worth"})


def compiled(**settings: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles a function with numba and keeps the result for the next process.

    In a container the package and the home folder may both be read-only: then there is no place for the cache, and the
    function is compiled in every process instead.

    Examples
    --------
    >>> @compiled(nogil=True)
    ... def double(x: float) -> float:
    ...     return 2.0 * x
    >>> double(4.0)
    8.0
    """

    def decorate(function: Function) -> Function:
        import numba

        try:
            decorated = numba.njit(cache=True, **settings)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            return numba.njit(**settings)(function)  # type: ignore[no-any-return]
        # Without a cache where compiling is switched off (NUMBA_DISABLE_JIT).
        if hasattr(decorated, "_cache"):
            # An entry with another stamp is compiled again and replaced, so that no old files pile up.
            entries = decorated._cache._cache_file
            entries._source_stamp = (entries._source_stamp, kernel_digest())
        return decorated  # type: ignore[no-any-return]

    return decorate


@cache
def kernel_digest(root: Path = Path(__file__).parent) -> str:
    """Return a digest of all code in a package that ends up in machine code.

    It covers every function that uses a decorator of this module. It also covers all other statements of its module,
    but for plain functions: numba treats constants and classes as fixed. Modules from which these are imported count
    too. Docstrings, comments, methods and plain functions do not count, unless a constant is computed by one.

    >>> len(kernel_digest())
    16
    """
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    # This module names the decorators without compiling anything.
    kernels = {
        path
        for path, source in sources.items()
        if any(f"{name}(" in source for name in _DECORATORS) and path != Path(__file__)
    }
    trees, new = dict[Path, ast.Module](), kernels
    called = set[str]()
    while new:
        for path in new:
            trees[path] = ast.parse(sources[path])
        fixed = {path: _fixed_statements(trees[path]) for path in new}
        called |= {name for path in new for node in fixed[path] for name in _called(node)}
        # A module without kernels matters only by its constants, and by what they are made of.
        wanted = {path: None if path in kernels else _names(fixed[path]) for path in new}
        new = {
            file for path in new for file in _imported(trees[path], root, wanted[path])
        } & sources.keys() - trees.keys()
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(trees):
        digest.update(f"{path.relative_to(root)}\n".encode())
        for node in trees[path].body:
            if isinstance(node, ast.FunctionDef) and node.name not in called and _names([node]).isdisjoint(_DECORATORS):
                continue
            if path not in kernels and isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring
            digest.update(_code(without_docstrings(_without_methods(node))).encode())
    return digest.hexdigest()


def _fixed_statements(tree: ast.Module) -> list[ast.AST]:
    """Return the statements of a module that numba treats as fixed: everything but functions and imports."""
    left_out = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)
    return [_without_methods(node) for node in tree.body if not isinstance(node, left_out)]


def _without_methods(node: ast.stmt) -> ast.stmt:
    if isinstance(node, ast.ClassDef):
        node.body = [inner for inner in node.body if not isinstance(inner, ast.FunctionDef)] or [ast.Pass()]
    return node


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _called(node: ast.AST) -> set[str]:
    """Return the names of functions that are called while a module is imported."""
    calls = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    return {one.id for one in calls if isinstance(one, ast.Name)} | {
        one.attr for one in calls if isinstance(one, ast.Attribute)
    }


def _code(node: object) -> str:
    """Return a syntax tree as a text that is the same for every version of Python."""
    if isinstance(node, ast.AST):
        fields = [(name, getattr(node, name, None)) for name in node._fields]
        # Newer versions have fields that are empty for code that older ones can read.
        inside = [f"{name}={_code(value)}" for name, value in fields if value is not None and value != []]
        return f"{type(node).__name__}({','.join(inside)})"
    return f"[{','.join(map(_code, node))}]" if isinstance(node, list) else repr(node)


def without_docstrings(tree: ast.AST) -> ast.AST:
    """Remove the docstrings from a syntax tree, in place, and return it; comments are not part of a tree.

    >>> ast.unparse(without_docstrings(ast.parse("'Words.'; size = 1")))
    'size = 1'
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


@cache
def file_digest(path: Path) -> str:
    """Return a digest of the code in a file, without docstrings and comments.

    >>> len(file_digest(Path(__file__)))
    16
    """
    code = _code(without_docstrings(ast.parse(path.read_text(encoding="utf-8"))))
    return hashlib.blake2b(code.encode(), digest_size=8).hexdigest()


def files_behind(paths: Iterable[Path], *roots: Path) -> set[Path]:
    """Return files and all files of the packages at ``roots`` that they import from, directly or not.

    >>> root = Path(__file__).parent
    >>> root / "errors.py" in files_behind([root / "measures" / "statistics.py"], root)
    True
    """
    found, new = set[Path](), set(paths)
    while new:
        found |= new
        trees = [ast.parse(path.read_text(encoding="utf-8")) for path in new]
        new = {file for tree in trees for root in roots for file in _imported(tree, root) if file.exists()} - found
    return found


def _imported(tree: ast.Module, root: Path, wanted: set[str] | None = None) -> set[Path]:
    """Return the files of a package from which a module imports; with ``wanted``, those of these names only."""
    files = set[Path]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            modules = [(node.module or "", alias) for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [(alias.name, alias) for alias in node.names]
        else:
            continue
        for module, alias in modules:
            top, *rest = module.split(".")
            if top == root.name and (wanted is None or (alias.asname or alias.name.split(".")[0]) in wanted):
                place = root.joinpath(*rest)
                # A name that is imported from a package may be one of its modules.
                files |= {place.with_suffix(".py"), place / "__init__.py", place / f"{alias.name}.py"}
    return files


def allocation_free(**settings: Any) -> Callable[[Function], Function]:
    """Return a decorator like `compiled` for a function that makes no arrays, only reads and writes those it is given.

    Otherwise numba counts the references to an array whenever it is taken out of a tuple: an atomic operation, so that
    a step of a simulation, which looks at a dozen arrays, takes ten times as long as it needs to.

    Neither arrays nor views of them may be returned. A function that it calls must be allocation-free too, or inlined:
    one that makes arrays, compiled for this caller first, would lose its counts for every other.

    Examples
    --------
    >>> import numpy as np
    >>> @allocation_free(nogil=True)
    ... def total(arrays):
    ...     return arrays[0][0] + arrays[1][0]
    >>> total((np.arange(3.0), np.ones(2)))
    1.0
    """
    return compiled(_nrt=False, **settings)


def compiled_when_worth(**settings: Any) -> Callable[[Function], Function]:
    """Return a decorator like `compiled` for loops over short arrays: the first half second of them is interpreted.

    So a small world does not wait for a compiler. The function must take a one-dimensional array first, whose length
    says how much there is to do, and call no compiled function.

    Examples
    --------
    >>> import numpy as np
    >>> @compiled_when_worth()
    ... def last(values):
    ...     return values[values.size - 1]
    >>> last(np.arange(3))
    np.int64(2)
    """

    def decorate(function: Function) -> Function:
        spent = 0.0

        @cache
        def fast() -> Any:
            return compiled(**settings)(function)

        @wraps(function)
        def either(array: Any, *others: Any) -> Any:
            nonlocal spent
            if array.size > _SHORT or spent > _SECONDS:
                return fast()(array, *others)
            began = time.perf_counter()
            result = function(array, *others)
            spent += time.perf_counter() - began
            return result

        return either  # type: ignore[return-value]

    return decorate
