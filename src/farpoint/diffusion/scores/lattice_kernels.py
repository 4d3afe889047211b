"""Compiled loops that follow the lazy walk of many cells of a map at once.

On a map the t-step neighborhood of every cell is the same diamond of offsets. The walks of ``width`` cells that lie
side by side are kept together: for each offset the ``width`` masses at that offset, offsets row by row. A step is then
a sum of shifted arrays, one long loop for each row of offsets: no index is looked up, nothing branches, and the
processor adds several cells at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

# Unsigned, so that the compiler need not ask whether an index counts from the end, and can join the additions.
_U = np.uint64


@compiled(nogil=True)
def _step(
    now: NDArray[np.float64],
    then: NDArray[np.float64],
    spread: NDArray[np.float64],
    radius: int,
    side: int,
    width: int,
) -> None:
    """Write the walk after one more step into ``then``, within ``radius``; both hold zeros outside the walk.

    With y = p / d a step is y′(v) = ½ y(v) + ½/d(v) Σ_{u next to v} y(u). ``spread`` holds ½/d(v), 0 for walls.
    """
    middle = side // 2
    across = _U(width)
    down = _U(side * width)
    for row in range(-radius, radius + 1):
        reach = radius - abs(row)
        first = _U(((row + middle) * side + middle - reach) * width)
        for index in range((2 * reach + 1) * width):
            i = first + _U(index)
            around = (now[i - down] + now[i + down]) + (now[i - across] + now[i + across])
            then[i] = 0.5 * now[i] + spread[i] * around


@compiled(nogil=True)
def _begin(
    now: NDArray[np.float64],
    then: NDArray[np.float64],
    spread: NDArray[np.float64],
    half_inverse: NDArray[np.float64],
    cell: int,
    stride: int,
    radius: int,
    side: int,
    width: int,
) -> None:
    """Clear the walk, put each walker into its own cell, and lay out ½/d around them."""
    middle = side // 2
    for row in range(-radius, radius + 1):
        reach = radius - abs(row)
        first = _U(((row + middle) * side + middle - reach) * width)
        for index in range((2 * reach + 1) * width):
            now[first + _U(index)] = 0.0
            then[first + _U(index)] = 0.0
        for col in range(-reach, reach + 1):
            target = _U(((row + middle) * side + middle + col) * width)
            place = _U(cell + row * stride + col)
            for index in range(width):
                spread[target + _U(index)] = half_inverse[place + _U(index)]
    center = (middle * side + middle) * width
    for i in range(width):
        now[center + i] = 2.0 * half_inverse[cell + i]


@compiled(nogil=True)
def diamond_scores(
    degrees: NDArray[np.float64],
    half_inverse: NDArray[np.float64],
    cells: NDArray[np.int64],
    stride: int,
    t: int,
    radius: int,
    width: int,
    total: float,
    squares: float,
    scores: NDArray[Any],
) -> None:
    """Fill ‖Wᵗe_s − π₀‖² of the ``width`` cells that begin at each of ``cells``, one row per beginning.

    ``degrees`` and ``half_inverse`` (½/d, 0 on walls) are flat over the map with a margin. No walk gets farther than
    ``radius``, because of t or of the size of the map. ``total`` is Σ d and ``squares`` Σ d².
    """
    side = 2 * radius + 3
    middle = side // 2
    now = np.zeros(side * side * width)
    then = np.zeros(side * side * width)
    spread = np.zeros(side * side * width)
    share = 1.0 / total
    for number in range(cells.size):
        cell = cells[number]
        _begin(now, then, spread, half_inverse, cell, stride, radius, side, width)
        for k in range(1, t + 1):
            _step(now, then, spread, min(k, radius), side, width)
            now, then = then, now
        score = scores[number]
        score[:] = 0.0
        for row in range(-radius, radius + 1):
            for col in range(abs(row) - radius, radius - abs(row) + 1):
                source = _U(((row + middle) * side + middle + col) * width)
                place = _U(cell + row * stride + col)
                # Σ (p − π)² = Σ p (p − 2π) + Σ π², with π = d / Σ d.
                for index in range(width):
                    i = _U(index)
                    d = degrees[place + i]
                    p = d * now[source + i]
                    score[i] += p * (p - 2.0 * share * d)
        for index in range(width):
            score[index] += share * share * squares
