"""Checked, read-only arrays and matrices."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from farpoint.errors import InvalidInput, check_memory

ROW_SUM_TOLERANCE = 1e-9
# So many numbers fit on any machine that runs Python: nobody need ask how much memory there is.
_ALWAYS_FIT = 1 << 16

Array = TypeVar("Array", bound=NDArray[Any])


def read_only(array: Array) -> Array:
    """Make an array read-only and return it.

    >>> read_only(np.zeros(3)).flags.writeable
    False
    """
    array.setflags(write=False)
    return array


def owned(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, copied unless nobody can write to its memory: builders pass arrays that are read-only.

    A read-only view of an array that can be written, or of a file, would change under compiled loops.

    >>> mine = np.zeros(3)
    >>> view = mine.view()
    >>> view.setflags(write=False)
    >>> owned(view) is view, owned(read_only(mine)) is mine
    (False, True)
    """
    memory: Any = array
    while isinstance(memory, np.ndarray) and not memory.flags.writeable:
        memory = memory.base
    return array if memory is None or isinstance(memory, bytes) else array.copy()


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


def read_sparse(what: str, matrix: Any) -> csr_array:
    """Return a matrix of real numbers as CSR of doubles; fail on anything whose indices do not fit its shape.

    scipy does not check the indices of a matrix that is built from its parts, and compiled loops would read past the
    end of their arrays.
    """
    if isinstance(matrix, np.ma.MaskedArray):
        raise InvalidInput(f"{what} must not be a masked array; got one. Fill it first: matrix.filled(0).")
    _check_room(what, matrix)
    try:
        if np.iscomplexobj(matrix):
            raise InvalidInput(f"{what} must hold real numbers; got complex ones.")
        if issparse(matrix):
            _check_indices(matrix)
        else:
            matrix = np.asarray(matrix, dtype=np.float64)
        if matrix.ndim != 2:
            raise InvalidInput(f"{what} must be a matrix of two dimensions; got shape {matrix.shape}.")
        # Floats first: repeated entries of small integers or booleans would overflow when they are added.
        return csr_array(matrix.astype(np.float64, copy=False))
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{what} must be a matrix of numbers; got {type(matrix).__name__} ({error}).") from error


def _check_indices(matrix: Any) -> None:
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
    elif matrix.format == "coo":
        for axis, length in zip(matrix.coords, matrix.shape, strict=True):
            if axis.size and not 0 <= axis.min() <= axis.max() < length:
                raise ValueError("an index lies outside the matrix")


def whole_numbers(what: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return whole numbers as an array of this type; fail on fractions and on numbers that do not fit.

    >>> whole_numbers("actions", [0, 3], np.int32)
    array([0, 3], dtype=int32)
    """
    _check_room(what, values)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{what} must be whole numbers; got {type(values).__name__} ({error}).") from error
    if array.size == 0:
        return np.zeros(array.shape, dtype=dtype)
    if isinstance(values, np.ma.MaskedArray) or not np.issubdtype(array.dtype, np.integer):
        raise InvalidInput(f"{what} must be whole numbers; got {array.dtype}.")
    limits = np.iinfo(dtype)
    if array.min() < limits.min or array.max() > limits.max:
        raise InvalidInput(f"{what} must lie in {limits.min} … {limits.max}; got {array.min()} … {array.max()}.")
    return owned(array) if array.dtype == dtype else array.astype(dtype)


def real_numbers(what: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return an array of doubles of its own; fail on complex numbers, masked arrays, and what is not a number."""
    _check_room(what, values)
    try:
        if not isinstance(values, np.ma.MaskedArray) and not np.iscomplexobj(values):
            return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{what} must be numbers; got {type(values).__name__} ({error}).") from error
    raise InvalidInput(f"{what} must be real numbers; got {type(values).__name__} of complex or masked ones.")


def array_size(values: Any) -> int:
    """Return how many numbers there are, without making an array of them."""
    return int(values.size) if isinstance(values, np.ndarray) else len(values) if isinstance(values, range) else 0


def _check_room(what: str, values: Any) -> None:
    """Fail if one double per number would not fit into memory."""
    size = array_size(values)
    if size > _ALWAYS_FIT:
        check_memory(what, f"{size} numbers", 8 * size)


def probabilities(what: str, values: ArrayLike, n_states: int) -> NDArray[np.float64]:
    """Return one probability per state."""
    array = real_numbers(what, values)
    if array.shape != (n_states,) or not ((array >= 0) & (array <= 1)).all():
        raise InvalidInput(f"{what} must be one probability per state ({n_states}); got shape {array.shape}.")
    return array


def rows_per_state(what: str, values: ArrayLike, n_states: int, dtype: Any = np.float64) -> NDArray[Any]:
    """Return one row of finite numbers per state."""
    whole = np.issubdtype(dtype, np.integer)
    array = whole_numbers(what, values, dtype) if whole else real_numbers(what, values)
    if array.ndim != 2 or len(array) != n_states or not (whole or np.isfinite(array).all()):
        raise InvalidInput(f"{what} must be one row of finite numbers per state ({n_states}); got shape {array.shape}.")
    return array


def coordinates(what: str, values: ArrayLike, n_states: int) -> NDArray[Any]:
    """Return one row per state, of whole numbers where all of them are."""
    _check_room(what, values)
    try:
        whole = np.issubdtype(np.asarray(values).dtype, np.integer)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} must be numbers; got {type(values).__name__} ({error}).") from error
    return rows_per_state(what, values, n_states, np.int32 if whole else np.float64)


def entries_per_choice(what: str, values: ArrayLike, n_choices: int, dtype: Any) -> NDArray[Any]:
    """Return one entry per choice; numbers that are not whole must be finite and above 0."""
    whole = np.issubdtype(dtype, np.integer)
    array = whole_numbers(what, values, dtype) if whole else real_numbers(what, values)
    if array.shape != (n_choices,):
        raise InvalidInput(f"{what} must have one entry per choice ({n_choices}); got shape {array.shape}.")
    if not whole and not (np.isfinite(array).all() and (array > 0).all()):
        raise InvalidInput(f"{what} must be finite and above 0; got {array.min():g}. Drop choices of {what} 0.")
    return array


def digest(*numbers: NDArray[Any] | Iterable[NDArray[Any]], **named: NDArray[Any]) -> str:
    """Return a digest of arrays, whole or in pieces: the same on any machine and for any width of the integers.

    >>> digest(np.arange(3, dtype=np.int32)) == digest([np.arange(2), np.array([2])]) != digest(np.arange(4))
    True
    """
    result = hashlib.blake2b(digest_size=16)
    for name, array in [*(("", array) for array in numbers), *named.items()]:
        result.update(name.encode())
        for piece in [array] if isinstance(array, np.ndarray) else array:
            kind = "<i8" if np.issubdtype(piece.dtype, np.integer) else "<f8"
            result.update(np.ascontiguousarray(piece, dtype=kind).data)
    return result.hexdigest()
