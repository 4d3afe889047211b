"""Pictures as observations: of what an environment renders, and a log of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.envs.sampling import uniform_sampler
from farpoint.errors import InvalidInput, check_function, check_integer, check_memory
from farpoint.worlds.environments import check_env


class PictureLog(NamedTuple):
    """Steps observed as pictures; a picture that was seen several times is kept once.

    Attributes
    ----------
    pictures : array, shape (n_pictures, …)
        Different pictures, in the order in which they were first seen.
    before, after : arrays of int, shape (n_steps,)
        The number of the picture before and after each step.
    actions : array of int, shape (n_steps,)

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> log = fp.envs.PictureLog(np.eye(3), before=np.array([0, 1]), actions=np.array([1, 1]), after=np.array([1, 2]))
    >>> log.pictures[log.after]
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """

    pictures: NDArray[Any]
    before: NDArray[np.int64]
    actions: NDArray[np.int64]
    after: NDArray[np.int64]


class PictureObservation(gym.ObservationWrapper[Any, Any, Any]):
    """Observes what an environment renders, smaller: each pixel is the mean of a square of pixels, in gray.

    Parameters
    ----------
    env : gymnasium.Env
        With ``render_mode="rgb_array"``.
    shrink : int
        Side of the square.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.envs.PictureObservation(fp.ContinuousMaze("S...", render_mode="rgb_array"), shrink=8)
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, observation.dtype
    ((2, 8), dtype('uint8'))
    """

    def __init__(self, env: gym.Env[Any, Any], shrink: int = 8) -> None:
        check_env(env)
        super().__init__(env)
        self._shrink = check_integer("shrink", shrink, 1)
        if env.render_mode != "rgb_array":
            raise InvalidInput(
                f"environment must be made with render_mode='rgb_array' to be seen; got {env.render_mode!r}."
            )
        env.reset()
        shape = self.observation(None).shape
        self.observation_space = gym.spaces.Box(0, 255, shape, dtype=np.uint8)

    def observation(self, observation: Any) -> NDArray[np.uint8]:
        """Return the picture."""
        image = np.asarray(self.env.render(), dtype=np.float32)
        height, width = (size // self._shrink for size in image.shape[:2])
        if not height or not width:
            raise InvalidInput(
                f"shrink must be at most the sides of the picture {image.shape[:2]}; got {self._shrink}."
            )
        squares = image[: height * self._shrink, : width * self._shrink].reshape(
            height, self._shrink, width, self._shrink, -1
        )
        return np.asarray(squares.mean(axis=(1, 3, 4)).round().astype(np.uint8))


def record_pictures(
    env: gym.Env[Any, Any],
    n_steps: int,
    *,
    sample: Callable[[np.random.Generator], Any] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> PictureLog:
    """Return the log of a walk that takes random actions in an environment whose observations are pictures.

    The environment is reset whenever an episode ends.

    Parameters
    ----------
    env : gymnasium.Env
        With observations in a Box and discrete actions.
    n_steps : int
    sample : function of a numpy Generator, optional
        Draws an action; default: uniform.
    seed : int
    progress : function of (int, int), optional
        Called now and then with the steps done and their number.

    Examples
    --------
    >>> import gymnasium as gym, minigrid, farpoint as fp
    >>> env = fp.envs.image_observations(gym.make("MiniGrid-Empty-5x5-v0"), tile_size=3)
    >>> log = fp.envs.record_pictures(env, 200, seed=0)
    >>> log.pictures.shape[1:], log.actions.shape
    ((3, 15, 15), (200,))
    """
    n_steps, seed = check_integer("n_steps", n_steps, 1), check_integer("seed", seed, 0)
    check_function("sample", sample)
    check_function("progress", progress)
    check_env(env)
    space, choices = env.observation_space, env.action_space
    if not isinstance(space, gym.spaces.Box):
        raise InvalidInput(f"environment must have observations in a Box; got {space}.")
    if not isinstance(choices, gym.spaces.Discrete):
        raise InvalidInput(f"environment must have discrete actions; got {choices}.")
    check_memory("n_steps", n_steps, n_steps * int(np.prod(space.shape)) * space.dtype.itemsize)
    draw = sample or uniform_sampler(choices)
    numbers: dict[bytes, int] = {}
    pictures: list[NDArray[Any]] = []

    def number(observation: Any) -> int:
        picture = np.ascontiguousarray(observation)
        found = numbers.setdefault(picture.tobytes(), len(pictures))
        if found == len(pictures):
            pictures.append(picture.copy())
        return found

    rng = np.random.default_rng(seed)
    before, actions, after = (np.empty(n_steps, dtype=np.int64) for _ in range(3))
    here = number(env.reset(seed=seed)[0])
    for step in range(n_steps):
        action = draw(rng)
        observation, _, terminated, truncated, _ = env.step(action)
        before[step], actions[step], after[step] = here, int(action), number(observation)
        here = number(env.reset()[0]) if terminated or truncated else after[step]
        if progress is not None and (step + 1) % 1000 == 0:
            progress(step + 1, n_steps)
    return PictureLog(np.array(pictures), before, actions, after)
