"""Compiled loops over Chebyshev polynomials of the walk of many cells of a map at once.

A walk that always moves is on the white cells of a chessboard after an even number of steps and on the black ones after
an odd number. Along the diagonals a = row + col and b = row − col each color by itself is a full square: after j steps
(j + 1)² cells that lie side by side. As in `lattice_kernels` the walks of ``width`` cells are kept together.

White cells lie at (a / 2 + middle, b / 2 + middle), black ones at ((a + 1) / 2 + middle, (b + 1) / 2 + middle).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

# Unsigned, so that the compiler need not ask whether an index counts from the end.
_U = np.uint64


@compiled(nogil=True)
def _step(
    now: NDArray[Any],
    then: NDArray[Any],
    total: NDArray[Any],
    twice: NDArray[Any],
    coefficient: Any,
    source: int,
    target: int,
    size: int,
    side: int,
    width: int,
) -> None:
    """Put T_{j+1} = 2 P T_j − T_{j−1} in the place of T_{j−1}, and add its share to ``total``.

    ``now`` holds T_j on the cells of the other color; ``twice`` is 2/d, 0 for walls. The square has ``size`` cells a
    side and begins at ``target``; its first cell has the neighbor ``source`` and the three beside it.
    """
    across, down = _U(width), _U(side * width)
    for row in range(size):
        first = _U(target) + _U(row) * down
        before = _U(source) + _U(row) * down
        for index in range(size * width):
            i, k = first + _U(index), before + _U(index)
            around = (now[k] + now[k + across]) + (now[k + down] + now[k + down + across])
            value = twice[i] * around - then[i]
            then[i] = value
            total[i] += coefficient * value


@compiled(nogil=True)
def layout(color: int, degree: int, stride: int, side: int, width: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where each cell of one color lies in a buffer, and how far it is from the middle on the map."""
    middle = degree // 2 + 1
    far = degree - (degree + color) % 2
    targets = np.empty((far + 1) ** 2, dtype=np.int64)
    shifts = np.empty((far + 1) ** 2, dtype=np.int64)
    number = 0
    for a in range(-far, far + 1, 2):
        for b in range(-far, far + 1, 2):
            targets[number] = (((a + color) // 2 + middle) * side + (b + color) // 2 + middle) * width
            shifts[number] = (a + b) // 2 * stride + (a - b) // 2
            number += 1
    return targets, shifts


@compiled(nogil=True)
def lay_out(
    cell: int,
    targets: NDArray[np.int64],
    shifts: NDArray[np.int64],
    width: int,
    twice_inverse: NDArray[Any],
    twice: NDArray[Any],
) -> None:
    """Copy 2/d to the cells of one color."""
    for number in range(targets.size):
        target, place = _U(targets[number]), _U(cell + shifts[number])
        for index in range(width):
            twice[target + _U(index)] = twice_inverse[place + _U(index)]


@compiled(nogil=True)
def _add(
    cell: int,
    targets: NDArray[np.int64],
    shifts: NDArray[np.int64],
    degrees: NDArray[Any],
    total: NDArray[Any],
    share: float,
    score: NDArray[np.float64],
) -> None:
    """Add Σ p (p − 2π) over the cells of one color, with π = d / Σ d."""
    for number in range(targets.size):
        source, place = _U(targets[number]), _U(cell + shifts[number])
        for index in range(score.size):
            i = _U(index)
            d = np.float64(degrees[place + i])
            p = d * np.float64(total[source + i])
            score[i] += p * (p - 2.0 * share * d)


@compiled(nogil=True)
def expanded_scores(
    degrees: NDArray[Any],
    twice_inverse: NDArray[Any],
    cells: NDArray[np.int64],
    stride: int,
    coefficients: NDArray[Any],
    width: int,
    total: float,
    squares: float,
    scores: NDArray[np.float64],
) -> None:
    """Fill ‖p̂ − π₀‖² of the ``width`` cells that begin at each of ``cells``, one row per beginning.

    ``degrees`` and ``twice_inverse`` (2/d, 0 on walls) are flat over the map with a margin of ``coefficients.size``
    rows. All but the last sums are in the precision of ``coefficients``. ``total`` is Σ d and ``squares`` Σ d².
    """
    degree = coefficients.size - 1
    middle = degree // 2 + 1
    side = degree + 4
    white, black = np.zeros(side * side * width, coefficients.dtype), np.zeros(side * side * width, coefficients.dtype)
    white_total, black_total = np.zeros_like(white), np.zeros_like(white)
    white_twice, black_twice = np.zeros_like(white), np.zeros_like(white)
    white_targets, white_shifts = layout(0, degree, stride, side, width)
    black_targets, black_shifts = layout(1, degree, stride, side, width)
    half = coefficients.dtype.type(0.5)
    share = 1.0 / total
    center = (middle * side + middle) * width
    diagonal = (side + 1) * width
    for number in range(cells.size):
        cell = cells[number]
        lay_out(cell, white_targets, white_shifts, width, twice_inverse, white_twice)
        lay_out(cell, black_targets, black_shifts, width, twice_inverse, black_twice)
        for buffer in (white, black, white_total, black_total):
            buffer[:] = 0
        # Half of T_0 first: T_1 = P T_0, without the factor 2 of the later ones.
        for i in range(width):
            white[center + i] = half * half * twice_inverse[cell + i]
        _step(white, black, black_total, black_twice, coefficients[1], center - diagonal, center, 2, side, width)
        for i in range(width):
            white[center + i] = half * twice_inverse[cell + i]
            white_total[center + i] = coefficients[0] * white[center + i]
        for j in range(2, degree + 1):
            target = center - j // 2 * diagonal
            if j % 2 == 0:
                _step(black, white, white_total, white_twice, coefficients[j], target, target, j + 1, side, width)
            else:
                source = target - diagonal
                _step(white, black, black_total, black_twice, coefficients[j], source, target, j + 1, side, width)
        score = scores[number]
        score[:] = share * share * squares
        _add(cell, white_targets, white_shifts, degrees, white_total, share, score)
        _add(cell, black_targets, black_shifts, degrees, black_total, share, score)
