from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.worlds import Log, read_log
from tests.helpers.envs import make

# Two trajectories of four and three states, as OGBench keeps them: the last row of each is marked.
STATES = np.array([[0, 0], [0, 1], [1, 1], [1, 0], [0, 0], [1, 0], [1, 1]])
LAST = np.array([0, 0, 0, 1, 0, 0, 1], dtype=float)
BY_HAND = {(0, 0, 0, 1), (0, 1, 1, 1), (1, 1, 1, 0), (0, 0, 1, 0), (1, 0, 1, 1)}


def moves(log: Log) -> set[tuple[int, ...]]:
    return {(*map(int, one), *map(int, two)) for one, two in zip(log.observations, log.next_observations, strict=True)}


def test_terminals_without_next_observations_are_ends_of_trajectories() -> None:
    columns = {"observations": STATES, "actions": np.arange(7), "terminals": LAST, "qpos": np.zeros((7, 4))}
    log = read_log(columns)
    assert moves(log) == BY_HAND
    assert log.actions.tolist() == [0, 1, 2, 4, 5], "the marked rows have no transition"
    assert not log.terminated.any()
    assert log.truncated.tolist() == [False, False, True, False, True]
    assert log.begins.tolist() == [True, False, False, True, False]
    world = fp.World.from_log(columns)
    assert "ends of trajectories" in world.notes[0]
    np.testing.assert_array_equal(world.restart, np.full(4, 2 / 5))


def test_ogbench_in_its_other_forms_is_the_same_log(tmp_path: Path) -> None:
    whole = read_log({"observations": STATES, "terminals": LAST})
    # As a file; compact, with the last two rows of each trajectory marked and the last of them not valid; regular, with
    # next observations; and with the rewards of one task and their masks.
    np.savez(tmp_path / "maze.npz", observations=STATES, terminals=LAST)
    compact = {
        "observations": STATES,
        "terminals": np.minimum(LAST + np.append(LAST[1:], 1.0), 1.0),
        "valids": 1 - LAST,
    }
    inner = LAST[:-1] == 0
    regular = {
        "observations": STATES[:-1][inner],
        "next_observations": STATES[1:][inner],
        "terminals": LAST[1:][inner],
    }
    of_a_task = regular | {"rewards": np.zeros(5), "masks": np.ones(5)}
    for form in (np.load(tmp_path / "maze.npz"), compact, regular, of_a_task):
        log = read_log(form)
        assert moves(log) == BY_HAND
        for name in ("terminated", "truncated", "begins"):
            assert getattr(log, name).tolist() == getattr(whole, name).tolist(), name
        assert "ends of trajectories" in log.notes[0]


def test_terminals_beside_timeouts_are_terminations() -> None:
    # D4RL: an episode that terminates in 2 and one that is cut.
    rows: dict[str, Any] = {
        "observations": [0, 1, 0, 1],
        "actions": [1, 1, 1, 1],
        "rewards": [0.0, 1.0, 0.0, 0.5],
        "terminals": [False, True, False, False],
        "timeouts": [False, False, False, True],
    }
    log = read_log({**rows, "next_observations": [1, 2, 1, 2]})
    assert log.terminated.tolist() == [False, True, False, False]
    assert log.truncated.tolist() == [False, False, False, True]
    assert log.rewards.tolist() == [0.0, 1.0, 0.0, 0.5]
    assert log.notes == ("terminals beside timeouts are terminations.",)
    # Without next observations: where the first episode ended is not in the data, and the cut row leads nowhere.
    log = read_log(rows)
    assert list(zip(log.observations, log.next_observations, strict=True)) == [(0, 1), (1, 1), (0, 1)]
    assert log.terminated.tolist() == [False, True, False]
    assert log.truncated.tolist() == [False, False, True]
    assert log.begins.tolist() == [True, False, True]
    assert log.rewards.tolist() == [0.0, 1.0, 0.0]
    assert "it ends where its step began" in log.notes[1]
    assert fp.World.from_log(rows).labels == (0, 1, ("end", 1))


def test_terminals_beside_next_observations_and_rewards_are_terminations() -> None:
    log = read_log(observations=[0, 1], next_observations=[1, 2], terminals=[0, 1], rewards=[0.0, 1.0])
    assert log.terminated.tolist() == [False, True]
    assert log.notes == ("terminals beside next_observations and rewards are terminations.",)


def test_dones_are_terminations_unless_a_time_limit_cut() -> None:
    log = read_log(obs=[0, 1, 0], next_obs=[1, 2, 1], dones=[0, 1, 1], timeouts=[0, 0, 1])
    assert log.terminated.tolist() == [False, True, False]
    assert log.truncated.tolist() == [False, False, True]


class Step(NamedTuple):
    observation: Any
    action: int
    reward: float
    next_observation: Any
    terminated: bool
    truncated: bool


NAMES = ("observation", "action", "reward", "next_observation", "terminated", "truncated")


