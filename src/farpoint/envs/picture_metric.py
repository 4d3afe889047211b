"""A metric of pictures: eigenfunctions of the log's own walk as coordinates, in which near means few steps.

The functions are the best that linear functions of random smooth filters of a picture can give (Rayleigh-Ritz): one
symmetric eigenproblem of the size of the filters, and no training.
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
# Widths of the filters, in parts of the longer side of a picture.
_WIDTHS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4)
# Pictures that are filtered at once, to bound the memory.
_ROWS_AT_ONCE = 4096
# Directions of the filters' span that are relatively weaker than this are rounding errors.
_NEGLIGIBLE = 1e-7
# Filters that come after the coordinates. Two pictures that have nothing in common differ in them about as much as in
# the coordinates over one step: so those that the coordinates confuse are told apart, and far remains far.
_N_SEEN = 64
_SEEN_SCALE = 1.0 / np.sqrt(2.0 * _N_SEEN)


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
    filters : array of float, shape (n_pixels, n_dimensions + n_filters_seen)
        What each number is of the pixels, less the mean picture.
    center : array of float, shape (n_pixels,)
        The mean picture.
    shape : tuple of int
        Of a picture.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> metric = fp.envs.PictureMetric(np.ones(1), np.ones((4, 1), "f4"), np.zeros(4, "f4"), shape=(2, 2))
    >>> metric.n_dimensions
    1
    """

    nu: NDArray[np.float64]
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
        return _filtered(array, self.filters, self.center)

    def steps(self, log: Any) -> SampleLog:
        """Return the steps of a `PictureLog` in these coordinates."""
        pictures, before, actions, after = _read(log)
        table = self.rows(pictures)
        return SampleLog(table[before], actions, table[after])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the metric to one ``.npz`` file; see `load`."""
        arrays = {name: getattr(self, name) for name in ("nu", "filters", "center")}
        write_arrays(path, KIND, {"shape": list(self.shape)}, arrays)

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
            return cls(arrays["nu"], arrays["filters"], arrays["center"], shape)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path} must hold a complete metric; it is damaged ({error}).") from error

    def __repr__(self) -> str:
        return f"PictureMetric({self.n_dimensions} coordinates of pictures {self.shape})"


@one_blas_thread()
def learn_metric(log: Any, *, n_functions: int = 24, n_filters: int = 512, seed: int = 0) -> PictureMetric:
    """Return coordinates of pictures in which near means few steps of the walk that made a log.

    Pictures are reduced to ``n_filters`` numbers by random smooth filters of several widths. Of all linear functions of
    these, the eigenfunctions are those that change least along steps, ½ E[(φ(s) − φ(s′))²] = ν, with E[φ_i φ_j] = δ_ij.
    `World.from_samples` and `GraphOptions.learn` then work on `PictureMetric.steps` as on any continuous observations.

    Parameters
    ----------
    log : PictureLog
        As `record_pictures` makes it.
    n_functions : int
        Coordinates, at most.
    n_filters : int
        The more, the finer what the coordinates can tell apart; the time grows with their cube.
    seed : int
        Of the filters.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze("S......", render_mode="rgb_array", start="random")
    >>> log = fp.envs.record_pictures(fp.envs.PictureObservation(env, shrink=4), 500, seed=0)
    >>> metric = fp.envs.learn_metric(log, n_functions=2, n_filters=32)
    >>> metric
    PictureMetric(2 coordinates of pictures (4, 28))
    >>> metric.steps(log).observations.shape
    (500, 34)
    """
    n_filters = check_integer("n_filters", n_filters, 1, 2**14)
    n_functions = check_integer("n_functions", n_functions, 1, 2**14)
    seed = check_integer("seed", seed, 0)
    pictures, before, _, after = _read(log)
    shape = tuple(pictures.shape[1:])
    # How often each picture is at an end of a step; a step counts in both directions.
    mass = (np.bincount(before, minlength=len(pictures)) + np.bincount(after, minlength=len(pictures))) / 2
    mass = mass / mass.sum()
    center = _mean_picture(pictures, mass)
    filters = _smooth_filters(shape, n_filters, seed)
    seen = _filtered(pictures, filters, center)
    spread = np.sqrt(mass @ seen**2)
    filters, seen = filters[:, spread > 0] / spread[spread > 0], seen[:, spread > 0] / spread[spread > 0]
    if not seen.size:
        raise InvalidInput("log must hold pictures that differ; got none that the filters tell apart.")
    # The mean picture was taken away, so that the constant function is left out: all others have a mean of 0.
    moves = seen[before] - seen[after]
    energy = moves.T @ moves / (2.0 * len(moves))
    strength, directions = np.linalg.eigh(seen.T @ (mass[:, None] * seen))
    kept = strength > _NEGLIGIBLE * strength[-1]
    whiten = directions[:, kept] / np.sqrt(strength[kept])
    size = min(n_functions, int(kept.sum()))
    nu, turn = eigh(whiten.T @ energy @ whiten, subset_by_index=[0, size - 1])
    nu = np.maximum(nu, np.finfo(np.float64).eps)
    coordinates = (whiten @ turn) / np.sqrt(nu)
    # The sign of an eigenvector is arbitrary: the largest coefficient is positive.
    largest = np.abs(coordinates).argmax(axis=0)
    coordinates = coordinates * np.sign(coordinates[largest, np.arange(size)])
    # On the scale of what a step changes.
    step = np.sqrt(((moves @ coordinates) ** 2).sum(axis=1).mean())
    both = np.concatenate([coordinates, np.eye(len(coordinates))[:, :_N_SEEN] * (_SEEN_SCALE * step)], axis=1)
    return PictureMetric(nu, (filters @ both).astype(np.float32), center, shape)


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
    ends = np.concatenate([before, after])
    if ends.min() < 0 or ends.max() >= len(pictures):
        raise InvalidInput(f"log must number its {len(pictures)} pictures; got {ends.min()} … {ends.max()}.")
    return pictures, before, actions, after


def _smooth_filters(shape: tuple[int, ...], n_filters: int, seed: int) -> NDArray[np.float64]:
    """Return random smooth pictures of several widths as columns."""
    rng = np.random.default_rng(seed)
    # The two longest axes are those of the picture; a third one holds its colors.
    sides = np.argsort(shape)[-2:].tolist()
    columns = []
    for number in range(n_filters):
        width = _WIDTHS[number % len(_WIDTHS)] * max(shape)
        widths = [width if axis in sides else 0.0 for axis in range(len(shape))]
        columns.append(gaussian_filter(rng.standard_normal(shape), widths, mode="constant").ravel())
    return np.array(columns).T


def _filtered(pictures: NDArray[Any], filters: NDArray[Any], center: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the products of filters and pictures less the mean one."""
    rows = pictures.reshape(len(pictures), -1)
    single = filters.astype(np.float32)
    result = np.empty((len(rows), filters.shape[1]))
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        block = slice(first, first + _ROWS_AT_ONCE)
        result[block] = (rows[block].astype(np.float32) - center) @ single
    return result


def _mean_picture(pictures: NDArray[Any], mass: NDArray[np.float64]) -> NDArray[np.float32]:
    rows = pictures.reshape(len(pictures), -1)
    mean = np.zeros(rows.shape[1])
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        block = slice(first, first + _ROWS_AT_ONCE)
        mean += mass[block] @ rows[block].astype(np.float64)
    return mean.astype(np.float32)
