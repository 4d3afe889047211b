"""Observations as arrays: images of MiniGrid, and the log of a random walk with whatever is observed."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, MissingExtra, check_integer


class _ChannelFirst(gym.ObservationWrapper[Any, Any, Any]):
    """The axes of an image in the order that networks take: channels, rows, columns."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        space = env.observation_space
        assert isinstance(space, gym.spaces.Box)
        self.observation_space = gym.spaces.Box(
            np.moveaxis(space.low, -1, 0), np.moveaxis(space.high, -1, 0), dtype=np.uint8
        )

    def observation(self, observation: Any) -> NDArray[np.uint8]:
        return np.ascontiguousarray(np.moveaxis(observation, -1, 0), dtype=np.uint8)


def image_observations(env: gym.Env[Any, Any], *, tile_size: int = 8, partial: bool = False) -> gym.Env[Any, Any]:
    """Return a MiniGrid environment whose observations are images: uint8, channels first.

    Parameters
    ----------
    env : gymnasium.Env
        Of MiniGrid.
    tile_size : int
        Pixels of a cell's side.
    partial : bool
        What the agent sees from where it stands, instead of the whole grid.

    Raises
    ------
    MissingExtra
        Without minigrid.

    Examples
    --------
    >>> import gymnasium as gym, minigrid, farpoint as fp
    >>> env = fp.image_observations(gym.make("MiniGrid-Empty-5x5-v0"))
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, observation.dtype
    ((3, 40, 40), dtype('uint8'))
    """
    try:
        from minigrid.wrappers import ImgObsWrapper, RGBImgObsWrapper, RGBImgPartialObsWrapper
    except ImportError as error:
        raise MissingExtra(
            "minigrid must be installed for images of its worlds. Run: pip install 'farpoint[envs]'"
        ) from error
    tile_size = check_integer("tile_size", tile_size, 1)
    if not hasattr(env.unwrapped, "agent_pos"):
        raise InvalidInput(f"environment must be one of MiniGrid; got {env}.")
    painted = RGBImgPartialObsWrapper if partial else RGBImgObsWrapper
    return _ChannelFirst(ImgObsWrapper(painted(env, tile_size=tile_size)))


def observe_walk(env: gym.Env[Any, Any], n_steps: int, *, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what is observed before and after each step of a walk that takes random actions.

    For environments with observations in a Box, images included; actions of any kind. The environment is reset
    whenever an episode ends.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> before, after = fp.observe_walk(gym.make("Pendulum-v1"), 100, seed=0)
    >>> before.shape, after.shape
    ((100, 3), (100, 3))
    """
    n_steps = check_integer("n_steps", n_steps, 1)
    seed = check_integer("seed", seed, 0)
    space = env.observation_space
    if not isinstance(space, gym.spaces.Box):
        raise InvalidInput(f"environment must have observations in a Box; got {space}.")
    before = np.empty((n_steps, *space.shape), dtype=space.dtype)
    after = np.empty_like(before)
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed)
    for step in range(n_steps):
        before[step] = observation
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        after[step] = observation
        if terminated or truncated:
            observation, _ = env.reset()
    return before, after
