"""The explorer: rows in, options out; sharing, saving, forbidden actions, ends and starts."""

from __future__ import annotations

import copy
import pickle
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.exploration.memory import RESET, neighbor_graph
from farpoint.worlds.state_index import StateIndex
from tests.helpers.envs import TAXI, make


def corridor(n_actions: int = 2, **settings: Any) -> fp.Explorer:
    return fp.Explorer(StateIndex.exact(), n_actions, **settings)


def neighbors(explorer: fp.Explorer, state: int) -> set[int]:
    indptr, indices = neighbor_graph(explorer.memory)
    return set(indices[indptr[state] : indptr[state + 1]].tolist())


def walked(explorer: fp.Explorer, env: Any, n_steps: int, seed: int = 0) -> fp.Explorer:
    """Let an explorer act in an environment."""
    observation, info = env.reset(seed=seed)
    state, running = explorer.begin([observation], masks=masks_of(info)), None
    for _ in range(n_steps):
        action, running = explorer.act(state, running)
        observation, _, terminated, truncated, info = env.step(int(action[0]))
        state = explorer.add(state, action, [observation], [terminated], masks=masks_of(info))
        if terminated or truncated:
            observation, info = env.reset()
            state, running = explorer.begin([observation], masks=masks_of(info)), None
        if explorer.due:
            generation = explorer.generation
            explorer.remake()
            if explorer.generation != generation:
                state, running = explorer.find([observation]), None
    return explorer


def masks_of(info: dict[str, Any]) -> Any:
    return [info["action_mask"]] if "action_mask" in info else None


def test_starts_are_joined_by_a_virtual_state_and_not_to_the_first_one() -> None:
    explorer = corridor()
    first, second, third = explorer.begin(["a", "b", "c"]).tolist()
    assert neighbors(explorer, RESET) == {first, second, third}
    assert all(neighbors(explorer, state) == {RESET} for state in (first, second, third))
    # Taxi: its first state was a neighbor of every other start.
    found = walked(fp.Explorer.for_env(make(TAXI)), make(TAXI), 4_000)
    numbers = [len(neighbors(found, state) - {RESET}) for state in range(1, int(found.memory.sizes[0]))]
    assert max(numbers) < 10


def test_a_state_that_ends_some_episodes_is_two_states_and_may_be_a_goal() -> None:
    explorer = corridor(method="novelty", n_options=3)
    (start,) = explorer.begin(["start"]).tolist()
    (middle,) = explorer.add([start], [0], ["middle"], [False]).tolist()
    (end,) = explorer.add([start], [0], ["middle"], [True]).tolist()
    assert end != middle
    assert explorer.n_states == 2
    assert explorer.find(["middle", "nowhere"]).tolist() == [middle, -1]
    assert explorer.memory.n_actions[[middle, end]].tolist() == [2, 0]
    explorer.remake()
    assert middle in explorer.goals
    assert end not in explorer.goals


def test_the_value_of_a_state_that_ends_a_tenth_of_the_episodes_is_right() -> None:
    class Trap(gym.Env[Any, Any]):
        """From 0 to 1, which ends a tenth of the episodes; from 1 to 2, where there is a reward of 1."""

        observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(1)

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
            super().reset(seed=seed)
            self.at = 0
            return 0, {}

        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            self.at += 1
            ended = self.at == 2 or self.np_random.random() < 0.1
            return self.at, float(self.at == 2), ended, False, {}

    result = fp.learn_from_scratch(Trap(), 4_000, seed=0)
    values = dict(zip(result.exploration.labels, result.values[:, 0].tolist(), strict=True))
    # V(1) = 1; V(0) = γ · 0.9 · V(1)
    assert values[1] == pytest.approx(1.0, abs=0.02)
    assert values[0] == pytest.approx(0.99 * 0.9, abs=0.04)


def test_forbidden_actions_are_not_taken() -> None:
    class Masked(gym.Wrapper[Any, Any, Any, Any]):
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self.taken: list[tuple[int, int]] = []

        def reset(self, **settings: Any) -> Any:
            self.last, info = self.env.reset(**settings)
            return self.last, {**info, "action_mask": self.mask()}

        def mask(self) -> Any:
            mask = np.ones(4, dtype=np.int8)
            mask[self.last % 4] = 0
            return mask

        def step(self, action: int) -> Any:
            self.taken.append((int(self.last), action))
            self.last, *answer, info = self.env.step(action)
            return self.last, *answer, {**info, "action_mask": self.mask()}

    env = Masked(make("FrozenLake-v1"))
    fp.explore(env, 1_500, seed=0)
    assert len(env.taken) == 1_500
    assert not [pair for pair in env.taken if pair[0] % 4 == pair[1]]
    # A mask that allows nothing says nothing.
    explorer = corridor()
    state = explorer.begin(["a"], masks=[[0, 0]])
    assert explorer.act(state)[0][0] in (0, 1)


