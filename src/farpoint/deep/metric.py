"""A metric of pictures: learned eigenfunctions as coordinates, in which near means few steps of a random walk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from farpoint.blas import one_blas_thread
from farpoint.deep.eigenfunctions.functions import Eigenfunctions
from farpoint.deep.eigenfunctions.learning import learn_eigenfunctions
from farpoint.errors import InvalidInput, check_integer
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.sample_log import SampleLog

# Widths of the smooth random filters, in parts of the longer side of a picture.
_WIDTHS = (1 / 64, 1 / 32, 1 / 16, 1 / 8)
# Pictures that are filtered at once, to bound the memory.
_ROWS_AT_ONCE = 4096
# What only the controller looks at is this much smaller than the coordinates.
_GLANCE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class PictureMetric:
    """Coordinates of pictures: a function that `GraphOptions` takes as its ``features``.

    The first ``n_dimensions`` numbers are φ_i / √(2 (1 − ω_i)) of the learned eigenfunctions: the square of their
    distance is about the time that a random walk takes from one picture to the other and back. The others are random
    smooth filters of the picture, which tell a controller what the coordinates leave out, such as a direction.

    Made by `learn_metric`.

    Attributes
    ----------
    functions : Eigenfunctions
        Of the filtered picture.
    filters : array of float, shape (n_pixels, n_filters)
    center : array of float, shape (n_pixels,)
        The mean picture.
    shape : tuple of int
        Of a picture.
    """

    functions: Eigenfunctions
    filters: NDArray[np.float32]
    center: NDArray[np.float32]
    shape: tuple[int, ...]

    @property
    def n_dimensions(self) -> int:
        """How many numbers are coordinates."""
        return self.functions.n_functions - 1

    def __call__(self, observation: Any) -> NDArray[np.float64]:
        """Return the coordinates of one picture, and its filters."""
        return np.asarray(self.rows(real_numbers("observation", observation)[None])[0])

    @one_blas_thread()
    def rows(self, pictures: Any) -> NDArray[np.float64]:
        """Return the coordinates of pictures and their filters, one row per picture."""
        array = np.asarray(pictures)
        if array.shape[1:] != self.shape:
            raise InvalidInput(
                f"pictures must have the shape {self.shape} of those in training; got {array.shape[1:]}."
            )
        seen = filtered(array, self.filters, self.center)
        scale = 1.0 / np.sqrt(np.maximum(2.0 * (1.0 - self.functions.omega[1:]), 1e-12))
        return np.concatenate([self.functions.phi(seen)[:, 1:] * scale, _GLANCE * seen], axis=1)

    def steps(self, log: Any) -> SampleLog:
        """Return the steps of a `PictureLog` in these coordinates."""
        table = self.rows(log.pictures)
        return SampleLog(table[log.before], log.actions, table[log.after])

    def __repr__(self) -> str:
        return f"PictureMetric({self.n_dimensions} coordinates of pictures {self.shape})"


def smooth_filters(shape: tuple[int, ...], n_filters: int, seed: int) -> NDArray[np.float32]:
    """Return random smooth pictures of several widths as columns, each with a sum of squares of 1.

    >>> smooth_filters((6, 8), 8, seed=0).shape
    (48, 8)
    """
    rng = np.random.default_rng([seed, 4])
    # The two longest axes are those of the picture, a third one holds its colors.
    sides = sorted(np.argsort(shape)[-2:].tolist())
    longer = max(shape)
    columns = []
    for number in range(n_filters):
        width = _WIDTHS[number % len(_WIDTHS)] * longer
        spread = [width if axis in sides else 0.0 for axis in range(len(shape))]
        field = gaussian_filter(rng.standard_normal(shape), spread, mode="constant")
        columns.append(field.ravel() / np.linalg.norm(field))
    return np.array(columns, dtype=np.float32).T


def filtered(pictures: NDArray[Any], filters: NDArray[np.float32], center: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the products of pictures, less the mean one, with filters."""
    blocks = [
        (pictures[first : first + _ROWS_AT_ONCE].reshape(-1, len(center)).astype(np.float32) - center) @ filters
        for first in range(0, len(pictures), _ROWS_AT_ONCE)
    ]
    return np.concatenate(blocks)


@one_blas_thread()
def learn_metric(
    log: Any,
    *,
    n_functions: int = 24,
    n_filters: int = 256,
    n_steps: int = 3_000,
    batch_size: int = 256,
    hidden: Sequence[int] = (256, 256),
    learning_rate: float = 1e-3,
    seed: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PictureMetric:
    """Return coordinates of pictures in which near means few steps of a random walk, learned from a log alone.

    Pictures are reduced to ``n_filters`` numbers by random smooth filters of several widths, which are not learned; a
    network of these learns the eigenfunctions (`learn_eigenfunctions`). `World.from_samples` and `GraphOptions.learn`
    then work on `PictureMetric.steps` as on any continuous observations.

    Parameters
    ----------
    log : PictureLog
        As `farpoint.envs.record_pictures` makes it.
    n_functions : int
        Including the constant one; each of the others is one coordinate.
    n_filters : int
    n_steps, batch_size, hidden, learning_rate, seed, checkpoint, progress
        As in `learn_eigenfunctions`.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze("S......", render_mode="rgb_array", start="random")
    >>> log = fp.envs.record_pictures(fp.envs.PictureObservation(env, shrink=4), 500, seed=0)
    >>> metric = fp.deep.learn_metric(log, n_functions=3, n_filters=16, n_steps=200, hidden=[32])
    >>> metric
    PictureMetric(2 coordinates of pictures (4, 28))
    >>> metric.steps(log).observations.shape
    (500, 18)
    """
    if not all(hasattr(log, name) for name in ("pictures", "before", "actions", "after")):
        raise InvalidInput(
            f"log must be a PictureLog; got {type(log).__name__}. Record it with farpoint.envs.record_pictures."
        )
    n_filters = check_integer("n_filters", n_filters, 1, 2**16)
    seed = check_integer("seed", seed, 0)
    pictures = np.asarray(log.pictures)
    if pictures.ndim < 3 or len(pictures) < 2:
        raise InvalidInput(f"log must have at least two different pictures; got shape {pictures.shape}.")
    shape = tuple(pictures.shape[1:])
    # Weighted by how often each was seen.
    weights = np.bincount(log.before, minlength=len(pictures)).astype(np.float32)
    flat = pictures.reshape(len(pictures), -1)
    center = np.zeros(flat.shape[1], dtype=np.float32)
    for first in range(0, len(flat), _ROWS_AT_ONCE):
        center += weights[first : first + _ROWS_AT_ONCE] @ flat[first : first + _ROWS_AT_ONCE].astype(np.float32)
    center /= weights.sum()
    filters = smooth_filters(shape, n_filters, seed)
    seen = filtered(pictures, filters, center)
    spread = np.maximum(np.sqrt((seen.astype(np.float64) ** 2).mean(axis=0)), 1e-12).astype(np.float32)
    filters, seen = filters / spread, seen / spread
    functions = learn_eigenfunctions(
        seen[log.before],
        seen[log.after],
        n_functions=n_functions,
        n_steps=n_steps,
        batch_size=batch_size,
        hidden=hidden,
        learning_rate=learning_rate,
        seed=seed,
        device="cpu",
        checkpoint=checkpoint,
        progress=progress,
    )
    return PictureMetric(functions, filters, center, shape)
