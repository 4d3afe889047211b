"""One run of the paper's suite at a scale small enough for tests; its users join the group ``paper in small``."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

from farpoint.paper import SUITE
from farpoint.paper.framework import run
from farpoint.paper.plan import Results, Scale

TINY = Scale(n_runs=2, n_corner_runs=3, n_episodes=20, n_windy_episodes=20, n_draws=2, n_probabilities=1)


@cache
def _run() -> Results:
    return run(SUITE, SUITE.choose(), TINY)


def tiny_results() -> Results:
    """Return results of all experiments, to be changed at will."""
    return deepcopy(_run())
