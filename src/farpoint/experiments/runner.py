"""The loop that computes what a set of experiments needs, once each, and keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from farpoint.experiments.paper import Experiment, Scale
from farpoint.experiments.parts import Arrays, Part
from farpoint.experiments.store import Store


@dataclass
class Results:
    """What was computed: the arrays of each part, and how long each took."""

    scale: Scale
    arrays: dict[Part, Arrays] = field(default_factory=dict)
    seconds: dict[Part, float] = field(default_factory=dict)

    def __getitem__(self, part: Part) -> Arrays:
        return self.arrays[part]

    def time_of(self, experiment: Experiment) -> float:
        """Return the seconds that an experiment's parts took, those shared with others included."""
        return sum(self.seconds[part] for part in dict.fromkeys(experiment.parts(self.scale)))


def run(
    experiments: Sequence[Experiment],
    scale: Scale,
    store: Store,
    *,
    n_jobs: int = -1,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Results:
    """Return the results of the experiments; what the store holds already is not computed again.

    ``progress`` is called before each part with what is about to be done, how many are done, and how many there are.
    """
    results = Results(scale)
    parts = list(dict.fromkeys(part for experiment in experiments for part in experiment.parts(scale)))
    for done, part in enumerate(parts):
        progress(part.name, done, len(parts))
        kept = store.load(part)
        if kept is None:
            began = time.perf_counter()
            arrays = part.compute(n_jobs)
            kept = arrays, time.perf_counter() - began
            store.save(part, *kept)
        results.arrays[part], results.seconds[part] = kept
    progress("done", len(parts), len(parts))
    return results
