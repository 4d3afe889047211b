"""A world as an environment: Gymnasium's contract, and the world's own moves."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import farpoint as fp
from farpoint.envs import WorldEnv
from farpoint.errors import InvalidInput

LINE = fp.World.from_map("S..")


def lake() -> fp.World:
    return fp.World.from_env(gym.make("FrozenLake-v1"))


def test_it_keeps_gymnasiums_contract() -> None:
    check_env(WorldEnv(fp.World.from_map("S.\n.G"), max_episode_steps=20), skip_render_check=True)
    check_env(WorldEnv(lake(), max_episode_steps=20), skip_render_check=True)


def test_moves_are_those_of_the_world() -> None:
    world = lake()
    env = WorldEnv(world)
    counts = np.zeros((world.n_choices, world.n_states))
    rng = np.random.default_rng(0)
    state, _ = env.reset(seed=0)
    for _ in range(20_000):
        choice = int(rng.choice(world.choices(int(state))))
        assert world.actions is not None
        state, _, terminated, _, _ = env.step(world.actions[choice])
        counts[choice, state] += 1
        if terminated:
            state, _ = env.reset()
    often = counts.sum(axis=1) > 400
    assert often.sum() > 10
    shares = counts[often] / counts[often].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, world.transitions.toarray()[often], atol=0.1)


def test_a_target_ends_the_episode_with_a_reward_and_a_limit_without() -> None:
    env = WorldEnv(fp.World.from_map("S.."), targets=[2], max_episode_steps=3)
    env.reset()
    assert env.step(0)[:3] == (0, 0.0, False), "there is no way up"
    assert env.step(2)[1:4] == (0.0, False, False)
    assert env.step(2)[1:4] == (1.0, True, True)
    env.reset()
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]


def test_enumerated_again_it_is_the_same_world() -> None:
    world = fp.maze()
    again = fp.World.from_env(WorldEnv(world, targets=[]))
    assert again.labels is not None
    order = np.argsort(np.array(again.labels))
    np.testing.assert_array_equal((again.adjacency[order][:, order] > 0).toarray(), (world.adjacency > 0).toarray())


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="start"):
        WorldEnv(fp.World.from_map("..."))
    with pytest.raises(InvalidInput, match="targets"):
        WorldEnv(LINE, targets=[7])
    with pytest.raises(InvalidInput, match="max_episode_steps"):
        WorldEnv(LINE, max_episode_steps=0)
    with pytest.raises(InvalidInput, match="reset"):
        WorldEnv(LINE).step(0)
    env = WorldEnv(LINE)
    env.reset()
    with pytest.raises(InvalidInput, match="action"):
        env.step(9)
