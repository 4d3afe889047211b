"""Options where observations hide something: what an episode has shown is certain in it, so options do not spin."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.exploration.memory import routes_by_tries
from farpoint.exploration.stickiness import StickyWay
from farpoint.worlds.state_index import StateIndex
from tests.helpers.envs import make


class Doors(gym.Env[Any, Any]):
    """A hall (0) with two doors, of which one is open in each episode; action 0 or 1 tries a door, 2 walks back.

    The open one leads to its passage (1 or 2), and from there any action to the room (4); the other one to the niche
    before it (3), from where action 2 leads back. Only the place is observed.
    """

    observation_space = gym.spaces.Discrete(5)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.open, self.place, self.n_steps = int(self.np_random.integers(2)), 0, 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.n_steps += 1
        if self.place in (1, 2):
            self.place = 4
        elif self.place == 3:
            self.place = 0 if action == 2 else 3
        elif self.place == 0 and action < 2:
            self.place = 1 + action if action == self.open else 3
        elif self.place == 4 and action == 2:
            self.place = 0
        return self.place, 0.0, False, self.n_steps >= 40, {}


def seen() -> tuple[fp.Explorer, dict[int, int]]:
    """An explorer that has seen both kinds of episodes, and its number of each place."""
    env, explorer = Doors(), fp.Explorer(StateIndex.exact(), 3)
    rng = np.random.default_rng(0)
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        state = explorer.begin([observation])
        for _ in range(40):
            action = [int(rng.integers(3))]
            observation, *_ = env.step(action[0])
            state = explorer.add(state, action, [observation], [False])
    return explorer, {place: int(explorer.find([place])[0]) for place in range(5)}


def test_a_door_that_was_shut_is_not_tried_again_in_this_episode() -> None:
    explorer, number = seen()
    way = StickyWay(explorer, number[4], copy=1)
    first = way.action(number[0])
    assert first in (0, 1)
    # The niche: back to the hall, and then the other door.
    assert way.action(number[3]) == 2
    assert way.action(number[0]) == 1 - first
    # That one is open: any action leads on, and the option ends in the room.
    assert way.action(number[2 - first]) >= 0
    assert way.action(number[4]) == -1


def test_an_option_that_cannot_come_nearer_ends() -> None:
    explorer, number = seen()
    way = StickyWay(explorer, number[4], copy=1)
    taken = [way.action(number[place]) for place in (0, 3, 0, 3)]
    assert sorted([taken[0], taken[2]]) == [0, 1]
    # Both doors were shut: no way is left.
    assert (taken[1], taken[3]) == (2, -1)


def test_what_was_seen_before_the_option_began_counts_too() -> None:
    explorer, number = seen()
    before = int(explorer.n_steps)
    state = explorer.begin([0], copies=[7])
    state = explorer.add(state, [0], [3], [False], copies=[7])
    explorer.add(state, [2], [0], [False], copies=[7])
    assert explorer.n_steps == before + 2
    assert StickyWay(explorer, number[4], copy=7).action(number[0]) == 1


def test_a_way_is_found_again_though_other_copies_find_states_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    # Interpreted, so that an index beyond an array is an error and not something else in memory.
    interpreted = routes_by_tries.version("interpreted")  # type: ignore[attr-defined]
    monkeypatch.setattr("farpoint.exploration.stickiness.routes_by_tries", interpreted)
    explorer, number = seen()
    way = StickyWay(explorer, number[4], copy=1)
    first = way.action(number[0])
    # Hundreds, so that the explorer's arrays grow.
    for place in range(5, 400):
        explorer.add([number[0]], [2], [place], [False], copies=[2])
    assert way.action(number[3]) == 2
    assert way.action(number[0]) == 1 - first


def steps_in_vain(n_steps: int, seed: int, *, sticky: bool) -> tuple[int, int]:
    """Return how many steps of options took the same action in the same state again, and all their steps."""
    env = make("MiniGrid-FourRooms-v0")
    explorer = fp.Explorer.for_env(env, seed=seed)
    observation, _ = env.reset(seed=seed)
    state, running = explorer.begin([observation]), np.array([-1])
    again = total = 0
    taken = set[tuple[int, int]]()
    for _ in range(n_steps):
        before = running
        action, running = explorer.act(state, before)
        if running[0] >= 0:
            if before[0] != running[0]:
                taken.clear()
            choice = int(state[0]), int(action[0])
            again, total = again + (choice in taken), total + 1
            taken.add(choice)
        observation, _, terminated, truncated, _ = env.step(int(action[0]))
        state = explorer.add(state, action, [observation], [terminated])
        if terminated or truncated:
            observation, _ = env.reset(seed=seed)
            state, running = explorer.begin([observation]), np.array([-1])
        if explorer.due:
            explorer.remake()
            running = np.array([-1])
            explorer.is_sticky &= sticky
    return again, total


@pytest.mark.filterwarnings("ignore:observations must show all")
def test_options_repeat_themselves_far_less_in_a_partial_view() -> None:
    # In MiniGrid's view of 7 × 7 cells: three of four steps of options did what they had done before.
    before, all_before = steps_in_vain(6_000, 0, sticky=False)
    now, _ = steps_in_vain(6_000, 0, sticky=True)
    assert before > all_before / 2
    assert now <= before / 4


@pytest.mark.filterwarnings("ignore:observations must show all")
@pytest.mark.parametrize("vector", [False, True])
def test_wrappers_follow_the_same_way(vector: bool) -> None:
    explorer, number = seen()
    explorer.remake()
    assert explorer.is_sticky
    explorer.goals[:] = -1
    explorer.goals[0] = number[4]
    explorer.routes = np.stack([explorer.route_to(number[4])] * explorer.goals.size)
    lengths = []
    for seed in range(10):
        if vector:
            envs = fp.DiscoveringVectorEnv(gym.vector.SyncVectorEnv([Doors]), explorer=explorer, learn=False)
            _, info = envs.reset(seed=seed)
            n_steps = 0
            while not n_steps or not info["deciding"][0]:
                observation, *_, info = envs.step([3])
                n_steps += 1
            lengths.append(int(info["duration"][0]))
            assert observation[0] == 4
        else:
            env = fp.DiscoveringWrapper(Doors(), explorer=explorer, learn=False)
            env.reset(seed=seed)
            observation, *_, info = env.step(3)
            lengths.append(info["duration"])
            assert observation == 4
    # A door and a passage; or the wrong door, the niche, the other door and the passage.
    assert set(lengths) == {2, 4}


class Shut(Doors):
    """Both doors are shut."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        first = super().reset(seed=seed, options=options)
        self.open = -1
        return first


