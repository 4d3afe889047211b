"""Worlds of environments, and the labels of states whose observations are arrays."""

from __future__ import annotations

import base64
import json
import random
import tracemalloc
import weakref
from collections.abc import Hashable
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion import Walk
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays
from tests.helpers.array_env import ArrayEnv
from tests.helpers.envs import TAXI, make

TABLES = [
    ("FrozenLake-v1", {"is_slippery": True}),
    ("FrozenLake8x8-v1", {"is_slippery": False}),
    ("CliffWalking-v1", {}),
    (TAXI, {}),
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
        return np.full(2, 0.5, dtype=np.float32), {}

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
        (Continuous(), "whole numbers to identify a state exactly; got .*state="),
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
    passed, ended = world.find_state(0), world.labels.index(("end", 0))
    assert passed is not None
    # No observation stands for the end.
    assert world.find_state(("end", 0)) is None
    assert len(world.choices(passed)) == 3
    assert len(world.choices(ended)) == 0
    assert len(fp.discover(world, n_options=1)) == 1


class Corridor(gym.Env[Any, Any]):
    """Five cells in a row; subclasses have something that an observation does not show."""

    observation_space = gym.spaces.Discrete(5)
    action_space: Any = gym.spaces.Discrete(2)

    def __init__(self) -> None:
        self.place = self.resets = self.step_count = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place, self.resets, self.step_count = 2, self.resets + 1, 0
        return self.place, {}

    def step(self, action: int) -> Any:
        self.step_count += 1
        self.place = int(np.clip(self.place + (1 if action else -1), 0, 4))
        return self.place, 0.0, False, False, {}


class Game:
    """Has a generator in an attribute of an attribute."""

    def __init__(self) -> None:
        self.inner = {"rng": [np.random.default_rng(0)]}

    def random(self) -> float:
        return float(self.inner["rng"][0].random())


class OwnGenerator(Corridor):
    """Slips in 30 % of all steps, by a generator of its own."""

    def __init__(self, generator: Any) -> None:
        super().__init__()
        self.rng = generator

    def step(self, action: int) -> Any:
        return super().step(1 - action if self.rng.random() < 0.3 else action)


@pytest.mark.parametrize(
    "generator",
    [
        np.random.default_rng(0),
        random.Random(0),
        np.random.RandomState(0),
        Game(),
    ],
)
def test_an_environment_with_a_generator_of_its_own_is_random(generator: Any) -> None:
    with pytest.raises(InvalidInput, match="environment must be deterministic to be enumerated"):
        fp.World.from_env(OwnGenerator(generator))


class SeldomRandom(Corridor):
    """One step in a hundred goes the other way, by a generator of its own; episodes take a few steps."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = random.Random(3)

    def step(self, action: int) -> Any:
        super().step(1 - action if self.rng.random() < 0.01 else action)
        return self.place, 0.0, self.place in (0, 4), False, {}


def test_chances_of_one_in_a_hundred_are_noticed_where_episodes_are_short() -> None:
    with pytest.raises(InvalidInput, match="same place by the same observation and action"):
        fp.World.from_env(SeldomRandom())


class Clock(Corridor):
    """Shows the parity of its clock: deterministic."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return (self.place, 0), {}

    def step(self, action: int) -> Any:
        super().step(action)
        return (self.place, self.step_count % 2), 0.0, False, False, {}


def test_a_clock_is_not_random_and_is_not_set_back() -> None:
    world = fp.World.from_env(Clock())
    # Cells 0 … 4 at odd and even times: at the ends one can stay.
    assert world.n_states == 10
    assert world.deterministic


def test_the_environment_of_the_caller_is_left_alone() -> None:
    env = Corridor()
    env.reset(seed=1)
    env.step(1)
    before = (env.place, env.resets, env.step_count)
    assert fp.World.from_env(env).n_states == 5
    assert (env.place, env.resets, env.step_count) == before
    grid = make("MiniGrid-Empty-5x5-v0")
    grid.reset(seed=0)
    grid.step(2)
    attributes, place = set(vars(grid.unwrapped.grid)), tuple(grid.unwrapped.agent_pos)
    fp.World.from_env(grid)
    fp.envs.simulator_state(grid, None)
    assert set(vars(grid.unwrapped.grid)) == attributes
    assert tuple(grid.unwrapped.agent_pos) == place


class Hidden(Corridor):
    """A key lies in cell 0 and opens the way from 3 to 4; whoever carries it sees nothing of it."""

    carries = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.carries = False
        return super().reset(seed=seed)

    def step(self, action: int) -> Any:
        before = self.place
        observation, *rest = super().step(action)
        self.carries |= self.place == 0
        if before == 3 and self.place == 4 and not self.carries:
            self.place = observation = 3
        return (observation, *rest)


def test_the_same_observation_and_action_that_lead_to_different_places_are_told() -> None:
    with pytest.raises(InvalidInput, match=r"same place by the same observation.*in \d+ of \d+ steps .*%.*Pass state="):
        fp.World.from_env(Hidden())
    whole = fp.World.from_env(Hidden(), state=lambda env, observation: (observation, env.unwrapped.carries))
    assert whole.n_states == 8, "0 … 3 without the key (0 has it at once), 0 … 4 with it"


class Limited(Corridor):
    """Ends after ten steps, wherever it is."""

    def step(self, action: int) -> Any:
        observation, reward, _, truncated, info = super().step(action)
        return observation, reward, self.step_count >= 10, truncated, info


def test_a_time_limit_of_the_environments_own_is_noted() -> None:
    world = fp.World.from_env(Limited())
    assert world.n_states == 5
    assert not world.terminal.any()
    assert "as a time limit does" in world.notes[0]


class Counted(gym.Env[Any, Any]):
    """A long corridor that cannot be pickled and counts its copies."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Discrete(1_500)
    alive: ClassVar[weakref.WeakSet[Any]] = weakref.WeakSet()
    most = 0

    def __init__(self) -> None:
        self.place = 0
        self.unpicklable = lambda: None
        Counted.alive.add(self)

    def __deepcopy__(self, memo: Any) -> Any:
        made = Counted()
        made.place = self.place
        Counted.most = max(Counted.most, len(Counted.alive))
        return made

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.place = 0
        return 0, {}

    def step(self, action: int) -> Any:
        self.place = int(np.clip(self.place + (1 if action else -1), 0, 1_499))
        return self.place, 0.0, False, False, {}


def test_copies_of_states_that_were_expanded_are_dropped() -> None:
    assert fp.World.from_env(Counted()).n_states == 1_500
    # 20 for the checks and a few at work; one per state before.
    assert Counted.most < 30


class Made(Corridor, gym.utils.EzPickle):
    """Pickled as the arguments of its constructor, without its state."""

    def __init__(self) -> None:
        Corridor.__init__(self)
        gym.utils.EzPickle.__init__(self)


def test_environments_that_are_pickled_without_their_state() -> None:
    assert fp.World.from_env(Made()).n_states == 5


def test_a_world_says_whether_its_labels_were_read_from_the_simulator() -> None:
    assert fp.World.from_env(make("FrozenLake-v1")).keyed_by == "table"
    assert fp.World.from_env(make("MiniGrid-Empty-5x5-v0")).keyed_by == "minigrid"
    assert fp.World.from_env(Corridor()).keyed_by == "observation"
    own = fp.World.from_env(make("FrozenLake-v1", is_slippery=False), state=lambda env, observation: observation)
    assert own.keyed_by == "observation"
    assert fp.World.from_log(fp.record_log(make("FrozenLake-v1"), 2_000)).keyed_by == "observation"


def test_wrappers_that_change_actions_are_refused() -> None:
    turned = gym.wrappers.TransformAction(make("FrozenLake-v1"), lambda a: (a + 1) % 4, gym.spaces.Discrete(4))
    with pytest.raises(InvalidInput, match="without wrappers that change actions; got TransformAction"):
        fp.World.from_env(turned)


def test_a_key_of_ones_own() -> None:
    env = make("MiniGrid-Empty-5x5-v0")
    world = fp.World.from_env(env, state=lambda env, _: (*map(int, env.unwrapped.agent_pos), env.unwrapped.agent_dir))
    assert world.n_states == fp.World.from_env(env).n_states
    lists = fp.World.from_env(env, state=lambda env, _: [*env.unwrapped.agent_pos, env.unwrapped.agent_dir])  # type: ignore[arg-type,return-value]
    assert lists.labels == world.labels
    with pytest.raises(InvalidInput, match="state must have a hashable key; got set"):
        fp.World.from_env(env, state=lambda env, _: {1})  # type: ignore[arg-type,return-value]


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
    assert repr(labels_of(world)[:2]) == "((0, 0), (1, 0))"
    assert "(2, 3)" in str(world.to_frame())
    goals = fp.find_goals(world, fp.score(world))
    assert "(0, 0)" in str(goals.to_frame())
    options = fp.discover(world, t=4)
    assert "(0, 0)" in str(options.to_frame())
    corner = world.find_state(np.array([2, 3]))
    option = fp.OptionSet(world, np.array([corner]))[0]
    assert repr(option) == f"Option(to state {corner} ((2, 3)), starts in 12 states)"
    assert fp.report.draw_policy(option).axes[0].get_title().endswith("an option, goal: (2, 3)")
    shown = {text.get_text() for text in world.draw(labels=True).axes[0].texts}
    assert shown == {f"({row}, {column})" for row in range(3) for column in range(4)}
    found = fp.explore(ArrayEnv(), 200)
    assert "(0, 0)" in str(found.to_frame())


def test_files_keep_the_numbers(tmp_path: Path) -> None:
    world = fp.World.from_env(ArrayEnv(5, 5, picture=True))
    world.save(tmp_path / "world.npz")
    loaded = fp.World.load(tmp_path / "world.npz")
    assert loaded.labels == world.labels
    assert repr(loaded.labels) == repr(world.labels)


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


class _Wide(gym.Env[Any, Any]):
    """A start from which 20 actions lead to 20 states, each with four megabytes of noise that are the same in all."""

    action_space = gym.spaces.Discrete(20)
    observation_space = gym.spaces.Discrete(21)

    def __init__(self) -> None:
        self.state, self.picture = 0, np.random.default_rng(0).random(500_000)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.state = action + 1 if self.state == 0 else 0
        return self.state, 0.0, False, False, {}


def test_the_time_limit_is_that_of_the_wrapper_where_an_environment_has_no_name() -> None:
    limited = gym.wrappers.TimeLimit(gym.wrappers.TimeLimit(Corridor(), 40), 25)
    assert fp.World.from_env(limited).truncation_rate == 1 / 25


def test_states_that_wait_to_be_tried_take_little_memory() -> None:
    # After the first state 20 states wait, 80 MB if each kept all of its own.
    env = _Wide()
    tracemalloc.start()
    world = fp.World.from_env(env)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert world.n_states == 21
    assert peak < 40e6
