"""Vector environments of every kind: a new kind is one more line of `VECTOR_ENVS`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import farpoint as fp
from tests.helpers.envs import make

N_ENVS = 3
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]
VectorEnv = gym.vector.VectorEnv[Any, Any, Any]


def lake() -> gym.Env[Any, Any]:
    """A slippery lake: chance decides, episodes terminate and are cut."""
    return make("FrozenLake-v1", max_episode_steps=15)  # type: ignore[no-any-return]


def car() -> gym.Env[Any, Any]:
    """A car with continuous observations, whose episodes are cut."""
    return make("MountainCar-v0", max_episode_steps=60)  # type: ignore[no-any-return]


def options() -> fp.OptionSet:
    """Options of the lake."""
    return fp.discover(fp.World.from_env(lake()), n_options=3)


def copies_of(env: Callable[[], Any], kind: str = "sync", mode: AutoresetMode = MODES[0], count: int = N_ENVS) -> Any:
    """Return copies of an environment in this process or in processes of their own."""
    return {"sync": SyncVectorEnv, "async": AsyncVectorEnv}[kind]([env] * count, autoreset_mode=mode)


def _wrapped(mode: AutoresetMode) -> VectorEnv:
    found = options()
    return copies_of(lambda: fp.OptionsWrapper(lake(), found), mode=mode)  # type: ignore[no-any-return]


def sharing(env: Callable[[], Any], mode: AutoresetMode = MODES[0], **settings: Any) -> SyncVectorEnv:
    """Return copies in this process that share an explorer."""
    explorer = fp.Explorer.for_env(env(), **{"n_options": 4, "option_probability": 0.2, **settings})
    return SyncVectorEnv([lambda: fp.DiscoveringWrapper(env(), explorer=explorer)] * N_ENVS, autoreset_mode=mode)


class Pool(gym.vector.VectorEnv[Any, Any, Any]):
    """A lake that is batched natively: nothing of its copies can be read, and its spaces are those of one copy."""

    def __init__(self, mode: AutoresetMode) -> None:
        self._inside = copies_of(lake, mode=mode)
        self.num_envs, self.metadata = N_ENVS, {"autoreset_mode": mode}
        self.observation_space = self.single_observation_space = self._inside.single_observation_space
        self.action_space = self.single_action_space = self._inside.single_action_space

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return self._inside.reset(seed=seed, options=options)[0].astype(np.int32), {}

    def step(self, actions: Any) -> Any:
        assert actions.dtype == self.single_action_space.dtype
        observations, rewards, terminated, truncated, infos = self._inside.step(actions)
        kept = {name: value for name, value in infos.items() if "final" in name}
        return observations.astype(np.int32), rewards.astype(np.float32), terminated, truncated, kept

    def close_extras(self, **kwargs: Any) -> None:
        self._inside.close()


def _bare(env: Callable[[], Any], kind: str, mode: AutoresetMode) -> VectorEnv:
    return copies_of(env, kind, mode)  # type: ignore[no-any-return]


def _options(kind: str, mode: AutoresetMode) -> VectorEnv:
    return fp.OptionsVectorEnv(Pool(mode) if kind == "pool" else copies_of(lake, kind, mode), options())


def _discovering_pool(mode: AutoresetMode) -> VectorEnv:
    return fp.DiscoveringVectorEnv(Pool(mode), 4, option_probability=0.2)


def _discovering(env: Callable[[], Any], kind: str, mode: AutoresetMode) -> VectorEnv:
    return fp.DiscoveringVectorEnv(copies_of(env, kind, mode), 4, option_probability=0.2)


VECTOR_ENVS: dict[str, Callable[[AutoresetMode], VectorEnv]] = {
    "sync": partial(_bare, lake, "sync"),
    "async": partial(_bare, lake, "async"),
    "sync, continuous": partial(_bare, car, "sync"),
    "sync of OptionsWrapper": _wrapped,
    "sync of DiscoveringWrapper": partial(sharing, lake),
    "OptionsVectorEnv of sync": partial(_options, "sync"),
    "OptionsVectorEnv of async": partial(_options, "async"),
    "OptionsVectorEnv of a pool": partial(_options, "pool"),
    "DiscoveringVectorEnv of sync": partial(_discovering, lake, "sync"),
    "DiscoveringVectorEnv of async": partial(_discovering, lake, "async"),
    "DiscoveringVectorEnv of a pool": _discovering_pool,
    "DiscoveringVectorEnv of sync, continuous": partial(_discovering, car, "sync"),
}
