from __future__ import annotations

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.envs import TAXI


def lake() -> fp.World:
    return fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))


def test_optimal_value_by_hand() -> None:
    # Six steps to the goal of the 4×4 lake: γ⁵.
    assert fp.learn_episodes(lake(), n_runs=1, n_steps=300).optimal_value == pytest.approx(0.99**5)


def test_the_optimal_value_keeps_the_time_limit_and_is_reached() -> None:
    # 50 steps on the slippery 8×8 lake: 0.156 can be had; without the limit it would be 0.415.
    world = fp.World.from_env(gym.make("FrozenLake-v1", map_name="8x8", max_episode_steps=50))
    result = fp.learn_episodes(world, n_runs=8, n_steps=200_000, near=0.5, n_evaluations=100, seed=1)
    assert result.optimal_value == pytest.approx(0.156347, abs=1e-6)
    assert np.isfinite(result.near_optimal).sum() >= 4


def fork() -> fp.World:
    """From state 0 one choice leads to state 1, the other to state 2; either ends the episode."""
    moves = np.zeros((3, 3))
    moves[0, 1:] = 1.0
    world = fp.World.from_graph(moves)
    return replace(world, restart=np.array([0.0, 1.0, 1.0]), starts=np.array([1.0, 0.0, 0.0]))


def test_near_optimal_is_near_optimal_twice_in_a_row() -> None:
    # Nothing is learned, so one episode is as good as the best every other time.
    result = fp.learn_episodes(fork(), targets=[1], n_runs=400, n_steps=2_000, alpha=0.0, n_evaluations=1)
    at_first = result.near_optimal == result.near_optimal.min()
    # A quarter; a single crossing would be one half.
    assert abs(at_first.mean() - 0.25) < 0.1


def test_what_an_agent_does_does_not_depend_on_its_evaluation() -> None:
    # In a corridor only the best decisions are near-optimal, whether one episode shows it or twenty; a state without
    # a best decision may be passed by chance.
    world = fp.World.from_map("S..............G")
    world = replace(world, restart=np.full(world.n_states, 0.01), starts=np.arange(world.n_states) == 0)
    one, many = (fp.learn_episodes(world, n_runs=40, n_steps=50_000, near=0.99, n_evaluations=n) for n in (1, 20))
    np.testing.assert_array_equal(one.first_target, many.first_target)
    assert np.mean(one.near_optimal == many.near_optimal) > 0.4


def test_targets_that_end_nothing_in_the_environment_end_training_episodes() -> None:
    # Two targets side by side would be worth 1 + γ + γ² + … to an agent that goes back and forth between them, and it
    # would pass by the one that is nearest, at which its evaluation ends.
    world = fp.World.from_map("...G..S...GG")
    world = replace(world, restart=np.full(world.n_states, 0.001), starts=np.arange(world.n_states) == world.start)
    result = fp.learn_episodes(world, n_runs=10, n_steps=100_000, near=0.995)
    assert result.optimal_value == pytest.approx(0.99**2)
    # As soon as it is looked at first, but for agents that keep to the other way, which they found first.
    assert np.mean(result.near_optimal == 200) > 0.7


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
    world = fp.World.from_env(gym.make(TAXI))
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
