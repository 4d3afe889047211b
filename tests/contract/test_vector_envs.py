"""What every vector environment must satisfy; a new kind is one more line of `tests.helpers.vector_envs`."""

from __future__ import annotations

import copy
import itertools
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, iterate

from tests.helpers.vector_envs import MODES, N_ENVS, VECTOR_ENVS, VectorEnv

N_CALLS = 80
Call = tuple[Any, Any, Any, Any, dict[str, Any]]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", VECTOR_ENVS)
def test_contract(name: str, mode: AutoresetMode) -> None:
    with closing(VECTOR_ENVS[name](mode)) as envs, closing(VECTOR_ENVS[name](mode)) as others:
        check_that_spaces_are_batches_of_the_single_ones(envs, mode)
        calls = check_that_calls_are_in_the_spaces(envs)
        check_that_what_was_returned_stays(envs, calls)
        check_that_every_info_says_of_which_copies_it_is(calls)
        check_that_masks_allow_something(calls)
        check_that_ended_copies_are_reset_as_the_mode_says(envs, calls, mode)
        check_that_the_same_seed_gives_the_same(envs, others, calls)
    assert envs.closed
    envs.close()


def random_calls(envs: VectorEnv, seed: Any = 3) -> list[Call]:
    """Return what random actions led to, the first reset included; each as it was when it was returned."""
    observations, infos = envs.reset(seed=seed)
    never = np.zeros(N_ENVS, dtype=bool)
    envs.action_space.seed(5)
    calls: list[Call] = [(observations, np.zeros(N_ENVS), never, never, infos)]
    for _ in range(N_CALLS):
        mask = infos.get("action_mask")
        calls.append(envs.step(envs.action_space.sample(None if mask is None else tuple(mask))))
        infos = calls[-1][4]
    return calls


def check_that_spaces_are_batches_of_the_single_ones(envs: VectorEnv, mode: AutoresetMode) -> None:
    assert envs.num_envs == N_ENVS
    assert envs.metadata["autoreset_mode"] is mode
    assert envs.observation_space == batch_space(envs.single_observation_space, N_ENVS)
    assert envs.action_space == batch_space(envs.single_action_space, N_ENVS)
    for _ in range(20):
        actions = envs.action_space.sample()
        assert actions in envs.action_space
        assert all(action in envs.single_action_space for action in iterate(envs.action_space, actions))


def check_that_calls_are_in_the_spaces(envs: VectorEnv) -> list[Call]:
    calls = random_calls(envs)
    for observations, rewards, terminated, truncated, infos in calls:
        assert observations in envs.observation_space
        assert rewards.shape == terminated.shape == truncated.shape == (N_ENVS,)
        assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, bool, bool)
        assert isinstance(infos, dict)
    return calls


def check_that_what_was_returned_stays(envs: VectorEnv, calls: list[Call]) -> None:
    before = copy.deepcopy(calls)
    random_calls(envs, seed=4)
    assert_same(before, calls)


def check_that_every_info_says_of_which_copies_it_is(calls: list[Call]) -> None:
    def check(infos: dict[str, Any]) -> None:
        for name, value in infos.items():
            if name.startswith("_"):
                assert value.shape == (N_ENVS,)
                assert value.dtype == bool
            else:
                assert f"_{name}" in infos
                if isinstance(value, dict):
                    check(value)
                else:
                    assert len(value) == N_ENVS

    for *_, infos in calls:
        check(infos)


def check_that_masks_allow_something(calls: list[Call]) -> None:
    for *_, infos in calls:
        if "action_mask" in infos:
            assert infos["action_mask"].dtype == np.int8
            assert infos["action_mask"].any(axis=1).all()


def check_that_ended_copies_are_reset_as_the_mode_says(envs: VectorEnv, calls: list[Call], mode: AutoresetMode) -> None:
    n_ends = 0
    for (_, _, *before, _), (observations, rewards, terminated, truncated, infos) in itertools.pairwise(calls):
        rows = list(iterate(envs.observation_space, observations))
        for one in range(N_ENVS):
            if mode is AutoresetMode.NEXT_STEP and (before[0] | before[1])[one]:
                assert (rewards[one], terminated[one], truncated[one]) == (0.0, False, False)
                assert is_first(rows[one])
            if terminated[one] or truncated[one]:
                n_ends += 1
                assert ("final_obs" in infos) == (mode is AutoresetMode.SAME_STEP)
                if mode is AutoresetMode.SAME_STEP:
                    assert infos["_final_obs"][one]
                    assert infos["_final_info"][one]
                    assert infos["final_obs"][one] in envs.single_observation_space
                    assert is_first(rows[one])
    assert n_ends >= N_ENVS


def is_first(observation: Any) -> bool:
    """Whether an episode can begin here: at the shore of the lake; in a car that stands in its valley."""
    return bool(observation == 0) if np.ndim(observation) == 0 else bool(-0.6 <= observation[0] <= -0.4)


def check_that_the_same_seed_gives_the_same(envs: VectorEnv, others: VectorEnv, calls: list[Call]) -> None:
    # An explorer remembers what came before, so that only new ones do the same.
    assert_same(calls, random_calls(others))
    each: Any = [7 + k for k in range(N_ENVS)]
    one, other = envs.reset(seed=7)[0], others.reset(seed=each)[0]
    np.testing.assert_array_equal(one, other)


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_same(one[name], other[name])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, np.ndarray) and one.dtype == object:
        assert_same(list(one), list(other))
    else:
        np.testing.assert_array_equal(one, other)
