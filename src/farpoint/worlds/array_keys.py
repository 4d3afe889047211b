"""Arrays as labels of states: compared as bytes, and read by people as the numbers that they hold."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A longer array is shown by so many numbers at either end.
_MOST_SHOWN = 16
_AT_EITHER_END = 3


class ArrayKey(bytes):
    """The bytes of an array, which also know its type and shape, so that they can be shown as numbers.

    It equals the same bytes without them, so that either is the label of the same state.

    Examples
    --------
    >>> key = ArrayKey.of(np.array([3, 0, 1]))
    >>> key, key == np.array([3, 0, 1]).tobytes()
    ([3, 0, 1], True)
    >>> key.array + 1
    array([4, 1, 2])

    Of a long one the middle is left out; its shape and four digits made of all its numbers tell it from others:

    >>> ArrayKey.of(np.eye(8, dtype=int))
    [1, 0, 0, …, 0, 0, 1] 8×8 #...
    """

    # As numpy writes it, such as "<i8".
    dtype: str
    shape: tuple[int, ...]

    def __new__(cls, content: bytes, dtype: str, shape: tuple[int, ...]) -> ArrayKey:
        """Return the key of the array with these bytes."""
        key = super().__new__(cls, content)
        key.dtype, key.shape = dtype, shape
        return key

    @classmethod
    def of(cls, array: NDArray[Any]) -> ArrayKey:
        """Return the key of an array."""
        return cls(array.tobytes(), array.dtype.str, array.shape)

    @property
    def array(self) -> NDArray[Any]:
        """The array, read-only."""
        return np.ndarray(self.shape, self.dtype, buffer=self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayKey, (bytes(self), self.dtype, self.shape)

    def __repr__(self) -> str:
        array = self.array
        if array.size <= _MOST_SHOWN:
            return str(array.tolist())
        numbers = array.ravel()
        ends = (numbers[:_AT_EITHER_END], numbers[-_AT_EITHER_END:])
        first, last = ([str(number) for number in end.tolist()] for end in ends)
        digits = hashlib.blake2b(self, digest_size=2).hexdigest()
        return f"[{', '.join([*first, '…', *last])}] {'×'.join(map(str, self.shape))} #{digits}"

    # Those of bytes would be used otherwise.
    __str__ = __repr__
