"""Compiled loops that follow the lazy walk of many cells of a map at once.

On a map the t-step neighbourhood of every cell is the same diamond of offsets, so the walks of ``width`` cells that lie
side by side are kept as one row for each offset, and a step is a sum of whole rows: no index is looked up, nothing
branches, and the processor adds several cells at a time.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

# Unsigned, so that the compiler need not ask whether an index counts from the end, and can join the additions.
_U = np.uint64


@numba.njit(cache=True, nogil=True)
def _step(
    now: NDArray[np.float64],
    then: NDArray[np.float64],
    half_inverse: NDArray[np.float64],
    cell: int,
    stride: int,
    held: int,
    radius: int,
    side: int,
    width: int,
) -> None:
    """Write the walk after one more step, within ``radius``; ``now`` holds it within ``held``, and zeros in row 0.

    With y = p / d a step is y′(v) = ½ y(v) + ½/d(v) Σ_{u next to v} y(u), and walls have ½/d = 0.
    """
    middle = side // 2
    for row in range(-radius, radius + 1):
        for col in range(abs(row) - radius, radius - abs(row) + 1):
            offset = (row + middle) * side + col + middle + 1
            here = _U(offset if abs(row) + abs(col) <= held else 0) * _U(width)
            above = _U(offset - side if abs(row - 1) + abs(col) <= held else 0) * _U(width)
            below = _U(offset + side if abs(row + 1) + abs(col) <= held else 0) * _U(width)
            left = _U(offset - 1 if abs(row) + abs(col - 1) <= held else 0) * _U(width)
            right = _U(offset + 1 if abs(row) + abs(col + 1) <= held else 0) * _U(width)
            target = _U(offset) * _U(width)
            place = _U(cell + row * stride + col)
            for index in range(width):
                i = _U(index)
                around = (now[above + i] + now[below + i]) + (now[left + i] + now[right + i])
                then[target + i] = 0.5 * now[here + i] + half_inverse[place + i] * around


@numba.njit(cache=True, nogil=True)
def diamond_scores(
    degrees: NDArray[np.float64],
    half_inverse: NDArray[np.float64],
    cells: NDArray[np.int64],
    stride: int,
    radii: NDArray[np.int64],
    width: int,
    total: float,
    squares: float,
    whole: bool,
    scores: NDArray[Any],
    lost: NDArray[Any],
    peaks: NDArray[Any],
) -> None:
    """Fill ‖p̂ − π₀‖² of the ``width`` cells that begin at each of ``cells``, one row a beginning.

    ``degrees`` and ``half_inverse`` (½/d, 0 on walls) are flat over the map with a margin. After k steps the walk is
    kept within distance ``radii[k]``; what would go farther is gone: ``lost`` is how much, ``peaks`` the largest entry
    of p̂; with ``whole`` nothing is lost, and they are not looked at. ``total`` is Σ d and ``squares`` Σ d².
    """
    side = 2 * int(radii.max()) + 3
    middle = side // 2
    now = np.zeros((side * side + 1) * width)
    then = np.zeros((side * side + 1) * width)
    share = 1.0 / total
    for number in range(cells.size):
        cell = cells[number]
        centre = (middle * side + middle + 1) * width
        for i in range(width):
            now[centre + i] = 2.0 * half_inverse[cell + i]
        for k in range(1, radii.size):
            _step(now, then, half_inverse, cell, stride, radii[k - 1], radii[k], side, width)
            now, then = then, now
        reach = radii[radii.size - 1]
        score = scores[number]
        sums = lost[number]
        peak = peaks[number]
        score[:] = 0.0
        sums[:] = 0.0
        peak[:] = 0.0
        for row in range(-reach, reach + 1):
            for col in range(abs(row) - reach, reach - abs(row) + 1):
                source = _U((row + middle) * side + col + middle + 1) * _U(width)
                place = _U(cell + row * stride + col)
                # Σ (p − π)² = Σ p (p − 2π) + Σ π², with π = d / Σ d.
                for index in range(width):
                    i = _U(index)
                    d = degrees[place + i]
                    p = d * now[source + i]
                    score[i] += p * (p - 2.0 * share * d)
                if not whole:
                    for index in range(width):
                        i = _U(index)
                        p = degrees[place + i] * now[source + i]
                        sums[i] += p
                        peak[i] = max(peak[i], p)
        for i in range(width):
            score[i] += share * share * squares
            sums[i] = max(0.0, 1.0 - sums[i])
