"""Images of MiniGrid environments as observations."""

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
        One of MiniGrid.
    tile_size : int
        Pixels per side of a cell.
    partial : bool
        The agent's own view instead of the whole grid.

    Raises
    ------
    MissingExtra
        Without minigrid.

    Examples
    --------
    >>> import gymnasium as gym, minigrid, farpoint as fp
    >>> env = fp.envs.image_observations(gym.make("MiniGrid-Empty-5x5-v0"))
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
    if not hasattr(getattr(env, "unwrapped", None), "agent_pos"):
        raise InvalidInput(f"environment must be one of MiniGrid; got {env!r:.80}.")
    painted = RGBImgPartialObsWrapper if partial else RGBImgObsWrapper
    return _ChannelFirst(ImgObsWrapper(painted(env, tile_size=tile_size)))
