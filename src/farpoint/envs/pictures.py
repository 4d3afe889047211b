"""Pictures as observations: what an environment renders, a log of pictures, and a metric of them.

The metric has eigenfunctions of the log's own walk as coordinates, in which near means few steps. They are the best
that sums of bumps around some pictures of the log can give (Rayleigh-Ritz): one symmetric eigenproblem of the size of
their number, and no training.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.ndimage import gaussian_filter

from farpoint.blas import one_blas_thread
from farpoint.display import progress_bar
from farpoint.envs.transitions import episodes, uniform_sampler
from farpoint.errors import InvalidFile, InvalidInput, MissingExtra, check_function, check_integer, check_memory
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds import Log
from farpoint.worlds.arrays import real_numbers, whole_numbers
from farpoint.worlds.environments import check_env

KIND = "farpoint-picture-metric"
_ARRAYS = ("nu", "landmarks", "coefficients", "offset", "filters", "center")
# Pictures are compared as if seen from afar: smoothed to a sixteenth of the longer side, so that what moved a little
# still overlaps with where it was; the filters that come after the coordinates look at them from nearer.
_AFAR, _NEAR = 1 / 16, 1 / 32
# Pixels that are looked at are so many widths of the smoothing apart.
_APART = 0.7
# Width of a bump, in distances that a picture has at most from the nearest of those in the middle of a bump.
_BUMP = 1.5
# Pictures that are filtered at once, to bound the memory.
_ROWS_AT_ONCE = 4096
# Directions of the bumps' span that are relatively weaker than this are rounding errors.
_NEGLIGIBLE = 1e-7
_MOST_COLORS = 4
# Squared distances of 32-bit numbers below this share are rounding.
_SAME = 1e-5
# Filters that come after the coordinates: pictures that the coordinates confuse, such as directions, are told apart.
_N_SEEN = 64


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
        # The shape is that of a picture, which takes a reset; it must not change what the environment draws later.
        draws = copy.deepcopy(env.unwrapped.np_random)
        env.reset(seed=0)
        shape = self.observation(None).shape
        env.unwrapped.np_random = draws
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
    with progress_bar("recording", n_steps, progress) as tell:
        for row, step in enumerate(episodes(env, lambda observation, info: draw(rng), n_steps=n_steps, seed=seed)):
            before[row], actions[row] = number(step.observation), int(step.action)
            after[row] = number(step.next_observation)
            if (row + 1) % 1000 == 0:
                tell(row + 1)
        tell(n_steps)
    return PictureLog(np.array(pictures), before, actions, after)


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


@dataclass(frozen=True, eq=False, repr=False)
class PictureMetric:
    """Coordinates of pictures; its ``rows`` are a ``metric`` that `GoalPolicy.from_log` takes.

    The first ``n_dimensions`` numbers are φ_i / √ν_i, where φ_i are the eigenfunctions of the walk that made the log
    and ν_i the eigenvalues of its Laplacian: squared distances are proportional to the time a walk takes from one
    picture to the other and back. The numbers after them are some of the filters, on the scale of one step: they
    tell apart what the coordinates confuse, such as directions.

    Made by `learn_metric`, or read by `PictureMetric.load`.

    Attributes
    ----------
    nu : array of float, shape (n_dimensions,)
        Eigenvalues, ascending, without that of the constant function.
    landmarks : array of float, shape (n_landmarks, n_seen_from_afar)
        The pictures in the middle of a bump, as they are compared.
    width : float
        Of a bump.
    coefficients : array of float, shape (n_landmarks, n_dimensions)
        What each coordinate is of the bumps.
    offset : array of float, shape (n_dimensions,)
        Mean of the coordinates, which is taken away.
    filters : array of float, shape (n_seen_from_near, n_filters)
        What each number after the coordinates is of the picture.
    center : array of float, shape (n_pixels,)
        The mean picture.
    shape : tuple of int
        Of a picture.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> pictures = 255 * np.eye(4, dtype=np.uint8).reshape(4, 1, 4)
    >>> log = fp.envs.PictureLog(pictures, np.array([0, 1, 2]), np.array([0, 0, 0]), np.array([1, 2, 3]))
    >>> fp.envs.learn_metric(log, n_functions=2)
    PictureMetric(2 coordinates of pictures (1, 4))
    """

    nu: NDArray[np.float64]
    landmarks: NDArray[np.float32]
    width: float
    coefficients: NDArray[np.float64]
    offset: NDArray[np.float64]
    filters: NDArray[np.float32]
    center: NDArray[np.float32]
    shape: tuple[int, ...]

    @property
    def n_dimensions(self) -> int:
        """How many numbers are coordinates."""
        return int(self.nu.size)

    def __call__(self, observation: Any) -> NDArray[np.float64]:
        """Return the coordinates of one picture, and the filters after them."""
        return np.asarray(self.rows(real_numbers("observation", observation)[None])[0])

    @one_blas_thread()
    def rows(self, pictures: Any) -> NDArray[np.float64]:
        """Return the coordinates of pictures and the filters after them, one row per picture."""
        array = np.asarray(pictures)
        if array.shape[1:] != self.shape or array.dtype.kind not in "buif":
            raise InvalidInput(
                f"pictures must be numbers of shape (n, {', '.join(map(str, self.shape))}); got {array.dtype}, shape "
                f"{array.shape}."
            )
        result = np.empty((len(array), self.n_dimensions + self.filters.shape[1]))
        for first in range(0, len(array), _ROWS_AT_ONCE):
            block = slice(first, first + _ROWS_AT_ONCE)
            pictures = _without(array[block], self.center)
            bumps = _bumps(_smoothed(pictures, self.shape, _AFAR), self.landmarks, self.width)
            coordinates = bumps @ self.coefficients - self.offset
            result[block] = np.concatenate([coordinates, _smoothed(pictures, self.shape, _NEAR) @ self.filters], axis=1)
        return result

    def steps(self, log: Any) -> Log:
        """Return the steps of a `PictureLog` in these coordinates."""
        pictures, before, actions, after = _read(log)
        table = self.rows(pictures)
        return Log(table[before], actions, table[after])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the metric to one ``.npz`` file; see `load`."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        write_arrays(path, KIND, {"shape": list(self.shape), "width": self.width}, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PictureMetric:
        """Return the metric that `save` wrote; nothing in the file is executed.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, of another kind or of another version.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.envs.PictureMetric.load("missing.npz")
        Traceback (most recent call last):
        farpoint.errors.InvalidFile: missing.npz must be a file of farpoint-picture-metric; got no file ...
        """
        facts, arrays = read_arrays(path, KIND)
        try:
            shape = tuple(int(side) for side in facts["shape"])
            return cls(shape=shape, width=float(facts["width"]), **{name: arrays[name] for name in _ARRAYS})
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path} must hold a complete metric; it is damaged ({error}).") from error

    def __repr__(self) -> str:
        return f"PictureMetric({self.n_dimensions} coordinates of pictures {self.shape})"


@one_blas_thread()
def learn_metric(log: Any, *, n_functions: int = 24, n_landmarks: int = 1200, seed: int = 0) -> PictureMetric:
    """Return coordinates of pictures in which near means few steps of the walk that made a log.

    Pictures are compared by what differs from the mean picture, smoothed and scaled to length 1: so it does not matter
    how bright what moves is, or how much of it is seen. Around ``n_landmarks`` pictures, as different as possible, a
    bump tells how like one of them a picture is. Of all sums of bumps the eigenfunctions are those that change least
    along steps, ½ E[(φ(s) − φ(s′))²] = ν, with E[φ_i φ_j] = δ_ij. `World.from_samples` and `World.from_log` then
    work on `PictureMetric.steps` as on any continuous observations.

    Parameters
    ----------
    log : PictureLog
        As `record_pictures` makes it.
    n_functions : int
        Coordinates, at most.
    n_landmarks : int
        At most; the more, the finer what the coordinates can tell apart. The time grows with their cube.
    seed : int
        Of the filters that come after the coordinates.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze("S......", render_mode="rgb_array", start="random")
    >>> log = fp.envs.record_pictures(fp.envs.PictureObservation(env, shrink=4), 500, seed=0)
    >>> metric = fp.envs.learn_metric(log, n_functions=2, n_landmarks=32)
    >>> metric
    PictureMetric(2 coordinates of pictures (4, 28))
    >>> metric.steps(log).observations.shape
    (500, 66)
    """
    n_landmarks = check_integer("n_landmarks", n_landmarks, 2, 2**14)
    n_functions = check_integer("n_functions", n_functions, 1, 2**14)
    seed = check_integer("seed", seed, 0)
    pictures, before, _, after = _read(log)
    shape = tuple(pictures.shape[1:])
    # How often each picture is at an end of a step; a step counts in both directions.
    mass = (np.bincount(before, minlength=len(pictures)) + np.bincount(after, minlength=len(pictures))) / 2
    mass = mass / mass.sum()
    center = _mean_picture(pictures, mass)
    blocks = [slice(first, first + _ROWS_AT_ONCE) for first in range(0, len(pictures), _ROWS_AT_ONCE)]
    afar = np.concatenate([_smoothed(_without(pictures[block], center), shape, _AFAR) for block in blocks])
    landmarks, farthest = _landmarks(afar, n_landmarks)
    # Where every picture is one of them: as wide as the nearest two are apart, on average.
    apart = _squares(landmarks, landmarks) + np.diag(np.full(len(landmarks), np.inf))
    width = _BUMP * float(max(farthest, np.sqrt(apart.min(axis=1).mean())))
    if not 0.0 < width < np.inf:
        raise InvalidInput("log must hold pictures that differ; got none that do.")
    # Block by block: all bumps of all pictures would not fit into memory.
    mean, products, energy = np.zeros(len(landmarks)), *np.zeros((2, len(landmarks), len(landmarks)))
    for block in blocks:
        bumps = _bumps(afar[block], landmarks, width)
        mean += mass[block] @ bumps
        products += bumps.T @ (mass[block][:, None] * bumps)
    for first in range(0, len(before), _ROWS_AT_ONCE):
        block = slice(first, first + _ROWS_AT_ONCE)
        moves = _bumps(afar[before[block]], landmarks, width) - _bumps(afar[after[block]], landmarks, width)
        energy += moves.T @ moves / (2.0 * len(before))
    if not energy.any():
        raise InvalidInput("log must hold steps that lead from one picture to another; got none.")
    # Without its mean no function is constant.
    products -= np.outer(mean, mean)
    strength, directions = np.linalg.eigh(products)
    kept = strength > _NEGLIGIBLE * strength[-1]
    whiten = directions[:, kept] / np.sqrt(strength[kept])
    size = min(n_functions, int(kept.sum()))
    nu, turn = eigh(whiten.T @ energy @ whiten, subset_by_index=[0, size - 1])
    nu = np.maximum(nu, np.finfo(np.float64).eps)
    coefficients = (whiten @ turn) / np.sqrt(nu)
    # The sign of an eigenvector is arbitrary: the largest coefficient is positive.
    largest = np.abs(coefficients).argmax(axis=0)
    coefficients = coefficients * np.sign(coefficients[largest, np.arange(size)])
    # Two pictures of length 1 that have nothing in common differ in the filters as much as a step changes coordinates.
    # Each coordinate is φ / √ν, and ν half of what a step changes φ by, squared: a step changes each of them by √2.
    step = np.sqrt(2.0 * size)
    n_pixels = _smoothed(np.zeros((1, center.size), dtype=np.float32), shape, _NEAR).shape[1]
    filters = np.random.default_rng(seed).standard_normal((n_pixels, _N_SEEN)) * (step / np.sqrt(2.0 * _N_SEEN))
    return PictureMetric(
        nu, landmarks, width, coefficients, mean @ coefficients, filters.astype(np.float32), center, shape
    )


def _read(log: Any) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the parts of a `PictureLog`, checked."""
    if not all(hasattr(log, name) for name in ("pictures", "before", "actions", "after")):
        raise InvalidInput(
            f"log must be a PictureLog; got {type(log).__name__}. Record it with farpoint.envs.record_pictures."
        )
    pictures = np.asarray(log.pictures)
    if pictures.ndim not in (3, 4) or not pictures.size or pictures.dtype.kind not in "buif":
        raise InvalidInput(f"log must have pictures (n, height, width) or with colors; got shape {pictures.shape}.")
    numbers = [whole_numbers(name, getattr(log, name), np.int64) for name in ("before", "actions", "after")]
    before, actions, after = numbers
    if not before.size or before.ndim != 1 or not before.shape == actions.shape == after.shape:
        raise InvalidInput(f"log must have one number per step; got shapes {', '.join(str(n.shape) for n in numbers)}.")
    if not np.isfinite(pictures).all():
        raise InvalidInput("log must have pictures of finite numbers; got others.")
    ends = np.concatenate([before, after])
    if ends.min() < 0 or ends.max() >= len(pictures):
        raise InvalidInput(f"log must number its {len(pictures)} pictures; got {ends.min()} … {ends.max()}.")
    return pictures, before, actions, after


