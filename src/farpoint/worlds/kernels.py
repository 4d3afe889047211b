"""Compiled loops over the entries of a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled


@compiled(nogil=True)
def is_symmetric(indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[np.float64], tolerance: float) -> bool:
    """Return whether a square CSR matrix with sorted rows equals its transpose, without forming the transpose."""
    n_rows = indptr.size - 1
    mismatches = 0
    for row in range(n_rows):
        for entry in range(indptr[row], indptr[row + 1]):
            col = indices[entry]
            first, last = indptr[col], indptr[col + 1]
            while first < last:
                middle = (first + last) // 2
                if indices[middle] < row:
                    first = middle + 1
                else:
                    last = middle
            if (
                first == indptr[col + 1]
                or indices[first] != row
                or abs(data[first] - data[entry]) > tolerance * max(abs(data[first]), abs(data[entry]))
            ):
                mismatches += 1
    return mismatches == 0
