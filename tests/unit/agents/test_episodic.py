from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput


def lake() -> fp.World:
    return fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))


def test_optimal_value_by_hand() -> None:
    # Six steps to the goal of the 4×4 lake: γ⁵.
    assert fp.learn_episodes(lake(), n_runs=1, n_steps=300).optimal_value == pytest.approx(0.99**5)


def test_the_same_seed_whatever_the_workers_and_options_help() -> None:
    world = fp.World.from_env(gym.make("CliffWalking-v1"))
    options = fp.discover(world)
    one, two = (fp.learn_episodes(world, options, n_runs=6, seed=1, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.first_target, two.first_target)
    np.testing.assert_array_equal(one.near_optimal, two.near_optimal)
    alone = fp.learn_episodes(world, None, n_runs=6, seed=1)
    assert np.median(one.first_target) < np.median(alone.first_target)
    assert (one.first_target <= one.near_optimal).all()


def test_steps_that_do_not_suffice_are_infinite() -> None:
    world = fp.World.from_env(gym.make("Taxi-v4"))
    assert np.isinf(fp.learn_episodes(world, None, n_runs=2, n_steps=200).near_optimal).all()


def test_targets_of_ones_own_and_shares_of_options() -> None:
    world = lake()
    # One step to the state next to the start.
    near = fp.learn_episodes(world, targets=[1], n_runs=2, n_steps=400, option_probability=0.1)
    assert near.optimal_value == pytest.approx(1.0)
    assert np.isfinite(near.first_target).all()
    with pytest.raises(InvalidInput, match="option_probability must be below 1"):
        fp.learn_episodes(world, fp.discover(world, n_options=2), option_probability=1.0)
    with pytest.raises(InvalidInput, match="targets must lie in 0 … 15; got 16"):
        fp.learn_episodes(world, targets=[16])


def test_worlds_without_episodes() -> None:
    with pytest.raises(InvalidInput, match="world must have episodes"):
        fp.learn_episodes(fp.ring())
