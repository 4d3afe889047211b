"""The same environment gives the same world, whoever recorded its transitions and however they are kept."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.worlds import Log
from farpoint.worlds.state_index import is_end, state_key
from tests.helpers.envs import make
from tests.helpers.worlds import assert_same_world, described


class Room(gym.Env[Any, Any]):
    """Two rows of three cells; waiting ends the episode in the left column and the top right; a limit of 20 steps."""

    action_space = gym.spaces.Discrete(5)
    observation_space: Any = gym.spaces.Box(0, 2, (2,), np.int32)
    moves = ((-1, 0), (0, -1), (0, 1), (1, 0), (0, 0))

    def _seen(self) -> Any:
        return np.array(self.cell, dtype=np.int32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell, self.n_steps = (1, 1), 0
        # As in many environments, the type of a reset is not that of a step.
        seen = self._seen()
        return (seen.astype(np.int64) if isinstance(seen, np.ndarray) else seen), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        row, column = (here + move for here, move in zip(self.cell, self.moves[action], strict=True))
        if 0 <= row < 2 and 0 <= column < 3:
            self.cell = row, column
        # (0, 2) is entered by no move that goes on: it only ends episodes.
        ended = self.cell == (0, 2) or (action == 4 and self.cell[1] == 0)
        self.n_steps += 1
        return self._seen(), float(ended), ended, False, {}


class DictRoom(Room):
    """The same, observed as a dict."""

    observation_space = gym.spaces.Dict({"row": gym.spaces.Discrete(2), "column": gym.spaces.MultiDiscrete([3])})

    def _seen(self) -> Any:
        return {"row": np.int64(self.cell[0]), "column": np.array([self.cell[1]])}


class TupleRoom(Room):
    """The same, observed as a tuple."""

    observation_space = gym.spaces.Tuple([gym.spaces.Discrete(2), gym.spaces.Discrete(3)])

    def _seen(self) -> Any:
        return self.cell


ROOMS: dict[str, Callable[[], Any]] = {
    "arrays": Room,
    "dicts": DictRoom,
    "tuples": TupleRoom,
    "lake": lambda: make("FrozenLake-v1", is_slippery=False).unwrapped,
}
N_STEPS, LIMIT = 4_000, 20


def recorded(env: Any) -> list[dict[str, Any]]:
    """Random steps of an environment, written down as a program of one's own would do it."""
    rng, rows = np.random.default_rng(0), []
    env = gym.wrappers.TimeLimit(env, LIMIT)
    observation, _ = env.reset(seed=0)
    for step in range(N_STEPS):
        action = int(rng.integers(env.action_space.n))
        after, reward, terminated, truncated, _ = env.step(action)
        truncated = (truncated or step == N_STEPS - 1) and not terminated
        rows.append(
            {
                "observation": observation,
                "action": action,
                "next_observation": after,
                "terminated": bool(terminated),
                "truncated": bool(truncated),
                "reward": float(reward),
            }
        )
        observation = env.reset()[0] if terminated or truncated else after
    return rows


def stacked(values: list[Any]) -> Any:
    """Observations as Gymnasium batches them."""
    if isinstance(values[0], dict):
        return {name: np.array([value[name] for value in values]) for name in values[0]}
    return np.array(values)


def as_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        f"{name}s" if name[-1] == "n" or name == "reward" else name: [row[name] for row in rows] for name in rows[0]
    }


def as_minari(rows: list[dict[str, Any]]) -> Any:
    """What a Minari dataset gives of each episode."""
    episodes, first = [], 0
    for step, row in enumerate(rows):
        if row["terminated"] or row["truncated"]:
            part = rows[first : step + 1]
            seen = [*(one["observation"] for one in part), row["next_observation"]]
            episodes.append(
                SimpleNamespace(
                    observations=stacked(seen),
                    actions=np.array([one["action"] for one in part]),
                    rewards=np.array([one["reward"] for one in part]),
                    terminations=np.array([one["terminated"] for one in part]),
                    truncations=np.array([one["truncated"] for one in part]),
                )
            )
            first = step + 1
    return SimpleNamespace(iterate_episodes=lambda: iter(episodes))


