"""The wrapper in which options appear while an agent trains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.envs import make
from tests.unit.exploration.test_exploring import MapEnv, torus

WORLD = replace(fp.World.from_graph(torus()), start=5)


def wrapped(**settings: Any) -> fp.DiscoveringWrapper:
    return fp.DiscoveringWrapper(MapEnv(WORLD, 60), **{"n_options": 4, **settings})


def random_steps(env: fp.DiscoveringWrapper, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return the info of decisions that are drawn uniformly among what is offered."""
    rng, infos = np.random.default_rng(seed), []
    _, info = env.reset(seed=seed)
    for _ in range(count):
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, terminated, truncated, info = env.step(action)
        infos.append(info)
        if terminated or truncated:
            _, info = env.reset()
    return infos


@pytest.mark.parametrize("p", [0.05, 0.3])
def test_a_uniform_choice_among_what_is_offered_is_an_option_with_probability_p(p: float) -> None:
    infos = random_steps(wrapped(option_probability=p), 6_000)
    # After the first options were made; in their goals, and in new states, fewer can start.
    taken = np.mean([info["option"] >= 0 for info in infos[500:]])
    assert 0.75 * p < taken < 1.1 * p


def test_slots_are_empty_at_first_and_then_lead_to_their_goals() -> None:
    env = wrapped(option_probability=0.3)
    env.reset(seed=0)
    assert env.action_masks().tolist() == [True] * 4 + [False] * 4
    random_steps(env, 3_000)
    assert (env.options.goals >= 0).all()
    labels = list(env.options.number)
    for slot in range(4):
        goal = labels[int(env.options.goals[slot])]
        env.reset(seed=1)
        while not env.action_masks()[4 + slot]:
            env.reset()
        observation, _, _, truncated, info = env.step(4 + slot)
        assert info["option"] == slot
        # All actions were tried in every state by now, so that an option ends in its goal.
        assert observation == goal or truncated
        assert env.options.reached(slot, goal)


def test_an_option_tries_what_was_never_tried_in_its_goal() -> None:
    env = wrapped()
    env.reset(seed=0)
    start = env.explorer.memory
    env.explorer.goals[0] = env.options.number[5]
    env.explorer.routes = np.full((4, 1), -1, dtype=np.int16)
    start.tried[0] = [2, 0, 1, 0]
    assert env.options.act(0, 5) == 1
    start.tried[0] = 1
    assert env.options.act(0, 5) is None


def test_slots_keep_their_goal_and_info_says_when_they_do_not() -> None:
    env = wrapped(option_probability=0.3, remake_every=50)
    _, info = env.reset(seed=3)
    before, rng, n_changes = env.options.goals.copy(), np.random.default_rng(3), 0
    for _ in range(2_000):
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, _, truncated, info = env.step(action)
        changed = np.flatnonzero(env.options.goals != before).tolist()
        assert info["changed_options"] == changed
        n_changes += len(changed)
        before = env.options.goals.copy()
        if truncated:
            _, info = env.reset()
    assert 4 <= n_changes < 4 * env.total_steps / 50, "not every slot changes every time"


def test_the_same_seed_gives_the_same_training() -> None:
    one, other = (random_steps(wrapped(), 1_500, seed=4) for _ in range(2))
    assert all(np.array_equal(a["action_mask"], b["action_mask"]) for a, b in zip(one, other, strict=True))
    assert [info["option"] for info in one] == [info["option"] for info in other]


def test_an_option_that_is_not_offered_is_a_random_action_or_an_error() -> None:
    env = wrapped()
    env.reset(seed=0)
    *_, info = env.step(5)
    assert (info["option"], info["duration"]) == (-1, 1)
    strict = wrapped(unavailable="refuse")
    strict.reset(seed=0)
    with pytest.raises(InvalidInput, match="option 1 must be one that is offered now"):
        strict.step(5)
    random_steps(strict, 500)
    while strict.action_masks()[4:].any():
        strict.reset()
    assert strict.options.can_start(strict.current_key).any(), "one that could start, but is not offered"
    with pytest.raises(InvalidInput, match="must be one that is offered now"):
        strict.step(4 + int(strict.options.can_start(strict.current_key).argmax()))


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
    "name", ["FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "MiniGrid-DoorKey-5x5-v0", "MountainCar-v0"]
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
        (fp.SMDPDQN, {"learning_starts": 50}),
    ):
        env = fp.DiscoveringWrapper(make(name), n_options=3, option_probability=0.3)
        kind("MlpPolicy", env, **arguments, **small).learn(400)
        assert env.total_steps >= 400
        assert (env.options.goals >= 0).any()


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
    assert 20 < len(env.options.number) < 600
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
    assert len(env.options.number) == env.explorer.n_states


def test_states_made_anew_have_keys_that_none_had_before() -> None:
    env = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), 3)
    rng, before, forgets = np.random.default_rng(0), set[Any](), 0
    env.reset(seed=0)
    now = {env.current_key}
    for _ in range(1_500):
        _, _, terminated, truncated, _ = env.step(env.sample_action(rng=rng))
        if env.current_key not in now and set(env.options.number).isdisjoint(now):
            before, now, forgets = before | now, set(), forgets + 1
        now.add(env.current_key)
        assert now.isdisjoint(before)
        if terminated or truncated:
            env.reset()
            now.add(env.current_key)
    assert forgets > 0


def test_reading_an_observation_changes_nothing() -> None:
    env = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), 3, scale=[0.1, 0.01])
    env.reset(seed=0)
    here = env.current_key
    assert env.read(np.array([0.5, 0.0])) == env.read(np.array([0.5, 0.0])) != here
    assert env.current_key == here
    assert env.options.number == {here: 0}
    env.step(0)
    assert len(env.options.number) == env.explorer.n_states


def test_a_scale_needs_continuous_observations() -> None:
    with pytest.raises(InvalidInput, match="scale must go with continuous observations"):
        wrapped(scale=0.1)
    with pytest.raises(InvalidInput, match="scale must be one number above 0, or 2"):
        fp.DiscoveringWrapper(gym.make("MountainCar-v0"), scale=[1.0, 2.0, 3.0])
    given = fp.DiscoveringWrapper(gym.make("MountainCar-v0"), 3, scale=[0.1, 0.01])
    random_steps(given, 400)
    # About ten regions of 0.1 and 0.01 around the bottom, where steps are so small that a default would make hundreds.
    assert 5 < len(given.options.number) < 20


def test_continuous_actions_are_wrapped_by_gymnasium() -> None:
    car = gym.make("MountainCarContinuous-v0")
    with pytest.raises(InvalidInput, match=r"Wrap it in gymnasium\.wrappers\.DiscretizeAction"):
        fp.DiscoveringWrapper(car)
    with pytest.raises(InvalidInput, match=r"Wrap it in gymnasium\.wrappers\.DiscretizeAction"):
        fp.explore(car, 100)
    three = gym.wrappers.DiscretizeAction(car, bins=3)
    found = fp.explore(three, 2_000)
    assert found.n_states > 50
    env = fp.OptionsWrapper(three, found.continuous_options, max_steps=50)
    env.reset(seed=0)
    assert env.step(env.sample_action(1.0))[4]["duration"] >= 1
