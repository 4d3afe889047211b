"""A metric of pictures: eigenfunctions of the log's own walk as coordinates, in which near means few steps.

The functions are the best that sums of bumps around some pictures of the log can give (Rayleigh-Ritz): one symmetric
eigenproblem of the size of their number, and no training.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.ndimage import gaussian_filter

from farpoint.blas import one_blas_thread
from farpoint.errors import InvalidFile, InvalidInput, check_integer
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds import SampleLog
from farpoint.worlds.arrays import real_numbers, whole_numbers

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


@dataclass(frozen=True, eq=False, repr=False)
class PictureMetric:
    """Coordinates of pictures, as a function that `GraphOptions` takes as its ``features``.

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

    def steps(self, log: Any) -> SampleLog:
        """Return the steps of a `PictureLog` in these coordinates."""
        pictures, before, actions, after = _read(log)
        table = self.rows(pictures)
        return SampleLog(table[before], actions, table[after])

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
    along steps, ½ E[(φ(s) − φ(s′))²] = ν, with E[φ_i φ_j] = δ_ij. `World.from_samples` and `SampledOptions.learn` then
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
