"""Training data of eigenfunctions: a table of distinct observations and weighted pairs of them.

A transition and its reverse contribute equally to every objective, so they are stored as one pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu

from farpoint.deep.similarity import observations_of, reversible_weights
from farpoint.errors import InvalidInput, check_memory
from farpoint.worlds import Log, World
from farpoint.worlds.arrays import array_size

# The kinds of observations: the number of a state, a vector, or an image.
NUMBERS, COORDINATES, PIXELS = "numbers", "coordinates", "pixels"


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Distinct observations, pairs of them, and the share of all transitions that each pair has."""

    observations: NDArray[Any]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    shares: NDArray[np.float64]

    @property
    def mass(self) -> NDArray[np.float64]:
        """The share of each observation among both ends of all transitions."""
        size = len(self.observations)
        begins = np.bincount(self.before, self.shares, size)
        return np.asarray(0.5 * (begins + np.bincount(self.after, self.shares, size)))

    @property
    def digest(self) -> str:
        """A digest of all arrays."""
        digest = hashlib.blake2b(digest_size=16)
        for part in (self.observations, self.before, self.after, self.shares):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


def kind_of(observations: NDArray[Any]) -> str:
    """Return the kind of observation that the rows of an array are: state numbers, vectors, or images.

    >>> kind_of(np.zeros((5, 2))), kind_of(np.arange(5)), kind_of(np.zeros((5, 8, 8, 3), dtype=np.uint8))
    ('coordinates', 'numbers', 'pixels')
    """
    if observations.ndim == 1:
        return NUMBERS
    return COORDINATES if observations.ndim == 2 else PIXELS


def read_observations(what: str, values: Any) -> NDArray[Any]:
    """Return observations as an array with one row per observation: state numbers, vectors, or images."""
    if isinstance(values, World):
        return observations_of(values)
    check_memory(what, f"{array_size(values)} numbers", 8 * array_size(values))
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInput(
            f"{what} must be an array with one row per observation; got rows of different shapes."
        ) from error
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool) or np.iscomplexobj(array):
        raise InvalidInput(
            f"{what} must be numbers; got {array.dtype}. Give each state its coordinates, its image or its number."
        )
    if array.ndim not in (1, 2, 3, 4) or array.size == 0:
        raise InvalidInput(
            f"{what} must be state numbers (n,), vectors (n, k) or images (n, height, width[, channels]); got shape "
            f"{array.shape}."
        )
    if array.ndim == 1 and (not np.issubdtype(array.dtype, np.integer) or array.min() < 0):
        raise InvalidInput(f"{what} of one dimension must be state numbers 0, 1, 2, …; got {array.dtype}.")
    if not np.isfinite(array).all():
        raise InvalidInput(f"{what} must be finite; got {int((~np.isfinite(array)).sum())} other values.")
    return array


def read_data(observations: Any, next_observations: Any = None) -> TrainingData:
    """Return the training data of a world, of a log, or of two arrays of observations."""
    if isinstance(observations, (World, Log)) and next_observations is not None:
        raise InvalidInput(
            f"next_observations must be left out with a {type(observations).__name__}; got "
            f"{type(next_observations).__name__}."
        )
    if isinstance(observations, World):
        pairs = triu(reversible_weights(observations), format="coo")
        # Each pair represents both directions, except for a loop, which has only one.
        twice = np.where(pairs.row == pairs.col, 1.0, 2.0)
        table = observations_of(observations)
        return _distinct(table, pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data * twice)
    if isinstance(observations, Log):
        before, after = _numbers(observations.observations), _numbers(observations.next_observations)
    else:
        if next_observations is None:
            raise InvalidInput(
                "next_observations must be given with an array of observations; got None. Pass what followed each row."
            )
        before = read_observations("observations", observations)
        after = read_observations("next_observations", next_observations)
    if before.shape != after.shape:
        raise InvalidInput(
            f"observations and next_observations must have the same shape; got {before.shape} and {after.shape}."
        )
    size = len(before)
    table = np.concatenate([before, after])
    return _distinct(table, np.arange(size), size + np.arange(size), np.full(size, 1.0 / size))


def _numbers(states: Sequence[Hashable]) -> NDArray[Any]:
    """Return the states of a log as observations, if they are numbers or tuples of numbers."""
    if any(isinstance(state, (bytes, str)) for state in states):
        raise InvalidInput(
            "states of the log must be whole numbers or tuples of numbers; got labels. Pass the observations "
            "themselves as two arrays."
        )
    return read_observations("states of the log", list(states))


def _distinct(
    table: NDArray[Any], before: NDArray[np.int64], after: NDArray[np.int64], shares: NDArray[np.float64]
) -> TrainingData:
    """Return training data in which every observation and every pair occurs once."""
    rows = np.ascontiguousarray(table).reshape(len(table), -1)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    # In order of first appearance, so that a world keeps the order of its states.
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    place = rank[place.ravel()]
    size = order.size
    ends = np.sort(np.stack([place[before], place[after]]), axis=0)
    pairs, index = np.unique(ends[0] * size + ends[1], return_inverse=True)
    total = np.bincount(index.ravel(), shares)
    return TrainingData(table[first[order]], pairs // size, pairs % size, total / total.sum())
