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

# A function of arrays that are at most so long is interpreted, until that has taken as long as compiling would.
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
        # An entry with another stamp is compiled again and replaced, so that no old files pile up.
        entries = decorated._cache._cache_file
        entries._source_stamp = (entries._source_stamp, kernel_digest())
        return decorated  # type: ignore[no-any-return]

    return decorate


@cache
def kernel_digest(root: Path = Path(__file__).parent) -> str:
    """Return a digest of everything in a package that compiled functions are made of, in all of its files.

    That is every function in which one of the decorators of this module occurs, and the constants and classes beside
    it and in the modules that its file imports: numba treats them as fixed. Docstrings, comments, methods and all
    other functions do not count.

    >>> len(kernel_digest())
    16
    """
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    # The module itself names the decorators without compiling anything.
    trees = {
        path: ast.parse(source)
        for path, source in sources.items()
        if any(f"{name}(" in source for name in _DECORATORS) and path != Path(__file__)
    }
    imported = {file for path in trees for file in _imported(path, root)}
    trees |= {path: ast.parse(sources[path]) for path in imported - trees.keys()}
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(trees):
        digest.update(f"{path.relative_to(root)}\n".encode())
        for node in trees[path].body:
            if isinstance(node, ast.ClassDef):
                node.body = [inner for inner in node.body if not isinstance(inner, ast.FunctionDef)]
            if _fixed_by_numba(node):
                digest.update(ast.dump(without_docstrings(node)).encode())
    return digest.hexdigest()


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
    code = ast.dump(without_docstrings(ast.parse(path.read_text(encoding="utf-8"))))
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
        new = {file for path in new for root in roots for file in _imported(path, root)} - found
    return found


@cache
def _imported(path: Path, root: Path) -> frozenset[Path]:
    """Return the files of a package from which a file imports."""
    files = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == root.name:
            place = root.joinpath(*node.module.split(".")[1:])
            # What is imported from a package may be one of its modules.
            files |= {
                place.with_suffix(".py"),
                place / "__init__.py",
                *(place / f"{one.name}.py" for one in node.names),
            }
    return frozenset(file for file in files if file.exists())


def _fixed_by_numba(node: ast.stmt) -> bool:
    """Return whether a statement of a module is part of machine code: a compiled function, a constant or a class."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        return not names.isdisjoint(_DECORATORS)
    return isinstance(node, (ast.Assign, ast.AnnAssign, ast.ClassDef))


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
