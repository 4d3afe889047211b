"""The decorators of compiled functions: numba, with its cache where one can be written.

Nothing is compiled, and numba is not imported, before the first call, so a kernel can stand in any module, beside the
function that calls it.

Numba keeps machine code until the file that defines a function changes. A function in another file that calls or
inlines an edited one would go on with the old code, so every entry of the cache also carries `kernel_digest`.
"""

from __future__ import annotations

import ast
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache, update_wrapper
from pathlib import Path
from threading import RLock
from types import CellType, CodeType, FunctionType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Calls with short arrays are interpreted for this time in all, about as long as compiling takes.
_SECONDS = 0.5
_DECORATORS = frozenset({"compiled", "allocation_free"})
_LOCK = RLock()


def compiled(*, interpret_up_to: int = 0, **settings: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles a function with numba at its first call and keeps the result on disk.

    In a container the package and the home folder may both be read-only: then there is no place for the cache, and the
    function is compiled in every process instead. With ``NUMBA_DISABLE_JIT=1`` in the environment every function is
    interpreted.

    Parameters
    ----------
    interpret_up_to
        Interpret a call whose first argument is an array of at most this size, until half a second was spent in such
        calls, so that a small world does not wait for the compiler. Only for a function that gives the same result
        both ways: an interpreted sum of small integers, as of uint8, overflows where a compiled one does not.
    settings
        Arguments of ``numba.njit``.

    Examples
    --------
    >>> @compiled(nogil=True)
    ... def double(x: float) -> float:
    ...     return 2.0 * x
    >>> double(4.0)
    8.0
    """
    return lambda function: Kernel(function, settings, interpret_up_to)  # type: ignore[return-value]


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


class Kernel:
    """A function that is compiled at its first call. Kernels that it calls are compiled into it.

    Examples
    --------
    >>> kernel = Kernel(lambda x: x + 1, {})
    >>> kernel(1)
    2
    """

    def __init__(self, function: Callable[..., Any], settings: dict[str, Any], interpret_up_to: int = 0) -> None:
        update_wrapper(self, function)
        self._function: Any = function
        self._settings = settings
        self._interpret_up_to = interpret_up_to
        self._seconds = 0.0
        self._made: dict[str, Any] = {}
        self._call = self._interpret_short if interpret_up_to else self._compile

    def __call__(self, *arguments: Any) -> Any:
        """Return the function's result."""
        return self._call(*arguments)

    def __reduce__(self) -> str:
        return self._function.__qualname__  # type: ignore[no-any-return]

    def _compile(self, *arguments: Any) -> Any:
        self._call = self.version("compiled")
        return self._call(*arguments)

    def _interpret_short(self, *arguments: Any) -> Any:
        if self._seconds > _SECONDS or arguments[0].size > self._interpret_up_to:
            return self.version("compiled")(*arguments)
        began = time.perf_counter()
        result = self.version("interpreted")(*arguments)
        self._seconds += time.perf_counter() - began
        return result

    def version(self, kind: str) -> Callable[..., Any]:
        """Return the ``"compiled"`` or the ``"interpreted"`` function; kernels that it calls are of that kind too.

        >>> Kernel(lambda x: x + 1, {}).version("interpreted")(1)
        2
        """
        if kind not in self._made:
            with _LOCK:
                making = dict[Kernel, Any]()
                self._make(kind, making)
                # A kernel may call itself: other threads see it when it is complete.
                for kernel, made in making.items():
                    kernel._made.setdefault(kind, made)
        return self._made[kind]  # type: ignore[no-any-return]

    def _make(self, kind: str, making: dict[Kernel, Any]) -> Any:
        """Make this function, and first all kernels that it calls."""
        if kind in self._made:
            return self._made[kind]
        if self in making:
            return making[self]
        # A copy: in its module the names of other kernels stay kernels, for Python code that calls them.
        function, names = self._function, dict(self._function.__globals__)
        cells = tuple(CellType(cell.cell_contents) for cell in function.__closure__ or ())
        copied = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
        made = making[self] = _decorated(copied, self._settings) if kind == "compiled" else copied
        for name in _global_names(function.__code__):
            if isinstance(value := names.get(name), Kernel):
                names[name] = value._make(kind, making)
        for cell in cells:
            if isinstance(value := cell.cell_contents, Kernel):
                cell.cell_contents = value._make(kind, making)
        return made


def _global_names(code: CodeType) -> set[str]:
    """Return the names that a function may look up in its module, those of functions inside it too."""
    inner = [_global_names(value) for value in code.co_consts if isinstance(value, CodeType)]
    return set(code.co_names).union(*inner)


def _decorated(function: Callable[..., Any], settings: dict[str, Any]) -> Any:
    import numba

    try:
        decorated = numba.njit(cache=True, **settings)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return numba.njit(**settings)(function)
    # Without a cache where compiling is switched off (NUMBA_DISABLE_JIT).
    if hasattr(decorated, "_cache"):
        # An entry with another stamp is compiled again and replaced, so that no old files pile up.
        entries = decorated._cache._cache_file
        entries._source_stamp = (entries._source_stamp, kernel_digest())
    return decorated


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
    new = {
        path
        for path, source in sources.items()
        if any(f"{name}(" in source for name in _DECORATORS) and path != Path(__file__)
    }
    modules = {path: _statements(sources[path]) for path in sorted(new)}
    needed = {path: set[str]() for path in modules}
    called, before = set[str](), -1
    while (known := len(called) + sum(map(len, needed.values()))) > before:
        before = known
        for path in list(modules):
            counted = [one for one in modules[path] if one.counts(called)]
            called.update(*(one.called for one in counted))
            needed[path].update(*(one.names for one in counted))
            imports = [each for one in modules[path] if one in counted or one.is_import for each in one.imports]
            for module, alias in imports:
                if _name_of(alias) in needed[path]:
                    for file in _files_of(module, alias, root) & sources.keys():
                        if file not in modules:
                            modules[file] = _statements(sources[file])
                        # It may only pass the name on.
                        needed.setdefault(file, set()).add(alias.name)
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(modules):
        digest.update(f"{path.relative_to(root)}\n".encode())
        for one in modules[path]:
            if one.is_import:
                used = [f"{module} {_code(alias)}" for module, alias in one.imports if _name_of(alias) in needed[path]]
                digest.update("".join(used).encode())
            elif one.counts(called):
                digest.update(_code(without_docstrings(one.node)).encode())
    return digest.hexdigest()


class _Statement:
    """A statement at the top of a module: the names in it and the functions called when the module is imported."""

    def __init__(self, node: ast.stmt) -> None:
        self.node = node
        if isinstance(node, ast.ClassDef):
            node.body = [inner for inner in node.body if not isinstance(inner, ast.FunctionDef)] or [ast.Pass()]
        parts = list(ast.walk(node))
        self.names = {part.id for part in parts if isinstance(part, ast.Name)}
        self.imports = list(_imports(parts))
        self.is_import = isinstance(node, (ast.Import, ast.ImportFrom))
        self.is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        self.is_kernel = self.is_function and not self.names.isdisjoint(_DECORATORS)
        calls = [] if self.is_kernel else [part.func for part in parts if isinstance(part, ast.Call)]
        self.called = {one.id for one in calls if isinstance(one, ast.Name)}
        self.called |= {one.attr for one in calls if isinstance(one, ast.Attribute)}

    def counts(self, called: set[str]) -> bool:
        """Return whether machine code may depend on all of it; of an import it may depend on some names."""
        if self.is_import or (isinstance(self.node, ast.Expr) and isinstance(self.node.value, ast.Constant)):
            return False  # the constant is a docstring
        return not self.is_function or self.is_kernel or self.node.name in called  # type: ignore[attr-defined]


def _statements(source: str) -> list[_Statement]:
    return [_Statement(node) for node in ast.parse(source).body]


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
        imports = [each for path in new for each in _imports(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))]
        files = {file for module, alias in imports for root in roots for file in _files_of(module, alias, root)}
        new = {file for file in files if file.exists()} - found
    return found


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.alias]]:
    """Yield a module and what is imported from it, or the module alone."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, alias) for alias in node.names)


def _name_of(alias: ast.alias) -> str:
    """Return the name under which something is imported."""
    return alias.asname or alias.name.split(".")[0]


def _files_of(module: str, alias: ast.alias, root: Path) -> set[Path]:
    """Return the files of a package that an import may read."""
    top, *rest = module.split(".")
    if top != root.name:
        return set()
    place = root.joinpath(*rest)
    # A name that is imported from a package may be one of its modules.
    return {place.with_suffix(".py"), place / "__init__.py", place / f"{alias.name}.py"}
