from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.unit.envs.test_from_env import make


class Corridor(gym.Env[Any, Any]):
    """Ten cells; left and right; a reward of its own for entering each cell."""

    observation_space = gym.spaces.Discrete(10)
    action_space = gym.spaces.Discrete(2)
    rewards = np.zeros(10)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.cell = int(np.clip(self.cell + (1 if action else -1), 0, 9))
        return self.cell, float(self.rewards[self.cell]), self.cell == 9, False, {}


@given(rewards=st.lists(st.floats(-10, 10), min_size=10, max_size=10), gamma=st.floats(0, 1), goal=st.integers(1, 8))
@settings(max_examples=60)
def test_discounted_reward_and_duration_equal_a_loop_by_hand(rewards: list[float], gamma: float, goal: int) -> None:
    env = Corridor()
    env.rewards = np.array(rewards)
    world = fp.World.from_env(env)
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([world.state_of(goal)]), "random"), gamma)
    wrapped.reset(seed=0)
    observation, reward, terminated, truncated, info = wrapped.step(2)
    assert (observation, terminated, truncated) == (goal, False, False)
    assert info["duration"] == goal
    assert info["discount"] == pytest.approx(gamma**goal)
    assert info["episode_steps"] == wrapped.total_steps == goal
    assert reward == pytest.approx(sum(gamma**k * rewards[k + 1] for k in range(goal)))


@pytest.mark.parametrize("name", ["FrozenLake8x8-v1", "CliffWalking-v1"])
def test_an_option_reaches_its_goal_in_the_expected_number_of_steps(name: str) -> None:
    env = make(name, is_slippery=False) if name.startswith("Frozen") else make(name)
    world = fp.World.from_env(env)
    options = fp.discover(world, n_options=3)
    wrapped = fp.OptionsWrapper(env, options)
    assert world.labels is not None
    for number, option in enumerate(options):
        for state in np.flatnonzero(option.initiation)[::3]:
            wrapped.reset(seed=1)
            env.unwrapped.s = world.labels[state]
            wrapped._observation = world.labels[state]
            if option.terminates(int(state)):
                assert not wrapped.action_masks()[wrapped.n_actions + number]
                continue
            observation, _, _, _, info = wrapped.step(wrapped.n_actions + number)
            assert observation == world.labels[options.goals[number]]
            assert info["duration"] == option.expected_steps[state]


def test_in_a_slippery_world_the_steps_are_right_on_average() -> None:
    env = make("FrozenLake8x8-v1", is_slippery=True, max_episode_steps=100_000)
    world = fp.World.from_env(env)
    options = fp.discover(world, n_options=8)
    lasting = [
        (k, s) for k, o in enumerate(options) for s in np.flatnonzero(o.initiation) if 3 < o.expected_steps[s] < 200
    ]
    number, state = lasting[0]
    wrapped = fp.OptionsWrapper(env, options, max_length=100_000)
    assert world.labels is not None
    wrapped.reset(seed=7)
    durations = []
    for _ in range(300):
        wrapped.reset()
        env.unwrapped.s = world.labels[state]
        wrapped._observation = world.labels[state]
        durations.append(wrapped.step(wrapped.n_actions + number)[4]["duration"])
    error = np.std(durations) / np.sqrt(len(durations))
    assert abs(np.mean(durations) - options[number].expected_steps[state]) < 4 * error


@pytest.mark.filterwarnings("ignore")
def test_the_wrapper_passes_the_checker_of_gymnasium() -> None:
    env = make("FrozenLake-v1", is_slippery=False)
    check_env(fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2)), skip_render_check=True)


def test_in_vectors_and_under_other_wrappers() -> None:
    def wrap(env: Any) -> Any:
        options = fp.discover(fp.World.from_env(env), n_options=2)
        return gym.wrappers.RecordEpisodeStatistics(fp.OptionsWrapper(env, options))

    envs = gym.make_vec("FrozenLake-v1", num_envs=2, is_slippery=False, wrappers=[wrap])
    envs.reset(seed=0)
    _, _, _, _, info = envs.step(np.array([4, 5]))
    assert info["duration"].min() > 1
    assert info["action_mask"].shape == (2, 6)
    envs.close()


