"""A copy of the sources that can be changed, with a cache of compiled functions of its own."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.mutation.mutants import Mutant

# A mutant may ask for any amount of memory.
_MOST_BYTES = 12 * 2**30
# The limit is one of computing, so that a busy machine kills nothing; but one that sleeps must end too.
_PATIENCE = 5.0


@dataclass(frozen=True)
class PrivateCopy:
    """The copy, and the cache of what was compiled from it unchanged."""

    root: Path
    cache: Path

    @classmethod
    def make(cls, repository: Path, folder: Path) -> PrivateCopy:
        """Return a fresh copy of sources and tests; the cache stays, for it knows the time of files."""
        root = folder / "copy"
        shutil.rmtree(root, ignore_errors=True)
        for name in ("src", "tests"):
            shutil.copytree(repository / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy2(repository / name, root / name)
        cache = folder / "cache"
        cache.mkdir(parents=True, exist_ok=True)
        return cls(root, cache)

    def environment(self, cache: Path | None = None, **more: str) -> dict[str, str]:
        """Return the environment in which the copy is what is imported."""
        own = {
            "PYTHONPATH": str(self.root / "src"),
            "NUMBA_CACHE_DIR": str(cache or self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        return {**os.environ, **own, **more}

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[Path]:
        """Apply a mutant for a while; yield the cache to use meanwhile."""
        path = self.root / mutant.path
        before, times = path.read_text(encoding="utf-8"), path.stat()
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder) / "cache"
            shutil.copytree(self.cache, cache)
            path.write_text(mutant.code, encoding="utf-8")
            try:
                yield cache
            finally:
                path.write_text(before, encoding="utf-8")
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def verdict(self, mutant: Mutant, tests: list[str], seconds: float) -> tuple[str, str]:
        """Return "killed", "timed out" or "survived", and by which test."""
        if not tests:
            return "survived", "no test runs this line"
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", *tests]
        with self.changed(mutant) as cache:
            process = subprocess.Popen(
                command, cwd=self.root, env=self.environment(cache), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, start_new_session=True, preexec_fn=lambda: _limit(seconds),
            )  # fmt: skip
            try:
                output, _ = process.communicate(timeout=_PATIENCE * seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return "timed out", f"after {_PATIENCE * seconds:.0f} s"
        if process.returncode == -signal.SIGXCPU:
            return "timed out", f"after {seconds:.0f} s of computing"
        if process.returncode == 0:
            return "survived", f"{len(tests)} tests passed"
        blamed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return "killed", blamed[0][:200] if blamed else f"exit status {process.returncode}"


def _limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
