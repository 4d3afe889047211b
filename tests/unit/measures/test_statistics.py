"""Estimates with intervals."""

from __future__ import annotations

import numpy as np
import pytest

from farpoint.measures.statistics import interquartile_mean, mean_of_runs


def test_intervals() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for trial in range(60):
        estimate = mean_of_runs(rng.normal(5.0, 1.0, size=30), seed=trial)
        assert estimate.low <= estimate.value <= estimate.high
        inside += estimate.low <= 5.0 <= estimate.high
    # 95 % of 60 is 57; a bootstrap of 30 is a little narrow.
    assert inside >= 50
    assert interquartile_mean([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1e9]).value == pytest.approx(3.5)
    assert mean_of_runs([2.0, 2.0]).low == 2.0
    assert str(mean_of_runs([2.0])) == "2.0", "one run has no interval"
    assert not mean_of_runs([1.0, 1.2]).clearly_below(mean_of_runs([1.3, 1.5])), "apart, but by too little"
