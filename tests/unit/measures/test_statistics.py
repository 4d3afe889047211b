"""Estimates with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from farpoint.errors import InvalidInput, UnknownName
from farpoint.measures import Estimate, estimate, format_number


def test_intervals_of_independent_runs() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for trial in range(60):
        found = estimate(rng.normal(5.0, 1.0, size=30), "mean", seed=trial)
        assert found.low <= found.value <= found.high
        inside += found.low <= 5.0 <= found.high
    # 95 % of 60 is 57; a bootstrap of 30 is a little narrow.
    assert inside >= 50
    assert estimate([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1e9]).value == pytest.approx(3.5)
    assert estimate([2.0, 2.0]).low == 2.0
    assert str(estimate([2.0])) == "2.00", "one run has no interval"
    assert not estimate([1.0, 1.2]).clearly_below(estimate([1.3, 1.5])), "apart, but by too little"


def test_two_unequal_groups_by_hand() -> None:
    """One group of one run, 0, and one of two, 4 and 8.

    Both draws are the first group with probability 1/4 (mean 0). Both are the second with 1/4: four runs, of which k
    are 8 with the binomial probabilities 1, 4, 6, 4, 1 sixteenths (mean 4 + k). Otherwise the mean is 8/3, 4 or 16/3.
    So P(mean = 8) = 1/64 < 2.5 % < P(mean ≥ 7) = 5/64, and the interval is 0 to 7. Independent runs would have all
    three equal to 8 with probability 1/27 > 2.5 %.
    """
    grouped = estimate([0.0, 4.0, 8.0], "mean", ["a", "b", "b"])
    assert (grouped.value, grouped.low, grouped.high) == (4.0, 0.0, 7.0)
    alone = estimate([0.0, 4.0, 8.0], "mean")
    assert (alone.value, alone.low, alone.high) == (4.0, 0.0, 8.0)


def test_groups_that_differ_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    layouts = np.arange(20) % 5
    # Runs hardly differ within a layout: there are five numbers here, not twenty.
    runs = np.array([10.0, 20.0, 30.0, 40.0, 50.0])[layouts] + rng.normal(0, 0.1, 20)
    grouped, alone = estimate(runs, groups=layouts), estimate(runs)
    assert grouped.value == alone.value
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)


def test_runs_that_did_not_get_there() -> None:
    few = estimate([10.0, 20.0, 30.0, 40.0, np.inf], limit=100)
    assert (few.value, few.capped) == (30.0, False), "a quarter at either end does not count"
    many = estimate([10.0, 20.0, 30.0, np.inf, np.inf], limit=100)
    assert (many.value, many.capped) == (50.0, True)
    assert many.alone == "≥ 50.0"
    assert estimate([10.0, np.inf], "mean", limit=100).capped
    every = estimate([np.inf, np.inf], limit=100)
    assert str(every) == "≥ 100 [100, 100]"
    assert estimate([10.0, 150.0], "mean", limit=100).value == 55.0
    assert estimate([10.0, 20.0, np.inf], np.std, limit=100).capped, "inf − inf is no number"


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="values must be finite, one per run"):
        estimate([1.0, np.inf])
    with pytest.raises(InvalidInput, match=r"groups must have one label per run, shape \(2,\); got shape \(1,\)"):
        estimate([1.0, 2.0], groups=[0])
    for limit in (np.nan, np.inf, "3", -1.0):
        with pytest.raises(InvalidInput, match="limit must be"):
            estimate([1.0, np.inf], limit=limit)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="values must be finite"):
        estimate([1.0, -np.inf], limit=10)
    with pytest.raises(UnknownName, match="statistic must be one of iqm, mean, median; got 'mode'"):
        estimate([1.0, 2.0], "mode")


def test_numbers_have_three_digits() -> None:
    assert [format_number(number) for number in (0.00123, 0.5, 9.876, 9.999, 99.87, 99.96, 100.4, 12345.6)] == [
        "0.00123", "0.5", "9.88", "10.0", "99.9", "100", "100", "12,346",
    ]  # fmt: skip


def test_groups_may_have_any_labels() -> None:
    runs = [1.0, 2.0, 5.0, 6.0]
    expected = estimate(runs, "mean", [0, 0, 1, 1])
    kinds: list[Any] = [["a", "a", None, None], [0.0, 0.0, np.nan, np.nan], np.array([3, 3, 2, 2])]
    for labels in kinds:
        assert estimate(runs, "mean", labels) == expected


def test_one_group_is_a_plain_sample() -> None:
    runs = np.random.default_rng(0).normal(5.0, 1.0, size=30)
    grouped, alone = estimate(runs, "mean", np.zeros(30)), estimate(runs, "mean")
    assert grouped.high - grouped.low == pytest.approx(alone.high - alone.low, rel=0.1)


def test_how_estimates_are_written() -> None:
    assert str(Estimate(5.0, 4.0, 6.0)) == "5.00 [4.00, 6.00]"
