"""The two tiers of tests: what is in a slow folder is `slow`, and is not even collected by ``-m "not slow"``."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent
# Folders and files that need more than the extra `test` installs, start servers or processes, or take long.
SLOW = (
    "docs",
    "src/farpoint/deep",
    "src/farpoint/studio",
    "tests/faults",
    "tests/research/test_comparison.py",
    "tests/research/test_exploration.py",
    "tests/research/test_large.py",
    "tests/research/test_protocols.py",
    "tests/research/test_suites.py",
    "tests/research/test_wrapped.py",
    "tests/site",
    "tests/studio",
    "tests/tools",
    "tests/unit/deep",
    "tests/unit/engines",
    "tests/unit/studio",
    "tests/unit/test_examples.py",
    "tests/unit/test_notebook.py",
)


def _is_slow(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / name) for name in SLOW)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out slow folders where slow tests are not asked for: they could not be imported without their packages."""
    return True if config.getoption("markexpr") == "not slow" and _is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in a slow folder."""
    for item in items:
        if _is_slow(item.path):
            item.add_marker(pytest.mark.slow)
