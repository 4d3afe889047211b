"""Images of MiniGrid as observations."""

from __future__ import annotations

import builtins
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy.sparse import csr_array

import farpoint as fp
from farpoint.errors import InvalidInput, MissingExtra


@pytest.mark.parametrize(("partial", "shape"), [(False, (3, 20, 20)), (True, (3, 28, 28))])
def test_images_are_channels_first(partial: bool, shape: tuple[int, ...]) -> None:
    pytest.importorskip("minigrid")
    env = fp.envs.image_observations(gym.make("MiniGrid-Empty-5x5-v0"), tile_size=4, partial=partial)
    before, after = fp.envs.record_observations(env, 30, seed=0)
    assert before.shape == after.shape == (30, *shape)
    assert before.dtype == np.uint8
    assert env.observation_space.contains(before[0])
    # Walking and turning is seen.
    assert (before != after).any()


def test_wrong_environments_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="must be one of MiniGrid"):
        fp.envs.image_observations(gym.make("CartPole-v1"))
    # A matrix that cannot even be printed.
    matrix = csr_array((np.ones(1), np.array([-1]), np.array([0, 1])), shape=(1, 1))
    with pytest.raises(InvalidInput, match="must be one of MiniGrid"):
        fp.envs.image_observations(matrix)
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("minigrid"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"farpoint\[envs\]"):
        fp.envs.image_observations(gym.make("CartPole-v1"))
