"""Pages of the exploration suite: intervals over layouts, and the best probability from other runs."""

from __future__ import annotations

import numpy as np

from farpoint.measures import Estimate, estimate
from farpoint.paper.framework import Arrays
from research.exploration.coverage_pages import best_probability, place_rows
from research.exploration.learning_pages import learning_rows
from research.exploration.plan import FULL, LEARNERS, METHODS, PROBABILITIES, TUNING_SEED, WORLDS, Results, Scale

RING = next(place for place in WORLDS if place.name == "ring")
SCALE = Scale(n_runs=20, share=1.0)


def explored(steps: np.ndarray) -> Arrays:
    measures = dict.fromkeys(("half", "most", "all", "target"), steps)
    return {
        **measures,
        "share": np.ones((steps.size, 2)),
        "points": np.array([0.0, 8_000.0]),
        "n_states": np.array(192),
    }


def test_every_method_has_the_same_probabilities_to_choose_from() -> None:
    with_options = [method for method in METHODS if method not in ("tried", "none")]
    assert len({PROBABILITIES[method] for method in with_options}) == 1


def test_the_best_probability_is_chosen_in_runs_that_no_table_shows() -> None:
    arrays = {}
    for method in METHODS:
        for p in PROBABILITIES[method]:
            # In the runs that are shown 0.02 is best, in the others 0.2.
            arrays[RING.part(method, p, SCALE)] = explored(np.full(20, 1_000 * (1 + p)))
            arrays[RING.tuning_part(method, p, SCALE)] = explored(np.full(10, 1_000 * (2 - p)))
    results = Results(SCALE, arrays)
    assert best_probability(results, RING, "diffusion") == 0.2
    rows = {row["p"]: row for row in place_rows(results, RING) if row["method"] == "diffusion options"}
    assert (rows[0.2]["best p"], rows[0.05]["best p"]) == ("yes", "")
    shown, tuned = RING.part("diffusion", 0.2, FULL), RING.tuning_part("diffusion", 0.2, FULL)
    assert "first_seed" not in dict(shown.params)
    assert dict(tuned.params)["first_seed"] == TUNING_SEED >= FULL.n_runs


def test_intervals_are_over_layouts() -> None:
    # The layouts take turns; runs on one layout agree.
    steps = 1_000.0 * (1 + np.arange(20) % 5)
    arrays = {
        "first_target": steps, "near_optimal": steps, "n_steps": np.full(20, 40_000), "n_seen": np.full(20, 192.0),
    }  # fmt: skip
    results = Results(SCALE, {RING.learning_part(method, SCALE): arrays for method in LEARNERS})
    found = learning_rows(results, RING)[0]["near-optimal"]
    assert isinstance(found, Estimate)
    assert found == estimate(steps, groups=np.arange(20) % 5)
    alone = estimate(steps)
    assert found.high - found.low > 1.5 * (alone.high - alone.low)