class Toll(gym.Env[Any, Any]):
    """Ten cells in a row and a third action that is forbidden everywhere; a step costs 1 until the last cell."""

    observation_space, action_space = gym.spaces.Discrete(10), gym.spaces.Discrete(3)

    def told(self) -> dict[str, Any]:
        return {"action_mask": np.array([1, 1, 0], dtype=np.int8)}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell = 0
        return 0, self.told()

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert action != 2, "forbidden"
        self.cell = min(9, max(0, self.cell + (1 if action else -1)))
        return self.cell, -1.0, self.cell == 9, False, self.told()


@pytest.mark.parametrize("algorithm", [None, "smdp", "intra-option"])
@pytest.mark.parametrize("discovering", [False, True])
def test_what_is_forbidden_has_no_value(algorithm: str | None, discovering: bool) -> None:
    # A value of 0 would be better than any that can be had: −(1 + γ + … + γ⁸) at the start.
    best = -sum(0.99**k for k in range(9))
    env: Any = gym.wrappers.TimeLimit(Toll(), 60)
    if algorithm is None:
        found = fp.learn_from_scratch(env, 3_000, "diffusion" if discovering else "none", seed=0)
        values = found.values[found.exploration.labels.index(0)]
    else:
        env = fp.DiscoveringWrapper(env, 3) if discovering else env
        agent = fp.train_tabular(env, 8_000, algorithm=algorithm, seed=0)
        values = agent.values[agent.index.find(0)]
    assert values[1] == pytest.approx(best, rel=0.03)
    assert values[1] > values[0]


def test_copies_in_one_state_try_different_actions_and_follow_different_options() -> None:
    explorer = corridor(4)
    states = explorer.begin(["a"] * 4)
    assert sorted(explorer.act(states)[0].tolist()) == [0, 1, 2, 3]
    # They are pending until their outcome is known, in another call too.
    assert sorted(explorer.act(states)[0].tolist()) == [0, 1, 2, 3]
    explorer = walked(fp.Explorer.for_env(make("CliffWalking-v1"), n_options=4), make("CliffWalking-v1"), 2_000)
    explorer.settings = type(explorer.settings)(n_options=4, option_probability=0.999)
    here = explorer.find([24] * 4)
    startable = int((explorer.routes[:, here[0]] >= 0).sum())
    _, running = explorer.act(here)
    assert len(set(running[running >= 0].tolist())) == min(4, startable)


def test_deltas_add_up_to_what_one_explorer_sees() -> None:
    whole = fp.Explorer.for_env(make("FrozenLake-v1"))
    walked(whole, make("FrozenLake-v1"), 600, seed=1)
    deltas = [whole.delta()]
    walked(whole, make("FrozenLake-v1"), 600, seed=2)
    deltas.append(whole.delta())
    assert whole.delta().counts.size == 0

    def counts(explorer: fp.Explorer) -> dict[Any, int]:
        before, action, after, number = (column.tolist() for column in explorer.transitions())
        ends = explorer.memory.n_actions == 0
        rows = zip(before, action, after, number, strict=True)
        return {(explorer.label_of(s), a, explorer.label_of(z), bool(ends[z])): n for s, a, z, n in rows}

    for order in (deltas, deltas[::-1]):
        merged = fp.Explorer.for_env(make("FrozenLake-v1"))
        for delta in order:
            merged.merge(delta)
        assert counts(merged) == counts(whole)
        assert merged.n_steps == whole.n_steps == 1_200
        visits = [
            {one.label_of(state): int(one.memory.visits[state]) for state in one.find([*range(16)]) if state > 0}
            for one in (merged, whole)
        ]
        assert visits[0] == visits[1]
        assert merged.remake()


def test_what_was_seen_is_shared_when_states_keep_their_numbers() -> None:
    measured = walked(fp.Explorer.for_env(make("MountainCar-v0")), make("MountainCar-v0"), 300)
    with pytest.raises(InvalidInput, match="scale must be given to share what was seen"):
        measured.delta()
    given = walked(fp.Explorer.for_env(make("MountainCar-v0"), scale=[0.1, 0.01]), make("MountainCar-v0"), 300)
    again = fp.Explorer.for_env(make("MountainCar-v0"), scale=[0.1, 0.01])
    again.merge(given.delta())
    assert again.n_steps == 300
    assert again.n_states == given.n_states