def recorded(n_steps: int = 300) -> Log:
    """Episodes of FrozenLake that end in holes and at a time limit."""
    return fp.record_log(make("FrozenLake-v1", is_slippery=False, max_episode_steps=7), n_steps, seed=2)


def columns_of(log: Log) -> dict[str, Any]:
    names = ("observations", "actions", "next_observations", "terminated", "truncated", "rewards")
    return {name: np.array(getattr(log, name)) for name in names}


def assert_same_log(one: Log, two: Log) -> None:
    for name in ("actions", "terminated", "truncated", "begins", "rewards"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert list(one.observations) == list(two.observations)
    assert list(one.next_observations) == list(two.next_observations)


def test_rows_and_columns_of_every_kind_are_the_same_log() -> None:
    log = recorded()
    columns = columns_of(log)
    order = ("observations", "actions", "rewards", "next_observations", "terminated", "truncated")
    steps = [Step(*row) for row in zip(*(columns[name].tolist() for name in order), strict=True)]
    for form in (
        columns,
        steps,
        iter(steps),
        [dict(zip(NAMES, step, strict=True)) for step in steps],
        SimpleNamespace(**columns),
        log,
    ):
        assert_same_log(read_log(form), log)
    rows = [(step.observation, step.action, step.next_observation, step.terminated, step.truncated) for step in steps]
    np.testing.assert_array_equal(read_log(rows).begins, log.begins)
    assert not read_log([row[:3] for row in rows]).begins.any()


def test_observations_that_are_dicts_and_images() -> None:
    boards = np.arange(3 * 25).reshape(3, 5, 5).astype(np.uint8)
    batched = {"board": boards, "turn": np.array([0, 1, 0])}
    turns = zip(boards, [0, 1, 0], strict=True)
    listed = [{"board": board.astype(int).tolist(), "turn": float(turn)} for board, turn in turns]
    after = {name: part[[1, 2, 0]] for name, part in batched.items()}
    for before in (batched, listed):
        world = fp.World.from_log(before, after)
        assert world.n_states == 3
        assert world.find_state({"turn": 1, "board": boards[1]}) == 1
    assert fp.World.from_log({"observations": boards, "next_observations": boards[[1, 2, 0]]}).n_states == 3


class DataSet:
    """A column in a file, as h5py gives it: an array when asked for, and slow to be read row by row."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self.rows = rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.rows, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Any:
        raise AssertionError("read row by row")


def test_columns_in_files_are_read_at_once() -> None:
    log = recorded()
    columns = columns_of(log)
    assert_same_log(read_log({name: DataSet(np.asarray(column)) for name, column in columns.items()}), log)
    steps = STATES[:-1].astype(float), STATES[1:].astype(float)
    one, other = fp.World.from_samples(*map(DataSet, steps)), fp.World.from_samples(*steps)
    assert one.fingerprint == other.fingerprint


@pytest.mark.slow
def test_data_frames() -> None:
    pd = pytest.importorskip("pandas")
    log = recorded()
    frame = pd.DataFrame(columns_of(log))
    assert_same_log(read_log(frame), log)
    assert_same_log(read_log(frame.rename(columns={"terminated": "terminations", "observations": "state"})), log)
    # Cells may be arrays.
    frame = pd.DataFrame({"observation": list(STATES[:3]), "next_observation": list(STATES[[1, 2, 0]]), "action": 0})
    assert fp.World.from_log(frame).labels == ((0, 0), (0, 1), (1, 1))


def test_a_log_of_continuous_steps_is_refused_by_value() -> None:
    log = fp.envs.record_samples(fp.ContinuousMaze("S..."), 50, seed=0)
    with pytest.raises(InvalidInput, match=r"whole numbers to identify a state exactly.*World\.from_samples"):
        fp.World.from_log(log)
    columns = {name: getattr(log, name) for name in ("observations", "actions", "next_observations")}
    assert fp.World.from_samples(columns, n_states=5).fingerprint == fp.World.from_samples(log, n_states=5).fingerprint


def test_actions_that_are_rows_are_left_out_with_a_note() -> None:
    world = fp.World.from_log([0, 1], [1, 0], np.array([[0.5, 0.1], [0.2, 0.3]]))
    assert world.weights is not None
    assert world.notes == ("actions are rows of numbers, so each pair of states that was seen is a choice.",)


def test_a_log_is_checked_and_read_only() -> None:
    log = Log([0, 1], np.array([[1], [0]]), [1, 0], rewards=[[0.5], [1.0]])
    assert log.actions.tolist() == [1, 0]
    assert log.rewards.tolist() == [0.5, 1.0]
    assert not log.ended.any()
    assert repr(log) == "Log(2 steps)"
    with pytest.raises(ValueError, match="read-only"):
        log.actions[0] = 3
    mine = np.array([0, 1])
    assert Log(mine, None, [1, 0]).observations[0] == 0
    # The caller's own array stays as it was.
    mine[0] = 5


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ({"actions": [0]}, "log must have observations; got actions"),
        ({}, "log must have observations; got no column"),
        ({"observations": [0], "states": [0]}, "one column of observations; got two, one of them 'states'"),
        ({"observations": [0, 1], "terminals": [1, 1]}, "at least one step; got the ends of trajectories only"),
        (
            {"observations": [0], "next_observations": [1], "rewards": [1, 2]},
            r"rewards must be one number per step \(1\)",
        ),
        ([(0, 1, 2), (0, 1)], "rows of a log must be equally long"),
        ([(0, 1)], "log must have next observations"),
        (np.zeros((4, 3)), "log must have next observations"),
        ("abc", "log must have next observations"),
        (5, "log must have next observations; got 5"),
        ({"observations": [0, 1], "next_observations": [1, 0], "actions": [[1], [1, 2]]}, "actions must be numbers"),
        ({"observations": np.empty((0, 2)), "actions": [], "terminals": []}, "log must have at least one step; got no"),
        (
            {"observations": np.zeros((5, 2)), "actions": np.zeros((4, 2)), "terminals": np.zeros(5, bool)},
            r"actions must be one per row of observations \(5\); got 4",
        ),
    ],
)
def test_logs_that_are_none(log: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_log(log)


def test_unknown_columns() -> None:
    with pytest.raises(InvalidInput, match=r"columns of a log must be among observations, .*; got 'observatons'"):
        read_log(observatons=[0])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"terminated": [True]}, r"terminated must be one True or False per step \(2\); got shape \(1,\)"),
        ({"truncated": [0.5, 1.0]}, "truncated must be one True or False per step"),
        ({"begins": ["yes", "no"]}, "begins must be one True or False per step"),
        ({"begins": [False, False]}, "begins must mark the first step of some episode; got none"),
    ],
)
def test_flags_that_are_none(flags: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.World.from_log([0, 1], [1, 0], **flags)


def test_flags_belong_to_arrays() -> None:
    log = fp.record_log(make("FrozenLake-v1"), 30)
    with pytest.raises(InvalidInput, match="terminated must go with columns of observations"):
        fp.World.from_log(log, terminated=[True] * 30)


def lake_dataset(folder: Path, monkeypatch: pytest.MonkeyPatch, n_episodes: int) -> Any:
    """A real Minari dataset of random episodes in FrozenLake, in a folder of its own."""
    minari, collector = pytest.importorskip("minari"), pytest.importorskip("minari.data_collector")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder))
    env, rng, buffers = make("FrozenLake-v1", is_slippery=False), np.random.default_rng(0), []
    for number in range(n_episodes):
        observations, steps, over = [env.reset(seed=number)[0]], [], False
        while not over:
            action = int(rng.integers(4))
            observation, reward, terminated, truncated, _ = env.step(action)
            observations.append(observation)
            steps.append((action, float(reward), bool(terminated), bool(truncated)))
            over = terminated or truncated
        actions, rewards, terminations, truncations = zip(*steps, strict=True)
        buffers.append(
            collector.EpisodeBuffer(
                id=number,
                observations=np.array(observations),
                actions=np.array(actions),
                rewards=list(rewards),
                terminations=list(terminations),
                truncations=list(truncations),
            )
        )
    return minari.create_dataset_from_buffers(
        "lake/random-v0", buffers, env="FrozenLake-v1", observation_space=env.observation_space,
        action_space=env.action_space,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_minari_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = fp.World.from_log(lake_dataset(tmp_path, monkeypatch, 400))
    assert log.restart is not None
    assert (log.restart == 1.0).sum() == 5, "four holes and the goal"
    # Its options work in the live environment.
    wrapped = fp.OptionsWrapper(make("FrozenLake-v1", is_slippery=False), fp.discover(log, n_options=2))
    _, info = wrapped.reset(seed=0)
    option = int(np.flatnonzero(info["action_mask"][4:])[0])
    observation, *_ = wrapped.step(4 + option)
    assert log.find_state(observation) == wrapped.options.goals[option]  # type: ignore[attr-defined]


def test_datasets_with_gaps() -> None:
    episode = SimpleNamespace(observations=np.arange(4), actions=np.zeros(4), terminations=np.zeros(4, dtype=bool))
    with pytest.raises(InvalidInput, match="one observation more than actions; got 4 and 4: the dataset has gaps"):
        fp.World.from_log(SimpleNamespace(iterate_episodes=lambda: iter([episode])))


@pytest.mark.slow
def test_replay_buffers_of_stable_baselines() -> None:
    buffers = pytest.importorskip("stable_baselines3.common.buffers")
    buffer = buffers.ReplayBuffer(10, gym.spaces.Discrete(4), gym.spaces.Discrete(2), device="cpu")
    for before, after, action in ((0, 1, 1), (1, 2, 1), (2, 1, 0), (1, 0, 0)):
        buffer.add(np.array([[before]]), np.array([[after]]), np.array([[action]]), np.zeros(1), np.zeros(1), [{}])
    world = fp.World.from_log(buffer)
    assert world.n_states == 3
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
