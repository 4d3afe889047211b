"""The two tiers of tests: what is in a slow folder is `slow`, and is not even collected by ``-m "not slow"``."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
# Folders and files that need more than the extra `test` installs, start servers or processes, or take long.
SLOW = (
    "docs",
    "research/comparison",
    "research/large",
    "src/farpoint/deep",
    "tests/faults",
    "tests/research/test_comparison.py",
    "tests/research/test_large.py",
    "tests/research/test_suites.py",
    "tests/site",
    "tests/studio",
    "tests/tools",
    "tests/unit/deep",
    "tests/unit/test_examples.py",
    "tests/unit/test_notebook.py",
    "tests/unit/test_tables.py",
    "tools/fuzz",
)
# Why a test is skipped for want of a package.
_MISSING = ("could not import", "must be installed", "needs farpoint[")
# Examples that need pandas or xarray.
SLOW_EXAMPLES = ("to_frame", "to_xarray")


def _is_slow(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / name) for name in SLOW)


def _fast_only(config: pytest.Config) -> bool:
    return bool(config.getoption("markexpr") == "not slow")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out slow folders where slow tests are not asked for: they could not be imported without their packages."""
    return True if _fast_only(config) and _is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in a slow folder."""
    for item in items:
        if _is_slow(item.path) or item.name.split(".")[-1] in SLOW_EXAMPLES:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail in the same way for a module that is skipped as a whole."""
    report = yield
    why = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    if any(text in why for text in _MISSING) and _fast_only(collector.config):
        report.outcome, report.longrepr = "failed", f"{why}\nAdd it to SLOW: the fast tier goes without."
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail where the fast tier skips for want of a package: such a test would run in no tier unless it is slow."""
    report = yield
    why = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    if any(text in why for text in _MISSING) and _fast_only(item.config):
        report.outcome, report.longrepr = "failed", f"{why}\nMark it slow: the fast tier goes without."
    return report
