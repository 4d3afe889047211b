"""The summary of expected steps over targets."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp


def test_summary_follows_hazens_rule() -> None:
    steps = fp.measures.StepsBetweenStates(np.array([[1.0, 2.0, 3.0, 4.0]]), np.arange(4))
    assert (steps.median, steps.iqr, steps.mean) == (2.5, 2.0, 2.5)
    assert steps.std == pytest.approx(np.std([1, 2, 3, 4], ddof=1))


def test_intervals_cover_what_all_targets_give() -> None:
    world = fp.random_maze(16, 24, seed=3)
    whole = fp.steps_between_states(world)
    means, medians = 0, 0
    for seed in range(100):
        targets = np.random.default_rng(seed).choice(world.n_states, 80, replace=False)
        drawn = fp.measures.StepsBetweenStates(None, targets, whole.per_target[targets], world.n_states, True)
        means += drawn.mean_estimate.low <= whole.mean <= drawn.mean_estimate.high
        medians += drawn.median_estimate.low <= whole.median <= drawn.median_estimate.high
    # 95 of 100, give or take four standard deviations of a count (2.2) and no more than all.
    assert means >= 87
    assert medians >= 87
    one = fp.steps_between_states(world, n_targets=80, seed=0)
    assert one.mean_estimate.low <= whole.mean <= one.mean_estimate.high
    # Without the correction for drawing without replacement the intervals would be wider by 1 / √(1 − 80 / n).
    as_if_infinite = fp.measures.StepsBetweenStates(None, one.targets, one.per_target, 10**9, True).mean_estimate
    narrower = (one.mean_estimate.high - one.mean_estimate.low) / (as_if_infinite.high - as_if_infinite.low)
    assert narrower == pytest.approx(np.sqrt(1 - 80 / world.n_states), rel=1e-6)


def test_summaries_with_targets_out_of_reach() -> None:
    steps = fp.measures.StepsBetweenStates(
        None, np.arange(6), np.array([1.0, 2.0, 3.0, 4.0, np.inf, np.inf]), 1000, True
    )
    assert (steps.median, steps.mean, steps.iqr) == (3.5, np.inf, np.inf)
    assert steps.mean_estimate.high == np.inf
    assert steps.median_estimate.value == 3.5
    assert steps.median_estimate.low >= 1.0
    assert steps.median_estimate.high == np.inf
    assert "inf" in repr(steps)
