"""Worlds of environments, and the labels of states whose observations are arrays."""

from __future__ import annotations

import base64
import copy
import json
import pickle
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion import Walk
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds.array_keys import ArrayKey
from farpoint.worlds.keys import plain_key
from tests.helpers.array_env import ArrayEnv
from tests.helpers.envs import make

TABLES = [
    ("FrozenLake-v1", {"is_slippery": True}),
    ("FrozenLake8x8-v1", {"is_slippery": False}),
    ("CliffWalking-v1", {}),
    ("Taxi-v4", {}),
]


@pytest.mark.parametrize(("name", "kwargs"), TABLES)
def test_a_table_is_read_as_it_is(name: str, kwargs: dict[str, Any]) -> None:
    env = make(name, **kwargs)
    world = fp.World.from_env(env)
    table = env.unwrapped.P
    assert world.labels is not None
    assert world.actions is not None
    assert world.restart is not None
    for state, label in enumerate(world.labels):
        if world.restart[state] == 1.0:
            assert len(world.choices(state)) == 0
            continue
        assert world.actions[list(world.choices(state))].tolist() == sorted(table[label])
        for choice in world.choices(state):
            expected = np.zeros(world.n_states)
            for chance, after, _, _ in table[label][int(world.actions[choice])]:
                if chance:
                    expected[world.find_state(int(after))] += chance
            np.testing.assert_allclose(world.transitions[[choice]].toarray()[0], expected)
    # Episodes begin where the environment begins them, and the walk can be walked for ever.
    assert world.starts is not None
    np.testing.assert_allclose(world.starts, env.unwrapped.initial_state_distrib[list(world.labels)] / 1.0, atol=1e-12)
    pi = fp.stationary(world)
    assert (pi > 0).all()


def minigrid_graph(env: Any) -> dict[tuple[int, int, int], dict[int, tuple[int, int, int]]]:
    """The moves of an empty MiniGrid world, from its map: turn left, turn right, forward; the rest changes nothing."""
    grid = env.unwrapped.grid
    ahead = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    moves = {}
    for x in range(grid.width):
        for y in range(grid.height):
            cell = grid.get(x, y)
            if cell is not None and cell.type != "goal":
                continue
            for direction in range(4):
                there = (x + ahead[direction][0], y + ahead[direction][1])
                blocked = grid.get(*there) is not None and grid.get(*there).type == "wall"
                moves[x, y, direction] = {
                    0: (x, y, (direction - 1) % 4),
                    1: (x, y, (direction + 1) % 4),
                    2: (x, y, direction) if blocked else (*there, direction),
                }
    return moves


@pytest.mark.parametrize("name", ["MiniGrid-Empty-8x8-v0", "MiniGrid-FourRooms-v0"])
def test_an_enumerated_world_equals_its_map(name: str) -> None:
    env = make(name)
    env.reset(seed=3)
    moves = minigrid_graph(env)
    world = fp.World.from_env(env, seed=3)
    assert world.labels is not None
    assert world.actions is not None
    assert world.targets is not None
    short = [(label[1], label[2], label[3]) for label in world.labels]  # type: ignore[index]
    number = {key: state for state, key in enumerate(short)}
    assert len(number) == world.n_states
    targets = set(world.targets.tolist())
    for state, key in enumerate(short):
        if state in targets:
            assert len(world.choices(state)) == 0
            continue
        assert len(world.choices(state)) == 7
        for choice in world.choices(state):
            action = int(world.actions[choice])
            expected = moves[key].get(action, key)
            assert int(world.transitions.indices[choice]) == number[expected]
        assert np.asarray(world.positions)[state].tolist() == [key[1], key[0]]


def test_one_way_doors_and_keys() -> None:
    world = fp.World.from_env(make("MiniGrid-DoorKey-5x5-v0"), seed=1)
    options = fp.discover(world, n_options=3)
    assert options.record["form"] in ("polar", "walk")
    # A walk that begins again is irreducible, so its long-run distribution is positive everywhere.
    assert (fp.stationary(world) > 0).all()
    # Before the key is taken is a one-way street: no option from there back.
    assert min(int(option.initiation.sum()) for option in fp.discover(world, "random", n_options=40)) < world.n_states