def test_seeds_reproduce_whole_runs() -> None:
    env = make("MiniGrid-FourRooms-v0")
    options = fp.discover(fp.World.from_env(env, seed=3), n_options=6)
    runs = []
    for _ in range(2):
        wrapped = fp.OptionsWrapper(env, options)
        wrapped.reset(seed=3)
        rng = np.random.default_rng(0)
        trace = []
        for _ in range(40):
            mask = wrapped.action_masks()
            _, reward, terminated, truncated, info = wrapped.step(int(rng.choice(np.flatnonzero(mask))))
            trace.append((reward, info["duration"], wrapped.key(None)))
            if terminated or truncated:
                wrapped.reset(seed=3)
        runs.append(trace)
    assert runs[0] == runs[1]


def test_what_cannot_be_done_is_refused() -> None:
    env = make("FrozenLake-v1", is_slippery=False)
    world = fp.World.from_env(env)
    options = fp.discover(world, n_options=2)
    wrapped = fp.OptionsWrapper(env, options)
    wrapped.reset(seed=0)
    wrapped.step(4)
    assert wrapped.action_masks()[4] == 0, "an option that ends here cannot start here"
    with pytest.raises(InvalidInput, match="option 0 must be one that can start here"):
        wrapped.step(4)
    with pytest.raises(InvalidInput, match=r"action must lie in 0 … 5; got 6"):
        wrapped.step(6)
    with pytest.raises(InvalidInput, match="options must be of a world made from this environment"):
        fp.OptionsWrapper(env, fp.discover(fp.ring()))
    other = fp.OptionsWrapper(make("MiniGrid-FourRooms-v0"), fp.discover(
        fp.World.from_env(make("MiniGrid-FourRooms-v0"), seed=3), n_options=2))  # fmt: skip
    _, info = other.reset(seed=4)
    assert info["action_mask"][7:].sum() == 0, "a layout that the options do not know"
    with pytest.raises(InvalidInput, match="The options are of another layout or seed"):
        other.step(7)


def test_options_of_another_environment() -> None:
    cliff = make("CliffWalking-v1")
    with pytest.raises(InvalidInput, match="which has other states"):
        fp.OptionsWrapper(make("FrozenLake-v1"), fp.discover(fp.World.from_env(cliff)))
    small = fp.discover(fp.World.from_env(make("FrozenLake-v1", is_slippery=False)), n_options=2)
    large = fp.OptionsWrapper(make("FrozenLake8x8-v1", is_slippery=False), small)
    large.reset(seed=0)
    with pytest.raises(InvalidInput, match="options must be of this environment"):
        large.step(5)


def test_observation_wrappers_do_not_hide_the_state() -> None:
    env = gym.wrappers.FlattenObservation(make("FrozenLake-v1", is_slippery=False))
    wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2))
    assert wrapped.reset(seed=0)[1]["action_mask"].all()


def test_steps_are_checked() -> None:
    env = Corridor()
    world = fp.World.from_env(env)
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([3]), "random"))
    with pytest.raises(InvalidInput, match="must be reset before its first step"):
        wrapped.step(2)
    wrapped.reset()
    with pytest.raises(InvalidInput, match="action must lie in 0 … 2; got -1"):
        wrapped.step(-1)
    with pytest.raises(TypeError):
        wrapped.step(1.7)  # type: ignore[arg-type]


def test_a_long_option_is_cut() -> None:
    env = Corridor()
    world = fp.World.from_env(env)
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([world.state_of(8)]), "random"), max_length=3)
    wrapped.reset()
    assert wrapped.step(2)[0] == 3


@pytest.mark.parametrize("algorithm", ["smdp", "intra-option"])
def test_tabular_learning_solves_frozen_lake(algorithm: str) -> None:
    env = make("FrozenLake8x8-v1", is_slippery=False)
    wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=4))
    agent, again = (fp.train_tabular(wrapped, 6000, algorithm=algorithm, seed=2) for _ in range(2))
    assert np.mean(agent.episode_rewards[-10:]) > 0.5
    assert agent.episode_rewards == again.episode_rewards
    with pytest.raises(InvalidInput, match="env must be an OptionsWrapper"):
        fp.train_tabular(env, 10)


def test_a_loop_of_ones_own_with_act() -> None:
    env = make("FrozenLake-v1", is_slippery=False)
    options = fp.discover(fp.World.from_env(env), n_options=1)
    observation, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    while (action := options.act(0, int(observation), seed=rng)) is not None:
        observation, _, terminated, _, _ = env.step(action)
        assert not terminated
    assert options.world.state_of(int(observation)) == options.goals[0]
    with pytest.raises(InvalidInput, match="state must be one that FrozenLake-v1 knows; got 99"):
        options.act(0, 99)
