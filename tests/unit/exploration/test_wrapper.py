"""The wrapper in which options appear while an agent trains."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.envs import TAXI, make
from tests.unit.exploration.test_exploring import MapEnv, torus

WORLD = replace(fp.World.from_graph(torus()), start=5)


def wrapped(**settings: Any) -> fp.DiscoveringWrapper:
    return fp.DiscoveringWrapper(MapEnv(WORLD, 60), **{"n_options": 4, **settings})


def random_steps(env: fp.DiscoveringWrapper, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return the info of random decisions."""
    rng, infos = np.random.default_rng(seed), []
    env.reset(seed=seed)
    for _ in range(count):
        _, _, terminated, truncated, info = env.step(env.sample_action(rng=rng))
        infos.append(info)
        if terminated or truncated:
            env.reset()
    return infos


def test_every_option_that_can_start_is_offered_at_every_decision() -> None:
    env = wrapped()
    agent = fp.train_tabular(env, 2_000)
    n_options = 0
    _, info = env.reset(seed=0)
    for _ in range(300):
        able = env.options.can_start(env.current_key)
        np.testing.assert_array_equal(info["action_mask"], [1, 1, 1, 1, *able])
        np.testing.assert_array_equal(env.action_masks(), info["action_mask"].astype(bool))
        n_options += able.sum()
        # What is best for this agent; nothing here is random.
        _, _, _, truncated, info = env.step(agent.act(env.current_key, info["action_mask"]))
        if truncated:
            _, info = env.reset()
    assert n_options > 300


@pytest.mark.parametrize("p", [0.05, 0.3])
def test_samples_of_the_action_space_take_options_as_often_as_the_explorer(p: float) -> None:
    env = wrapped(option_probability=p)
    shared = fp.DiscoveringWrapper(MapEnv(WORLD, 60), explorer=env.explorer, learn=False)
    for one in (env, shared, fp.OptionsWrapper(MapEnv(WORLD, 60), env.explorer.options)):
        one.action_space.seed(0)
        drawn = np.array([one.action_space.sample() for _ in range(10_000)])
        # Four standard errors of a share.
        assert abs((drawn >= 4).mean() - p) < 4 * np.sqrt(p * (1 - p) / drawn.size)
        assert set(drawn.tolist()) == set(range(8))


def test_random_decisions_are_options_with_probability_p() -> None:
    taken = np.mean([info["option"] >= 0 for info in random_steps(wrapped(option_probability=0.3), 6_000)[500:]])
    # After the first options were made; nowhere but in their goals and in new states can fewer start.
    assert 0.25 < taken < 0.33


def test_slots_are_empty_at_first_and_then_lead_to_their_goals() -> None:
    env = wrapped(option_probability=0.3)
    env.reset(seed=0)
    assert env.action_masks().tolist() == [True] * 4 + [False] * 4
    random_steps(env, 3_000)
    assert (env.options.goals >= 0).all()
    for slot in range(4):
        goal = env.explorer.label_of(int(env.options.goals[slot]))
        env.reset(seed=1)
        while not env.action_masks()[4 + slot]:
            env.reset()
        observation, _, _, truncated, info = env.step(4 + slot)
        assert info["option"] == slot
        assert observation == goal or truncated
        assert env.options.reached(slot, goal)


def test_an_option_ends_at_its_goal_though_actions_were_never_tried_there() -> None:
    env = wrapped(option_probability=0.3, remake_every=50)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    n_arrived = 0
    for _ in range(3_000):
        action = env.sample_action(rng=rng)
        goal = None if action < 4 else env.explorer.label_of(int(env.options.goals[action - 4]))
        observation, _, _, truncated, _ = env.step(action)
        if goal is not None:
            n_arrived += observation == goal
            assert observation == goal or truncated
        if truncated:
            env.reset()
    assert n_arrived > 50


def test_slots_keep_their_goal_and_info_says_when_they_do_not() -> None:
    env = wrapped(option_probability=0.3, remake_every=50)
    env.reset(seed=3)
    before, rng, n_changes = env.options.goals.copy(), np.random.default_rng(3), 0
    for _ in range(2_000):
        _, _, _, truncated, info = env.step(env.sample_action(rng=rng))
        changed = np.flatnonzero(env.options.goals != before).tolist()
        assert info["changed_options"] == changed
        n_changes += len(changed)
        before = env.options.goals.copy()
        if truncated:
            env.reset()
    assert 4 <= n_changes < 4 * env.total_steps / 50, "not every slot changes every time"