@pytest.mark.filterwarnings("ignore:observations must show all")
def test_an_option_that_the_mask_offers_is_no_error_where_no_way_is_left() -> None:
    explorer, number = seen()
    explorer.remake()
    explorer.goals[:] = number[4]
    explorer.routes = np.stack([explorer.route_to(number[4])] * explorer.goals.size)
    explorer.remake_at = 10**6
    env = fp.DiscoveringWrapper(Shut(), explorer=explorer, unavailable="refuse")
    env.reset(seed=0)
    for action in (0, 2, 1, 2):
        *_, info = env.step(action)
    assert info["action_mask"][3] == 1
    *_, info = env.step(3)
    assert (info["option"], info["duration"]) == (-1, 1)


@pytest.mark.filterwarnings("ignore:observations must show all")
def test_copies_in_the_middle_of_an_option_go_on_alike() -> None:
    envs = fp.DiscoveringVectorEnv(gym.vector.SyncVectorEnv([Doors] * 3), 2, option_probability=0.5)
    env = fp.DiscoveringWrapper(Doors(), 2, option_probability=0.5)
    _, infos = envs.reset(seed=0)
    _, info = env.reset(seed=0)
    for _ in range(600):
        infos = envs.step(envs.action_space.sample(infos["action_mask"]))[-1]
        if env.step(int(env.action_space.sample(info["action_mask"])))[3]:
            env.reset()
        info = {"action_mask": env.action_masks().astype(np.int8)}
    while infos["deciding"].all():
        infos = envs.step(envs.action_space.sample(infos["action_mask"]))[-1]
    assert envs.explorer.is_sticky
    assert env.explorer.is_sticky
    again = pickle.loads(pickle.dumps(envs))
    for _ in range(50):
        actions = envs.action_space.sample(infos["action_mask"])
        infos, others = envs.step(actions)[-1], again.step(actions)[-1]
        np.testing.assert_array_equal(infos["action_mask"], others["action_mask"])
        np.testing.assert_array_equal(infos["duration"], others["duration"])
    pickle.loads(pickle.dumps(env))


@pytest.mark.filterwarnings("ignore:observations must show all")
def test_an_exploration_that_goes_on_later_remembers_its_episode(tmp_path: Path) -> None:
    # In the middle of an episode of 40 steps. With two doors it is soon known that something is hidden.
    whole = fp.explore(Doors(), 3_000, seed=1)
    for stop in (1_515, 3_000):
        parts = fp.explore(Doors(), stop, seed=1, checkpoint=tmp_path)
    for one, other in zip(parts.steps, whole.steps, strict=True):
        np.testing.assert_array_equal(one, other)
