from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, NotConnected
from tests.helpers.envs import make
from tests.helpers.worlds import assert_same_world


def check_same_graph(log: fp.World, world: fp.World, tolerance: float = 0.0) -> None:
    assert log.labels is not None
    assert world.labels is not None
    order = np.array([log.find_state(label) for label in world.labels], dtype=np.int64)
    np.testing.assert_allclose(log.adjacency.toarray()[np.ix_(order, order)], world.adjacency.toarray(), atol=tolerance)


def test_a_long_walk_recovers_a_deterministic_environment_and_its_goals() -> None:
    env = make("FrozenLake-v1", is_slippery=False, max_episode_steps=20)
    log = fp.World.from_log(fp.record_log(env, 20_000, seed=2))
    assert log.restart is not None
    # How often the time limit strikes is measured too.
    assert log.restart.min() > 1e-3
    world = fp.World.from_env(env, restart=float(log.restart.min()))
    check_same_graph(log, world)
    ours, theirs = fp.discover(log, t=4, form="symmetrized"), fp.discover(world, t=4, form="symmetrized")
    assert {log.labels[s] for s in ours.goals} == {world.labels[s] for s in theirs.goals}  # type: ignore[index]


def test_a_long_walk_recovers_a_slippery_environment() -> None:
    env = make("FrozenLake-v1", is_slippery=True)
    log = fp.World.from_log(fp.record_log(env, 200_000, seed=1))
    check_same_graph(log, fp.World.from_env(env), tolerance=0.08)