def test_the_same_seed_gives_the_same_training() -> None:
    one, other = (random_steps(wrapped(), 1_500, seed=4) for _ in range(2))
    assert all(np.array_equal(a["action_mask"], b["action_mask"]) for a, b in zip(one, other, strict=True))
    assert [info["option"] for info in one] == [info["option"] for info in other]


def test_an_option_that_cannot_start_is_a_random_action_or_an_error() -> None:
    env = wrapped()
    env.reset(seed=0)
    *_, info = env.step(5)
    assert (info["option"], info["duration"]) == (-1, 1)
    strict = wrapped(unavailable="refuse")
    strict.reset(seed=0)
    with pytest.raises(InvalidInput, match="option 1 must be one that can start here"):
        strict.step(5)


@pytest.mark.parametrize("p", [0.05, 0.2])
def test_a_tabular_agent_takes_options_as_often_as_the_wrapper_says(p: float) -> None:
    env = wrapped(option_probability=p)
    taken: list[bool] = []
    step = env.step

    def counted(action: int) -> Any:
        answer = step(action)
        taken.append(answer[4]["option"] >= 0)
        return answer

    env.step = counted  # type: ignore[method-assign]
    fp.train_tabular(env, 12_000, epsilon=1.0)
    assert 0.75 * p < np.mean(taken[500:]) < 1.1 * p


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize(
    "name", ["FrozenLake-v1", TAXI, "CliffWalking-v1", "MiniGrid-DoorKey-5x5-v0", "MountainCar-v0"]
)
def test_gymnasium_accepts_it(name: str) -> None:
    check_env(fp.DiscoveringWrapper(make(name), n_options=3), skip_render_check=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1"])
def test_stable_baselines_accepts_it_and_trains_on_it(name: str) -> None:
    sb3, contrib = pytest.importorskip("stable_baselines3"), pytest.importorskip("sb3_contrib")
    from stable_baselines3.common.env_checker import check_env as check_sb3

    check_sb3(fp.DiscoveringWrapper(make(name), n_options=3))
    small = {"policy_kwargs": {"net_arch": [16]}, "device": "cpu", "seed": 0}
    ppo = {"n_steps": 64, "batch_size": 32}
    for kind, arguments in (
        (sb3.DQN, {"learning_starts": 50}),
        (sb3.PPO, ppo),
        (contrib.MaskablePPO, ppo),
        (sb3.DQN, {"learning_starts": 50, "replay_buffer_class": fp.deep.DurationReplayBuffer}),
    ):
        env = fp.DiscoveringWrapper(make(name), n_options=3, option_probability=0.3)
        kind("MlpPolicy", env, **arguments, **small).learn(400)
        assert env.total_steps >= 400
        assert (env.options.goals >= 0).any()


@pytest.mark.slow
def test_an_agent_of_others_explores_at_the_rate_of_the_options() -> None:
    sb3 = pytest.importorskip("stable_baselines3")

    class Watched(gym.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            taken.append(int(action))
            return self.env.step(action)

    taken: list[int] = []
    env = wrapped(option_probability=0.1)
    random_steps(env, 1_000)
    evaluation = fp.DiscoveringWrapper(MapEnv(WORLD, 60), explorer=env.explorer, learn=False)
    # Its first decisions are all random.
    agent = sb3.DQN("MlpPolicy", Watched(evaluation), learning_starts=3_000, seed=0, policy_kwargs={"net_arch": [8]})
    agent.learn(3_000)
    share = np.mean(np.array(taken) >= 4)
    assert abs(share - 0.1) < 4 * np.sqrt(0.1 * 0.9 / len(taken))


def test_a_tabular_agent_learns_with_options_that_appear() -> None:
    class Rewarded(MapEnv):
        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            state, _, _, truncated, info = super().step(action)
            return state, float(state == 70), state == 70, truncated, info

    env = fp.DiscoveringWrapper(Rewarded(WORLD, 60), n_options=4, option_probability=0.2)
    agent = fp.train_tabular(env, 12_000, algorithm="intra-option", seed=1)
    assert np.mean(agent.episode_rewards[-20:]) > 0.9


def test_the_wrapper_can_be_made_again_from_its_spec() -> None:
    env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), n_options=7, option_probability=0.1)
    assert env.spec is not None
    again = gym.make(env.spec)
    assert again.action_space == env.action_space
    assert again.get_wrapper_attr("explorer").settings == env.explorer.settings


ROOMS = "S.....#......\n......#......\n.............\n......#......\n###.#####.###\n......#......\n............."


