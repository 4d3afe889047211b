"""Compiled loops over the return probabilities of a map, with the buffers and colors of `chebyshev_kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled
from farpoint.diffusion.scores.chebyshev_kernels import lay_out, layout

# Unsigned, so that the compiler need not ask whether an index counts from the end.
_U = np.uint64


@compiled(nogil=True)
def _step(
    now: NDArray[Any],
    then: NDArray[Any],
    twice: NDArray[Any],
    products: NDArray[Any],
    source: int,
    target: int,
    size: int,
    side: int,
    width: int,
) -> None:
    """Put T_{j+1} = 2 P T_j − T_{j−1} in the place of T_{j−1}, and Σ T_{j+1} d P T_j, column by column, in products."""
    across, down = _U(width), _U(side * width)
    for index in range(size * width):
        products[_U(index)] = 0
    for row in range(size):
        first = _U(target) + _U(row) * down
        before = _U(source) + _U(row) * down
        for index in range(size * width):
            i, k = first + _U(index), before + _U(index)
            around = (now[k] + now[k + across]) + (now[k + down] + now[k + down + across])
            value = twice[i] * around - then[i]
            then[i] = value
            products[_U(index)] += value * around


@compiled(nogil=True)
def step_products(
    twice_inverse: NDArray[Any],
    cells: NDArray[np.int64],
    stride: int,
    degree: int,
    width: int,
    found: NDArray[np.float32],
) -> None:
    """Fill ⟨T_j e, P T_{j−1} e⟩, e = e_s / d(s), of the ``width`` cells s from each of ``cells`` on.

    One for each j = 1 … ``degree``; the product weights a cell by its degree, and the first is half of that. ``found``
    has the shape (cells, degree, width); ``twice_inverse`` (2/d, 0 on walls) is flat over the map with a margin of
    ``degree`` + 1 rows.
    """
    middle = degree // 2 + 1
    side = degree + 4
    kind = twice_inverse.dtype
    white, black = np.zeros(side * side * width, kind), np.zeros(side * side * width, kind)
    white_twice, black_twice = np.zeros_like(white), np.zeros_like(white)
    products = np.zeros(side * width, kind)
    white_targets, white_shifts = layout(0, degree, stride, side, width)
    black_targets, black_shifts = layout(1, degree, stride, side, width)
    half = kind.type(0.5)
    center = (middle * side + middle) * width
    diagonal = (side + 1) * width
    for number in range(cells.size):
        cell = cells[number]
        lay_out(cell, white_targets, white_shifts, width, twice_inverse, white_twice)
        lay_out(cell, black_targets, black_shifts, width, twice_inverse, black_twice)
        for buffer in (white, black):
            buffer[:] = 0
        # Half of T_0 first: T_1 = P T_0, without the factor 2 of the later ones.
        for i in range(width):
            white[center + i] = half * half * twice_inverse[cell + i]
        for j in range(1, degree + 1):
            target = center - j // 2 * diagonal
            if j % 2 == 0:
                _step(black, white, white_twice, products, target, target, j + 1, side, width)
            else:
                _step(white, black, black_twice, products, target - diagonal, target, j + 1, side, width)
            if j == 1:
                for i in range(width):
                    white[center + i] = half * twice_inverse[cell + i]
            for i in range(width):
                total = 0.0
                for column in range(j + 1):
                    total += products[column * width + i]
                found[number, j - 1, i] = total


@compiled(nogil=True)
def _spread(
    now: NDArray[np.float32],
    then: NDArray[np.float32],
    factor: NDArray[np.float32],
    coefficient: np.float32,
    total: NDArray[np.float32],
    stride: int,
) -> None:
    """Put factor × (sum over neighbors) − T_{j−1} in the place of T_{j−1}, and add its share to ``total``."""
    row = _U(stride)
    for index in range(stride, now.size - stride):
        i = _U(index)
        value = factor[i] * ((now[i - _U(1)] + now[i + _U(1)]) + (now[i - row] + now[i + row])) - then[i]
        then[i] = value
        total[i] += coefficient * value


@compiled(nogil=True)
def averaged(
    values: NDArray[np.float32], twice_inverse: NDArray[np.float32], coefficients: NDArray[np.float32], stride: int
) -> NDArray[np.float32]:
    """Return Σ_j c_j T_j(P) of one value per cell: its mean over where a lazy walk from each cell ends.

    All arrays are flat over the map, with one row of wall before it and one after it; ``values`` are 0 on walls.
    """
    even, odd = values.copy(), np.zeros_like(values)
    total: NDArray[np.float32] = coefficients[0] * values
    # T_1 = P T_0, without the factor 2 of the later ones.
    _spread(even, odd, np.float32(0.5) * twice_inverse, coefficients[1], total, stride)
    for j in range(2, coefficients.size):
        if j % 2 == 0:
            _spread(odd, even, twice_inverse, coefficients[j], total, stride)
        else:
            _spread(even, odd, twice_inverse, coefficients[j], total, stride)
    return total
