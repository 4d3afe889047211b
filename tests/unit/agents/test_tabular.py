"""Tabular learning in a wrapped environment."""

from __future__ import annotations

import pickle
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName
from tests.helpers.envs import Corridor, make

ALPHA, GAMMA = 0.2, 0.9


@pytest.mark.parametrize("algorithm", ["smdp", "intra-option"])
def test_tabular_learning_solves_frozen_lake(algorithm: str) -> None:
    env = make("FrozenLake8x8-v1", is_slippery=False)
    wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=4))
    agent, again = (fp.train_tabular(wrapped, 6000, algorithm=algorithm, seed=2) for _ in range(2))
    assert np.mean(agent.episode_rewards[-10:]) > 0.5
    assert agent.episode_rewards == again.episode_rewards
    assert agent.n_steps >= 6000
    assert wrapped.on_step is None
    with pytest.raises(InvalidInput, match="env must be a Gymnasium environment"):
        fp.train_tabular(fp.maze(), 10)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="algorithm must be one of smdp, intra-option"):
        fp.train_tabular(wrapped, 10, algorithm="paper")
    with pytest.raises(UnknownName, match="actions must be one of least tried, uniform"):
        fp.train_tabular(wrapped, 10, actions="best")
    for replay in (-1, 10**30):
        with pytest.raises(InvalidInput, match="replay must be"):
            fp.train_tabular(wrapped, 10, replay=replay)


class Recorded(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps every primitive step: (state, action, reward, next state, terminated)."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.steps: list[tuple[int, int, float, int, bool]] = []

    def reset(self, **kwargs: Any) -> Any:
        self.here, info = self.env.reset(**kwargs)
        return self.here, info

    def step(self, action: int) -> Any:
        there, reward, terminated, truncated, info = self.env.step(action)
        self.steps.append((self.here, action, float(reward), there, terminated))
        self.here = there
        return there, reward, terminated, truncated, info


Step = TypeVar("Step", bound=tuple[Any, ...])


def with_replay(steps: list[Step], n_episodes: int) -> list[Step]:
    """What is learned from in turn: each step, and after each episode the last ones once more, each backwards."""
    episodes: list[list[Step]] = [[]]
    learned: list[Step] = []
    for step in steps:
        learned.append(step)
        episodes[-1].append(step)
        # The last entry: whether the episode has ended.
        if step[-1]:
            for episode in episodes[max(0, len(episodes) - n_episodes) :]:
                learned += reversed(episode)
            episodes.append([])
    return learned


def learned_from(
    steps: list[tuple[int, int, float, int, bool]], world: fp.World, options: fp.OptionSet
) -> dict[Any, np.ndarray[Any, Any]]:
    """The values after these primitive steps, from the definition of intra-option learning, option by option."""
    actions, n_actions = np.asarray(world.actions), 2
    values: dict[Any, np.ndarray[Any, Any]] = {label: np.zeros(n_actions + len(options)) for label in range(10)}

    def chosen(option: fp.Option, label: int) -> list[int]:
        state = world.find_state(label)
        assert state is not None
        taken: list[int] = actions[list(world.choices(state))][option.policy(state) > 0].tolist()
        return taken

    def best(label: int) -> float:
        possible = [True] * n_actions + [bool(chosen(option, label)) for option in options]
        return float(values[label][possible].max())

    for before, action, reward, after, terminated in steps:
        value = 0.0 if terminated else best(after)
        targets = {action: reward + GAMMA * value}
        for number, option in enumerate(options):
            if action in chosen(option, before):
                goes_on = not terminated and bool(chosen(option, after))
                own = values[after][n_actions + number] if goes_on else value
                targets[n_actions + number] = reward + GAMMA * own
        for decision, target in targets.items():
            values[before][decision] += ALPHA * (target - values[before][decision])
    return values


@pytest.mark.parametrize("replay", [0, 1, 3])
def test_intra_option_learning_updates_every_decision_that_could_have_taken_the_step(replay: int) -> None:
    env = Recorded(Corridor())
    env.unwrapped.rewards = np.linspace(-1.0, 1.0, 10)  # type: ignore[attr-defined]
    world = fp.World.from_env(env)
    options = fp.OptionSet(world, np.array([world.find_state(goal) for goal in (3, 6, 0)]))
    env.steps.clear()
    agent = fp.train_tabular(
        fp.OptionsWrapper(env, options, GAMMA), 400, algorithm="intra-option", alpha=ALPHA, epsilon=0.5, replay=replay,
        seed=1,
    )  # fmt: skip
    assert len(env.steps) == agent.n_steps
    assert sum(step[-1] for step in env.steps) > 3
    expected = learned_from(with_replay(env.steps, replay), world, options)
    assert sum(values.any() for values in expected.values()) > 6
    for label, values in zip(agent.index.labels, agent.values, strict=True):
        np.testing.assert_allclose(values, expected[label], rtol=1e-12)


class Decided(fp.OptionsWrapper):
    """Keeps every decision: (state, action, reward, discount, next state, which actions can be taken there, over)."""

    decisions: list[tuple[int, int, float, float, int, np.ndarray[Any, Any], bool]]

    def reset(self, **kwargs: Any) -> Any:
        self.here, info = super().reset(**kwargs)
        return self.here, info

    def step(self, action: int) -> Any:
        there, reward, terminated, truncated, info = super().step(action)
        discount = GAMMA ** info["duration"]
        mask = info["action_mask"].astype(bool)
        self.decisions.append((self.here, action, reward, discount, there, mask, terminated))
        self.here = there
        return there, reward, terminated, truncated, info


@pytest.mark.parametrize("replay", [0, 1, 3])
def test_smdp_learning_updates_each_decision_by_its_length(replay: int) -> None:
    env = Corridor()
    env.rewards = np.linspace(-1.0, 1.0, 10)
    world = fp.World.from_env(env)
    wrapped = Decided(env, fp.OptionSet(world, np.array([world.find_state(goal) for goal in (3, 6, 0)])), GAMMA)
    wrapped.decisions = []
    agent = fp.train_tabular(wrapped, 400, algorithm="smdp", alpha=ALPHA, epsilon=0.5, replay=replay, seed=1)
    expected: dict[Any, np.ndarray[Any, Any]] = {label: np.zeros(5) for label in range(10)}
    for before, action, reward, discount, after, mask, over in with_replay(wrapped.decisions, replay):
        value = 0.0 if over else expected[after][mask].max()
        expected[before][action] += ALPHA * (reward + discount * value - expected[before][action])
    assert any(discount < GAMMA for _, _, _, discount, *_ in wrapped.decisions)
    for label, values in zip(agent.index.labels, agent.values, strict=True):
        np.testing.assert_allclose(values, expected[label], rtol=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.25, 1.0])
