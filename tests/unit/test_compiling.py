"""Compiled functions: the short ones are interpreted at first."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np

from farpoint.compiling import compiled_when_worth


def test_long_arrays_are_compiled_at_once() -> None:
    kinds = []

    @compiled_when_worth()
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
