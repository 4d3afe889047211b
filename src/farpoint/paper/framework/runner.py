"""The loop that computes what a set of experiments needs, each part once, and keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from farpoint.paper.framework.results import Results, ScaleT
from farpoint.paper.framework.store import Store
from farpoint.paper.framework.suite import Experiment, Suite

Progress = Callable[[str, int, int], None]


def run(
    suite: Suite[ScaleT],
    experiments: Sequence[Experiment[ScaleT]],
    scale: ScaleT,
    store: Store | None = None,
    *,
    n_jobs: int = -1,
    progress: Progress = lambda name, done, total: None,
) -> Results[ScaleT]:
    """Return the results of some experiments of a suite.

    Parameters
    ----------
    suite : Suite
    experiments : sequence of Experiment
    scale : object
        ``suite.full``, ``suite.quick`` or another of their kind.
    store : Store, optional
        What it holds is not computed again, and what is computed is added to it. Default: nothing is kept.
    n_jobs : int
    progress : function of (name, done, total)
        Called before each part with its name, the number of parts that are done, and the number of all.

    Examples
    --------
    >>> from farpoint.paper import SUITE as suite
    >>> results = run(suite, suite.choose(["grid"]), suite.quick)
    >>> [part.name for part in results.arrays]
    ['grid-4-...', 'grid-13-...', 'grid-100-...']
    """
    results = Results(scale)
    parts = list(dict.fromkeys(part for experiment in experiments for part in experiment.parts(scale)))
    for done, part in enumerate(parts):
        progress(part.name, done, len(parts))
        kept = None if store is None else store.load(part)
        if kept is None:
            began = time.perf_counter()
            arrays = suite.compute(part, n_jobs)
            kept = arrays, time.perf_counter() - began
            if store is not None:
                store.save(part, *kept)
        results.arrays[part], results.seconds[part] = kept
    progress("done", len(parts), len(parts))
    return results