def cells_seen(env: Any, n_steps: int, seed: int) -> int:
    """Return in how many cells random decisions end."""
    observation, _ = env.reset(seed=seed)
    rng, seen, taken = np.random.default_rng(seed), set(), 0
    while taken < n_steps:
        action = env.sample_action(rng=rng) if hasattr(env, "sample_action") else int(rng.integers(env.action_space.n))
        observation, _, terminated, truncated, info = env.step(action)
        taken += info.get("duration", 1)
        seen.add((int(observation[0]), int(observation[1])))
        if terminated or truncated:
            env.reset()
    return len(seen)


def test_continuous_observations_are_told_apart_by_representatives() -> None:
    def rooms() -> Any:
        return fp.ContinuousMaze(ROOMS, max_steps=200)

    env = fp.DiscoveringWrapper(rooms(), 5)
    with_options = [cells_seen(fp.DiscoveringWrapper(rooms(), 5, seed=seed), 6_000, seed) for seed in range(3)]
    without = [cells_seen(rooms(), 6_000, seed) for seed in range(3)]
    assert min(with_options) > max(without)
    cells_seen(env, 3_000, 0)
    # Far fewer states than steps, and the slots lead somewhere.
    assert 20 < env.explorer.n_states < 600
    assert (env.options.goals >= 0).all()


def test_states_are_made_anew_where_steps_become_longer() -> None:
    class Faster(gym.Env[Any, Any]):
        """Its steps are a hundred times as long after a thousand of them."""

        observation_space = gym.spaces.Box(-np.inf, np.inf, (1,))
        action_space = gym.spaces.Discrete(2)

        def __init__(self) -> None:
            self.count, self.at = 0, 0.0

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
            super().reset(seed=seed)
            return np.array([self.at], dtype=np.float32), {}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.count += 1
            self.at += (1.0 if action else -1.0) * (1.0 if self.count < 1_000 else 100.0)
            return np.array([self.at], dtype=np.float32), 0.0, False, False, {}

    env = fp.DiscoveringWrapper(Faster(), 3, option_probability=0.2)
    infos = random_steps(env, 4_000)
    # All slots were filled before, and all of them changed at once when the states did.
    all_at_once = [number for number, info in enumerate(infos) if info["changed_options"] == [0, 1, 2]]
    assert any(number > 500 for number in all_at_once)
    assert env.options.can_start(env.current_key).shape == (3,)
    assert env.explorer.n_steps == env.total_steps


def test_states_with_other_numbers_have_keys_that_none_had_before() -> None:
    env = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), 3)
    rng, before, now = np.random.default_rng(0), set[Any](), set[Any]()
    env.reset(seed=0)
    generation = env.explorer.generation
    for _ in range(1_500):
        _, _, terminated, truncated, _ = env.step(env.sample_action(rng=rng))
        if env.explorer.generation != generation:
            generation, before, now = env.explorer.generation, before | now, set()
        now.add(env.current_key)
        assert now.isdisjoint(before)
        if terminated or truncated:
            env.reset()
            now.add(env.current_key)
    assert generation > 0


def test_steps_are_counted_on_when_states_get_other_numbers() -> None:
    env = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), 3)
    random_steps(env, 1_500)
    assert env.explorer.generation > 0
    assert env.explorer.n_steps == env.total_steps


def test_reading_an_observation_changes_nothing() -> None:
    env = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), 3, scale=[0.1, 0.01])
    env.reset(seed=0)
    here = env.current_key
    assert env.read(np.array([0.5, 0.0])) == env.read(np.array([0.5, 0.0])) != here
    assert env.current_key == here
    assert env.explorer.n_states == 1


def test_resets_of_an_autoresetting_environment_are_no_moves() -> None:
    bare = MapEnv(WORLD, 60)
    env = fp.DiscoveringWrapper(gym.wrappers.Autoreset(MapEnv(WORLD, 60)), 4)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    n_resets, over = 0, False
    for _ in range(2_000):
        observation, reward, terminated, truncated, info = env.step(env.sample_action(rng=rng))
        if over:
            assert (observation, reward, info["duration"], info["discount"], info["option"]) == (5, 0.0, 0, 1.0, -1)
            n_resets += 1
        over = terminated or truncated
    assert n_resets > 20
    before, action, after, _ = env.explorer.transitions()
    for state, number, there in zip(before.tolist(), action.tolist(), after.tolist(), strict=True):
        bare.reset()
        bare.state = int(env.explorer.label_of(state))  # type: ignore[call-overload]
        assert bare.step(number)[0] == env.explorer.label_of(there)
    assert env.total_steps == env.explorer.n_steps


