"""The checked, read-only arrays and matrices that a world is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from farpoint.errors import InvalidInput
from farpoint.worlds.arrays import read_only

ROW_SUM_TOLERANCE = 1e-9


def owned(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, copied unless it cannot be written."""
    # What cannot be written need not be copied: the builders hand over arrays that they have closed.
    return array.copy() if array.flags.writeable else array


def canonical(matrix: csr_array) -> csr_array:
    """Return the matrix on arrays of its own, each row sorted, without repeated entries or stored zeros."""
    matrix = csr_array((owned(matrix.data), owned(matrix.indices), owned(matrix.indptr)), shape=matrix.shape)
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def frozen(matrix: csr_array, index_type: Any) -> csr_array:
    """Return the matrix with read-only arrays of one index type."""
    matrix.data = read_only(matrix.data)
    matrix.indices = read_only(matrix.indices.astype(index_type, copy=False))
    matrix.indptr = read_only(matrix.indptr.astype(index_type, copy=False))
    return matrix


def shares(what: str, values: ArrayLike, n_states: int) -> NDArray[np.float64]:
    """Return one probability a state."""
    array = np.array(values, dtype=np.float64)
    if array.shape != (n_states,) or not ((array >= 0) & (array <= 1)).all():
        raise InvalidInput(f"{what} must be one probability a state ({n_states}); got shape {array.shape}.")
    return array


def observed(values: ArrayLike, n_states: int) -> NDArray[np.float64]:
    """Return one row of finite numbers a state."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 2 or len(array) != n_states or not np.isfinite(array).all():
        raise InvalidInput(
            f"observations must be one row of finite numbers a state ({n_states}); got shape {array.shape}."
        )
    return array


def column(what: str, values: ArrayLike, length: int, dtype: Any) -> NDArray[Any]:
    """Return one entry a choice."""
    array = np.array(values, dtype=dtype)
    if array.shape != (length,):
        raise InvalidInput(f"{what} must have one entry a choice ({length}); got shape {array.shape}.")
    return array


def check_structure(transitions: csr_array, choice_ptr: NDArray[Any]) -> None:
    """Fail unless rows are distributions and row groups fit."""
    n_choices, n_states = transitions.shape
    if n_states == 0:
        raise InvalidInput("world must have at least one state; got none.")
    if choice_ptr.shape != (n_states + 1,) or choice_ptr[0] != 0 or choice_ptr[-1] != n_choices:
        raise InvalidInput(
            f"choice_ptr must run from 0 to {n_choices} in {n_states + 1} entries; got {choice_ptr.size} entries."
        )
    if (np.diff(choice_ptr) < 0).any():
        state = int(np.flatnonzero(np.diff(choice_ptr) < 0)[0])
        raise InvalidInput(f"choice_ptr must not fall; got {choice_ptr[state]}, {choice_ptr[state + 1]} at {state}.")
    if not np.isfinite(transitions.data).all() or (transitions.data < 0).any():
        raise InvalidInput(f"transitions must be probabilities; got {transitions.data.min():g} (negative or NaN).")
    sums = transitions.sum(axis=1)
    if sums.size and np.abs(sums - 1).max() > ROW_SUM_TOLERANCE:
        wrong = int(np.abs(sums - 1).argmax())
        raise InvalidInput(f"each row of transitions must sum to 1; got {sums[wrong]:.6g} in row {wrong}.")