class Moves(gym.Wrapper[Any, Any, Any, Any]):
    """Only turning and going forward: the other actions change nothing in these rooms."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.action_space = gym.spaces.Discrete(3)


@pytest.mark.slow
def test_a_long_walk_recovers_minigrid_fourrooms() -> None:
    env = Moves(make("MiniGrid-FourRooms-v0", max_steps=100_000, disable_env_checker=True))
    # Nobody looks at the pictures, which take most of the time.
    env.unwrapped.gen_obs = dict  # type: ignore[attr-defined]
    log = fp.World.from_log(fp.record_log(env, 200_000, seed=5, layout=3))
    assert log.restart is not None
    world = fp.World.from_env(env, seed=3, restart=float(log.restart.min()))
    assert log.n_states == world.n_states
    check_same_graph(log, world)
    # Which of two equally far directions stands for a corner depends on the numbering; the cells do not.
    cells = [
        {world.labels[s][1:3] for s in fp.discover(world, t=4, form="symmetrized").goals}  # type: ignore[index]
        for world in (log, world)
    ]
    assert cells[0] == cells[1]


def test_pairs_without_actions_are_weighted_by_how_often() -> None:
    world = fp.World.from_log(["a", "b", "a", "b"], ["b", "a", "b", "a"])
    assert world.labels == ("a", "b")
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 2], [2, 0]])


def test_frequencies_of_actions_are_their_chances() -> None:
    world = fp.World.from_log([0, 0, 0, 0, 1, 2], [1, 1, 1, 2, 0, 0], [5, 5, 5, 5, 0, 0])
    expected = np.array([[0, 0.75, 0.25], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(world.transitions.toarray(), expected)
    assert world.actions is not None
    assert world.actions.tolist() == [5, 0, 0]


def test_logs_that_lead_one_way() -> None:
    states, next_states = [0, 1, 0, 2], [1, 0, 2, 3]
    assert fp.World.from_log(states, next_states).n_states == 2
    with pytest.raises(NotConnected, match=r"3 components \(sizes 2, 1, 1\).*symmetrize=True"):
        fp.World.from_log(states, next_states, largest_component=False)
    whole = fp.World.from_log(states, next_states, symmetrize=True)
    assert whole.n_states == 4
    assert whole.symmetric


def test_labels_of_any_kind_and_width() -> None:
    for states, after in (
        (np.array(["a", "b"]), np.array(["b", "a"], dtype="<U9")),
        (np.array(["a", "b"], dtype=object), ["b", "a"]),
        (np.array([[0, 0], [0, 1]], dtype=np.int32), np.array([[0, 1], [0, 0]], dtype=np.int64)),
    ):
        assert fp.World.from_log(states, after).n_states == 2


def test_rows_of_an_array_are_states() -> None:
    cells = np.array([[0, 0], [0, 1], [1, 1]])
    world = fp.World.from_log(cells[[0, 1, 2, 1]], cells[[1, 2, 1, 0]])
    assert world.n_states == 3


def episodes(*steps: tuple[int, int, bool], first: list[int], n_truncated: int = 0) -> fp.Log:
    before, after, ended = zip(*steps, strict=True)
    return fp.Log(before, after, np.zeros(len(steps), dtype=np.int64), np.array(ended), first, n_truncated)


def test_a_state_in_which_some_arrivals_end_restarts_by_their_share() -> None:
    # 1 is entered four times and ends one episode; 2 is entered once and ends it; the time limit cut one of six steps.
    log = episodes(
        (0, 1, False), (1, 0, False), (0, 1, False), (1, 2, True), (0, 1, True), (0, 1, False),
        first=[0, 0, 0], n_truncated=1,
    )  # fmt: skip
    world = fp.World.from_log(log)
    assert world.labels == (0, 1, 2)
    cut = 1 / 6
    np.testing.assert_allclose(np.asarray(world.restart), [cut, 0.25 + 0.75 * cut, 1.0], rtol=1e-15)
    np.testing.assert_array_equal(world.starts, [1.0, 0.0, 0.0])
    assert world.terminal.tolist() == [False, False, True]


def test_of_a_log_with_episodes_too_only_what_it_crosses_is_kept() -> None:
    # The first episode leaves 9 for good, and no episode begins there again... but restarts lead back to it.
    crossed = episodes((9, 0, False), (0, 1, True), (0, 1, True), first=[9, 0])
    assert fp.World.from_log(crossed).n_states == 3
    # 9 was never a first state: nothing leads there.
    one_way = episodes((9, 0, False), (0, 1, True), (0, 1, True), first=[0, 0])
    world = fp.World.from_log(one_way)
    assert world.labels == (0, 1)
    np.testing.assert_array_equal(world.starts, [1.0, 0.0])
    with pytest.raises(NotConnected, match=r"2 components \(sizes 2, 1\)"):
        fp.World.from_log(one_way, largest_component=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((3, 2)), np.zeros((3, 2))), "whole numbers, labels, or arrays of whole numbers; got"),
        (([0, 1], [1]), "equally long and not empty; got 2 and 1"),
        (([], []), "equally long and not empty"),
        (([0],), "next_states must be given"),
        (([0, 1], [1, 0], [0]), r"actions must be as many as states \(2\), one per step"),
        (([0, 1], [1, 0], [0.5, 1.5]), "actions must be whole numbers; got float64"),
        (([0, 1], [1, 0], [-1, 1]), "actions must be whole numbers of at least 0"),
        (([0.1, 0.2], [0.2, 0.1]), "got 0.1. Assign each continuous state to a cell"),
        (([0, 1], [1, 2]), "no way back to any"),
        (([[0], [1]], [[1], [0]]), "hashable key; got list"),
    ],
)
def test_bad_logs(arguments: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.World.from_log(*arguments)


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
    check_same_graph(log, fp.World.from_env(make("FrozenLake-v1", is_slippery=False)))
    assert log.restart is not None
    assert (log.restart == 1.0).sum() == 5, "four holes and the goal"


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


def test_arrays_with_flags_are_the_log_that_was_recorded() -> None:
    # An environment whose every step is kept as arrays, as a program of one's own would keep them.
    env = make("FrozenLake-v1", is_slippery=False, max_episode_steps=7)
    recorded = fp.record_log(env, 600, seed=2)
    n_steps = len(recorded)
    env = make("FrozenLake-v1", is_slippery=False, max_episode_steps=7)
    actions = np.random.default_rng(2).integers(4, size=n_steps)
    rows: dict[str, list[int]] = {"before": [], "after": [], "terminated": [], "truncated": [], "begins": []}
    here, begins = env.reset(seed=2)[0], True
    for action in actions:
        there, _, terminated, truncated, _ = env.step(int(action))
        for name, value in zip(rows, (here, there, terminated, truncated, begins), strict=True):
            rows[name].append(int(value))
        begins = terminated or truncated
        here = env.reset()[0] if begins else there
    flags: dict[str, Any] = {name: np.array(rows[name], dtype=bool) for name in ("terminated", "truncated", "begins")}
    expected = fp.World.from_log(recorded)
    for given in (flags, {name: flags[name] for name in ("terminated", "truncated")}):
        world = fp.World.from_log(rows["before"], rows["after"], actions, **given)
        assert_same_world(world, expected)


def test_an_episode_that_begins_was_cut_if_it_did_not_terminate() -> None:
    # 0 → 1 → 2 and cut; 0 → 1 and ended.
    world = fp.World.from_log([0, 1, 0], [1, 2, 1], begins=[1, 0, 1], terminated=[0, 0, 1])
    assert world.restart is not None
    # Of two arrivals in 1 one ended there; of three steps one was cut.
    np.testing.assert_allclose(world.restart, [1 / 3, 1 / 2 + 1 / 2 / 3, 1 / 3])


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
    with pytest.raises(InvalidInput, match="terminated must go with arrays of states and next_states"):
        fp.World.from_log(log, terminated=[True] * 30)
