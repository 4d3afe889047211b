"""The suite on Gymnasium environments: one experiment per environment, and one figure and table of them all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from farpoint.paper.framework import Experiment, Suite, Summary
from research.exploration.computation import KINDS
from research.exploration.learning_pages import LEARNING_CAPTION, draw_learning, learning_rows
from research.exploration.plan import (
    ENVIRONMENTS,
    FULL,
    LARGE_ENVIRONMENTS,
    N_OPTIONS,
    QUICK,
    Place,
    Results,
    Scale,
)

_PLACES = (*ENVIRONMENTS, *LARGE_ENVIRONMENTS)


def summarize(results: Results, experiments: Sequence[Experiment[Scale]]) -> Summary:
    """Return one figure and one table of all environments that were run."""
    names = {experiment.name for experiment in experiments}
    chosen = [place for place in _PLACES if place.name in names]
    sizes = [f"{place.title} {size:,.0f}" for place in chosen if not np.isnan(size := _n_states(results, place))]
    chance = f"Option probability {results.scale.option_probability:g}."
    return Summary(
        figure=(LEARNING_CAPTION, draw_learning(results, chosen)),
        rows=[{"environment": place.title, **row} for place in chosen for row in learning_rows(results, place)],
        note=f"{chance} Mean numbers of states: {', '.join(sizes)}." if sizes else chance,
    )


def _n_states(results: Results, place: Place) -> float:
    return float(results[place.learning_part("none", results.scale)]["n_states"].mean())


def _experiment(place: Place) -> Experiment[Scale]:
    layouts = f", {place.n_layouts} layouts" if place.n_layouts > 1 else ""
    return Experiment(
        place.name,
        place.title,
        f"{place.world.split(':')[1]}{layouts}",
        parts=place.learning_parts,
        rows=partial(learning_rows, place=place),
        needs=place.needs,
    )


SUITE = Suite(
    name="envs",
    title="Do options help in real environments?",
    lead=(
        "Nothing is known beforehand, and every step counts, those that find the options too. Intra-option Q-learning "
        f"from scratch (<code>fp.learn_from_scratch</code>) with {N_OPTIONS} options that are made anew as more is "
        "seen, one of them taken with the probability stated below where the agent explores; {n_runs} "
        "runs over all layouts. Environments that can be enumerated are simulated, with a reward of 1 at the target "
        "instead of their own; the agent is told nothing but which actions are possible where it stands."
    ),
    experiments=[_experiment(place) for place in _PLACES],
    kinds=KINDS,
    full=FULL,
    quick=QUICK,
    summary=summarize,
)


if __name__ == "__main__":
    from research.suites import main

    main(SUITE)