def test_random_decisions_are_options_as_often_as_asked_for(p: float) -> None:
    env = Corridor()
    world = fp.World.from_env(env)
    wrapped = Decided(env, fp.OptionSet(world, np.array([world.find_state(goal) for goal in (4, 0)])), GAMMA)
    wrapped.decisions = []
    fp.train_tabular(wrapped, 3_000, epsilon=1.0, option_probability=p, seed=1)
    shares = np.array([action >= 2 for _, action, *_ in wrapped.decisions])
    assert abs(shares.mean() - p) <= 4 * np.sqrt(p * (1 - p) / shares.size)
    with pytest.raises(InvalidInput, match="option_probability must be a number from 0 to 1"):
        fp.train_tabular(wrapped, 10, option_probability=-0.1)


def test_a_callback_sees_every_decision_and_stops_the_training() -> None:
    env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), n_options=2)
    seen: list[int] = []

    def watch(agent: fp.agents.TabularAgent) -> bool:
        seen.append(agent.n_steps)
        return agent.n_steps < 50

    agent = fp.train_tabular(env, 10_000, callback=watch)
    assert 50 <= agent.n_steps < 1_000
    assert seen[-1] == agent.n_steps
    assert seen == sorted(set(seen))


def test_the_primitive_action_is_one_that_was_tried_least_often() -> None:
    env = Recorded(Corridor())
    world = fp.World.from_env(env)
    options = fp.OptionSet(world, np.array([world.find_state(goal) for goal in (5, 0)]))
    env.steps.clear()
    # Without rewards all values stay 0, so that every decision is between equals.
    fp.train_tabular(fp.OptionsWrapper(env, options, GAMMA), 2_000, option_probability=0.0, seed=3)
    tried = np.zeros((10, 2), dtype=int)
    for cell, action, *_ in env.steps:
        assert tried[cell, action] == tried[cell].min()
        tried[cell, action] += 1
    env.steps.clear()
    fp.train_tabular(fp.OptionsWrapper(env, options, GAMMA), 2_000, option_probability=0.0, actions="uniform", seed=3)
    cells, actions = np.array([step[:2] for step in env.steps]).T
    assert max(abs(np.diff(np.bincount(actions[cells == cell], minlength=2)))[0] for cell in range(9)) > 1


