"""The walks of `lattice_kernels` in plain NumPy, for maps so small that compiling would take longer than all of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Up to so many sums there is nothing to compile for.
MOST_SUMS = 4_000_000


def plain_scores(
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
    """Fill what `lattice_kernels.diamond_scores` fills, from the same arguments, to the last bit."""
    share = 1.0 / total
    side = 2 * radius + 3
    offsets = np.arange(side) - radius - 1
    distance = np.abs(offsets)[:, None] + np.abs(offsets)[None, :]
    inner = slice(1, -1)
    places = (cells[:, None] + np.arange(width)).ravel()
    around = places + (offsets[inner, None] * stride + offsets[None, inner])[..., None]
    inside = distance[inner, inner] <= radius
    spread = np.where(inside[..., None], half_inverse[np.where(inside[..., None], around, 0)], 0.0)
    now = np.zeros((side, side, places.size))
    now[radius + 1, radius + 1] = 2.0 * half_inverse[places]
    for k in range(1, t + 1):
        beside = (now[:-2, inner] + now[2:, inner]) + (now[inner, :-2] + now[inner, 2:])
        then = np.zeros_like(now)
        then[inner, inner] = 0.5 * now[inner, inner] + spread * beside
        then[distance > min(k, radius)] = 0.0
        now = then
    score = np.zeros(places.size)
    for row, col in zip(*np.nonzero(inside), strict=True):
        d = degrees[around[row, col]]
        p = d * now[row + 1, col + 1]
        score += p * (p - 2.0 * share * d)
    scores[...] = (score + share * share * squares).reshape(scores.shape)