def _without(pictures: NDArray[Any], center: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return pictures as rows, less the mean one."""
    return np.asarray(pictures.reshape(len(pictures), -1).astype(np.float32) - center)


def _sides(shape: tuple[int, ...]) -> list[int]:
    """Return which axes are the sides of a picture; a third one, the last or else a short first one, has its colors.

    >>> _sides((38, 46)), _sides((2, 2, 3)), _sides((3, 57, 57))
    ([0, 1], [0, 1], [1, 2])
    """
    if len(shape) == 2 or shape[-1] <= _MOST_COLORS or shape[0] > _MOST_COLORS:
        return [0, 1]
    return [1, 2]


def _smoothed(rows: NDArray[np.float32], shape: tuple[int, ...], smooth: float) -> NDArray[np.float32]:
    """Return pictures smoothed by a part of their longer side, with fewer pixels, and of length 1."""
    width, sides = smooth * max(shape), _sides(shape)
    widths = [0.0] + [width if axis in sides else 0.0 for axis in range(len(shape))]
    pictures = gaussian_filter(rows.reshape(-1, *shape), widths, mode="constant")
    apart = max(1, int(_APART * width))
    every = tuple(slice(None, None, apart if axis in sides else 1) for axis in range(len(shape)))
    fewer = pictures[(slice(None), *every)].reshape(len(rows), -1)
    lengths = np.linalg.norm(fewer, axis=1, keepdims=True)
    return np.asarray(np.divide(fewer, lengths, out=np.zeros_like(fewer), where=lengths > 0))


def _landmarks(rows: NDArray[np.float32], count: int) -> tuple[NDArray[np.float32], float]:
    """Return rows as far from each other as possible, one by one, and how far another one is from them at most."""
    lengths = (rows.astype(np.float64) ** 2).sum(axis=1)
    chosen, away = [0], np.full(len(rows), np.inf)
    while True:
        last = chosen[-1]
        away = np.minimum(away, np.maximum(lengths + lengths[last] - 2.0 * (rows @ rows[last]), 0.0))
        farthest = int(away.argmax())
        # Of what is left every row is one of them, but for rounding.
        if len(chosen) == count or away[farthest] <= _SAME * lengths.max():
            return rows[chosen], float(np.sqrt(away[farthest]))
        chosen.append(farthest)


def _squares(rows: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the squared distances of rows."""
    lengths = [(one.astype(np.float64) ** 2).sum(axis=1) for one in (rows, others)]
    return np.asarray(np.maximum(lengths[0][:, None] + lengths[1][None] - 2.0 * (rows @ others.T), 0.0))


def _bumps(rows: NDArray[np.float32], landmarks: NDArray[np.float32], width: float) -> NDArray[np.float64]:
    """Return how like each landmark a picture is."""
    return np.exp(_squares(rows, landmarks) / (-2.0 * width**2))


def _mean_picture(pictures: NDArray[Any], mass: NDArray[np.float64]) -> NDArray[np.float32]:
    rows = pictures.reshape(len(pictures), -1)
    mean = np.zeros(rows.shape[1])
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        block = slice(first, first + _ROWS_AT_ONCE)
        mean += mass[block] @ rows[block].astype(np.float64)
    return mean.astype(np.float32)
