"""Options beside continuous actions: primitive ones are drawn by a sampler."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.envs import make

ROOMS = "S....#....\n.....#....\n..........\n.....#....\n.....#...."


def boxed(**settings: Any) -> fp.ContinuousMaze:
    return fp.ContinuousMaze(ROOMS, actions="box", **settings)


def learned() -> fp.options.GoalOptions:
    log = fp.envs.record_samples(boxed(start="random"), 20_000, seed=0)
    return fp.GoalPolicy.from_log(log, radius=0.5).options(3)


def test_options_move_by_continuous_actions() -> None:
    options = learned()
    env = fp.OptionsWrapper(boxed(), options, max_steps=200)
    assert env.action_space == gym.spaces.Discrete(4)
    taken: list[Any] = []
    env.on_step = lambda step: taken.append(step.action)
    arrived = 0
    for number in range(3):
        observation, info = env.reset(seed=number)
        if info["action_mask"][1 + number]:
            observation, _, _, _, info = env.step(1 + number)
            arrived += options.reached(number, observation)
            assert info["option"] == number
    assert arrived >= 2
    assert all(np.shape(action) == (2,) for action in taken)
    assert (fp.envs.option_success(boxed(start="random"), options, n_trials=10, max_steps=200) > 0.8).all()


def test_primitive_actions_are_drawn() -> None:
    env = fp.OptionsWrapper(boxed(noise=0.0), learned())
    drawn: list[Any] = []
    env.on_step = lambda step: drawn.append(step.action)
    for _ in range(2):
        env.reset(seed=5)
        env.step(0)
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert env.unwrapped.action_space.contains(drawn[0])
    assert env.sample_action(0.0) == 0
    right = fp.OptionsWrapper(boxed(noise=0.0), learned(), sample=lambda rng: np.array([1.0, 0.0]))
    right.reset(seed=0)
    np.testing.assert_allclose(right.step(0)[0], [0.9, 0.5], atol=1e-6)


def test_actions_without_bounds_need_a_sampler() -> None:
    env = boxed()
    env.action_space = gym.spaces.Box(-np.inf, np.inf, (2,))
    with pytest.raises(InvalidInput, match="discrete or in a Box with bounds"):
        fp.OptionsWrapper(env, [])
    assert fp.OptionsWrapper(env, [], sample=lambda rng: np.zeros(2)).action_space == gym.spaces.Discrete(1)
    with pytest.raises(InvalidInput, match="sample must be a function or None; got 3"):
        fp.OptionsWrapper(env, [], sample=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="sample must be left out"):
        fp.OptionsWrapper(make("FrozenLake-v1"), [], sample=lambda rng: 0)