@pytest.mark.parametrize("name", ["CliffWalking-v1", "MountainCar-v0", "FrozenLake-v1"])
def test_what_is_saved_goes_on_alike(name: str, tmp_path: Path) -> None:
    explorer = walked(fp.Explorer.for_env(make(name), seed=3), make(name), 700)
    explorer.save(tmp_path / "explorer")
    for again in (
        fp.Explorer.load(tmp_path / "explorer"),
        copy.deepcopy(explorer),
        pickle.loads(pickle.dumps(explorer)),
    ):
        assert repr(again) == repr(explorer)
        assert again.digest == explorer.digest
        one, other = (walked(copy.deepcopy(each), make(name), 500, seed=9) for each in (explorer, again))
        assert one.digest == other.digest
        np.testing.assert_array_equal(one.stream, other.stream)
        np.testing.assert_array_equal(one.memory.tried[:40], other.memory.tried[:40])
    assert explorer.digest != fp.Explorer.for_env(make(name), seed=3).digest


def _digest_of(wrapper: fp.DiscoveringWrapper) -> str:
    return wrapper.explorer.digest


def test_a_wrapper_is_sent_to_another_process() -> None:
    env = fp.DiscoveringWrapper(make("CliffWalking-v1"), 3)
    fp.train_tabular(env, 500)
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(_digest_of, (env,)) == env.explorer.digest


def test_a_file_that_is_not_an_explorer_is_refused(tmp_path: Path) -> None:
    fp.maze().save(tmp_path / "world.npz")
    with pytest.raises(InvalidFile, match="another kind"):
        fp.Explorer.load(tmp_path / "world.npz")


def test_what_an_explorer_refuses() -> None:
    with pytest.raises(InvalidInput, match="index must be an empty StateIndex"):
        fp.Explorer(StateIndex.exact(["a"]), 2)
    explorer = corridor()
    (start,) = explorer.begin(["a"]).tolist()
    for state, action in ((start + 1, 0), (start, 2), (RESET, 0), (start, -1)):
        with pytest.raises(InvalidInput, match="states and actions must be"):
            explorer.add([state], [action], ["b"], [False])
    with pytest.raises(InvalidInput, match="masks must have 2 entries per row"):
        explorer.begin(["b"], masks=[[1, 1, 1]])
    (end,) = explorer.add([start], [0], ["c"], [True]).tolist()
    for state in (RESET, -1, end, end + 1, 10**9):
        with pytest.raises(InvalidInput, match=f"states must be states of this explorer.*; got {state}"):
            explorer.act([start, state])
    for option in (-2, 5):
        with pytest.raises(InvalidInput, match=f"running must hold options from 0 to 4, or -1; got {option}"):
            explorer.act([start], [option])
    n_steps = explorer.n_steps
    for columns in ({"states": [start]}, {"actions": [0, 0, 0]}, {"terminated": [False]}):
        rows = {"states": [start, start], "actions": [0, 0], "terminated": [False, False]} | columns
        with pytest.raises(InvalidInput, match=f"{next(iter(columns))} must have one entry per row \\(2\\)"):
            explorer.add(next_observations=["b", "b"], **rows)
    with pytest.raises(InvalidInput, match="copies must have one entry per row"):
        explorer.begin(["b"], copies=[0, 1])
    with pytest.raises(InvalidInput, match="running must have one entry per row"):
        explorer.act([start, start], [-1])
    # Nothing of a refused call is remembered.
    assert explorer.n_steps == n_steps


def test_an_explorer_that_refuses_to_merge_still_measures() -> None:
    env = gym.make("MountainCar-v0")
    explorer = fp.Explorer.for_env(env)
    given = fp.Explorer.for_env(env, scale=[0.1, 0.01])
    with pytest.raises(InvalidInput, match="scale must be given to merge"):
        explorer.merge(given.delta())
    observation, _ = env.reset(seed=0)
    state = explorer.begin([observation])
    for _ in range(200):
        action, _ = explorer.act(state)
        observation, *_ = env.step(int(action[0]))
        explorer.add(state, action, [observation], [False])
        explorer.remake()
        state = explorer.find([observation])
    # Of one state, with an infinite scale, it would be for ever.
    assert explorer.n_states > 1
