"""Success rates of options, on trials that can be followed by hand."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options.protocol import OptionList
from tests.helpers.counter import Counter, UpTo


def test_success_is_the_share_of_trials_that_reach_the_goal() -> None:
    env = Counter(limit=4)
    # From 0: three steps are within the limit of four, five are not, and at 0 there is nothing to try.
    success = fp.envs.option_success(env, [UpTo(3), UpTo(5), UpTo(0)], n_trials=7)
    assert success[:2].tolist() == [1.0, 0.0]
    assert np.isnan(success[2])
    assert fp.envs.option_success(Counter(), [UpTo(5)], n_trials=3, max_steps=4).tolist() == [0.0]


def test_trials_begin_with_the_same_random_steps_for_every_option() -> None:
    # With 4 steps to go up by 5, only trials that begin above 0 succeed.
    settings = {"n_trials": 50, "max_steps": 4, "wander": 10}
    alone = fp.envs.option_success(Counter(), [UpTo(5)], **settings)
    assert 0.0 < alone[0] < 1.0
    assert fp.envs.option_success(Counter(), [UpTo(8), UpTo(5)], **settings)[1] == alone[0]
    assert fp.envs.option_success(Counter(), [UpTo(5)], **settings, seed=1)[0] != alone[0]


def test_options_may_read_something_else_than_the_observation() -> None:
    class OfPlaces(OptionList):
        def observe(self, env: Counter, observation: object) -> list[int]:
            return [env.place]

    options = OfPlaces([UpTo(3)])
    assert fp.envs.option_success(Counter(), options, n_trials=2).tolist() == [1.0]


def test_an_option_that_gives_up_has_failed() -> None:
    class GivesUp(UpTo):
        def act(self, observation: list[float]) -> int | None:
            return 1 if observation[0] < 2 else None

    assert fp.envs.option_success(Counter(), [GivesUp(3), GivesUp(2)], n_trials=2).tolist() == [0.0, 1.0]


def test_wrong_arguments() -> None:
    env = Counter()
    env.action_space = gym.spaces.MultiBinary(3)
    with pytest.raises(InvalidInput, match="discrete or in a Box with bounds; got MultiBinary"):
        fp.envs.option_success(env, [UpTo(1)])
    with pytest.raises(InvalidInput, match="n_trials must be at least 1; got 0"):
        fp.envs.option_success(Counter(), [UpTo(1)], n_trials=0)
    with pytest.raises(InvalidInput, match="max_steps must be at least 1; got 0"):
        fp.envs.option_success(Counter(), [UpTo(1)], max_steps=0)