def test_some_episodes_only_explore() -> None:
    env = Recorded(Corridor())
    env.unwrapped.rewards = np.eye(10)[9]  # type: ignore[attr-defined]
    world = fp.World.from_env(env)
    options = fp.OptionSet(world, np.array([world.find_state(4)]))
    lengths = {}
    for share in (0.0, 0.5, 1.0):
        env.steps.clear()
        fp.train_tabular(
            fp.OptionsWrapper(env, options, GAMMA), 5_000, algorithm="intra-option", epsilon=0.0,
            exploring_episodes=share, option_probability=0.0, seed=0,
        )  # fmt: skip
        ends = np.flatnonzero([step[-1] for step in env.steps])
        lengths[share] = np.diff(ends)[20:]
    # Nine steps is the shortest way; an agent that only explores never takes it again and again.
    assert (lengths[0.0] == 9).all()
    assert 0.4 < (lengths[0.5] == 9).mean() < 0.75
    assert (lengths[1.0] == 9).mean() < 0.2


N_BEFORE = 12


class Changing(Decided):
    """Says at some decisions that the first option leads elsewhere from now on."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        return (
            observation,
            reward,
            terminated,
            truncated,
            {**info, "changed_options": [0] * (len(self.decisions) == N_BEFORE)},
        )


def test_options_that_lead_elsewhere_now_are_forgotten_with_the_decisions_for_them() -> None:
    env = Corridor()
    env.rewards = np.linspace(-1.0, 1.0, 10)
    world = fp.World.from_env(env)
    wrapped = Changing(env, fp.OptionSet(world, np.array([world.find_state(goal) for goal in (3, 6)])), GAMMA)
    wrapped.decisions = []
    agent = fp.train_tabular(
        wrapped, 200, algorithm="smdp", alpha=ALPHA, epsilon=1.0, option_probability=0.5, replay=1, seed=3,
        callback=lambda agent: not wrapped.decisions[-1][-1],
    )  # fmt: skip
    # One episode, learned from as it went and once more backwards.
    assert len(wrapped.decisions) > N_BEFORE + 2
    assert any(action == 2 for _, action, *_ in wrapped.decisions[:N_BEFORE])
    expected: dict[Any, np.ndarray[Any, Any]] = {label: np.zeros(4) for label in range(10)}

    def learn(decision: tuple[int, int, float, float, int, np.ndarray[Any, Any], bool]) -> None:
        before, action, reward, discount, after, mask, over = decision
        value = 0.0 if over else expected[after][mask].max()
        expected[before][action] += ALPHA * (reward + discount * value - expected[before][action])

    for decision in wrapped.decisions[:N_BEFORE]:
        learn(decision)
    for values in expected.values():
        values[2] = values[:2].min()
    for decision in wrapped.decisions[N_BEFORE:]:
        learn(decision)
    kept = [decision for place, decision in enumerate(wrapped.decisions) if place >= N_BEFORE or decision[1] != 2]
    for decision in reversed(kept):
        learn(decision)
    for label, values in zip(agent.index.labels, agent.values, strict=True):
        np.testing.assert_allclose(values, expected[label], rtol=1e-12)


def test_an_environment_without_options_is_the_baseline() -> None:
    env = Recorded(Corridor())
    env.unwrapped.rewards = np.linspace(-1.0, 1.0, 10)  # type: ignore[attr-defined]
    agent = fp.train_tabular(env, 500, alpha=ALPHA, seed=1, replay=0)
    assert agent.n_steps == len(env.steps) == 500
    assert agent.values.shape == (10, 2)
    # Q-learning, step by step.
    values = np.zeros((10, 2))
    for here, action, reward, there, over in env.steps:
        target = reward + 0.99 * (0.0 if over else values[there].max())
        values[here, action] += ALPHA * (target - values[here, action])
    for state, label in enumerate(agent.index.labels):
        np.testing.assert_allclose(agent.values[state], values[label], rtol=1e-12)


def test_a_state_is_the_observation_unless_a_function_says_otherwise() -> None:
    blind = gym.wrappers.TransformObservation(make("FrozenLake-v1"), lambda observation: 0, gym.spaces.Discrete(1))
    assert len(fp.train_tabular(blind, 300).index) == 1
    assert len(fp.train_tabular(blind, 300, state=fp.envs.simulator_state).index) > 5
    wrapped = fp.OptionsWrapper(blind, [])
    with pytest.raises(InvalidInput, match="state must be left out where env has options"):
        fp.train_tabular(wrapped, 10, state=fp.envs.simulator_state)
    with pytest.raises(InvalidInput, match="env must have its options outermost; got RecordEpisodeStatistics around"):
        fp.train_tabular(gym.wrappers.RecordEpisodeStatistics(wrapped), 10)


def test_a_result_says_how_often_options_were_taken() -> None:
    env = make("CliffWalking-v1")
    wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=3))
    own = wrapped.options.option_probability
    for given, used in ((None, own), (0.3, 0.3), (1.0, 1.0)):
        agent = fp.train_tabular(wrapped, 200, option_probability=given)
        assert agent.option_probability == used
        assert repr(agent).endswith(f", option_probability={used:.3g})")
    assert fp.train_tabular(fp.DiscoveringWrapper(env, 3), 200).option_probability == 0.05
    # None could be taken.
    alone = fp.train_tabular(env, 200, option_probability=0.3)
    assert alone.option_probability == 0.0
    assert repr(alone).endswith("episodes)")


def test_observations_with_fractions_need_a_state() -> None:
    env = make("MountainCar-v0")
    with pytest.raises(InvalidInput, match=r"observation must be of whole numbers .* state="):
        fp.train_tabular(env, 10)
    agent = fp.train_tabular(env, 300, state=lambda env, observation: np.round(observation, 1))
    assert 1 < len(agent.index) < 20


@pytest.mark.parametrize("reward", [np.inf, -np.inf, np.nan])
def test_a_reward_that_is_not_finite_is_refused(reward: float) -> None:
    env = gym.wrappers.TransformReward(make("CliffWalking-v1"), lambda given: reward if float(given) < -50 else given)
    with pytest.raises(InvalidInput, match=f"reward must be finite to be learned from; got {reward}"):
        fp.train_tabular(env, 5_000)


def test_the_default_learns_from_steps_where_it_can() -> None:
    env = make("FrozenLake-v1", is_slippery=False)
    wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2))
    default, steps = fp.train_tabular(wrapped, 1_000), fp.train_tabular(wrapped, 1_000, algorithm="intra-option")
    np.testing.assert_array_equal(default.values, steps.values)
    # A primitive action in a box is a random one: only decisions have values.
    boxes = gym.wrappers.TransformObservation(
        make("Pendulum-v1"), lambda observation: int(observation[0] > 0), gym.spaces.Discrete(2)
    )
    agent = fp.train_tabular(boxes, 300, seed=1)
    np.testing.assert_array_equal(agent.values, fp.train_tabular(boxes, 300, algorithm="smdp", seed=1).values)
    assert agent.values.shape == (2, 1)
    with pytest.raises(InvalidInput, match="algorithm must be smdp where actions are not discrete"):
        fp.train_tabular(boxes, 10, algorithm="intra-option")
    again = pickle.loads(pickle.dumps(agent))
    np.testing.assert_array_equal(again.values, agent.values)
    assert again.act(1) == 0
    assert again.env is None