FORMS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "columns": as_columns,
    "dicts": lambda rows: rows,
    "tuples": lambda rows: [tuple(row.values())[:5] for row in rows],
    "frame": lambda rows: pytest.importorskip("pandas").DataFrame(rows),
    "batches": lambda rows: {name: stacked(column) for name, column in as_columns(rows).items()},
    "Minari": as_minari,
    "Log": lambda rows: Log(**as_columns(rows)),
    "shuffled": lambda rows: shuffled(rows),
}


def shuffled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    begins = [True, *(row["terminated"] or row["truncated"] for row in rows[:-1])]
    marked = [{**row, "begins": first} for row, first in zip(rows, begins, strict=True)]
    return [marked[place] for place in np.random.default_rng(1).permutation(len(rows))]


@pytest.mark.parametrize(
    "form", [*(form for form in FORMS if form != "frame"), pytest.param("frame", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("room", ROOMS)
def test_a_log_of_an_environment_is_its_world(room: str, form: str) -> None:
    env, rows = ROOMS[room](), recorded(ROOMS[room]())
    log = fp.World.from_log(FORMS[form](rows))
    expected = fp.World.from_env(env, state=lambda env, observation: observation, restart=1 / LIMIT)
    assert described(log) == described(expected)
    cut = sum(row["truncated"] for row in rows) / len(rows)
    assert log.restart is not None
    np.testing.assert_array_equal(log.restart, np.where(log.terminal, 1.0, cut))
    assert not np.diff(log.choice_ptr)[log.terminal].any(), "an end has no choices"


@pytest.mark.parametrize("room", ROOMS)
def test_a_log_that_farpoint_records_is_the_world_too(room: str) -> None:
    env = gym.wrappers.TimeLimit(ROOMS[room](), LIMIT)
    expected = fp.World.from_env(env, state=lambda env, observation: observation, restart=1 / LIMIT)
    assert described(fp.World.from_log(fp.record_log(env, N_STEPS))) == described(expected)
    assert described(fp.explore(env, n_steps=N_STEPS, seed=0).world) == described(expected)


@pytest.mark.parametrize("room", ROOMS)
def test_a_matrix_of_the_counted_transitions_is_the_world_too(room: str) -> None:
    rows = recorded(ROOMS[room]())
    keys = [(state_key(row["observation"]), state_key(row["next_observation"])) for row in rows]
    # An end at a state that is passed through is a state of its own.
    passed = {before for before, _ in keys} | {
        after for row, (_, after) in zip(rows, keys, strict=True) if not row["terminated"]
    }
    moves, starts, ends, begins = dict[Any, Counter[Any]](), Counter[Any](), set(), True
    for row, (before, after) in zip(rows, keys, strict=True):
        if row["terminated"]:
            after = ("end", after) if after in passed else after
            ends.add(after)
        moves.setdefault((before, row["action"]), Counter())[after] += 1
        starts[before] += begins
        begins = row["terminated"] or row["truncated"]
    states = [*passed, *ends]
    choices = sorted(moves, key=lambda choice: (states.index(choice[0]), choice[1]))
    chances = np.array([[moves[choice][state] for state in states] for choice in choices], dtype=float)
    cut = sum(row["truncated"] for row in rows) / len(rows)
    world = fp.World.from_matrix(
        chances / chances.sum(axis=1, keepdims=True),
        np.searchsorted([states.index(before) for before, _ in choices], np.arange(len(states) + 1)),
        actions=[action for _, action in choices],
        labels=tuple(states),
        restart=np.array([1.0 if state in ends else cut for state in states]),
        starts=np.array([starts[state] for state in states]) / starts.total(),
    )
    assert described(world) == described(fp.World.from_log(as_columns(rows)))


@pytest.mark.parametrize("room", ROOMS)
def test_a_graph_of_the_counted_moves_is_the_log_without_actions(room: str) -> None:
    rows = recorded(ROOMS[room]())
    counts = Counter((state_key(row["observation"]), state_key(row["next_observation"])) for row in rows)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((before, after, number) for (before, after), number in counts.items())
    # The largest component of a log is the largest set of states in which each leads to each other.
    graph = graph.subgraph(max(nx.strongly_connected_components(graph), key=len))
    log = fp.World.from_log([row["observation"] for row in rows], [row["next_observation"] for row in rows])
    worlds = log, fp.World.from_graph(graph)
    one, two = (weights_by_label(world) for world in worlds)
    assert one == two
    assert len(one) > 8


def weights_by_label(world: fp.World) -> dict[Any, float]:
    """Return the chance of each move of the walk between different states."""
    assert world.labels is not None
    moves = world.adjacency.tocoo()
    leaving = world.adjacency.sum(axis=1)
    return {
        (world.labels[before], world.labels[after]): round(weight / leaving[before], 12)
        for before, after, weight in zip(moves.row.tolist(), moves.col.tolist(), moves.data, strict=True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize("room", ["arrays", "dicts", "lake"])
@pytest.mark.parametrize("size", [1_000, 4_001], ids=["full", "not full"])
def test_a_replay_buffer_is_the_world_too(room: str, n_envs: int, size: int) -> None:
    buffers = pytest.importorskip("stable_baselines3.common.buffers")
    env = ROOMS[room]()
    kind = buffers.DictReplayBuffer if room == "dicts" else buffers.ReplayBuffer
    buffer = kind(size * n_envs, env.observation_space, env.action_space, device="cpu", n_envs=n_envs)
    copies = [recorded_by(ROOMS[room], seed) for seed in range(n_envs)]
    for together in zip(*copies, strict=True):
        column = {name: stacked([row[name] for row in together]) for name in together[0]}
        buffer.add(
            column["observation"],
            column["next_observation"],
            column["action"],
            column["reward"],
            column["terminated"] | column["truncated"],
            [{"TimeLimit.truncated": row["truncated"]} for row in together],
        )
    world = fp.World.from_log(buffer)
    check_options(ROOMS[room](), world)
    expected = fp.World.from_env(env, state=lambda env, observation: observation, restart=1 / LIMIT)
    assert described(world) == described(expected)
    if n_envs == 1 and size > N_STEPS:
        by_hand = fp.World.from_log(copies[0])
        np.testing.assert_array_equal(by_hand.restart, world.restart)


def recorded_by(make_env: Callable[[], Any], seed: int) -> list[dict[str, Any]]:
    # Other random actions for each copy: the rows are rotated by whole episodes.
    rows = recorded(make_env())
    ends = [step + 1 for step, row in enumerate(rows) if row["terminated"] or row["truncated"]]
    first = ends[seed * 5] if seed else 0
    return rows[first:] + rows[:first]


@pytest.mark.parametrize("form", ["columns", "tuples", "Minari"])
@pytest.mark.parametrize("room", ROOMS)
def test_options_of_a_log_start_and_arrive_in_the_live_environment(room: str, form: str) -> None:
    check_options(ROOMS[room](), fp.World.from_log(FORMS[form](recorded(ROOMS[room]()))))


def check_options(env: Any, world: fp.World) -> None:
    """Fail unless each option that can start where episodes begin leads to its goal."""
    wrapped = fp.OptionsWrapper(env, fp.discover(world, n_options=2))
    _, info = wrapped.reset(seed=0)
    startable = np.flatnonzero(info["action_mask"][wrapped.n_actions :])
    assert startable.size
    for option in startable.tolist():
        wrapped.reset(seed=0)
        observation, _, terminated, _, info = wrapped.step(wrapped.n_actions + option)
        assert not terminated
        assert info["duration"] > 0
        assert world.find_state(observation) == wrapped.options.goals[option]  # type: ignore[attr-defined]


@pytest.mark.parametrize("room", ROOMS)
def test_a_world_of_a_log_stays_whole(room: str, tmp_path: Path) -> None:
    marked = [*recorded(ROOMS[room]()), *recorded(ROOMS[room]())[:1]]
    world = fp.World.from_log(as_columns(marked))
    assert any(is_end(label) for label in world.labels or ()) == (room != "lake")
    noted = replace(world, notes=(*world.notes, "kept 1 of 2 states"))
    world.save(tmp_path / "world")
    assert_same_world(fp.World.load(tmp_path / "world"), world)
    for copy in (pickle.loads(pickle.dumps(noted)), replace(noted, name=noted.name)):
        assert_same_world(copy, noted)
