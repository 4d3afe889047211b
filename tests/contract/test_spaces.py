"""Wrappers over every kind of observation: Gymnasium's and Stable-Baselines3's checkers, learning, copies."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import farpoint as fp

SIDE = 4
# Each kind of observation of a row and a column: its space, and how it is written.
KINDS: dict[str, tuple[gym.Space[Any], Callable[[int, int], Any]]] = {
    "dict": (
        spaces.Dict({"row": spaces.Discrete(SIDE), "column": spaces.Box(0, SIDE - 1, (1,), np.int64)}),
        lambda row, column: {"row": row, "column": np.array([column])},
    ),
    "tuple": (spaces.Tuple([spaces.Discrete(SIDE), spaces.Discrete(SIDE)]), lambda row, column: (row, column)),
    "multi-discrete": (spaces.MultiDiscrete([SIDE, SIDE]), lambda row, column: np.array([row, column])),
    "box": (spaces.Box(0, SIDE - 1, (2,), np.float32), lambda row, column: np.array([row, column], np.float32)),
    "box of whole numbers": (spaces.Box(0, SIDE - 1, (2,), np.int64), lambda row, column: np.array([row, column])),
}


class Square(gym.Env[Any, Any]):
    """A square of 4 × 4 cells; the episode ends in the far corner."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.observation_space, _ = KINDS[kind]
        self.action_space = spaces.Discrete(4)

    def observe(self) -> Any:
        return KINDS[self.kind][1](*self.place)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = [int(self.np_random.integers(2)), 0]
        return self.observe(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        down, right = ((0, 1), (1, 0), (0, -1), (-1, 0))[int(action)]
        self.place = [min(SIDE - 1, max(0, self.place[0] + down)), min(SIDE - 1, max(0, self.place[1] + right))]
        done = self.place == [SIDE - 1, SIDE - 1]
        return self.observe(), float(done), done, False, {}


def limited(kind: str) -> gym.Env[Any, Any]:
    return gym.wrappers.TimeLimit(Square(kind), 50)


def with_options(kind: str) -> fp.OptionsWrapper:
    return fp.OptionsWrapper(limited(kind), fp.explore(Square(kind), 800).options)


WRAPPERS: dict[str, Callable[[str], fp.OptionsWrapper]] = {
    "no options": lambda kind: fp.OptionsWrapper(limited(kind), None),
    "options": with_options,
    "discovering": lambda kind: fp.DiscoveringWrapper(limited(kind), 3),
}
CASES = [(kind, name) for kind in KINDS for name in WRAPPERS]


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_gymnasium_accepts_the_wrapper(kind: str, name: str) -> None:
    check_env(WRAPPERS[name](kind), skip_render_check=True)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [case for case in CASES if case[0] != "tuple"])
def test_stable_baselines_accepts_the_wrapper(kind: str, name: str) -> None:
    # It refuses spaces that are a Tuple.
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(WRAPPERS[name](kind), warn=False)


@pytest.mark.parametrize(("kind", "name"), [case for case in CASES if case != ("box", "no options")])
def test_it_is_learned_in_and_copied(kind: str, name: str) -> None:
    env = WRAPPERS[name](kind)
    agent = fp.train_tabular(env, 1_500)
    # 16 cells, the last of which ends episodes.
    assert len(agent.index) <= SIDE**2
    assert sum(agent.episode_rewards) > 0
    for again in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        (one, _), (other, _) = env.reset(seed=4), again.reset(seed=4)
        assert repr(one) == repr(other)
        assert repr(env.step(1)[:4]) == repr(again.step(1)[:4])
