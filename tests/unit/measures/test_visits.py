"""When an agent that acts at random first comes to each state."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.measures import first_visits
from tests.helpers.envs import Corridor


def test_first_visits_of_a_path_are_its_hitting_times() -> None:
    # From the end of a path, the cell at distance k is first reached after k² steps in the mean.
    visits = first_visits(fp.grid((6,)), n_runs=2_000, seed=1)
    means, errors = visits.mean(axis=0), visits.std(axis=0) / np.sqrt(2_000)
    np.testing.assert_array_less(np.abs(means - np.arange(6) ** 2), 4 * errors + 1e-12)
    assert (np.diff(visits, axis=1) > 0).all()


def test_episodes_begin_anew_and_a_state_that_is_not_reached_is_inf() -> None:
    world = fp.World.from_env(Corridor())
    visits = first_visits(world, n_steps=12, n_runs=50, seed=2)
    assert np.isinf(visits).any()
    assert visits[np.isfinite(visits)].max() <= 12
    # Its end is terminal, so that longer runs go through it many times, and begin again in cell 0.
    every = first_visits(world, n_steps=5_000, n_runs=5)
    assert np.isfinite(every).all()
    start = world.find_state(0)
    assert (every[:, start] == 0).all()


def test_options_are_taken_with_their_own_probability_or_another() -> None:
    world = fp.World.from_env(Corridor())
    options = fp.OptionSet(world, np.array([world.find_state(8)]))
    own = first_visits(world, options, n_runs=10)
    np.testing.assert_array_equal(
        own, first_visits(world, options, option_probability=options.option_probability, n_runs=10)
    )
    end = world.find_state(8)
    often = first_visits(world, options, option_probability=0.9, n_runs=200)[:, end].mean()
    assert 8.0 <= often < first_visits(world, None, n_runs=200)[:, end].mean() / 4
    with pytest.raises(InvalidInput, match="option_probability must be below 1"):
        first_visits(world, options, option_probability=1.0)
