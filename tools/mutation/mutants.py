"""Which small changes can be made to the source, and a sample of them.

The changes are Cosmic Ray's. Left out are those that no test could or should see: annotations, decorators, the text of
errors, ``__repr__``, flags that only change speed, operators that no number accepts (``1.5 << x``), and limits moved by
a hundredth of themselves or less (``_MOST_STATES = 6_001``).
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

PACKAGES = ("diffusion", "options", "measures")
# Each operator is replaced by another of its own kind only.
_KINDS = ({"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"}, {"BitOr", "BitAnd", "BitXor"}, {"RShift", "LShift"})
# Keywords that no result depends on: checks of what always holds, flags of speed, and the number of workers.
_IDLE_KEYWORDS = {"strict", "check_finite", "overwrite_a", "stacklevel", "n_jobs"}
# One more or less of this is no other limit.
_LARGE = 100

Place = tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the given occurrence of a Cosmic Ray operator."""

    path: str
    line: int
    operator: str
    occurrence: int
    place: int  # among the changes of this operator in the line
    source: str

    @property
    def line_key(self) -> str:
        """The file, the text of the line, and which of the equal lines of the file it is."""
        lines = _stripped_lines(self.source)
        text = lines[self.line - 1]
        return f"{self.path}:{lines[: self.line - 1].count(text)}:{text}"

    @property
    def key(self) -> str:
        """The name under which its result is kept: it stays the same while the line does."""
        return f"{self.line_key}:{self.operator.removeprefix('core/')}:{self.place}"

    @cached_property
    def code(self) -> str:
        """The file with the change."""
        return str(mutate_code(self.source, get_operator(self.operator)(), self.occurrence))

    @property
    def diff(self) -> str:
        """What changes, as a diff without context."""
        lines = difflib.unified_diff(self.source.splitlines(), self.code.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))

    @property
    def compiles(self) -> bool:
        """Whether the change leaves a program, another than before."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                return ast.dump(ast.parse(self.code)) != ast.dump(ast.parse(self.source))
        # Cosmic Ray cannot replace an exception whose name has a dot.
        except (SyntaxError, AttributeError):
            return False


def sampled(root: Path, n_mutants: int, seed: int) -> list[Mutant]:
    """Return mutants of different lines, every line that can be changed being as likely, in random order.

    The order follows from the text of the lines, so that most of a sample stays the same when something else changes.
    """
    by_line = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((root / "src/farpoint" / package).rglob("*.py")):
            for mutant in mutants_of(root, path):
                by_line[mutant.path, mutant.line].append(mutant)

    def shuffled(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).hexdigest()

    lines = [sorted(mutants, key=shuffled) for mutants in by_line.values()]
    lines.sort(key=lambda mutants: hashlib.sha256(f"{seed} {mutants[0].line_key}".encode()).hexdigest())
    chosen: list[Mutant] = []
    for line in lines:
        chosen += [mutant for mutant in line if mutant.compiles][:1]
        if len(chosen) == n_mutants:
            break
    return chosen


@cache
def _stripped_lines(source: str) -> list[str]:
    return [line.strip() for line in source.splitlines()]


def mutants_of(root: Path, path: Path) -> Iterator[Mutant]:
    """Yield every change of a file that counts."""
    source = path.read_text(encoding="utf-8")
    nodes = list(ast_nodes(get_ast(source)))
    idle = _idle_ranges(ast.parse(source), source)
    for name in sorted(operator_names()):
        kind = get_operator(name)
        if kind.arguments() or not _sensible(name.removeprefix("core/")):
            continue
        operator = kind()
        places = (place for node in nodes for place in operator.mutation_positions(node))
        in_line: Counter[int] = Counter()
        for occurrence, (begin, _) in enumerate(places):
            in_line[begin[0]] += 1
            if not any(first <= begin < last for first, last in idle):
                place = in_line[begin[0]]
                yield Mutant(path.relative_to(root).as_posix(), begin[0], name, occurrence, place, source)


def _sensible(operator: str) -> bool:
    if operator == "RemoveDecorator":
        return False
    if not operator.startswith("ReplaceBinaryOperator_"):
        return True
    _, before, after = operator.split("_")
    return any({before, after} <= kind for kind in _KINDS)


def _idle_ranges(tree: ast.Module, source: str) -> list[tuple[Place, Place]]:
    """Return the ranges of source (line, column) in which a change does not count."""
    idle: list[ast.AST | None] = []
    ranges: list[tuple[Place, Place]] = []
    lines = source.splitlines()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name="__repr__") | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
                idle.append(node)
            case ast.FunctionDef(decorator_list=decorators, returns=returns) as function:
                idle += [*decorators, returns]
                ranges += _signature(function)
            case ast.ClassDef(decorator_list=decorators):
                idle += decorators
            case ast.AnnAssign(annotation=annotation):
                idle.append(annotation)
            case ast.Raise(exc=raised):
                idle.append(raised)
            case ast.keyword(arg=name) if name in _IDLE_KEYWORDS:
                idle.append(node)
            # Cosmic Ray adds or subtracts 1.
            case ast.Constant(value=float() | int() as number) if abs(number) >= _LARGE:
                idle.append(node)
            # An alias of a type.
            case ast.BinOp(op=ast.BitOr(), right=ast.Constant(value=None)):
                idle.append(node)
    ranges += [_range(node, lines) for node in idle if node is not None]
    return ranges


def _range(node: ast.AST, lines: list[str]) -> tuple[Place, Place]:
    # Python counts columns in bytes, Cosmic Ray in characters.
    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode())

    first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    begin, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
    return (first, column(first, begin)), (last, column(last, end))


def _signature(function: ast.FunctionDef) -> list[tuple[Place, Place]]:
    """Return the ranges of a signature between its default values, but for the number of workers."""
    signature = function.args
    positional = [*signature.posonlyargs, *signature.args]
    named = [
        *zip(positional[len(positional) - len(signature.defaults) :], signature.defaults, strict=True),
        *zip(signature.kwonlyargs, signature.kw_defaults, strict=True),
    ]
    defaults = sorted(
        (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
        for argument, node in named
        if node is not None and argument.arg not in _IDLE_KEYWORDS
    )
    begins = [(function.lineno, function.col_offset), *((line, column) for _, _, line, column in defaults)]
    ends = [*((line, column) for line, column, _, _ in defaults), (function.body[0].lineno, 0)]
    return list(zip(begins, ends, strict=True))