def test_several_layouts_are_joined_by_restarts() -> None:
    env = make("MiniGrid-MultiRoom-N2-S4-v0")
    one, two = (fp.World.from_env(env, seed=seed) for seed in (1, 2))
    both = fp.World.from_env(env, seeds=[1, 2])
    assert both.n_states == one.n_states + two.n_states
    assert len(both.component_sizes) == 2
    assert (Walk.of(both).pi > 0).all()
    goals = fp.discover(both, t=4).goals
    assert (goals < one.n_states).any()
    assert (goals >= one.n_states).any()


def test_options_do_not_lead_into_the_end_of_an_episode() -> None:
    world = fp.World.from_env(make("FrozenLake8x8-v1"))
    assert world.restart is not None
    for method in ("diffusion", "random", "cover", "eigen"):
        options = fp.discover(world, method, n_options=8)
        assert (world.restart[options.goals] < 1.0).all(), method


class Continuous(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(-1, 1, (2,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(2, dtype=np.float32), {}

    def step(self, action: int) -> Any:
        return np.zeros(2, dtype=np.float32), 0.0, False, False, {}


class Dice(gym.Env[Any, Any]):
    """A step goes to a random state."""

    observation_space = gym.spaces.Discrete(5)
    action_space = gym.spaces.Discrete(1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> Any:
        return int(self.np_random.integers(5)), 0.0, False, False, {}


class Uncopyable(Dice):
    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("not me")


class Counter(Dice):
    """Without end."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.count = 0
        return 0, {}

    def step(self, action: int) -> Any:
        self.count += 1
        return self.count, 0.0, False, False, {}


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (Continuous(), "got an array of float32. Pass state="),
        (Dice(), "environment must be deterministic to be enumerated"),
        (Uncopyable(), "must be one that can be copied; got Uncopyable"),
        (Counter(), "at most max_states states; got more than 50"),
        ("FrozenLake", "env must be a Gymnasium environment; got 'FrozenLake'"),
    ],
)
def test_environments_that_cannot_be_read(env: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.World.from_env(env, max_states=50)


class Quit(Counter):
    """Five cells; the third action ends the episode on the spot."""

    action_space = gym.spaces.Discrete(3)

    def step(self, action: int) -> Any:
        self.count = int(np.clip(self.count + (0, 1, -1)[(action + 1) % 3], 0, 4)) if action < 2 else self.count
        return self.count, float(action == 2), action == 2, False, {}


def test_a_place_that_is_passed_and_ended_in_is_two_states() -> None:
    world = fp.World.from_env(Quit())
    assert world.n_states == 10
    assert world.labels is not None
    assert ("end", 0) in world.labels
    passed, ended = world.find_state(0), world.find_state(("end", 0))
    assert passed is not None
    assert ended is not None
    assert len(world.choices(passed)) == 3
    assert len(world.choices(ended)) == 0
    assert len(fp.discover(world, n_options=1)) == 1


def test_wrappers_that_change_actions_are_refused() -> None:
    turned = gym.wrappers.TransformAction(make("FrozenLake-v1"), lambda a: (a + 1) % 4, gym.spaces.Discrete(4))
    with pytest.raises(InvalidInput, match="without wrappers that change actions; got TransformAction"):
        fp.World.from_env(turned)


def test_a_key_of_ones_own() -> None:
    env = make("MiniGrid-Empty-5x5-v0")
    world = fp.World.from_env(env, state=lambda env, _: (*map(int, env.unwrapped.agent_pos), env.unwrapped.agent_dir))
    assert world.n_states == fp.World.from_env(env).n_states
    with pytest.raises(InvalidInput, match="state must give a hashable key; got list"):
        fp.World.from_env(env, state=lambda env, _: [env.unwrapped.agent_pos])  # type: ignore[arg-type,return-value]


def test_progress_is_reported() -> None:
    reported: list[int] = []
    fp.World.from_env(make("MiniGrid-Empty-5x5-v0"), progress=reported.append)
    assert reported == sorted(reported)
    assert reported[-1] == fp.World.from_env(make("MiniGrid-Empty-5x5-v0")).n_states


def room(*, picture: bool = False) -> fp.World:
    return fp.World.from_env(ArrayEnv(picture=picture))


def labels_of(world: fp.World) -> tuple[Hashable, ...]:
    assert world.labels is not None
    return world.labels


@pytest.mark.slow  # needs pandas
def test_labels_are_shown_as_numbers_wherever_a_person_reads_them() -> None:
    world = room()
    assert repr(labels_of(world)[:2]) == "([0, 0], [1, 0])"
    assert "[2, 3]" in str(world.to_frame())
    goals = fp.find_goals(world, fp.score(world))
    assert "[0, 0]" in str(goals.to_frame())
    options = fp.discover(world, t=4)
    assert "[0, 0]" in str(options.to_frame())
    corner = world.find_state(np.array([2, 3]).tobytes())
    option = fp.OptionSet(world, np.array([corner]))[0]
    assert repr(option) == f"Option(to state {corner} ([2, 3]), starts in 12 states)"
    assert fp.report.draw_policy(option).axes[0].get_title().endswith("an option, goal: [2, 3]")
    shown = {text.get_text() for text in world.draw(labels=True).axes[0].texts}
    assert shown == {f"[{row}, {column}]" for row in range(3) for column in range(4)}
    found = fp.explore(ArrayEnv(), 200)
    assert "[0, 0]" in str(found.to_frame())


def test_arrays_inside_other_observations_are_shown_too() -> None:
    assert repr(plain_key({"at": np.array([0, 3]), "door": "open"})) == "(('at', [0, 3]), ('door', 'open'))"


def test_the_same_bytes_are_the_same_label() -> None:
    array = np.array([1, 2])
    key = ArrayKey.of(array)
    assert key == array.tobytes()
    assert hash(key) == hash(array.tobytes())
    world = room()
    state = world.find_state(array.tobytes())
    assert state is not None
    assert world.find_state(key) == state
    np.testing.assert_array_equal(labels_of(world)[state].array, array)  # type: ignore[attr-defined]


def test_long_arrays_are_short_and_differ() -> None:
    pictures = [np.zeros((10, 10), dtype=np.uint8) for _ in range(20)]
    for place, picture in enumerate(pictures):
        picture.flat[20 + place] = 1
    texts = {str(ArrayKey.of(picture)) for picture in pictures}
    assert len(texts) == 20
    assert all(text.startswith("[0, 0, 0, …, 0, 0, 0] 10×10 #") and len(text) < 40 for text in texts)
    assert str(ArrayKey.of(np.zeros(0, dtype=int))) == "[]"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda key: pickle.loads(pickle.dumps(key))])
def test_copies_are_the_same(copied: object) -> None:
    key = ArrayKey.of(np.array([[True, False]]))
    assert callable(copied)
    again = copied(key)
    assert (again, repr(again), type(again)) == (key, "[[True, False]]", ArrayKey)


def test_files_keep_the_numbers(tmp_path: Path) -> None:
    world = room(picture=True)
    world.save(tmp_path / "world.npz")
    loaded = fp.World.load(tmp_path / "world.npz")
    assert loaded.labels == world.labels
    assert repr(loaded.labels) == repr(world.labels)
    assert "[[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]" in repr(loaded.labels)


@pytest.mark.parametrize(
    ("dtype", "shape"), [("<i8", [3]), ("<i8", [1]), ("<f8", [2]), ("O", [2]), ("nothing", [2]), ("<i8", "2"), (2, [2])]
)
def test_a_file_whose_label_is_not_the_array_that_it_says_is_refused(
    dtype: object, shape: object, tmp_path: Path
) -> None:
    path = tmp_path / "world.npz"
    fp.grid((1, 2)).save(path)
    facts, arrays = read_arrays(path, "farpoint-world")
    label = ["array", [base64.b64encode(bytes(16)).decode(), dtype, shape]]
    labels = np.frombuffer(json.dumps([label, 1]).encode(), dtype=np.uint8)
    facts["parts"] = sorted([*facts["parts"], "labels"])
    write_arrays(path, "farpoint-world", facts, arrays | {"labels": labels})
    with pytest.raises(InvalidFile, match="it is damaged"):
        fp.World.load(path)
