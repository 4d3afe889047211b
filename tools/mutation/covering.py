"""Which tests run which lines, and how long they take: measured once by coverage, kept until the sources change."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

from tools.mutation.mutants import PACKAGES, Mutant
from tools.mutation.private_copy import PrivateCopy

# What may kill a mutant: the package's own tests, those of what uses it, and the examples in docstrings.
KILLERS = (
    *(f"tests/unit/{package}" for package in (*PACKAGES, "simulation")),
    "tests/unit/test_defects.py",
    "tests/contract/test_options.py",
    "tests/contract/test_worlds.py",
    "tests/properties",
    "tests/numbers",
    *(f"src/farpoint/{package}" for package in PACKAGES),
)
# A test that takes longer than this is left out, and so are more than this of tests in all.
_SLOWEST_SECONDS = 10.0
_MOST_SECONDS = 40.0


@dataclass(frozen=True)
class CoverageMap:
    """The tests that run each line of each file, and the seconds of each test."""

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]
    sources: Path

    @classmethod
    def of(cls, copy: PrivateCopy, folder: Path) -> CoverageMap:
        """Return the map of the copy's sources, measured now or before."""
        stored = folder / f"map-{_digest(copy.root)}.json"
        if not stored.exists():
            stored.write_text(json.dumps(_measured(copy, folder)), encoding="utf-8")
        tests, seconds = json.loads(stored.read_text(encoding="utf-8"))
        numbered = {path: {int(line): names for line, names in lines.items()} for path, lines in tests.items()}
        return cls(numbered, seconds, copy.root)

    def killers(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the changed line: those of its file and of its folder, then the quickest first."""
        found = self._running(mutant.path, mutant.line, mutant.source)
        path = Path(mutant.path)
        own, folder = f"/test_{path.stem}.py::", path.parent.as_posix().replace("src/farpoint", "tests/unit")
        order = sorted(found, key=lambda name: (own not in name, not name.startswith(folder), self.seconds[name]))
        total, chosen = 0.0, []
        for name in order:
            total += self.seconds[name]
            if total > _MOST_SECONDS:
                break
            chosen.append(name)
        return chosen

    def _running(self, path: str, line: int, source: str) -> set[str]:
        lines = self.tests.get(path, {})
        if _in_kernel(source, line):
            # Compiled lines are not seen: the tests that run any line of its file, or a line that imports it.
            return {name for names in lines.values() for name in names} | self._importing(path)
        first, last = _statement(source, line)
        found = {name for number in range(first, last + 1) for name in lines.get(number, ())}
        # A line that runs when the module is imported belongs to every test of the module.
        return found or {name for names in lines.values() for name in names}

    def _importing(self, path: str) -> set[str]:
        module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        pattern = re.compile(rf"^\s*(from {re.escape(module)} import|import {re.escape(module)}\b)")
        found: set[str] = set()
        for other in sorted((self.sources / "src").rglob("*.py")):
            name = other.relative_to(self.sources).as_posix()
            lines = other.read_text(encoding="utf-8").splitlines()
            if any(pattern.match(text) for text in lines):
                found |= {test for tests in self.tests.get(name, {}).values() for test in tests}
        return found


def _in_kernel(source: str, line: int) -> bool:
    """Return whether a line lies in a compiled function."""
    return any(
        isinstance(node, ast.FunctionDef)
        and node.lineno <= line <= (node.end_lineno or line)
        and any(ast.unparse(one).startswith(("compiled(", "allocation_free(")) for one in node.decorator_list)
        for node in ast.walk(ast.parse(source))
    )


def _statement(source: str, line: int) -> tuple[int, int]:
    """Return the first and last line of the smallest statement around a line; of a compound one only its head."""
    best = (line, line)
    size = 10**9
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        if node.lineno <= line <= last and last - node.lineno < size:
            best, size = (node.lineno, last), last - node.lineno
    return best


def _digest(root: Path) -> str:
    found = hashlib.sha256()
    for path in sorted([*(root / "src").rglob("*.py"), *(root / "tests").rglob("*.py")]):
        if "mutation" not in path.parts:
            found.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:12]


def _measured(copy: PrivateCopy, folder: Path) -> tuple[dict[str, dict[int, list[str]]], dict[str, float]]:
    times, data = folder / "times.json", folder / "coverage"
    data.unlink(missing_ok=True)
    paths = [path for path in KILLERS if (copy.root / path).exists()]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tools.mutation.timing"]
    command += ["--cov=farpoint", "--cov-context=test", "--cov-report=", *paths]
    # Failures are not of interest here: a test that fails without a mutant is not used.
    environment = copy.environment(FARPOINT_TIMES=str(times), COVERAGE_FILE=str(data))
    subprocess.run(command, cwd=copy.root, env=environment, check=False)
    seconds = {name: time for name, time in json.loads(times.read_text()).items() if time <= _SLOWEST_SECONDS}
    coverage = CoverageData(str(data))
    coverage.read()
    tests: dict[str, dict[int, list[str]]] = {}
    for path in coverage.measured_files():
        name = Path(path).relative_to(copy.root).as_posix()
        by_line = coverage.contexts_by_lineno(path)
        named = {line: {context.partition("|")[0] for context in contexts} for line, contexts in by_line.items()}
        tests[name] = {line: sorted(names & seconds.keys()) for line, names in named.items()}
    return tests, seconds