def test_a_step_after_the_end_needs_a_reset() -> None:
    env = wrapped()
    env.reset(seed=0)
    while not env.step(0)[3]:
        pass
    with pytest.raises(gym.error.ResetNeeded, match="the episode is over"):
        env.step(0)


def test_training_and_evaluation_share_an_explorer() -> None:
    env = wrapped(option_probability=0.3)
    random_steps(env, 2_000)
    evaluation = fp.DiscoveringWrapper(MapEnv(WORLD, 60), explorer=env.explorer, learn=False)
    n_steps, goals, digest = env.explorer.n_steps, env.options.goals.copy(), env.explorer.digest
    random_steps(evaluation, 500)
    assert (env.explorer.n_steps, env.explorer.digest) == (n_steps, digest)
    np.testing.assert_array_equal(evaluation.options.goals, goals)
    with pytest.raises(InvalidInput, match="explorer must be of an environment with 6 actions; got 4"):
        fp.DiscoveringWrapper(make(TAXI), explorer=env.explorer)
    with pytest.raises(InvalidInput, match="n_options must be that of the explorer, 4; got 5"):
        fp.DiscoveringWrapper(MapEnv(WORLD, 60), 5, explorer=env.explorer)


def test_two_training_environments_share_an_explorer_whose_states_get_other_numbers() -> None:
    first = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), 3)
    other = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), explorer=first.explorer)
    first.reset(seed=0)
    other.reset(seed=1)
    for step in range(700):
        for env in (first, other):
            _, _, terminated, truncated, _ = env.step(step // 3 % 3)
            if terminated or truncated:
                env.reset()
    assert first.explorer.generation > 0
    assert first.explorer.n_steps == 1_400


@pytest.mark.parametrize("name", ["CliffWalking-v1", "MountainCar-v0"])
@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_copies_go_on_alike(name: str, way: str) -> None:
    env = fp.DiscoveringWrapper(gym.make(name), 3, option_probability=0.3)
    random_steps(env, 500)
    again = pickle.loads(pickle.dumps(env)) if way == "pickle" else copy.deepcopy(env)
    assert again.options.explorer is again.explorer is not env.explorer
    for one in (env, again):
        one.reset(seed=3)
    for _ in range(300):
        action = int(np.flatnonzero(env.action_masks())[-1])
        here, there = env.step(action), again.step(action)
        np.testing.assert_array_equal(here[0], there[0])
        assert here[1:4] == there[1:4]
        np.testing.assert_array_equal(here[4]["action_mask"], there[4]["action_mask"])
        if here[2] or here[3]:
            env.reset()
            again.reset()
    assert env.explorer.digest == again.explorer.digest


def test_a_constant_observation_is_one_state() -> None:
    blind = gym.wrappers.TransformObservation(gym.make("FrozenLake-v1"), lambda _: 0, gym.spaces.Discrete(1))
    env = fp.DiscoveringWrapper(blind, 3)
    with warnings.catch_warnings():
        # It says that observations hide something.
        warnings.simplefilter("ignore")
        random_steps(env, 500)
        agent = fp.train_tabular(env, 500)
    assert (env.explorer.n_states, len(agent.index)) == (1, 1)


def test_a_scale_needs_continuous_observations() -> None:
    with pytest.raises(InvalidInput, match="scale must go with continuous observations"):
        wrapped(scale=0.1)
    with pytest.raises(InvalidInput, match="scale must be one number above 0, or 2"):
        fp.DiscoveringWrapper(gym.make("MountainCar-v0"), scale=[1.0, 2.0, 3.0])
    given = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), 3, scale=[0.1, 0.01])
    random_steps(given, 400)
    # About ten regions of 0.1 and 0.01 around the bottom, where steps are so small that a default would make hundreds.
    assert 5 < given.explorer.n_states < 20


def test_continuous_actions_are_wrapped_by_gymnasium() -> None:
    car = gym.make("MountainCarContinuous-v0")
    with pytest.raises(InvalidInput, match=r"Wrap it in gymnasium\.wrappers\.DiscretizeAction"):
        fp.DiscoveringWrapper(car)
    with pytest.raises(InvalidInput, match=r"Wrap it in gymnasium\.wrappers\.DiscretizeAction"):
        fp.explore(car, 100)
    three = gym.wrappers.DiscretizeAction(car, bins=3)
    found = fp.explore(three, 2_000)
    assert found.n_states > 50
    env = fp.OptionsWrapper(three, found.options, max_steps=50)
    env.reset(seed=0)
    assert env.step(env.sample_action(1.0))[4]["duration"] >= 1
