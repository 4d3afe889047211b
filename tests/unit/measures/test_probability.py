"""The option probability with the fewest expected steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import farpoint as fp


@pytest.mark.parametrize(("world", "settings"), [(fp.four_rooms(), {"t": 4}), (fp.maze(), {"n_options": 10})])
def test_no_other_probability_has_fewer_steps(world: fp.World, settings: dict[str, Any]) -> None:
    options = fp.discover(world, **settings)
    best = fp.best_option_probability(world, options)
    fewest = fp.steps_between_states(world, options, option_probability=best).mean
    others = [
        fp.steps_between_states(world, options, option_probability=p).mean
        for p in (*np.geomspace(0.004, 0.95, 12), 0.98 * best, 1.02 * best)
    ]
    assert fewest <= min(others) * (1 + 1e-4)


def test_options_that_only_hinder_are_not_taken() -> None:
    # A complete graph: every state is one move away, and an option to one of them is a wasted decision.
    world = fp.World.from_graph(1.0 - np.eye(6))
    assert fp.best_option_probability(world, fp.OptionSet(world, np.array([2]))) == 0.0


@pytest.mark.parametrize("n_options", [1, 2])
def test_very_small_probabilities_are_found(n_options: int) -> None:
    world = fp.maze()
    options = fp.discover(world, n_options=n_options)
    p = fp.best_option_probability(world, options, n_targets=10)
    best = fp.steps_between_states(world, options, n_targets=10, option_probability=p).mean
    assert 0 < p < 0.005
    for other in (0.0005, 0.001, 0.002, 0.005):
        assert best <= 1.001 * fp.steps_between_states(world, options, n_targets=10, option_probability=other).mean
