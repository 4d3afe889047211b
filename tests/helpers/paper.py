"""One run of the paper at a scale small enough for tests; its users join the group ``paper in small``."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

from farpoint.paper import PAPER
from farpoint.paper.computation import Results
from farpoint.paper.plan import Scale

TINY = Scale(n_runs=2, n_corner_runs=3, n_episodes=20, n_windy_episodes=20, n_draws=2, n_probabilities=1)


@cache
def _run() -> Results:
    results = Results(TINY)
    PAPER.page(results)
    results.progress = print
    return results


def tiny_results() -> Results:
    """Return results of all sections, to be changed at will."""
    return deepcopy(_run())
