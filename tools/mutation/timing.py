"""A pytest plugin that writes how long each test took that passed, for `covering`."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

_seconds: dict[str, float] = defaultdict(float)
_failed: set[str] = set()


def pytest_runtest_logreport(report: Any) -> None:
    _seconds[report.nodeid] += report.duration
    if report.outcome != "passed":
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    passed = {name: seconds for name, seconds in _seconds.items() if name not in _failed}
    Path(os.environ["FARPOINT_TIMES"]).write_text(json.dumps(passed), encoding="utf-8")
